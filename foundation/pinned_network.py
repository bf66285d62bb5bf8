"""Connections to a single, already checked IP address, with one deadline for the whole request.

Import this module only where a request is sent, since `httpcore2` occupies 2 MB of memory.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable
from typing import Any

import httpcore2


class PinnedBackend(httpcore2.NetworkBackend):
    """Connects to `address`, whatever host is requested.

    The host name isn't resolved again; it is used only for the headers and the certificate.
    `deadline` is a point in time of `time.monotonic`.
    """

    def __init__(self, address: str, *, deadline: float) -> None:
        self._address = address
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        timeout = _within(timeout, self._deadline)
        stream = httpcore2.SyncBackend().connect_tcp(self._address, port, timeout)
        return _Stream(stream, self._deadline)


class _Stream(httpcore2.NetworkStream):
    """A stream whose reads and writes all end by the deadline.

    A time-out for each read isn't enough: a server that sends one byte at a time never exceeds it.
    """

    def __init__(self, stream: httpcore2.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _within(timeout, self._deadline))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _within(timeout, self._deadline))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        timeout = _within(timeout, self._deadline)
        return _Stream(
            self._stream.start_tls(ssl_context, server_hostname, timeout), self._deadline
        )

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _within(timeout: float | None, deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore2.ReadTimeout("The deadline is over.")
    return left if timeout is None else min(timeout, left)
