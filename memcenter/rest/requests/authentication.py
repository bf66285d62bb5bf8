"""Authentication by API key."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from ops.accounts import keys
from ops.models import ApiKey, User

_WORDS = ("bearer", "token")


class KeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer mc_…` (also `Token`) or `X-API-Key: mc_…`.

    `request.auth` is the key, `request.user` its bound person or None.
    """

    def authenticate(self, request: Request) -> tuple[User | None, ApiKey] | None:
        text = _key_text(request)
        if text is None:
            return None
        key = keys.authenticate(text)
        if key is None or (key.user is not None and not key.user.is_active):
            raise AuthenticationFailed("This API key is not valid.")
        return key.user, key

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="Memory Center"'


def _key_text(request: Request) -> str | None:
    word, _, text = request.META.get("HTTP_AUTHORIZATION", "").strip().partition(" ")
    if word.lower() in _WORDS:
        return str(text).strip()
    text = request.META.get("HTTP_X_API_KEY", "")
    return str(text) or None
