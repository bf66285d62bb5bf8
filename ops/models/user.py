"""Models of people, their sign-ins, settings, API keys and webhooks, and of the instance itself."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from foundation import ids
from foundation.database.schema import Record, one_of

KEY_ID = "key_"


class UserManager(BaseUserManager["User"]):
    def create_user(
        self, username: str | None = None, password: str | None = None, **fields: Any
    ) -> User:
        user = self.model(username=username, **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, username: str, password: str, **fields: Any) -> User:
        return self.create_user(
            username, password, **{"is_staff": True, "is_superuser": True} | fields
        )


class User(AbstractBaseUser, PermissionsMixin):
    """A person with memories, or a staff member.

    `external_id` is the id that the chat product uses for the person. People who register on the
    web have none, and unbound keys can't access them. `subject` identifies the person in operations
    and receipts; once this row is deleted, nothing connects the subject with the person.
    `hidden_at` is set while the person is being forgotten. Changing `session_epoch` ends every
    session. `password_version` counts changes of the password. `forgets` counts requests to forget:
    data read before such a request must not be written afterwards.
    """

    personal_data = True
    words = ("display_name",)
    codes = ("username", "external_id", "password")

    username = models.CharField(_("login name"), max_length=150, unique=True, null=True, blank=True)
    external_id = models.CharField(
        max_length=64, unique=True, null=True, blank=True, db_collation="C"
    )
    subject = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    display_name = models.CharField(max_length=150, blank=True)
    created_by = models.ForeignKey(
        "ops.ApiKey", null=True, blank=True, on_delete=models.SET_NULL, related_name="created_users"
    )
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    hidden_at = models.DateTimeField(null=True, blank=True)
    session_epoch = models.UUIDField(null=True, editable=False)
    password_version = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    forgets = models.PositiveIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    USERNAME_FIELD = "username"
    EMAIL_FIELD = ""
    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(external_id__isnull=True) | Q(is_staff=False),
                name="staff_has_no_external_id",
            ),
            models.CheckConstraint(
                condition=Q(external_id__isnull=True) | ~Q(external_id=""),
                name="external_id_not_empty",
            ),
        ]

    def __str__(self) -> str:
        return self.username or self.external_id or f"user {self.pk}"

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Return the hash that a valid session must contain.

        It changes with the password, as in Django, and with `session_epoch`.
        """
        own = super()._get_session_auth_hash(secret=secret)  # type: ignore[misc]
        if self.session_epoch is None:
            return str(own)
        salted = salted_hmac("ops.session_epoch", f"{own}{self.session_epoch}", algorithm="sha256")
        return salted.hexdigest()

    @property
    def shown_name(self) -> str:
        return self.display_name or self.username or self.external_id or ""


class Role(models.TextChoices):
    """A person's rights beyond their own memories; see `ops.accounts.users`."""

    OWNER = "owner", _("Owner")
    AUDITOR = "auditor", _("Auditor")
    MEMBER = "member", _("Member")


class Theme(models.TextChoices):
    AUTO = "auto", pgettext_lazy("theme", "System")
    LIGHT = "light", _("Light")
    DARK = "dark", _("Dark")


class UserSettings(Record):
    """The settings of one person. If there is no row, all settings have their defaults."""

    personal_data = True
    words = ()
    codes = ("language", "timezone", "theme")

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="settings")
    summary_enabled = models.BooleanField(default=True)
    episodic_enabled = models.BooleanField(default=True)
    longterm_enabled = models.BooleanField(default=True)
    confirm_before_remembering = models.BooleanField(default=False)
    language = models.CharField(max_length=16, blank=True)
    timezone = models.CharField(max_length=64, default="UTC")
    theme = models.CharField(max_length=8, choices=Theme, default=Theme.AUTO)
    # The last view of the "About you" page, and the end of the previous visit.
    portrait_seen_at = models.DateTimeField(null=True, blank=True)
    portrait_visited_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "user settings"
        constraints = [one_of("theme", Theme, name="settings_theme_known")]


class Scope(models.TextChoices):
    READ = "read", _("read")
    WRITE = "write", _("write")
    FORGET = "forget", _("forget")
    EXPORT = "export", _("export")
    SIGNIN = "signin", _("make sign-in links")
    ADMIN = "admin", _("administer")


