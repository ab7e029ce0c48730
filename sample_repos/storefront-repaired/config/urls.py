from django.contrib import admin
from django.urls import include, path

from accounts import views as accounts
from catalog import views as catalog
from newsletter import views as newsletter

urlpatterns = [
    path("admin/", admin.site.urls),
    path("register/", accounts.register, name="register"),
    path("contact/", accounts.contact, name="contact"),
    path("products/<str:sku>/edit/", catalog.edit_product, name="edit-product"),
    path("products/<str:sku>/notify-me/", catalog.notify_me, name="notify-me"),
    path("newsletter/", newsletter.SubscribeView.as_view(), name="subscribe"),
    path("orders/", include("orders.urls")),
    path("payments/", include("payments.urls")),
]
