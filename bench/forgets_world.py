"""Inside the product: many people's rows, random forgets of all scopes, and what is left of them.

Started by `forgets.py`, with Django set up.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from django.conf import settings
from django.utils import timezone

from bench.planted import Store, word
from conversations.models import Conversation, Message, Turn
from conversations.services import forgetting as said
from memcenter.embedded.folder import DataFolder
from memories.models import Memory, MemoryVersion, Project, Source, TargetKind
from memories.services import forgetting as known
from memories.services import indexing
from memories.services.indexing import Entry
from ops.access import as_system, as_user
from ops.models import Kind, Operation, Receipt, Status, User
from ops.services import forgetting, users, worker

SCOPES = {"message": 40, "memory": 36, "conversation": 14, "clear": 4, "project": 5, "user": 1}
TURNS, CONVERSATIONS, PROJECTS, PLANS = 4, 30, 6, 5
AT_ONCE = 25


@dataclass
class Person:
    """Somebody with what they said: the words of each thing that can be forgotten."""

    number: int
    user: User
    words: dict[tuple[str, int], set[str]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def all_words(self) -> set[str]:
        return set().union(*self.words.values()) if self.words else set()


def make_person(number: int) -> Person:
    with as_system():
        one = Person(number, users.find_or_create(f"forgets-{number}"))
        numbers = iter(range(4_096))
        for _ in range(CONVERSATIONS):
            _make_conversation(one, numbers)
        for n in range(PROJECTS):
            _make_project(one, numbers, n)
    return one


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


def _make_project(one: Person, numbers: Iterator[int], n: int) -> None:
    project = Project.objects.create(user=one.user, key=f"p{n}")
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
    size = (len(texts), indexing.embedder().dimensions)
    indexing.store(user=user, entries=entries, vectors=_chance.normal(size=size).astype("float32"))


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
            return forgetting.forget_user(user=user)[0]
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


def run(*, people: int, forgets: int, seconds: float) -> None:
    """Forget at random until enough is forgotten or the time is over; print what is left."""
    chance, began = random.Random(7), time.monotonic()
    everybody = [make_person(n) for n in range(people)]
    alive = list(everybody)
    asked: Counter[str] = Counter()
    waiting = 0
    while sum(asked.values()) < forgets and time.monotonic() - began < seconds:
        if not alive:
            alive = [make_person(len(everybody))]
            everybody += alive
        one = chance.choice(alive)
        if (chosen := choose(one, chance)) is None:
            continue
        scope, pk = chosen
        request(one, scope, pk)
        asked[scope] += 1
        waiting += 1
        kind = "conversation" if scope == "clear" else scope
        one.gone |= one.all_words() if scope == "user" else one.words[kind, pk]
        if scope == "user":
            alive.remove(one)
        if waiting == AT_ONCE:
            worker.drain()
            waiting = 0
    worker.drain()
    print(json.dumps(_told(everybody, asked, time.monotonic() - began)))


def _told(everybody: list[Person], asked: Counter[str], seconds: float) -> dict[str, object]:
    """Exactly: every word of everybody, looked for in every row, key and file."""
    found = Store(DataFolder(settings.DATA_DIR)).places()
    gone = set().union(*(one.gone for one in everybody))
    stay = set().union(*(one.all_words() for one in everybody)) - gone
    with as_system():
        kinds = [kind for kind in Kind if "forget" in kind or "clear" in kind]
        rows = Operation.objects.filter(kind__in=kinds)
        unfinished = rows.exclude(status=Status.SUCCEEDED).count()
        scanned = Receipt.objects.filter(scan__residue=0).count()
    left = {one: sorted(found[one])[:3] for one in gone & found.keys()}
    return {
        "forgets": sum(asked.values()),
        "scopes": dict(asked),
        "people": len(everybody),
        "residue": len(left),
        "lost": len(stay - found.keys()),
        "unfinished": unfinished,
        "receipts_with_residue_0": scanned,
        "words_gone": len(gone),
        "words_staying": len(stay),
        "seconds": round(seconds, 1),
        "examples": dict(list(left.items())[:5]),
    }
