"""A real server on loopback that speaks OpenAI's chat completions and misbehaves when told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What comes back for one request; `silent` never answers, `cut` breaks off in the body.

    `held` is the rest of the body, which comes when the server's `released` is set.
    """

    body: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    silent: bool = False
    cut: bool = False
    held: str = ""


def said(text: object, *, finish: str = "stop", usage: object = (7, 5)) -> Answer:
    """A completion whose message is `text`, or its JSON where it isn't a text."""
    content = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    return completion([{"index": 0, "message": _message(content), "finish_reason": finish}], usage)


def completion(choices: object, usage: object = (7, 5)) -> Answer:
    if isinstance(usage, tuple):
        usage = {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[1],
            "total_tokens": sum(usage),
        }
    value = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return Answer(json.dumps(value | {"choices": choices, "usage": usage}))


def refused(status: int, *, headers: Mapping[str, str] | None = None, **error: object) -> Answer:
    return Answer(json.dumps({"error": {"message": "no", **error}}), status, headers or {})


def streamed(*pieces: str, finished: bool = True) -> Answer:
    choices: list[dict[str, Any]] = [{"index": 0, "delta": {"content": one}} for one in pieces]
    if finished:
        choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    lines = [f"data: {json.dumps(chunk | {'choices': [one]})}\n\n" for one in choices]
    if finished:
        lines.append("data: [DONE]\n\n")
    return Answer("".join(lines), content_type="text/event-stream")


def halting(first: str, rest: str) -> Answer:
    """Streams the first words; the rest and the end come when the server is released."""
    begun, whole = streamed(first, finished=False).body, streamed(first, rest).body
    return Answer(begun, content_type="text/event-stream", held=whole.removeprefix(begun))


def _message(content: str) -> dict[str, str]:
    return {"role": "assistant", "content": content}


class ChatServer:
    """Gives the answers in their order, the last one again and again; keeps what it was asked."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.by_step: dict[str, Answer] = {}
        self.asked: list[dict[str, Any]] = []
        self.named: list[str | None] = []
        self.released = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def stop(self) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def material(self, number: int = -1) -> dict[str, Any]:
        """The JSON that a question carried."""
        found: dict[str, Any] = json.loads(self.asked[number]["messages"][-1]["content"])
        return found

    def next_answer(self, question: dict[str, Any]) -> Answer:
        self.asked.append(question)
        fields = question.get("response_format", {}).get("json_schema", {}).get("schema", {})
        for name in fields.get("properties", {}):
            if name in self.by_step:
                return self.by_step[name]
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                server.named.append(self.headers.get("X-Request-ID"))
                answer = server.next_answer(json.loads(self.rfile.read(length)))
                if answer.silent:
                    server.released.wait(30)
                    return
                body, held = answer.body.encode(), answer.held.encode()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.content_type)
                self.send_header(
                    "Content-Length", str(len(body + held) + (100 if answer.cut else 0))
                )
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                if held and server.released.wait(30):
                    self.wfile.write(held)
                self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                """Nothing: pytest's output is for the tests."""

        return Handler


@contextmanager
def serving(*answers: Answer) -> Iterator[ChatServer]:
    server = ChatServer()
    server.answers = list(answers)
    try:
        yield server
    finally:
        server.stop()
