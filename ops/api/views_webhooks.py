"""Webhooks and their deliveries."""

from __future__ import annotations

from rest_framework.response import Response

from memcenter.lib.errors import Invalid
from memcenter.rest.base import MemcenterView
from memcenter.rest.description.schema import page_of
from memcenter.rest.endpoint import CREATE, EMPTY, Call, endpoint
from memcenter.rest.pagination import Order
from memcenter.rest.requests.fields import Personal
from memcenter.rest.requests.idempotency import UnstoredResponse
from ops.api import rendering, serializers
from ops.models import Scope
from ops.webhooks import webhooks

_NEWEST = Order("id")


def _look_at(call: Call) -> None:
    if "url" in call.data:
        webhooks.look_at(call.data["url"])


class WebhooksView(MemcenterView):
    """An unbound key that names no user manages the webhooks of the whole product."""

    @endpoint(
        summary="List the webhooks, newest first",
        takes=Personal,
        answers={200: page_of(serializers.Webhook)},
        all_users_for=Scope.READ,
        paged=True,
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        return Response(
            call.page.of(webhooks.list_webhooks(call.user), order=_NEWEST, show=rendering.webhook)
        )

    @endpoint(
        summary="Have an address told of events, by ids only, each message signed",
        takes=serializers.WebhookInput,
        answers={201: serializers.NewWebhook},
        prepare=_look_at,
        unknown_user=CREATE,
        all_users_for=Scope.WRITE,
    )
    def post(self, call: Call) -> Response:
        made = webhooks.create(
            user=call.user,
            url=call.data["url"],
            told=call.data["events"],
            secret=call.data.get("secret", ""),
            key=call.asked.key,
        )
        # The secret is shown only once, so the answer isn't stored for repeated calls.
        return UnstoredResponse({**rendering.webhook(made), "secret": made.secret}, status=201)

    @endpoint(
        summary="Take a webhook away, with its log",
        takes=serializers.WebhookRemoval,
        answers={200: serializers.RemovedWebhook},
        all_users_for=Scope.FORGET,
        strict=True,
    )
    def delete(self, call: Call) -> Response:
        if "id" not in call.data:
            raise Invalid.field("id", "Say which webhook.")
        return _removed(call, call.data["id"])


class WebhookView(MemcenterView):
    @endpoint(
        summary="One webhook",
        takes=Personal,
        answers={200: serializers.Webhook},
        all_users_for=Scope.READ,
    )
    def get(self, call: Call, webhook_id: str) -> Response:
        return Response(rendering.webhook(webhooks.find(webhook_id, user=call.user)))

    @endpoint(
        summary="Change a webhook, or switch it off with is_active",
        takes=serializers.WebhookChange,
        prepare=_look_at,
        answers={200: serializers.Webhook},
        all_users_for=Scope.WRITE,
    )
    def patch(self, call: Call, webhook_id: str) -> Response:
        changes = {name: value for name, value in call.data.items() if name != "user_id"}
        webhook = webhooks.find(webhook_id, user=call.user)
        return Response(rendering.webhook(webhooks.change(webhook, changes=changes)))

    @endpoint(
        summary="Take a webhook away, with its log",
        takes=Personal,
        answers={200: serializers.RemovedWebhook},
        all_users_for=Scope.FORGET,
        strict=True,
    )
    def delete(self, call: Call, webhook_id: str) -> Response:
        return _removed(call, webhook_id)


def _removed(call: Call, webhook_id: str) -> Response:
    webhooks.remove(webhooks.find(webhook_id, user=call.user))
    return Response({"status": "removed", "id": webhook_id})


class DeliveriesView(MemcenterView):
    @endpoint(
        summary="What a webhook was told and how that went, newest first",
        takes=Personal,
        answers={200: page_of(serializers.Delivery)},
        all_users_for=Scope.READ,
        paged=True,
    )
    def get(self, call: Call, webhook_id: str) -> Response:
        rows = webhooks.log_of(webhooks.find(webhook_id, user=call.user))
        return Response(call.page.of(rows, order=_NEWEST, show=rendering.delivery))


class WebhookTestView(MemcenterView):
    @endpoint(
        summary="Send the address a test message",
        takes=Personal,
        answers={202: serializers.Delivery},
        all_users_for=Scope.WRITE,
    )
    def post(self, call: Call, webhook_id: str) -> Response:
        delivery = webhooks.try_out(webhooks.find(webhook_id, user=call.user))
        return Response(rendering.delivery(delivery), status=202)
