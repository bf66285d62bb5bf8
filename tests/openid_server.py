"""A real OpenID Connect provider on loopback: discovery, authorize, token and keys."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwk, jwt

CLIENT, SECRET = "memory-center", "kept between the two"


class Provider:
    """Says of whoever comes what `claims` holds; `key` signs, `published` is what it shows."""

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {"sub": "f81d4fae"}
        self.key = self.published = jwk.RSAKey.generate_key(2048, {"kid": "one"})
        self.down = False
        self._asked: dict[str, dict[str, str]] = {}
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def page(self, address: str) -> str:
        """What its own page does once the person has said yes: the address that leads back."""
        asked = {name: one[0] for name, one in parse_qs(urlsplit(address).query).items()}
        assert asked["client_id"] == CLIENT and asked["code_challenge_method"] == "S256"
        code = secrets.token_hex(8)
        self._asked[code] = asked
        back = urlsplit(asked["redirect_uri"])
        return f"{back.path}?{urlencode({'code': code, 'state': asked['state']})}"

    def answer(self, path: str, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        """None: refused."""
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "id_token_signing_alg_values_supported": ["RS256"],
            }
        if path == "/keys":
            return {"keys": [self.published.as_dict(private=False)]}
        return self._token(form, authorization)

    def _token(self, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        asked = self._asked.pop(form.get("code", ""), None)
        wanted = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        proof = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(proof).decode().rstrip("=")
        if (
            not asked
            or authorization != f"Basic {wanted}"
            or asked["code_challenge"] != challenge
            or asked["redirect_uri"] != form["redirect_uri"]
        ):
            return None
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 60}
        claims |= {"nonce": asked["nonce"]} | self.claims
        token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)
        return {"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": token}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                given = parse_qs(self.rfile.read(length).decode())
                form = {name: one[0] for name, one in given.items()}
                told = provider.answer(self.path, form, self.headers.get("Authorization", ""))
                status = 503 if provider.down else 200 if told is not None else 400
                body = json.dumps(told or {"error": "invalid_grant"}).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *args: object) -> None:
                pass

        return Handler

    @contextmanager
    def serving(self) -> Iterator[Provider]:
        thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            self._http.server_close()
            thread.join()
