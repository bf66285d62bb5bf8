"""Do concurrent clients of the same few people cause errors or deadlocks?

    .venv/bin/python bench/races.py [--calls 10000] [--clients 8] [--people 3]

Each client makes random calls for random people over its own connection: turns, recalls, searches,
writing, editing, recycling and forgetting memories, forgetting messages, conversations and
projects, files, notes, settings, flushes, exports, and rarely forgetting a whole person. The worker
runs meanwhile. Answers that result from a faster client (404, 409, 412) are allowed. The run fails
on an answer of 500 or above, a broken connection, a failed or unfinished operation, and a deadlock
or a planted word in the logs.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import select
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.product import print_result, running
from foundation.embedded.folder import DataFolder

WORD = "quokkafern"  # part of every written text, and of nothing else
_PLACES = ("Porto", "Lyon", "Brno", "Turku", "Ghent", "Cork")
_DEADLOCK = "deadlock detected"
_SETTLE_SECONDS = 900
_KNOWN = 200  # newest ids that are kept of each kind


@dataclass
class Someone:
    """The ids of one person's data; all clients share them."""

    name: str
    memories: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def learn(self, ids: list[str], *found: str) -> None:
        ids.extend(found)
        del ids[:-_KNOWN]


@dataclass
class AnswerCounts:
    """Counts of answers by call and status. `broken` lists answers that must not occur."""

    answers: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)


