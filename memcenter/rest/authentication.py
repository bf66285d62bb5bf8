"""Authentication by API key, and the permission that checks a key's scopes."""

import re
from typing import TYPE_CHECKING

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from foundation.errors import NotAllowed
from ops.accounts import keys
from ops.models import ApiKey, User

if TYPE_CHECKING:
    from rest_framework.views import APIView

    from memcenter.rest.base import MemcenterView


_WORDS = ("bearer", "token")
_LOOKED_AT = 65_536  # largest body, in bytes, to search for the person's id
_NAMED = re.compile(rb'"user_id"\s*:\s*"([^"\\\x00-\x1f]{1,256})"')


class KeyAuthentication(BaseAuthentication):
    """Reads `Authorization: Bearer mc_…` (also `Token`) or `X-API-Key: mc_…`.

    `request.auth` is the key; `request.user` is the person to whom the key is bound, or None.
    `request.person` is the person that the key or the call seems to name, loaded together with the
    key. Whether the call really concerns this person is decided later, in `people.resolve_person`.
    """

    def authenticate(self, request: Request) -> tuple[User | None, ApiKey] | None:
        text = _key_text(request)
        if text is None:
            return None
        found = keys.authenticate_call(text, named=_named(request), extra=_extra(request))
        key, person = found or (None, None)
        if key is None or (key.user is not None and not key.user.is_active):
            raise AuthenticationFailed("This API key is not valid.")
        request.person = person  # type: ignore[attr-defined]
        return key.user, key

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="Memory Center"'


def _key_text(request: Request) -> str | None:
    word, _, text = request.META.get("HTTP_AUTHORIZATION", "").strip().partition(" ")
    if word.lower() in _WORDS:
        return str(text).strip()
    text = request.META.get("HTTP_X_API_KEY", "")
    return str(text) or None


def _extra(request: Request) -> str:
    context = getattr(request, "parser_context", None) or {}
    endpoint = getattr(context.get("view"), "endpoint", None)
    return getattr(endpoint, "with_person", "")


def _named(request: Request) -> str | None:
    """Return the person's id from the query string or else from the body, without verifying it.

    Multipart bodies and bodies of more than `_LOOKED_AT` bytes aren't searched.
    """
    if not isinstance(request, Request):
        return None
    name = request.query_params.get("user_id")
    if name is None and request.META.get("CONTENT_TYPE", "").partition("/")[0] != "multipart":
        size = request.META.get("CONTENT_LENGTH") or ""
        if size.isdecimal() and 0 < int(size) <= _LOOKED_AT:
            match = _NAMED.search(request._request.body)
            name = match[1].decode(errors="replace") if match else None
    return name if name and "\x00" not in name else None


class HasScope(BasePermission):
    """Requires that the key has the scope of the endpoint. Callers without a key get 401.

    If the endpoint's `without_key` names a query parameter, calls with this parameter need no
    key.
    """

    def has_permission(self, request: Request, view: "APIView | MemcenterView") -> bool:
        endpoint = getattr(view, "endpoint", None)
        if endpoint is None:
            return request.auth is not None  # an unsupported method: 405 if the key is valid
        if endpoint.without_key is not None and endpoint.without_key in request.query_params:
            return True
        key = request.auth
        if not isinstance(key, ApiKey):
            return False
        if endpoint.scope not in key.scopes:
            raise NotAllowed(f"This key lacks the scope “{endpoint.scope}”.")
        return True
