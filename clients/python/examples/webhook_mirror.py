"""Mirror a user's memories into SQLite with webhooks, even if this program is restarted.

    python webhook_mirror.py mirror.db whk_... SECRET http://127.0.0.1:8000 mc_... ana

Three rules keep the mirror complete:

- A message is stored before it is answered, so an answered message is never lost.
- The message id is the primary key, so a message that arrives twice is processed once.
- At the start the log of deliveries is compared with the stored messages. If a message is missing,
  all memories are read again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from memcenter_client import MemoryCenter, MemoryCenterError

SCHEMA = """
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS inbox (id TEXT PRIMARY KEY, body TEXT NOT NULL, done_at REAL);
CREATE TABLE IF NOT EXISTS memory (id TEXT PRIMARY KEY, content TEXT NOT NULL);
"""
FRESH_SECONDS = 300


class Mirror:
    def __init__(self, path: str, *, center: MemoryCenter, webhook_id: str, secret: str) -> None:
        self.database = sqlite3.connect(path)
        self.database.executescript(SCHEMA)
        self.center, self.webhook_id, self.secret = center, webhook_id, secret

    def receive(self, body: bytes, signature: str) -> bool:
        """Store a message if its signature is valid. Return whether the signature is valid."""
        if not is_genuine(body, signature, self.secret):
            return False
        with self.database:
            message = json.loads(body)
            self.database.execute(
                "INSERT OR IGNORE INTO inbox (id, body) VALUES (?, ?)", (message["id"], body)
            )
        return True

    def work(self) -> int:
        """Process the waiting messages and return their number."""
        waiting = self.database.execute("SELECT id, body FROM inbox WHERE done_at IS NULL")
        rows = waiting.fetchall()
        for message_id, body in rows:
            change = json.loads(body)
            content = self._content_of(change) if "memory_id" in change else None
            with self.database:  # change and mark in one transaction
                if "memory_id" in change:
                    self._put(change["memory_id"], content)
                done = "UPDATE inbox SET done_at = ? WHERE id = ?"
                self.database.execute(done, (time.time(), message_id))
        return len(rows)

    def catch_up(self) -> int:
        """Read all memories again if deliveries are missing. Return how many are missing."""
        known = {row[0] for row in self.database.execute("SELECT id FROM inbox")}
        path = f"/webhooks/{self.webhook_id}/deliveries"
        missed = {delivery["id"] for delivery in self.center.pages(path)} - known
        if missed:
            memories = [(memory["id"], memory["content"]) for memory in self.center.memories()]
            with self.database:
                self.database.execute("DELETE FROM memory")
                self.database.executemany("INSERT INTO memory VALUES (?, ?)", memories)
                rows = [(message_id, "{}", time.time()) for message_id in missed]
                self.database.executemany("INSERT OR IGNORE INTO inbox VALUES (?, ?, ?)", rows)
        return len(missed)

    def _content_of(self, change: dict[str, Any]) -> str | None:
        """Return the memory's current text from the API, since messages may arrive out of order.

        Return None if the memory is no longer in use.
        """
        try:
            memory = self.center.get_memory(change["memory_id"])
        except MemoryCenterError as error:
            if error.status != 404:
                raise  # the message stays in the inbox
            return None
        is_there = memory["status"] == "active" and memory["deleted_at"] is None
        return memory["content"] if is_there else None

    def _put(self, memory_id: str, content: str | None) -> None:
        self.database.execute("DELETE FROM memory WHERE id = ?", (memory_id,))
        if content is not None:
            self.database.execute("INSERT INTO memory VALUES (?, ?)", (memory_id, content))


def is_genuine(body: bytes, header: str, secret: str) -> bool:
    parts = dict(part.split("=", 1) for part in header.split(",") if "=" in part)
    signed = parts.get("t", "").encode() + b"." + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    is_fresh = abs(time.time() - int(parts.get("t") or 0)) < FRESH_SECONDS
    return is_fresh and hmac.compare_digest(expected, parts.get("v1", ""))


def serve(mirror: Mirror, port: int) -> None:
    """Answer each message before processing it, since deliveries to a slow server are suspended."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            genuine = mirror.receive(body, self.headers.get("X-Memcenter-Signature", ""))
            self.send_response(204 if genuine else 403)
            self.end_headers()

    with HTTPServer(("127.0.0.1", port), Handler) as server:
        server.timeout = 1.0
        mirror.catch_up()
        while True:
            mirror.work()
            server.handle_request()


if __name__ == "__main__":
    path, webhook_id, secret, address, key, user_id = sys.argv[1:]
    with MemoryCenter(address, key, user_id) as center:
        serve(Mirror(path, center=center, webhook_id=webhook_id, secret=secret), 8010)
