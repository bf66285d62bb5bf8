"""A request goes to the checked address, with the certificate of the host that the URL names."""

from __future__ import annotations

import datetime
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ops import webhooks

HOST = "hooks.example"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A file with a certificate for HOST, signed by its own key, and this key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "certificate.pem"
    path.write_bytes(
        signed.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path


@pytest.fixture
def port(settings: Any, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a TLS server on this machine; every name leads to it."""
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, port, *_, **more: [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port or 0))
        ],
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    with socket.create_server(("127.0.0.1", 0)) as server:
        serving = threading.Thread(target=answer_one, args=[server, context])
        serving.start()
        yield server.getsockname()[1]
        serving.join()


def answer_one(server: socket.socket, context: ssl.SSLContext) -> None:
    calling, _ = server.accept()
    with suppress(OSError), context.wrap_socket(calling, server_side=True) as secured:
        secured.recv(65_536)
        secured.sendall(ANSWER)
        while secured.recv(65_536):  # closing it with an unread body would reset the connection
            pass


@pytest.fixture
def trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = ssl.create_default_context
    monkeypatch.setattr(
        ssl, "create_default_context", lambda *purpose: real(*purpose, cafile=str(certificate))
    )


def post(url: str) -> int:
    return webhooks.post_to_address(webhooks.public_address(url), body=b"{}", headers={})


@pytest.mark.usefixtures("trusted")
def test_the_certificate_is_that_of_the_host_in_the_url(port: int) -> None:
    assert post(f"https://{HOST}:{port}/told") == 200


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("host", ["other.example", "127.0.0.1"])
def test_the_certificate_of_another_host_is_refused(port: int, host: str) -> None:
    with pytest.raises(webhooks.Unreachable, match="certificate"):
        post(f"https://{host}:{port}/told")


def test_a_certificate_that_nobody_signed_is_refused(port: int) -> None:
    with pytest.raises(webhooks.Unreachable, match="certificate"):
        post(f"https://{HOST}:{port}/told")


def test_a_proxy_of_the_environment_is_not_used(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy would look up the name again, and connect to whatever it finds."""
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with pytest.raises(webhooks.Unreachable, match="certificate"):
        post(f"https://{HOST}:{port}/told")
