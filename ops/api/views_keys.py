"""API keys, created and revoked by a key with the scope `admin`."""

from __future__ import annotations

from rest_framework.response import Response

from memcenter.lib.errors import NotAllowed
from memcenter.rest.base import MemcenterView
from memcenter.rest.description.schema import page_of
from memcenter.rest.endpoint import CREATE, EMPTY, Call, endpoint
from memcenter.rest.pagination import Order
from memcenter.rest.requests.fields import Personal
from memcenter.rest.requests.idempotency import UnstoredResponse
from ops.accounts import keys
from ops.api import rendering, serializers
from ops.models import Scope

_NEWEST = Order("id")


class KeysView(MemcenterView):
    """An unbound key that names no user manages the keys of the whole product."""

    @endpoint(
        summary="List the keys of the product, or of a user, newest first",
        takes=Personal,
        answers={200: page_of(serializers.Key)},
        scope=Scope.ADMIN,
        all_users_for=Scope.ADMIN,
        paged=True,
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        return Response(call.page.of(keys.of(call.user), order=_NEWEST, show=rendering.key))

    @endpoint(
        summary="Make a key for the product, or bound to a user; its text is shown this once",
        takes=serializers.KeyInput,
        answers={201: serializers.NewKey},
        scope=Scope.ADMIN,
        unknown_user=CREATE,
        all_users_for=Scope.ADMIN,
    )
    def post(self, call: Call) -> Response:
        scopes = call.data["scopes"]
        _check_not_more(call, scopes, requires_user=call.data.get("requires_user", False))
        made, text = keys.create(
            name=call.data["name"],
            scopes=scopes,
            user=call.user,
            expires_at=call.data.get("expires_at"),
            requires_user=call.data.get("requires_user", False),
        )
        # Storing the answer for repeated calls would leave the key in our database.
        return UnstoredResponse({**rendering.key(made), "key": text}, status=201)


class KeyView(MemcenterView):
    @endpoint(
        summary="One key: what it may do, until when, when it was last used; never its text",
        takes=Personal,
        answers={200: serializers.Key},
        scope=Scope.ADMIN,
        all_users_for=Scope.ADMIN,
    )
    def get(self, call: Call, key_id: str) -> Response:
        return Response(rendering.key(keys.find(key_id, user=call.user)))

    @endpoint(
        summary="Give a key another name, other scopes or another end",
        takes=serializers.KeyChange,
        answers={200: serializers.Key},
        scope=Scope.ADMIN,
        all_users_for=Scope.ADMIN,
    )
    def patch(self, call: Call, key_id: str) -> Response:
        requires_user = call.data.get("requires_user", True)
        _check_not_more(call, call.data.get("scopes", ()), requires_user=requires_user)
        changes = {name: value for name, value in call.data.items() if name != "user_id"}
        key = keys.change(keys.find(key_id, user=call.user), changes=changes)
        return Response(rendering.key(key))

    @endpoint(
        summary="Revoke a key: from now on it opens nothing",
        takes=Personal,
        answers={200: serializers.RevokedKey},
        scope=Scope.ADMIN,
        all_users_for=Scope.ADMIN,
        strict=True,
    )
    def delete(self, call: Call, key_id: str) -> Response:
        keys.revoke(keys.find(key_id, user=call.user))
        return Response({"status": "revoked", "id": key_id})


def _check_not_more(
    call: Call, scopes: list[str] | tuple[str, ...], *, requires_user: bool
) -> None:
    """Refuse to create a key with more permissions than the calling key has."""
    key = call.asked.key
    if key is not None and key.requires_user and call.user is None and not requires_user:
        raise NotAllowed("This key requires a user and can't make one that doesn't.")
    own = key.scopes if key else []
    if more := sorted(set(scopes) - set(own)):
        raise NotAllowed(f"This key lacks the scope “{more[0]}” and can't give it.")
