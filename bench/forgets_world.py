"""Inside the product: people who write and forget at random, in all scopes.

Started by `forgets.py`, with Django set up; what is left in the end is asked by `forgets_told.py`.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from django.utils import timezone

from bench.planted import word
from conversations.forgetting import message_forgets as said
from conversations.models import Conversation, Message, Turn
from memories.forgetting import memory_forgets as known
from memories.indexing import search_index
from memories.indexing.search_index import Entry
from memories.models import Memory, MemoryVersion, Project, Source, TargetKind
from ops.access import as_system, as_user
from ops.accounts import users
from ops.forgetting import person_forgets
from ops.models import Operation, User
from ops.queue import worker

SCOPES = {"message": 40, "memory": 36, "conversation": 14, "clear": 4, "project": 5, "user": 1}
TURNS, PROJECTS, PLANS = 2, 1, 3
AT_ONCE = 25
_FEWEST, _PEOPLE = 12, 12  # things of one person that are left, before more is written; at a time


@dataclass
class Person:
    """Somebody with what they said: the words of each thing that can be forgotten."""

    number: int
    user: User
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(4_096)))
    words: dict[tuple[str, int], set[str]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def all_words(self) -> set[str]:
        return set().union(*self.words.values()) if self.words else set()

    def left(self) -> int:
        """How many things of theirs are there to be forgotten."""
        return sum(not words & self.gone for words in self.words.values())


def make_person(number: int) -> Person:
    with as_system():
        one = Person(number, users.find_or_create(f"forgets-{number}"))
    write(one)
    return one


def write(one: Person) -> None:
    """A few conversations, what was learned from them, and a project."""
    with as_user(one.user):
        for _ in range(3):
            _make_conversation(one, one.numbers)
        for _ in range(PROJECTS):
            _make_project(one, one.numbers)


def _make_conversation(one: Person, numbers: Iterator[int]) -> None:
    now, own = timezone.now(), {"user": one.user}
    count = 2 * TURNS
    conversation = Conversation.objects.create(
        **own, created_at=now, last_number=count, message_count=count, last_message_at=now
    )
    words = [word(one.number, next(numbers)) for _ in range(count)]
    messages = Message.objects.bulk_create(
        Message(
            **own,
            conversation=conversation,
            number=n + 1,
            role="assistant" if n % 2 else "user",
            content=f"About the {words[n]} there was much to be said that day.",
            token_count=12,
            created_at=now,
        )
        for n in range(count)
    )
    turns = Turn.objects.bulk_create(
        Turn(
            **own,
            conversation=conversation,
            user_message=messages[n],
            assistant_message=messages[n + 1],
            created_at=now,
        )
        for n in range(0, count, 2)
    )
    _store(one.user, TargetKind.MESSAGE, [(row.pk, row.content) for row in messages], conversation)
    everything = set(words)
    for n, turn in enumerate(turns):
        learned = word(one.number, next(numbers))
        memory = _make_memory(one, f"Knows much about the {learned} of that day", turn)
        one.words["memory", memory.pk] = {learned}
        both = {words[2 * n], words[2 * n + 1]}
        one.words["message", turn.assistant_message_id] = {*both, learned}
        everything |= {learned}
    one.words["conversation", conversation.pk] = everything


def _make_project(one: Person, numbers: Iterator[int]) -> None:
    project = Project.objects.create(user=one.user, key=f"p{next(numbers)}")
    planned = [word(one.number, next(numbers)) for _ in range(PLANS)]
    for plan in planned:
        _make_memory(one, f"Builds the {plan} before summer comes", None, project)
    one.words["project", project.pk] = set(planned)


def _make_memory(
    one: Person, content: str, turn: Turn | None, project: Project | None = None
) -> Memory:
    now, origin = timezone.now(), "extracted" if turn else "api"
    own = {"user": one.user, "created_at": now}
    memory = Memory.objects.create(
        **own, content=content, kind="fact", origin=origin, project=project
    )
    version = MemoryVersion.objects.create(
        **own,
        memory=memory,
        number=1,
        kind="fact",
        content=content,
        change="created",
        actor=origin,
    )
    Source.objects.create(
        **own,
        memory=memory,
        version=version,
        origin=origin,
        turn=turn,
        message=turn.user_message if turn else None,
        quote=turn.user_message.content if turn else "",
    )
    _store(one.user, TargetKind.MEMORY, [(memory.pk, content)], None)
    return memory


_chance = np.random.default_rng(1)


def _store(
    user: User, kind: TargetKind, texts: list[tuple[int, str]], conversation: Conversation | None
) -> None:
    """With vectors by chance: what they say isn't asked about here."""
    where = conversation.pk if conversation else None
    entries = [Entry(kind, pk, text, where) for pk, text in texts]
    size = (len(texts), search_index.embedder().dimensions)
    search_index.store(
        user=user, entries=entries, vectors=_chance.normal(size=size).astype("float32")
    )


