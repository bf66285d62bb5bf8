"""Webhooks and their deliveries, which contain only ids."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memcenter.lib import ids
from ops.models.user import ApiKey, User


class Webhook(models.Model):
    """An address that receives events of one person (`user`) or of all (null).

    `version` counts changes, to compare a restored backup with later states.
    """

    personal_data = True
    words = ("url",)
    # Other people's webhooks or the product's may have the same address.
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
    """The delivery of one event to one address and its result; the body holds ids only.

    It names the person by `subject`, so that the erase of a person can be delivered too.
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

    def __str__(self) -> str:
        return f"delivery {self.pk}"
