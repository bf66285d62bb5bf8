from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memcenter.lib.database.rows import one_of
from ops.models.user import Role, User


class SignIn(models.Model):
    """One browser in which a person is signed in; deleted with its session.

    `device` names browser and system ("Firefox · Linux").
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
    """A person's second factor: codes of an authenticator app (TOTP, RFC 6238).

    `last_step` is the 30-second step of the last used code, so that no code works twice.
    `recovery` holds digests of recovery codes; a used one is removed.
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
    """A person's account at an OpenID Connect provider.

    `sub` is the provider's permanent id of the person.
    """

    personal_data = True
    words = ()
    codes = ("issuer", "sub")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=255)
    sub = models.CharField(max_length=255, db_collation="C")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "identities"
        constraints = [
            models.UniqueConstraint(fields=["sub", "issuer"], name="identity_once"),
            models.UniqueConstraint(fields=["user", "issuer"], name="identity_of_user"),
        ]

    def __str__(self) -> str:
        return f"identity of user {self.user_id}"


class Invitation(models.Model):
    """A link by which somebody makes an account of this role, once, before `expires_at`.

    `user` is the owner who invites, and `name` says whom in their words. Using or revoking the
    invitation deletes the row.
    """

    personal_data = True
    words = ("name",)
    codes = ("digest", "role")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="invitations")
    digest = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=100, blank=True)
    role = models.CharField(max_length=16, choices=Role)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["user", "expires_at"], name="invitation_user")]
        constraints = [one_of("role", Role, name="invitation_role_known")]

    def __str__(self) -> str:
        return f"invitation by user {self.user_id}"
