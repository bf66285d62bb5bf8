"""People who write and forget at random, in all scopes, inside the product's process.

Started by `forgets.py` with Django set up. `forgets_told.py` checks the result.
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
_FEWEST = 12  # a person with fewer objects left writes more
_PEOPLE = 12  # people who are active at the same time


@dataclass
class Person:
    """A person and the words of each object that can be forgotten, by (kind, primary key)."""

    number: int
    user: User
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(4_096)))
    words: dict[tuple[str, int], set[str]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def all_words(self) -> set[str]:
        return set().union(*self.words.values()) if self.words else set()

    def left(self) -> int:
        """Return the number of objects that are not forgotten yet."""
        return sum(not words & self.gone for words in self.words.values())


def make_person(number: int) -> Person:
    with as_system():
        person = Person(number, users.find_or_create(f"forgets-{number}"))
    write(person)
    return person


def write(person: Person) -> None:
    """Write three conversations with their learned memories, and a project."""
    with as_user(person.user):
        for _ in range(3):
            _make_conversation(person, person.numbers)
        for _ in range(PROJECTS):
            _make_project(person, person.numbers)


def _make_conversation(person: Person, numbers: Iterator[int]) -> None:
    now, own = timezone.now(), {"user": person.user}
    count = 2 * TURNS
    conversation = Conversation.objects.create(
        **own, created_at=now, last_number=count, message_count=count, last_message_at=now
    )
    words = [word(person.number, next(numbers)) for _ in range(count)]
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
    _store(
        person.user, TargetKind.MESSAGE, [(row.pk, row.content) for row in messages], conversation
    )
    everything = set(words)
    for n, turn in enumerate(turns):
        learned = word(person.number, next(numbers))
        memory = _make_memory(person, f"Knows much about the {learned} of that day", turn)
        person.words["memory", memory.pk] = {learned}
        both = {words[2 * n], words[2 * n + 1]}
        person.words["message", turn.assistant_message_id] = {*both, learned}
        everything |= {learned}
    person.words["conversation", conversation.pk] = everything


def _make_project(person: Person, numbers: Iterator[int]) -> None:
    project = Project.objects.create(user=person.user, key=f"p{next(numbers)}")
    planned = [word(person.number, next(numbers)) for _ in range(PLANS)]
    for plan in planned:
        _make_memory(person, f"Builds the {plan} before summer comes", None, project)
    person.words["project", project.pk] = set(planned)


def _make_memory(
    person: Person, content: str, turn: Turn | None, project: Project | None = None
) -> Memory:
    now, origin = timezone.now(), "extracted" if turn else "api"
    own = {"user": person.user, "created_at": now}
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
    _store(person.user, TargetKind.MEMORY, [(memory.pk, content)], None)
    return memory


_chance = np.random.default_rng(1)


def _store(
    user: User, kind: TargetKind, texts: list[tuple[int, str]], conversation: Conversation | None
) -> None:
    """Index texts with random vectors, since no search is made."""
    where = conversation.pk if conversation else None
    entries = [Entry(kind, pk, text, where) for pk, text in texts]
    size = (len(texts), search_index.embedder().dimensions)
    search_index.store(
        user=user, entries=entries, vectors=_chance.normal(size=size).astype("float32")
    )


def request(person: Person, scope: str, pk: int) -> Operation:
    user = person.user
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


def choose(person: Person, chance: random.Random) -> tuple[str, int] | None:
    """Choose a scope at random, and an object of that scope that is not forgotten yet.

    Return the scope and the primary key, or None if the person has no such object.
    """
    scope = chance.choices(list(SCOPES), weights=list(SCOPES.values()))[0]
    if scope == "user":
        return scope, person.user.pk
    kind = "conversation" if scope == "clear" else scope
    there = [
        key for key, words in person.words.items() if key[0] == kind and not words & person.gone
    ]
    return (scope, chance.choice(there)[1]) if there else None


class Crowd:
    """People who write and forget, numbered from `first`."""

    def __init__(self, *, first: int, chance: random.Random) -> None:
        self.chance = chance
        self.everybody: list[Person] = []
        self.alive: list[Person] = []
        self.asked: Counter[str] = Counter()
        self._next = first

    def forget_one(self) -> bool:
        """Request one random forget.

        Return False if the chosen person has no object of the chosen scope.
        """
        if len(self.alive) < _PEOPLE:
            self.alive.append(make_person(self._next))
            self.everybody.append(self.alive[-1])
            self._next += 1
        person = self.chance.choice(self.alive)
        if person.left() < _FEWEST:
            write(person)
        if (chosen := choose(person, self.chance)) is None:
            return False
        scope, pk = chosen
        request(person, scope, pk)
        self.asked[scope] += 1
        if scope == "user":
            person.gone |= person.all_words()
            self.alive.remove(person)
        else:
            person.gone |= person.words["conversation" if scope == "clear" else scope, pk]
        return True


def run(*, first: int, forgets: int, seconds: float, seed: int) -> None:
    """Forget at random until `forgets` or `seconds` is reached, then print the words."""
    crowd, began = Crowd(first=first, chance=random.Random(seed)), time.monotonic()
    count = 0
    while count < forgets and time.monotonic() - began < seconds:
        if crowd.forget_one():
            count += 1
            if count % AT_ONCE == 0:
                worker.drain()
    worker.drain()
    gone = set().union(*(person.gone for person in crowd.everybody))
    stay = set().union(*(person.all_words() for person in crowd.everybody)) - gone
    figures = {
        "scopes": dict(crowd.asked),
        "people": len(crowd.everybody),
        "gone": sorted(gone),
        "stay": sorted(stay),
    }
    print(json.dumps(figures))
