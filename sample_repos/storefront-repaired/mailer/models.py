from django.db import models


class SentMail(models.Model):
    """One row per mail that must go out once. Added after the double welcome mails."""

    kind = models.CharField(max_length=40)
    key = models.CharField(max_length=80)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "key"], name="sent_once")]

    def __str__(self):
        return f"{self.kind}:{self.key}"
