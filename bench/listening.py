"""A place that webhooks are sent to: it takes everything."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Taker(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_given: object) -> None:
        """Nothing."""


def start() -> ThreadingHTTPServer:
    """It runs until `shutdown`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Taker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
