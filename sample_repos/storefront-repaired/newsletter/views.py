from django.http import JsonResponse
from django.views import View

from mailer.send import send_templated

from .models import Subscriber


class SubscribeView(View):
    def post(self, request):
        subscriber, created = Subscriber.objects.get_or_create(
            email=request.POST["email"].strip().lower()
        )
        if created:
            send_templated("newsletter_welcome", subscriber.email, {"subscriber": subscriber})
        return JsonResponse({"new": created})