@dataclass
class Racer:
    """One client. Each act makes one call, or two to edit a file."""

    port: int
    key: str
    people: Sequence[Someone]
    outcome: AnswerCounts
    dice: random.Random

    def __post_init__(self) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        self._acts: dict[Callable[[Someone], None], int] = {
            self.turn: 24,
            self.message: 4,
            self.context: 14,
            self.search: 6,
            self.add: 12,
            self.edit: 7,
            self.pin: 3,
            self.forget_memory: 4,
            self.recycle: 3,
            self.forget_message: 4,
            self.forget_conversation: 2,
            self.clear: 1,
            self.forget_project: 1,
            self.forget_layer: 1,
            self.settings: 3,
            self.append: 3,
            self.edit_file: 2,
            self.use_file_tool: 2,
            self.flush: 1,
            self.rate: 2,
            self.export: 1,
        }

    def race(self, count: int, *, leaving: float = 0.001) -> None:
        acts, weights = list(self._acts), list(self._acts.values())
        for _ in range(count):
            someone = self.dice.choice(self.people)
            if self.dice.random() < leaving:
                self._post("/memory/forget", someone, scope="user")
            else:
                self.dice.choices(acts, weights)[0](someone)
        self._connection.close()

    def turn(self, who: Someone) -> None:
        answer = self._post(
            "/turns",
            who,
            conversation_id=self._conversation(),
            user_message=self._said(),
            assistant_message=f"I see, {WORD}.",
        )
        if "user_message_id" in answer:
            who.learn(who.messages, answer["user_message_id"], answer["assistant_message_id"])

    def message(self, who: Someone) -> None:
        path = f"/conversations/{self._conversation()}/messages"
        self._post(path, who, content=self._said(), role=self.dice.choice(["user", "assistant"]))

    def context(self, who: Someone) -> None:
        body = {"message": f"Where is {WORD} now?", "conversation_id": self._conversation()}
        self._post("/memory/context", who, **body)

    def search(self, who: Someone) -> None:
        self._call("GET", "/search", query={"user_id": who.name, "query": f"lives {WORD}"})

    def add(self, who: Someone) -> None:
        project = {"project_key": "boat"} if self.dice.random() < 0.2 else {}
        answer = self._post("/memory/long_term", who, content=self._known(), **project)
        if "id" in answer:
            who.learn(who.memories, answer["id"])

    def edit(self, who: Someone) -> None:
        self._patch(who, {"content": self._known()})

    def pin(self, who: Someone) -> None:
        self._patch(who, {"pinned": self.dice.random() < 0.5})

    def _patch(self, who: Someone, changes: dict[str, Any]) -> None:
        path = f"/memory/long_term/{self._one_of(who.memories)}"
        self._call("PATCH", path, body={"user_id": who.name, **changes})

    def recycle(self, who: Someone) -> None:
        path = f"/memory/long_term/{self._one_of(who.memories)}"
        self._call("DELETE", path, body={"user_id": who.name, "recycle": True})

    def forget_memory(self, who: Someone) -> None:
        self._forget(who, "memory", memory_id=self._one_of(who.memories))

    def forget_message(self, who: Someone) -> None:
        message = self._one_of(who.messages)
        self._forget(who, "message", message_id=message, cascade=self.dice.random() < 0.5)

    def forget_conversation(self, who: Someone) -> None:
        self._forget(who, "conversation", conversation_id=self._conversation())

    def forget_project(self, who: Someone) -> None:
        self._forget(who, "project", project_key="boat")

    def _forget(self, who: Someone, scope: str, **what: Any) -> None:
        self._post("/memory/forget", who, scope=scope, **what)

    def clear(self, who: Someone) -> None:
        self._post("/clear", who, conversation_id=self._conversation())

    def forget_layer(self, who: Someone) -> None:
        layer = self.dice.choice(["summary", "episode"])
        self._call("DELETE", f"/memory/{layer}", body={"user_id": who.name})

    def settings(self, who: Someone) -> None:
        name = self.dice.choice(["longterm_enabled", "episodic_enabled", "summary_enabled"])
        on = self.dice.random() < 0.8
        self._call("PATCH", "/memory/settings", body={"user_id": who.name, name: on})

    def append(self, who: Someone) -> None:
        self._post("/memory/append", who, text=f"Saw {WORD} {self.dice.random():.6f} today.")

    def edit_file(self, who: Someone) -> None:
        path = "/memory/files/MEMORY.md"
        found = self._call("GET", path, query={"user_id": who.name})
        lines = str(found.get("content", "")).splitlines()
        if lines:
            lines.pop(self.dice.randrange(len(lines)))
        content = "\n".join([*lines, f"- {self._known()}"])
        self._call("PUT", path, body={"user_id": who.name, "content": content})

    def use_file_tool(self, who: Someone) -> None:
        path = f"/memories/plan-{self.dice.randrange(3)}.md"
        command = self.dice.choice(["create", "view", "delete"])
        text = {"file_text": self._said()} if command == "create" else {}
        self._post("/memory/files/tool", who, command=command, path=path, **text)

    def flush(self, who: Someone) -> None:
        where = self._conversation()
        self._post("/memory/flush", who, conversation_id=where, stage="candidates")

    def rate(self, who: Someone) -> None:
        self._post("/feedback", who, message_id=self._one_of(who.messages), rating="positive")

    def export(self, who: Someone) -> None:
        self._post("/memory/export", who, format="json")

    def _said(self) -> str:
        place, number = self.dice.choice(_PLACES), self.dice.randrange(10_000)
        texts = (
            f"My colleague {WORD}{number} lives in {place}.",
            f"I moved to {place}, {WORD}.",
            f"我对{WORD}{number}过敏。",
            f"What do you think of {WORD}?",
            f"Forget that I moved to {place}.",
        )
        return self.dice.choice(texts)

    def _known(self) -> str:
        place, number = self.dice.choice(_PLACES), self.dice.randrange(40)
        return self.dice.choice(
            [
                f"Lives in {place} with {WORD}",
                f"Likes the band {WORD}{number}",
                f"喜欢{WORD}{number}",
            ]
        )

    def _conversation(self) -> str:
        return f"talk-{self.dice.randrange(3)}"

    def _one_of(self, ids: list[str]) -> str:
        """Choose an id from a copy, because another client may shorten the list meanwhile."""
        return self.dice.choice([*ids] or ["none"])

    def _post(self, called: str, who: Someone, **body: Any) -> Any:
        return self._call("POST", called, body={"user_id": who.name, **body})

    def _call(
        self, method: str, path: str, *, body: Any = None, query: dict[str, str] | None = None
    ) -> Any:
        address = quote(f"/api/v1{path}") + (f"?{urlencode(query)}" if query else "")
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        sent = json.dumps(body).encode() if body is not None else None
        name = f"{method} {'/'.join(path.split('/')[:3])} {(body or {}).get('scope', '')}".strip()
        if _was_closed(self._connection):
            self._connection.close()
        try:
            self._connection.request(method, address, body=sent, headers=headers)
            answer = self._connection.getresponse()
            content, status = answer.read(), answer.status
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            self.outcome.broken.append(f"{name}: {type(error).__name__}")
            return {}
        self.outcome.answers[f"{name}: {status}"] += 1
        if status >= 500:
            self.outcome.broken.append(f"{name}: {status}")
        return json.loads(content) if status < 300 and content else {}


