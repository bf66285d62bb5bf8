"""REST views for webhooks and their deliveries, user settings, sign-in links and API keys."""

from __future__ import annotations

from django.conf import settings
from django.urls import reverse
from rest_framework.response import Response

from foundation.errors import NotAllowed
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import CREATE, EMPTY, Call, endpoint
from memcenter.rest.fields import Personal
from memcenter.rest.idempotency import UnstoredResponse
from memcenter.rest.pagination import Order
from ops import webhooks
from ops.accounts import keys, registration, users
from ops.api import serializers
from ops.models import Scope

_NEWEST = Order("id")


def _check_address(call: Call) -> None:
    if "url" in call.data:
        webhooks.check_address(call.data["url"])


class WebhooksView(MemcenterView):
    """List and create webhooks.

    A request with an API key that isn't bound to a user, and that names no user, concerns the
    webhooks of the whole installation.
    """

    @endpoint(
        summary="List the webhooks, newest first",
        takes=Personal,
        pages=serializers.Webhook,
        all_users_for=Scope.READ,
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        return Response(
            call.page.of(
                webhooks.list_webhooks(call.user),
                order=_NEWEST,
                show=serializers.Webhook.show,
            )
        )

    @endpoint(
        summary="Create a webhook; its signed messages contain only ids",
        takes=serializers.WebhookInput,
        answers={201: serializers.NewWebhook},
        prepare=_check_address,
        unknown_user=CREATE,
        all_users_for=Scope.WRITE,
    )
    def post(self, call: Call) -> Response:
        made = webhooks.create(
            user=call.user,
            url=call.data["url"],
            events=call.data["events"],
            secret=call.data.get("secret", ""),
            key=call.parsed.key,
        )
        # The secret is shown only once, so the answer isn't stored for repeated calls.
        return UnstoredResponse(serializers.NewWebhook.show(made), status=201)

    @endpoint(
        summary="Delete a webhook and its delivery log",
        takes=serializers.WebhookRemoval,
        answers={200: serializers.RemovedWebhook},
        all_users_for=Scope.FORGET,
        strict=True,
    )
    def delete(self, call: Call) -> Response:
        return _removed(call, call.data["id"])


class WebhookView(MemcenterView):
    @endpoint(
        summary="Get a webhook",
        takes=Personal,
        answers={200: serializers.Webhook},
        all_users_for=Scope.READ,
    )
    def get(self, call: Call, webhook_id: str) -> Response:
        return Response(serializers.Webhook.show(webhooks.find(webhook_id, user=call.user)))

    @endpoint(
        summary="Change a webhook; is_active switches it on or off",
        takes=serializers.WebhookChange,
        prepare=_check_address,
        answers={200: serializers.Webhook},
        all_users_for=Scope.WRITE,
    )
    def patch(self, call: Call, webhook_id: str) -> Response:
        changes = {name: value for name, value in call.data.items() if name != "user_id"}
        webhook = webhooks.find(webhook_id, user=call.user)
        return Response(serializers.Webhook.show(webhooks.change(webhook, changes=changes)))

    @endpoint(
        summary="Delete a webhook and its delivery log",
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
        summary="List the deliveries of a webhook, newest first",
        takes=Personal,
        pages=serializers.Delivery,
        all_users_for=Scope.READ,
    )
    def get(self, call: Call, webhook_id: str) -> Response:
        rows = webhooks.log_of(webhooks.find(webhook_id, user=call.user))
        return Response(call.page.of(rows, order=_NEWEST, show=serializers.Delivery.show))


class WebhookTestView(MemcenterView):
    @endpoint(
        summary="Send a test message to a webhook",
        takes=Personal,
        answers={202: serializers.Delivery},
        all_users_for=Scope.WRITE,
    )
    def post(self, call: Call, webhook_id: str) -> Response:
        delivery = webhooks.try_out(webhooks.find(webhook_id, user=call.user))
        return Response(serializers.Delivery.show(delivery), status=202)


class SettingsView(MemcenterView):
    @endpoint(
        summary="Get the settings of a user",
        takes=Personal,
        answers={200: serializers.Settings},
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        return Response(serializers.Settings.show(users.settings_of(call.user)))

    @endpoint(
        summary="Change the given settings",
        takes=serializers.SettingsInput,
        answers={200: serializers.Settings},
        unknown_user=CREATE,
    )
    def put(self, call: Call) -> Response:
        return _changed_settings(call)

    @endpoint(
        summary="Change the given settings",
        takes=serializers.SettingsInput,
        answers={200: serializers.Settings},
        unknown_user=CREATE,
    )
    def patch(self, call: Call) -> Response:
        return _changed_settings(call)


def _changed_settings(call: Call) -> Response:
    changes = {name: value for name, value in call.data.items() if name != "user_id"}
    row = users.change_settings(user=call.user, changes=changes)
    row.user = call.user  # saves a query
    return Response(serializers.Settings.show(row))


class SignInLinksView(MemcenterView):
    @endpoint(
        summary="Create a sign-in link that works once and expires after ten minutes",
        takes=serializers.SignInLinkInput,
        answers={201: serializers.SignInLink},
        scope=Scope.SIGNIN,
        unknown_user=CREATE,
    )
    def post(self, call: Call) -> Response:
        made = registration.make_link(
            user=call.user,
            next_page=call.data.get("next", ""),
            language=call.data.get("language", ""),
        )
        url = settings.PUBLIC_URL.rstrip("/") + reverse("sign_in_by_link", args=[made.token])
        # Storing the answer for repeated calls would leave the link in our database.
        return UnstoredResponse({"url": url, "expires_at": made.link.expires_at}, status=201)


class KeysView(MemcenterView):
    """List and create API keys.

    If the key of the request isn't bound to a user and the request names no user, the view lists
    and creates keys that aren't bound to a user.
    """

    @endpoint(
        summary="List the unbound API keys, or those of a user, newest first",
        takes=Personal,
        pages=serializers.Key,
        scope=Scope.ADMIN,
        all_users_for=Scope.ADMIN,
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        return Response(
            call.page.of(keys.keys_of(call.user), order=_NEWEST, show=serializers.Key.show)
        )

    @endpoint(
        summary="Create an API key, optionally bound to a user; the key is shown only once",
        takes=serializers.KeyInput,
        answers={201: serializers.NewKey},
        scope=Scope.ADMIN,
        unknown_user=CREATE,
        all_users_for=Scope.ADMIN,
    )
    def post(self, call: Call) -> Response:
        scopes = call.data["scopes"]
        _check_rights(call, scopes, requires_user=call.data.get("requires_user", False))
        made, text = keys.create(
            name=call.data["name"],
            scopes=scopes,
            user=call.user,
            expires_at=call.data.get("expires_at"),
            requires_user=call.data.get("requires_user", False),
        )
        # Storing the answer for repeated calls would leave the key in our database.
        return UnstoredResponse({**serializers.Key.show(made), "key": text}, status=201)


class KeyView(MemcenterView):
    @endpoint(
        summary="Get the details of an API key, without the key itself",
        takes=Personal,
        answers={200: serializers.Key},
        scope=Scope.ADMIN,
        all_users_for=Scope.ADMIN,
    )
    def get(self, call: Call, key_id: str) -> Response:
        return Response(serializers.Key.show(keys.find(key_id, user=call.user)))

    @endpoint(
        summary="Change the name, scopes or expiry of an API key",
        takes=serializers.KeyChange,
        answers={200: serializers.Key},
        scope=Scope.ADMIN,
        all_users_for=Scope.ADMIN,
    )
    def patch(self, call: Call, key_id: str) -> Response:
        requires_user = call.data.get("requires_user", True)
        _check_rights(call, call.data.get("scopes", ()), requires_user=requires_user)
        changes = {name: value for name, value in call.data.items() if name != "user_id"}
        key = keys.change(keys.find(key_id, user=call.user), changes=changes)
        return Response(serializers.Key.show(key))

    @endpoint(
        summary="Revoke an API key",
        takes=Personal,
        answers={200: serializers.RevokedKey},
        scope=Scope.ADMIN,
        all_users_for=Scope.ADMIN,
        strict=True,
    )
    def delete(self, call: Call, key_id: str) -> Response:
        keys.revoke(keys.find(key_id, user=call.user))
        return Response({"status": "revoked", "id": key_id})


def _check_rights(call: Call, scopes: list[str] | tuple[str, ...], *, requires_user: bool) -> None:
    key = call.parsed.key
    if key is not None and key.requires_user and call.user is None and not requires_user:
        raise NotAllowed("This key requires a user and can't make one that doesn't.")
    own = key.scopes if key else []
    if more := sorted(set(scopes) - set(own)):
        raise NotAllowed(f"This key lacks the scope “{more[0]}” and can't give it.")
