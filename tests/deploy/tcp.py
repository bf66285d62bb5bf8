"""A unix socket by TCP: databases listen where only their own user may ask, containers can't."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def port_to(path: Path) -> Iterator[int]:
    """A port of this machine that leads to the socket, until the end of this."""

    class Caller(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.socket(socket.AF_UNIX) as far:
                far.connect(str(path))
                back = threading.Thread(target=_carry, args=(far, self.request), daemon=True)
                back.start()
                _carry(self.request, far)
                back.join()

    with _Server(("127.0.0.1", 0), Caller) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield int(server.server_address[1])
        server.shutdown()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False


def _carry(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while said := source.recv(65_536):
            target.sendall(said)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
