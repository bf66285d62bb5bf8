from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models


class Tombstone(models.Model):
    """That a memory was forgotten: no text and no vector, only what keeps it from being
    learned again from the same messages. Goes with the user.

    The hashes are keyed (HMAC under the instance's secret): of the normalised text, and of
    what it was about. `message_ids` are public ids of the messages it came from.
    """

    personal_data = True
    keeps_ids = True
    words = ()
    codes = ("memory_public_id", "text_hash", "about_hash", "message_ids")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    memory_public_id = models.CharField(max_length=40)
    text_hash = models.CharField(max_length=64)
    about_hash = models.CharField(max_length=64, blank=True)
    message_ids = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["user", "text_hash"], name="tombstone_text")]

    def __str__(self) -> str:
        return f"tombstone of {self.memory_public_id}"
