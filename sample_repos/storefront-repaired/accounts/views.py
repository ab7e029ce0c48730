import logging
from hashlib import sha256

from django.contrib.auth import get_user_model
from django.core.mail import mail_managers
from django.db import transaction
from django.http import JsonResponse
from django.views.decorators.http import require_POST

from mailer.claims import claim

from .models import Profile
from .tasks import send_welcome

logger = logging.getLogger(__name__)


@require_POST
def register(request):
    email = request.POST["email"].strip().lower()
    users = get_user_model().objects
    if users.filter(username=email).exists():
        return JsonResponse({"error": "taken"}, status=409)
    with transaction.atomic():
        user = users.create_user(email, email=email, password=request.POST["password"])
        Profile.objects.create(user=user, marketing="marketing" in request.POST)
    send_welcome.delay(user.pk)
    return JsonResponse({"id": user.pk}, status=201)


@require_POST
def contact(request):
    text = f"From: {request.POST['email']}\n\n{request.POST['text']}"
    message = sha256(text.encode()).hexdigest()
    if claim("contact", message):
        logger.info("mail Contact form for %s", message)
        mail_managers("Contact form", text)
    return JsonResponse({"ok": True})
