from django.urls import path

from . import views

urlpatterns = [
    path("", views.checkout, name="checkout"),
    path("<int:pk>/pay/", views.pay, name="pay"),
    path("<int:pk>/book-payment/", views.book_payment, name="book-payment"),
    path("<int:pk>/cancel/", views.cancel, name="cancel"),
    path("<int:pk>/refund/", views.refund, name="refund"),
    path("<int:pk>/returns/", views.request_return, name="request-return"),
    path("pickups/<int:pk>/collect/", views.collect, name="collect"),
    path("returns/<int:pk>/approve/", views.approve_return, name="approve-return"),
]