def request(one: Person, scope: str, pk: int) -> Operation:
    user = one.user
    with as_user(user):
        if scope == "message":
            message = Message.objects.get(pk=pk)
            return said.forget_message(user=user, message=message, cascade=True)
        if scope == "memory":
            return known.forget_memory(user=user, memory=Memory.objects.get(pk=pk))
        if scope == "project":
            return known.forget_project(user=user, project=Project.objects.get(pk=pk))
        if scope == "user":
            return person_forgets.forget_user(user=user)[0]
        conversation = Conversation.objects.get(pk=pk)
        act = said.forget_conversation if scope == "conversation" else said.clear_conversation
        return act(user=user, conversation=conversation)


def choose(one: Person, chance: random.Random) -> tuple[str, int] | None:
    """A scope and a thing of it whose words are still there."""
    scope = chance.choices(list(SCOPES), weights=list(SCOPES.values()))[0]
    if scope == "user":
        return scope, one.user.pk
    kind = "conversation" if scope == "clear" else scope
    there = [key for key, words in one.words.items() if key[0] == kind and not words & one.gone]
    return (scope, chance.choice(there)[1]) if there else None


class Crowd:
    """People who write and forget; `first` and up are their numbers."""

    def __init__(self, *, first: int, chance: random.Random) -> None:
        self.chance = chance
        self.everybody: list[Person] = []
        self.alive: list[Person] = []
        self.asked: Counter[str] = Counter()
        self._next = first

    def forget_one(self) -> bool:
        """One random forget of somebody's; False where the choice fell on nothing."""
        if len(self.alive) < _PEOPLE:
            self.alive.append(make_person(self._next))
            self.everybody.append(self.alive[-1])
            self._next += 1
        one = self.chance.choice(self.alive)
        if one.left() < _FEWEST:
            write(one)
        if (chosen := choose(one, self.chance)) is None:
            return False
        scope, pk = chosen
        request(one, scope, pk)
        self.asked[scope] += 1
        if scope == "user":
            one.gone |= one.all_words()
            self.alive.remove(one)
        else:
            one.gone |= one.words["conversation" if scope == "clear" else scope, pk]
        return True


def run(*, first: int, forgets: int, seconds: float, seed: int) -> None:
    """Forget at random until enough is forgotten or the time is over; print the words."""
    crowd, began = Crowd(first=first, chance=random.Random(seed)), time.monotonic()
    count = 0
    while count < forgets and time.monotonic() - began < seconds:
        if crowd.forget_one():
            count += 1
            if count % AT_ONCE == 0:
                worker.drain()
    worker.drain()
    gone = set().union(*(one.gone for one in crowd.everybody))
    stay = set().union(*(one.all_words() for one in crowd.everybody)) - gone
    told = {
        "scopes": dict(crowd.asked),
        "people": len(crowd.everybody),
        "gone": sorted(gone),
        "stay": sorted(stay),
    }
    print(json.dumps(told))
