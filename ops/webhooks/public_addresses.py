"""Outgoing HTTP to public addresses only, checked again for every request.

A name may resolve to another address each time (DNS rebinding), so the connection is made to the
address that was checked.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.utils.translation import gettext_noop

from memcenter.lib.errors import Invalid

# A delivery occupies a worker, which must not wait for long.
LOOKUP_SECONDS, CONNECT_SECONDS, ANSWER_SECONDS = 3.0, 3.0, 5.0
# A server that sends byte by byte would never hit the time-outs above.
_PATIENCE_SECONDS = 8.0
_READ_BYTES = 65_536
_looking_up = threading.BoundedSemaphore(8)
# These embed an IPv4 address, which may be private.
_CARRIERS = [ipaddress.ip_network(one) for one in ("64:ff9b::/96", "2002::/16", "2001::/32")]
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Unreachable(Exception):
    """The request could not be sent; the message gives the reason in our own words."""


class TooSlow(Unreachable):
    """The request timed out; the receiver may have processed it."""


@dataclass(frozen=True)
class Place:
    """A checked IP address with the host name that resolved to it."""

    url: SplitResult
    address: str
    port: int


def problem_with(url: str, *, longest: int) -> str:
    """Return what is wrong with an address in one sentence, or an empty string.

    A name that does not resolve now is accepted, since it is checked again before each request.
    """
    try:
        parts = _parts(url, longest=longest)
    except Invalid as error:
        return error.message
    try:
        found = _resolved(parts)
    except Unreachable:
        return ""
    return "" if all(map(_is_open, found)) else _PRIVATE


def problem_by_itself(url: str, *, longest: int) -> str:
    """Do the same without a DNS query, for use inside a transaction."""
    try:
        address = _literal(_parts(url, longest=longest))
    except Invalid as error:
        return error.message
    return "" if address is None or _is_open(address) else _PRIVATE


_TOOK_TOO_LONG = gettext_noop("The address took too long to answer.")
_PRIVATE = gettext_noop("This leads to a private address. Webhooks are only sent to public ones.")


def place_of(url: str) -> Place:
    """Resolve and check a host. Raises `Unreachable` if any of its addresses is forbidden."""
    try:
        parts = _parts(url, longest=len(url))
    except Invalid as error:
        raise Unreachable(error.message) from error
    found = _resolved(parts)
    if not all(map(_is_open, found)):
        raise Unreachable(_PRIVATE)
    return Place(parts, str(found[0]), _port(parts))


def post(place: Place, *, body: bytes, headers: Mapping[str, str]) -> int:
    """Send without following redirects; return the status within 8 s. Raises `Unreachable`."""
    connection = _connection(place)
    over = threading.Event()
    alarm = threading.Timer(_PATIENCE_SECONDS, _hang_up, [connection, over])
    alarm.daemon = True
    alarm.start()
    try:
        path = place.url.path or "/"
        asked = f"{path}?{place.url.query}" if place.url.query else path
        connection.request("POST", asked, body=body, headers=dict(headers))
        answer = connection.getresponse()
        answer.read(_READ_BYTES)
        return answer.status
    except ssl.SSLError as error:
        if over.is_set():
            raise TooSlow(_TOOK_TOO_LONG) from error
        raise Unreachable("The certificate of the address is not valid.") from error
    except TimeoutError as error:
        raise TooSlow(_TOOK_TOO_LONG) from error
    except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
        if over.is_set():
            raise TooSlow(_TOOK_TOO_LONG) from error
        raise Unreachable("The address could not be reached.") from error
    finally:
        alarm.cancel()
        connection.close()


def _connection(place: Place) -> http.client.HTTPConnection:
    """Connect to the checked address; the name is used for headers and the certificate only."""
    secure = place.url.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(place.url.hostname or "", place.port, timeout=ANSWER_SECONDS)

    def connect() -> None:
        plain = socket.create_connection((place.address, place.port), CONNECT_SECONDS)
        plain.settimeout(ANSWER_SECONDS)
        connection.sock = plain
        if secure:
            context = ssl.create_default_context()
            connection.sock = context.wrap_socket(plain, server_hostname=place.url.hostname)

    connection.connect = connect  # type: ignore[method-assign]
    return connection


def _hang_up(connection: http.client.HTTPConnection, over: threading.Event) -> None:
    """Shut the socket down, since closing alone would not wake a blocked reader."""
    over.set()
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)


def _parts(url: str, *, longest: int) -> SplitResult:
    """Raises `Invalid`."""
    try:
        parts = urlsplit(url)
        _port(parts)
    except ValueError as error:
        raise Invalid("This is not an address.") from error
    plain = url.isascii() and url.isprintable() and " " not in url and "\\" not in url
    if not plain or parts.scheme not in ("http", "https") or not parts.hostname:
        raise Invalid("Give an address that begins with https:// or http://.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise Invalid("The address must not hold a name, a password or a fragment.")
    if len(url) > longest:
        raise Invalid(f"At most {longest} characters.")
    return parts


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _resolved(parts: SplitResult) -> list[_Address]:
    """Return every address of the name. Raises `Unreachable`."""
    if (literal := _literal(parts)) is not None:
        return [literal]
    try:
        found = _looked_up(parts.hostname or "")
    except TimeoutError as error:
        raise TooSlow("The name of the address took too long to look up.") from error
    except (OSError, UnicodeError) as error:
        raise Unreachable("The name of the address is not known.") from error
    return [ipaddress.ip_address(one.split("%")[0]) for one in found]


def _literal(parts: SplitResult) -> _Address | None:
    try:
        return ipaddress.ip_address((parts.hostname or "").split("%")[0])
    except ValueError:
        return None


def _looked_up(name: str) -> list[str]:
    """Call `getaddrinfo` in a thread and wait at most 3 s, since it has no time-out.

    Raises `TimeoutError`, also if too many threads are waiting for slow names already.
    """
    if not _looking_up.acquire(timeout=LOOKUP_SECONDS):
        raise TimeoutError
    found: Future[list[str]] = Future()

    def ask() -> None:
        try:
            known = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
            found.set_result([str(one[4][0]) for one in known])
        except (OSError, UnicodeError) as error:
            found.set_exception(error)
        finally:
            _looking_up.release()

    threading.Thread(target=ask, daemon=True, name="look-up").start()
    return found.result(timeout=LOOKUP_SECONDS)


def _is_open(address: _Address) -> bool:
    if settings.WEBHOOKS_MAY_BE_PRIVATE:
        return True
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return _is_open(address.ipv4_mapped)
        if any(address in one for one in _CARRIERS):
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved
