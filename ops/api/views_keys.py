"""API keys, made and revoked by a key that has the scope `admin`."""

from __future__ import annotations

from rest_framework.response import Response

from memcenter.lib.errors import NotAllowed
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import CREATE, Call, endpoint
from memcenter.rest.fields import Personal
from memcenter.rest.idempotency import Passing
from memcenter.rest.pagination import Order
from memcenter.rest.schema import page_of
from ops.api import serializers, shown
from ops.models import Scope
from ops.services import keys

_NEWEST = Order("id")


class KeysView(MemcenterView):
    """A key that is bound to nobody and names nobody sees to the product's own keys."""

    @endpoint(
        summary="List the keys of the product, or of a user, newest first",
        takes=Personal,
        answers={200: page_of(serializers.Key)},
        scope=Scope.ADMIN,
        all_users_for=Scope.ADMIN,
        paged=True,
    )
    def get(self, call: Call) -> Response:
        return Response(call.page.of(keys.of(call.user), order=_NEWEST, show=shown.key))

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
        # Kept to be given again, the key would lie in our database.
        return Passing({**shown.key(made), "key": text}, status=201)


class KeyView(MemcenterView):
    @endpoint(
        summary="One key: what it may do, until when, when it was last used; never its text",
        takes=Personal,
        answers={200: serializers.Key},
        scope=Scope.ADMIN,
        all_users_for=Scope.ADMIN,
    )
    def get(self, call: Call, key_id: str) -> Response:
        return Response(shown.key(keys.find(key_id, user=call.user)))

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
        return Response(shown.key(key))

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
    """Whoever makes keys gives nobody more than they may do themselves."""
    key = call.asked.key
    if key is not None and key.requires_user and call.user is None and not requires_user:
        raise NotAllowed("This key requires a user and can't make one that doesn't.")
    own = key.scopes if key else []
    if more := sorted(set(scopes) - set(own)):
        raise NotAllowed(f"This key lacks the scope “{more[0]}” and can't give it.")
