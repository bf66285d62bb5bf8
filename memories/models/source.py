"""The sources of memories, and the texts that were refused."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from conversations.models import Message, Turn
from memcenter.lib.database.rows import VisibleManager, one_of
from memories.models.memory import Memory, MemoryVersion, Origin


class Source(models.Model):
    """The evidence of a memory's version: a turn, an API call, a note, a file line or an import.

    A turn comes with the quoted span. Sources make "forget this turn" exact. Several `joint`
    sources support the text only together: it was composed from all of them. `reference` is an id
    or path, never text.
    """

    personal_data = True
    words = ("quote", "comment")
    codes = ("origin", "reference")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="sources")
    version = models.ForeignKey(MemoryVersion, on_delete=models.CASCADE, related_name="sources")
    origin = models.CharField(max_length=12, choices=Origin)
    turn = models.ForeignKey(
        Turn, null=True, blank=True, on_delete=models.CASCADE, related_name="sources"
    )
    message = models.ForeignKey(
        Message, null=True, blank=True, on_delete=models.CASCADE, related_name="sources"
    )
    quote = models.TextField(blank=True)
    quote_start = models.PositiveIntegerField(default=0)
    joint = models.BooleanField(default=False)
    reference = models.CharField(max_length=300, blank=True)
    comment = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()
    hidden_at = models.DateTimeField(null=True, blank=True)

    objects = VisibleManager["Source"]()
    everything: models.Manager["Source"] = models.Manager()

    class Meta:
        base_manager_name = "everything"
        constraints = [one_of("origin", Origin, name="source_origin_known")]
        indexes = [
            models.Index(fields=["user", "memory"], name="source_memory"),
            models.Index(fields=["user", "turn"], name="source_turn"),
        ]

    def __str__(self) -> str:
        return f"source {self.pk} of memory {self.memory_id}"


class SecretCategory(models.TextChoices):
    PASSWORD = "password", _("password")
    API_KEY = "api_key", _("key or token")
    CARD = "card", _("card number")
    BANK_ACCOUNT = "bank_account", _("bank account")
    IDENTITY_NUMBER = "identity_number", _("identity number")
    ADDRESS = "address", _("precise address")


class Refusal(models.Model):
    """A record that something sensitive was refused or blanked; never the secret itself."""

    personal_data = True
    words = ()
    codes = ("category",)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    turn = models.ForeignKey(Turn, null=True, blank=True, on_delete=models.CASCADE)
    category = models.CharField(max_length=20, choices=SecretCategory)
    redacted = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [one_of("category", SecretCategory, name="refusal_category_known")]
        indexes = [models.Index(fields=["user", "-id"], name="refusal_user")]

    def __str__(self) -> str:
        return f"refusal {self.pk}"