def _was_closed(connection: http.client.HTTPConnection) -> bool:
    """Return whether the server has closed the idle connection. A client then reconnects."""
    return connection.sock is not None and bool(select.select([connection.sock], [], [], 0)[0])


def race(
    port: int, key: str, *, names: Sequence[str], calls: int, clients: int, seed: int = 1
) -> AnswerCounts:
    """Make all calls, shared evenly by the clients, and return the answers."""
    outcome, people = AnswerCounts(), [Someone(name) for name in names]
    racers = [Racer(port, key, people, outcome, random.Random(seed + n)) for n in range(clients)]
    threads = [threading.Thread(target=racer.race, args=[calls // clients]) for racer in racers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcome


def log_lines(folder: DataFolder, wanted: str) -> int:
    """Return the number of log lines of an instance that contain `wanted`."""
    logs = folder.log_file("postgres").parent.glob("*")
    return sum(
        wanted in line
        for log in logs
        if log.is_file()
        for line in log.read_text("utf-8", errors="replace").splitlines()
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--people", type=int, default=3)
    wanted = parser.parse_args()
    names = [f"racer-{number}" for number in range(wanted.people)]
    with running() as product:
        began = time.monotonic()
        outcome = race(
            product.port,
            product.api_key,
            names=names,
            calls=wanted.calls,
            clients=wanted.clients,
        )
        took = time.monotonic() - began
        left, failed = _settled(product)
        folder = DataFolder(Path(product.environment["MEMCENTER_DATA_DIR"]))
        deadlocks, words = log_lines(folder, _DEADLOCK), log_lines(folder, WORD)
        chain = product.manage("verify_audit", "--seal").strip().splitlines()[-1]
    for name, count in sorted(outcome.answers.items()):
        print(f"{name:48}{count:>8}")
    print(*outcome.broken[:20], *failed, chain, sep="\n")
    figures = {
        "calls": sum(outcome.answers.values()),
        "calls_per_second": round(sum(outcome.answers.values()) / took, 1),
        "broken": len(outcome.broken),
        "deadlocks": deadlocks,
        "failed_operations": len(failed),
        "unfinished_operations": left,
        "words_in_logs": words,
    }
    print_result(figures)
    wrong = ("broken", "deadlocks", "failed_operations", "unfinished_operations", "words_in_logs")
    sys.exit(any(figures[name] for name in wrong))


_OPERATIONS = """
from ops.access import as_system
from ops.models import Operation, Status
with as_system():
    rows = Operation.objects.exclude(kind__in=("deliver_webhook", "erase_disk"))
    print(rows.filter(status__in=("pending", "running")).count())
    for one in rows.filter(status="failed"):
        print(one.kind, one.last_error)
"""


def _settled(product: Any) -> tuple[int, list[str]]:
    """Wait for the worker. Return the number of unfinished operations, and the failed ones."""
    until = time.monotonic() + _SETTLE_SECONDS
    while True:
        output = product.manage("shell", "--no-imports", "--command", _OPERATIONS)
        left, *failed = output.strip().splitlines()
        if not int(left) or time.monotonic() > until:
            return int(left), failed
        time.sleep(5)


if __name__ == "__main__":
    main()
