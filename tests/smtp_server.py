"""A mail server on a free port that keeps what it is sent, and refuses what a test wants."""

from __future__ import annotations

import email
import queue
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default


@dataclass
class Mailbox:
    """`answers` are given to the next mails instead of taking them; an empty one hangs up."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    answers: list[bytes] = field(default_factory=list)
    unknown: set[bytes] = field(default_factory=set)
    arrived: queue.Queue[EmailMessage] = field(default_factory=queue.Queue)

    def next_mail(self) -> EmailMessage:
        """Wait for the next mail."""
        return self.arrived.get(timeout=60)


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self._say(b"220 here")
        for line in self.rfile:
            command = line[:4].upper()
            if command == b"DATA":
                self._say(b"354 go on")
                if not self._take():
                    return
            elif command == b"RCPT" and any(one in line for one in self._box.unknown):
                self._say(b"550 nobody of that name")
            else:
                self._say(b"221 bye" if command == b"QUIT" else b"250 yes")

    def _take(self) -> bool:
        text = b"".join(iter(self.rfile.readline, b".\r\n"))
        answer = self._box.answers.pop(0) if self._box.answers else b"250 taken"
        if answer.startswith(b"250"):
            found = email.message_from_bytes(text, policy=default)
            assert isinstance(found, EmailMessage)
            self._box.mails.append(found)
            self._box.arrived.put(found)
        if answer:
            self._say(answer)
        return bool(answer)

    def _say(self, line: bytes) -> None:
        self.wfile.write(line + b"\r\n")

    @property
    def _box(self) -> Mailbox:
        found: Mailbox = self.server.box  # type: ignore[attr-defined]
        return found


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    box = Mailbox()
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        server.box = box  # type: ignore[attr-defined]
        box.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield box
        server.shutdown()
        thread.join()
