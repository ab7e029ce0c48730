from django.contrib import admin

from .emails import send_voucher
from .models import Profile


@admin.register(Profile)
class ProfileAdmin(admin.ModelAdmin):
    list_display = ["user", "marketing"]
    list_filter = ["marketing"]
    actions = ["mail_voucher"]

    @admin.action(description="Mail the thank-you voucher")
    def mail_voucher(self, request, queryset):
        profiles = queryset.filter(marketing=True).select_related("user")
        for profile in profiles:
            send_voucher(profile)
        self.message_user(request, f"{len(profiles)} vouchers mailed")
