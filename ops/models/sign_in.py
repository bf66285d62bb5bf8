from __future__ import annotations

from django.db import models

from ops.models.user import User


class SignIn(models.Model):
    """One browser in which a person is signed in; it goes when its session is ended.

    `device` is what the browser says it is, in two words of ours ("Firefox · Linux").
    """

    personal_data = True
    words = ()
    codes = ("session_key", "device")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sign_ins")
    session_key = models.CharField(max_length=40, unique=True)
    device = models.CharField(max_length=40, blank=True)
    began_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["user", "-seen_at"], name="sign_in_user")]

    def __str__(self) -> str:
        return f"sign-in of user {self.user_id}"
