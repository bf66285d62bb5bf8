from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
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


class SecondFactor(models.Model):
    """A person's second step at the door: codes of an app (TOTP, RFC 6238).

    `last_step` is the half minute of the newest code that opened: none opens twice. `recovery`
    are digests of codes for the day on which the device is lost; each goes as it is used.
    """

    personal_data = True
    words = ()
    codes = ("secret", "recovery")

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="second_factor")
    secret = models.CharField(max_length=64)
    last_step = models.BigIntegerField(default=0)
    recovery = ArrayField(models.CharField(max_length=64), default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"second factor of user {self.user_id}"


class Identity(models.Model):
    """Who a person is to the provider that signs them in here (OpenID Connect).

    `sub` is the provider's own name for the person, which never changes there.
    """

    personal_data = True
    words = ()
    codes = ("issuer", "sub")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=255)
    sub = models.CharField(max_length=255, db_collation="C")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sub", "issuer"], name="identity_once"),
            models.UniqueConstraint(fields=["user", "issuer"], name="identity_of_user"),
        ]

    def __str__(self) -> str:
        return f"identity of user {self.user_id}"
