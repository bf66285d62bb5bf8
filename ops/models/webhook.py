"""Who is told when something changed, by ids only."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memcenter.lib import ids
from ops.models.user import ApiKey, User


class Webhook(models.Model):
    """An address that is told about events of one person (`user`) or of all (null).

    `version` counts its changes, so that a restored backup can be told from what it was since.
    """

    personal_data = True
    words = ("url",)
    # Somebody else's, or the product's, may well lead to the same place.
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

    def __str__(self) -> str:
        return f"webhook {self.pk}"


class Delivery(models.Model):
    """One event on its way to one address, and how that went: the body is ids only.

    It names the person by `subject` only, so that an address can be told that somebody is gone.
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

    def __str__(self) -> str:
        return f"delivery {self.pk}"
