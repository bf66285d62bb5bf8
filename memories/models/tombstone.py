from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone


class Tombstone(models.Model):
    """A record that something was forgotten, which keeps it from being learned again.

    It has no text and no vector, and blocks only earlier messages as a source. It is deleted with
    the user.

    There is a row for each text of a forgotten memory: its content, and the words of the messages
    that it was quoted from. A forgotten message leaves a row as well, without a `memory_public_id`.
    The hashes are keyed (HMAC under the instance's secret): of the normalised text, of its content
    words, and of its overlapping pieces of `piece_size` characters. `message_ids` has the public
    ids of the source messages.
    """

    personal_data = True
    keeps_ids = True
    words = ()
    codes = ("memory_public_id", "text_hash", "about_hash", "pieces", "message_ids")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    memory_public_id = models.CharField(max_length=40, blank=True)
    text_hash = models.CharField(max_length=64)
    about_hash = models.CharField(max_length=64, blank=True)
    pieces = ArrayField(models.CharField(max_length=16), default=list, db_default=[], blank=True)
    piece_size = models.PositiveSmallIntegerField(default=0, db_default=0)
    message_ids = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    forgotten_at = models.DateTimeField(default=timezone.now, db_default=Now())
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["user", "text_hash"], name="tombstone_text")]

    def __str__(self) -> str:
        return f"tombstone of {self.memory_public_id or 'a message'}"
