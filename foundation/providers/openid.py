"""Sign-in with an account at an OpenID Connect provider, through the package Authlib.

Authlib performs the discovery and the code flow with PKCE, state and nonce, and checks the
signature, issuer, audience and age of the ID token. Only the ID token is trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from foundation.errors import ProviderError

_SECONDS = 10


@dataclass(frozen=True)
class Claims:
    """The identity of a person according to the provider.

    `sub` is the provider's permanent id of the person; `email` is empty unless the provider has
    verified it.
    """

    issuer: str
    sub: str
    email: str = ""
    name: str = ""


def is_on() -> bool:
    return bool(settings.OIDC_ISSUER)


def shown_name() -> str:
    return settings.OIDC_NAME or urlsplit(settings.OIDC_ISSUER).netloc


def redirect_to_provider(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider's sign-in page. Raise `ProviderError` if it can't be reached."""
    back = settings.PUBLIC_URL.rstrip("/") + reverse("oidc_return")
    with _converting_failures():
        response: HttpResponse = _provider().authorize_redirect(request, back)
        return response


def read_claims(request: HttpRequest) -> Claims:
    """Return the identity of the person who has just signed in at the provider.

    Raise `ProviderError` if the sign-in failed or the ID token isn't valid.
    """
    with _converting_failures():
        claims: dict[str, Any] = _provider().authorize_access_token(request)["userinfo"]
        if str(claims["iss"]).rstrip("/") != settings.OIDC_ISSUER:
            raise ValueError("The ID token is from another issuer.")
        is_verified = claims.get("email_verified") in (True, "true")
        return Claims(
            settings.OIDC_ISSUER,
            str(claims["sub"]),
            email=str(claims.get("email") or "") if is_verified else "",
            name=str(claims.get("name") or ""),
        )


@contextmanager
def _converting_failures() -> Iterator[None]:
    """Convert the expected failures of a sign-in to `ProviderError`.

    The message names only the type of the original exception, whose own message may quote input.
    """
    # Imported late, since they are large and most instances have no provider.
    from authlib.common.errors import AuthlibBaseError
    from joserfc.errors import JoseError
    from requests import RequestException

    try:
        yield
    except (
        AuthlibBaseError,
        JoseError,
        RequestException,
        RuntimeError,
        KeyError,
        TypeError,
        ValueError,
    ) as error:
        words = f"Signing in by the provider failed: {type(error).__name__}"
        raise ProviderError(words, retryable=False) from None


def _provider() -> Any:
    return _registered_client(
        settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET
    )


@cache
def _registered_client(issuer: str, client_id: str, client_secret: str) -> Any:
    from authlib.integrations.django_client import OAuth

    return OAuth().register(
        "oidc",
        client_id=client_id,
        client_secret=client_secret,
        server_metadata_url=f"{issuer}/.well-known/openid-configuration",
        client_kwargs={
            "scope": "openid email profile",
            "code_challenge_method": "S256",
            "default_timeout": _SECONDS,
        },
    )
