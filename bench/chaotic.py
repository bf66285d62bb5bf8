"""Simulated people who write, recall, export, import and forget at random.

Each person keeps a `Book` of the words that must be found afterwards. After a failure a call is
repeated until it is answered (`bench/careful.py`). Only confirmed calls count as recorded or
forgotten.
"""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from bench import planted
from bench.book import Book
from bench.careful import Client

_TURNS = (
    "I'm allergic to {0}.",
    "My colleague {0} lives in Porto.",
    "我对{0}过敏。",
    "I'm learning to play the {0}, by the way.",
    "我住在{0}，喜欢爬山。",
    "What do you think of {0}?",
)
_APP = {"app": "the assistant of the whole company"}  # metadata that clients send with each memory
_MEMORIES = ("Likes the band {0}", "Drinks {0} every morning", "喜欢{0}的书", "Works with {0}")


@dataclass
class Person:
    client: Client
    user_id: str
    words: Iterator[str]
    book: Book = field(default_factory=Book)
    messages: dict[str, str] = field(default_factory=dict)  # word -> assistant message
    accepted: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    last: Callable[[Person], object] | None = None
    acting: bool = True

    def live(self, *, seconds: float, leave: bool) -> None:
        """Act at random for `seconds`, then call `last` if it is set.

        With `leave`, forget the user at the end.
        """
        until = time.monotonic() + seconds
        acts = self._acts()
        self.turn()
        while time.monotonic() < until:
            random.choice(acts)()
        if self.last is not None:
            self.last(self)
        if leave:
            self.forget_user()

    def _acts(self) -> list[Callable[[], object]]:
        writing: list[Callable[[], object]] = [
            *[self.turn] * 5,
            *[self.memory] * 3,
            self.project_memory,
            self.edit,
            self.note,
            self._twins,
            self.bring_in,
        ]
        asking: list[Callable[[], object]] = [
            *[self._recall] * 2,
            self.export,
            self._comment,
        ]
        forgetting: list[Callable[[], object]] = [
            *[self.forget_message] * 2,
            *[self.forget_memory] * 2,
            self.forget_conversation,
            self.forget_project,
            self.clear,
            self.bin,
            self._unlearn,
        ]
        return writing + asking + forgetting

    def post(self, path: str, **body: Any) -> tuple[int, Any]:
        return self.client.ask("POST", path, {"user_id": self.user_id, **body})

    def turn(self, where: str = "") -> str:
        """Record a turn with a planted word. Return the name of its conversation."""
        word, where = next(self.words), where or f"talk-{random.randrange(3)}"
        status, answer = self.post(
            "/turns",
            conversation_id=where,
            user_message=random.choice(_TURNS).format(word),
            assistant_message=f"I see, {word}.",
            user_message_id=f"u-{word}"[:2] + uuid.uuid4().hex,
            assistant_message_id="a-" + uuid.uuid4().hex,
        )
        if self.said_yes(status, answer, word):
            self.book.turns[word] = where
            self.messages[word] = answer["assistant_message_id"]
        return where

    def memory(self, text: str = "", word: str = "", **more: str) -> str:
        word = word or next(self.words)
        content = (text or random.choice(_MEMORIES)).format(word)
        extra = {"tags": [f"tag-{word}"], "data": {"note": word}, "metadata": _APP}
        status, answer = self.post("/memory/long_term", content=content, **extra, **more)
        if not self.said_yes(status, answer, word):
            return ""
        self.book.memories[word] = answer["id"]
        return str(answer["id"])

    def project_memory(self) -> None:
        word = next(self.words)
        if self.memory("The build of {0} needs the flag --fast", word, project_key="boat"):
            self.book.of_project.add(word)

    def edit(self) -> None:
        """Change a memory. Its earlier text must be kept as a version."""
        if not self.book.memories:
            return
        memory, word = random.choice(list(self.book.memories.values())), next(self.words)
        body = {"user_id": self.user_id, "content": f"Now prefers {word} to that"}
        status, answer = self.client.ask("PATCH", f"/memory/long_term/{memory}", body)
        if status == 404 or self._is_archived(status, answer):
            return
        if self.said_yes(status, answer, word):
            self.book.memories[word] = memory

    def bin(self) -> None:
        """Move a memory to the recycle bin, where it stays until it expires."""
        if not self.book.memories:
            return
        memory = random.choice(list(self.book.memories.values()))
        body = {"user_id": self.user_id, "recycle": True}
        status, answer = self.client.ask("DELETE", f"/memory/long_term/{memory}", body)
        if status == 404 or self._is_archived(status, answer):
            return
        if self.said_yes(status, answer):
            self.book.binned |= self.book.take_out(memory)

    def _is_archived(self, status: int, answer: Any) -> bool:
        """Return whether the memory can't be changed because it was merged into another one."""
        return status == 409 and "archived" in str(answer)

    def note(self) -> None:
        word = next(self.words)
        if self.said_yes(*self.post("/memory/append", text=f"Saw {word} today."), word):
            self.book.notes.add(word)

    def _twins(self) -> None:
        """Write two nearly equal memories, which the product may merge."""
        shared = next(self.words)
        first = self.memory("Has a rowing boat called {0}", shared)
        other = next(self.words)
        second = self.memory(f"Has a rowing boat called {shared} built by {{0}}", other)
        if first != second:  # forgetting only one of them may leave the shared word
            self.book.memories.pop(shared, None)

    def bring_in(self) -> None:
        words = [next(self.words) for _ in range(3)]
        lines = [
            json.dumps(
                {
                    "conversation": "brought",
                    "user_message": f"I met {word}.",
                    "assistant_message": "Nice.",
                }
            )
            for word in words
        ]
        parts = (
            f'--mark\r\nContent-Disposition: form-data; name="user_id"\r\n\r\n{self.user_id}\r\n'
            '--mark\r\nContent-Disposition: form-data; name="file"; '
            f'filename="{words[0]}.jsonl"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n" + "\n".join(lines) + "\r\n--mark--\r\n"
        )
        status, answer = self.client.ask("POST", "/memory/import", parts.encode())
        if self.said_yes(status, answer, *words):
            self.accepted.append(answer["op_id"])
            self.book.imports |= dict.fromkeys(words, answer["op_id"])

    def _recall(self) -> None:
        words = [*self.book.turns, *self.book.memories]
        if words:
            word = random.choice(words)
            self.post("/memory/context", message=f"What about {word}?", conversation_id="talk-0")
            self.client.ask("GET", "/search", user_id=self.user_id, query=f"my {word}")

    def _comment(self) -> None:
        if self.book.turns:
            word = random.choice(list(self.book.turns))
            ids = {"message_id": self.messages[word], "rating": "negative"}
            self.post("/feedback", **ids, comment=f"Not {word}!")

    def export(self, name: str = "") -> None:
        where = [name] if name else list(self.book.turns.values())
        one = where and (name or random.random() < 0.4)
        of = {"conversation_id": random.choice(where)} if one else {}
        status, answer = self.post("/memory/export", format=random.choice(["json", "zip"]), **of)
        if status == 404 and of:  # the conversation is being forgotten
            return
        if self.said_yes(status, answer):
            self.accepted.append(answer["op_id"])

    def forget_message(self) -> None:
        if not self.book.turns:
            return
        word = random.choice(list(self.book.turns))
        if self._forget("message", message_id=self.messages[word], cascade=True):
            self.book.gone.add(word)
            del self.book.turns[word]

    def forget_memory(self) -> None:
        if not self.book.memories:
            return
        memory = random.choice(list(self.book.memories.values()))
        if self._forget("memory", memory_id=memory):
            self.book.gone |= self.book.take_out(memory)

    def _unlearn(self) -> None:
        """Forget what was learned from a turn, but keep the turn."""
        _, answer = self.client.ask("GET", "/memory/long_term", user_id=self.user_id, limit=50)
        for row in answer["results"]:
            words = [word for word in self.book.turns if word in row["content"]]
            if len(words) == 1 and self._forget("memory", memory_id=row["id"]):
                self.book.unlearned.add(words[0])
                return

    def forget_conversation(self, name: str = "") -> None:
        name = name or f"talk-{random.randrange(3)}"
        if name in self.book.turns.values() and self._forget("conversation", conversation_id=name):
            self.book.forget_conversation(name)

    def forget_project(self) -> None:
        words = self.book.of_project & set(self.book.memories)
        if words and self._forget("project", project_key="boat"):
            self.book.gone |= words
            for word in words:
                del self.book.memories[word]

    def clear(self, name: str = "") -> None:
        name = name or f"talk-{random.randrange(3)}"
        if name in self.book.turns.values():
            status, answer = self.post("/clear", conversation_id=name)
            if self._accepted(status, answer):
                self.book.forget_conversation(name)

    def forget_user(self) -> None:
        if self._forget("user"):
            self.book.all_gone()

    def _forget(self, scope: str, **what: Any) -> bool:
        return self._accepted(*self.post("/memory/forget", scope=scope, **what))

    def _accepted(self, status: int, answer: Any) -> bool:
        """Return whether a forget was accepted.

        404 counts too: the answer to an earlier try was lost, or another forget erased the object.
        """
        if status == 202:
            self.accepted.append(answer["op_id"])
        elif status != 404:
            self.odd.append(f"{status} {answer}")
        self.book.forgets += status in (202, 404)
        return status in (202, 404)

    def said_yes(self, status: int, answer: Any, *words: str) -> bool:
        if status in (200, 201, 202):
            self.book.written += len(words)
            return True
        self.odd.append(f"{status} {answer}")
        return False


def people(client: Client, *, run: int, count: int) -> list[Person]:
    numbers = iter(range(4096))
    words = (planted.word(run, number) for number in numbers)
    return [Person(client, f"person-{run}-{which}", words) for which in range(count)]