class ApiKey(models.Model):
    """An API key, either bound to one person (`user`) or, unbound, for the whole installation.

    Only its SHA-256 is stored; `prefix` is shown to tell keys apart. With `requires_user`, an
    unbound key refuses calls of mem0's API that name no person.
    """

    personal_data = True
    words = ("name",)
    codes = ("prefix", "digest", "scopes")

    user = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.CASCADE, related_name="api_keys"
    )
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16)
    digest = models.CharField(max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=16, choices=Scope))
    requires_user = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["user", "created_at"], name="apikey_user")]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"

    @property
    def public_id(self) -> str:
        return f"{KEY_ID}{self.pk}"


class SignInLink(Record):
    """A link, created through the API, that signs in one person.

    It works once, until `expires_at`.
    """

    personal_data = True
    words = ()
    codes = ("digest", "next", "language")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="signin_links")
    digest = models.CharField(max_length=64, unique=True)
    next = models.CharField(max_length=500, blank=True)
    language = models.CharField(max_length=16, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["user", "expires_at"], name="signinlink_user")]


class SignIn(Record):
    """A session in which a person is signed in. The row is deleted together with the session.

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


class SecondFactor(Record):
    """A person's second factor: codes from an authenticator app (TOTP, RFC 6238).

    `last_step` is the 30-second step of the last code used, so that no code works twice. `recovery`
    contains the digests of unused recovery codes.
    """

    personal_data = True
    words = ()
    codes = ("secret", "recovery")

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="second_factor")
    secret = models.CharField(max_length=64)
    last_step = models.BigIntegerField(default=0)
    recovery = ArrayField(models.CharField(max_length=64), default=list)
    created_at = models.DateTimeField(auto_now_add=True)


class Identity(Record):
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


class Invitation(Record):
    """A link with which one person can create an account with this role, until `expires_at`.

    `user` is the owner who sent the invitation; `name` is their note about the invited person. The
    row is deleted when the invitation is used or revoked.
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


class WeeklyMail(Record):
    """The address to which a person's weekly email "What I learned this week" is sent.

    Until the address is confirmed (`confirmed_at`), it gets only the email that asks for
    confirmation. A new address gets a new `nonce`, which the links in emails contain. `sent_on` is
    the Monday of the last weekly email; a week in which nothing happened counts as sent. `language`
    is the language of the page on which the address was entered; it is used for people who haven't
    chosen a language.
    """

    personal_data = True
    words = ("address",)
    codes = ("language",)

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="weekly_mail")
    address = models.EmailField(max_length=254)
    language = models.CharField(max_length=16, blank=True)
    nonce = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    asked_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True)
    sent_on = models.DateField(null=True, blank=True)


class Webhook(Record):
    """An address that receives events about one person, or about everybody if `user` is null.

    `version` counts changes, so that the ledger can tell whether a restored row is outdated.
    """

    personal_data = True
    words = ("url",)
    # The residue scan doesn't search this column: another webhook may have the same address.
    vouches = ("url",)
    codes = ("public_id", "events", "secret")

    public_id = models.CharField(max_length=40, unique=True, default=ids.webhook_id)
    user = models.ForeignKey(User, null=True, blank=True, on_delete=models.CASCADE)
    api_key = models.ForeignKey(ApiKey, null=True, blank=True, on_delete=models.CASCADE)
    url = models.URLField(max_length=500)
    events = ArrayField(models.CharField(max_length=40))
    secret = models.CharField(max_length=200)
    is_active = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1, db_default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["user"], name="webhook_user")]


class Delivery(Record):
    """The delivery of one event to one address, and its result.

    `body` contains ids and, if an operation ended, its kind and status, but no content. The
    delivery refers to the person by `subject`, so that the erasure of a person can be reported too.
    """

    personal_data = False
    keeps_ids = True

    public_id = models.CharField(max_length=40, unique=True, default=ids.delivery_id)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=40)
    subject = models.UUIDField(null=True)
    body = models.JSONField(default=dict)
    status_code = models.PositiveSmallIntegerField(null=True, blank=True)
    error = models.CharField(max_length=200, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    delivered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "deliveries"


class Instance(models.Model):
    """Facts about this instance, in a single row.

    While `deliveries_held_at` is set, no email or webhook is sent: a backup was restored, and no
    owner has confirmed yet that this instance is the live one. `registration_open` is null until an
    owner decides; until then the setting with the same name applies.
    """

    personal_data = False

    deliveries_held_at = models.DateTimeField(null=True, blank=True)
    registration_open = models.BooleanField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="instance_is_one")]

    def __str__(self) -> str:
        return "this instance"
