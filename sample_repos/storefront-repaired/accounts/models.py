from django.conf import settings
from django.db import models


class Profile(models.Model):
    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    marketing = models.BooleanField(default=False)

    def __str__(self):
        return self.user.email
