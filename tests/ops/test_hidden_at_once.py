"""From the answer 202 on nothing shows what is being forgotten, whoever reads when and where."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import get_resolver, reverse

from conversations.models import Feedback, Turn
from memories.models import Arbitration, DailyNote, Memory, MemoryFile, Project, RecallHit
from ops.access import as_user
from ops.accounts import keys, users
from ops.api import views_operations
from ops.models import Export, Operation, Receipt, Status, User
from ops.queue import worker
from ops.queue.run import Run
from ops.transfer import exports
from tests.factories import (
    make_conversation,
    make_episode,
    make_memory,
    make_summary,
    make_trace,
    make_turn,
)
from tests.memcenter.rest.client import Api, answer
from tests.rules.test_endpoints import patterns
from tests.test_admin import SHOWN, address

pytestmark = pytest.mark.django_db
QUESTION = "What animals are there?"
# What each scope takes along: the words that only it said, or that were made of it.
SAID = {"asked", "answered", "learned", "summarized", "comment", "asked about"}
GONE = {
    "memory": {"learned", "candidate", "asked about"},
    "message": SAID,
    "conversation": SAID | {"title", "thread"},
    "clear": SAID,
    "project": {"planned", "project's name"},
    "user": SAID | {"title", "thread", "planned", "project's name", "kept", "noted", "person"},
}
_LETTERS = "bcdfghjklmnprstv"


def word(name: str) -> str:
    """Unlike any other; the same for the same name."""
    number = sum(ord(letter) * 31**place for place, letter in enumerate(name)) % 16**7
    return "qz" + "".join(_LETTERS[number // 16**at % 16] for at in range(7))


@dataclass
class World:
    """What a person has, and who can read it: a product's key, the person, and staff."""

    user: User
    key: str
    page: Client
    staff: Client
    ids: Mapping[str, str]
    reads: Mapping[str, Callable[[], Any]] = field(default_factory=dict)


def make_world() -> World:
    alice = users.find_or_create(f"alice-{word('person')}")
    ids = said_and_learned(alice) | {"receipt_id": "rcpt_unknown", "path": "MEMORY.md"}
    with as_user(alice):
        everything = exports.request_export(user=alice, format="json", actor="user", surface="page")
    worker.drain()
    assert Export.objects.get(user=alice).sha256
    ids["op_id"] = everything.operation.public_id
    staff = User.objects.create_superuser("root", "a-long-enough-password")
    key = keys.create(name="backend", scopes=["read", "write", "forget", "export"])[1]
    world = World(alice, key, signed_in(alice), signed_in(staff), ids)
    world.reads = {**by_api(world), **by_clients(world), **by_page(world), **by_staff(world)}
    return world


def said_and_learned(alice: User) -> dict[str, str]:
    """One turn with all that was made of it, and something besides; the names in addresses."""
    here = make_conversation(alice, external_id=f"c-{word('thread')}", title=word("title"))
    turn = make_turn(here, f"I keep a {word('asked')}.", f"A {word('answered')}, nice.")
    make_episode(turn)
    make_summary(here, f"They keep a {word('summarized')}.", through=2)
    learned = make_memory(alice, f"Keeps a {word('learned')}", turns=[turn])
    told_about(turn, learned)
    there = make_turn(make_conversation(alice), "I keep a cat.", "A cat, nice.")
    kept = make_memory(alice, f"Keeps a {word('kept')}", turns=[there])
    trace = make_trace(
        alice,
        f"How is the {word('asked about')}?",
        hits=[learned.public_id, kept.public_id],
        conversation=here,
        answer=turn.assistant_message,
    )
    RecallHit.objects.filter(trace=trace).update(in_block=True)
    return {
        "conversation_id": here.public_id,
        "message_id": turn.user_message.public_id,
        "turn_id": turn.public_id,
        "memory_id": learned.public_id,
        "request_id": trace.request_id,
        "note_id": noted(turn).public_id,
        "other_id": kept.public_id,
        "project_key": planned(alice).key,
    }


def told_about(turn: Turn, learned: Memory) -> None:
    """What people and the product say about a turn, outside its own rows."""
    alice = learned.user
    Feedback.objects.create(
        user=alice, message=turn.assistant_message, rating="negative", comment=word("comment")
    )
    Arbitration.objects.create(
        user=alice,
        turn=turn,
        memory=learned,
        candidate_text=f"Has a {word('candidate')}",
        verdict="ADD",
        decided_by="bundled",
    )
    MemoryFile.objects.create(
        user=alice,
        path="MEMORY.md",
        content=f"## fact\n- Keeps a {word('learned')} <!-- {learned.public_id} -->\n",
    )


def noted(turn: Turn) -> DailyNote:
    moment = turn.created_at
    fields = {"text": f"Fed the {word('noted')}", "day": moment.date(), "created_at": moment}
    return DailyNote.objects.create(user=turn.user, number=1, **fields)


def planned(alice: User) -> Project:
    project = Project.objects.create(user=alice, key="p1", name=word("project's name"))
    make_memory(alice, f"Will build a {word('planned')} house", project=project, kind="plan")
    return project


def signed_in(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


# Where it could be read: found from the addresses that there are, so that a new one is read too.


def addresses(prefix: str, ids: Mapping[str, str]) -> Iterator[str]:
    for path, _ in patterns(get_resolver()):
        for memory_id in (ids["memory_id"], ids["other_id"])[: 1 + ("memory_id>" in path)]:
            known = {**ids, "memory_id": memory_id}
            filled = re.sub(r"<(?:\w+:)?(\w+)>", partial(_filled, known), path)
            if filled.startswith(prefix) and not set("^$(?\\") & set(filled):
                yield filled


def _filled(ids: Mapping[str, str], part: re.Match[str]) -> str:
    return ids.get(part[1], "1")


def by_api(world: World) -> dict[str, Callable[[], Any]]:
    query = {
        "user_id": world.user.external_id,
        "query": QUESTION,
        "conversation_id": world.ids["conversation_id"],
        "ids": world.ids["memory_id"],
    }
    whole = urlencode(query)
    alone = urlencode({"user_id": world.user.external_id})
    headers = {"authorization": f"Bearer {world.key}"}
    client = Client(raise_request_exception=False, headers=headers)
    found: dict[str, Callable[[], Any]] = {}
    for path in addresses("/api/v1/", world.ids):
        if not path.endswith("/"):
            found[f"GET {path}"] = partial(client.get, f"{path}?{whole}")
            found[f"GET {path} alone"] = partial(client.get, f"{path}?{alone}")
    body = {"user_id": world.user.external_id, "message": QUESTION}
    here = {**body, "conversation_id": world.ids["conversation_id"]}
    for name, one in (
        ("elsewhere", body),
        ("here", here),
        ("of p1", {**body, "project_key": "p1"}),
    ):
        found[f"context {name}"] = partial(Api(world.key).post, "/memory/context", one)
    return found


def by_clients(world: World) -> dict[str, Callable[[], Any]]:
    """mem0's calls, and a chat completion, which the demo answers from what it remembers."""
    headers = {"authorization": f"Bearer {world.key}"}
    client = Client(raise_request_exception=False, headers=headers)
    filters = {"filters": {"user_id": world.user.external_id}}
    chat = {
        "model": "demo",
        "user": world.user.external_id,
        "store": False,
        "messages": [{"role": "user", "content": QUESTION}],
    }
    posts = {
        "/v3/memories/": filters,
        "/v3/memories/search/": {**filters, "query": QUESTION, "threshold": 0},
        "/v1/summary/": filters,
        "/v1/exports/get/": filters,
        "/v1/chat/completions": chat,
    }
    found: dict[str, Callable[[], Any]] = {
        f"POST {path}": partial(client.post, path, body, content_type="application/json")
        for path, body in posts.items()
    }
    whole = urlencode({"user_id": world.user.external_id})
    for path in addresses("/v1/", world.ids):
        found[f"GET {path}"] = partial(client.get, f"{path}?{whole}")
    return found


def by_page(world: World) -> dict[str, Callable[[], Any]]:
    skipped = ("/api/", "/v1/", "/v2/", "/v3/", "/admin/", "/mcp")
    query = urlencode({"q": QUESTION})
    found: dict[str, Callable[[], Any]] = {}
    for path in addresses("/", world.ids):
        if not path.startswith(skipped):
            found[f"page {path}"] = partial(world.page.get, path)
            if path.endswith(("/long-term/", "/conversation/")) or path == "/":
                found[f"page {path} searched"] = partial(world.page.get, f"{path}?{query}")
    return found


def by_staff(world: World) -> dict[str, Callable[[], Any]]:
    """Each row as staff see it once they have asked for its content."""
    found: dict[str, Callable[[], Any]] = {}
    for model in SHOWN:
        if not getattr(admin.site._registry.get(model), "masked", ()):
            continue
        found[f"admin {model.__name__}"] = partial(world.staff.get, address(model, "changelist"))
        for pk in model._base_manager.order_by("-pk").values_list("pk", flat=True)[:2]:
            found[f"admin {model.__name__} {pk}"] = partial(_revealed, world, model, pk)
    return found


def _revealed(world: World, model: Any, pk: Any) -> Any:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_reveal"
    world.staff.post(reverse(name, args=[quote(str(pk))]))
    return world.staff.get(address(model, "change", pk))


def text_of(response: Any) -> str:
    if getattr(response, "streaming", False):
        return b"".join(response.streaming_content).decode()
    return str(response.content.decode())


# Reading at random between the request and the end.


def request(world: World, scope: str) -> str:
    """Ask for it; gives the operation's id."""
    api, user = Api(world.key), {"user_id": world.user.external_id}
    if scope == "clear":
        body = {**user, "conversation_id": world.ids["conversation_id"]}
        return str(answer(api.post("/clear", body), 202)["op_id"])
    every: dict[str, dict[str, Any]] = {
        "memory": {"memory_id": world.ids["memory_id"]},
        "message": {"message_id": world.ids["message_id"], "cascade": True},
        "conversation": {"conversation_id": world.ids["conversation_id"]},
        "project": {"project_key": "p1"},
        "user": {},
    }
    more = every[scope]
    return str(answer(api.post("/memory/forget", {**user, "scope": scope, **more}), 202)["op_id"])


def shown_by(world: World, names: list[str], *, gone: set[str]) -> dict[str, set[str]]:
    """Which reads say which of the words that nobody should say any more."""
    words = {word(name): name for name in gone}
    found = {}
    for name in names:
        text = text_of(world.reads[name]())
        if said := {words[one] for one in words if one in text}:
            found[name] = said
    return found


@pytest.fixture
def brief_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for an operation that the reader itself holds up."""
    monkeypatch.setattr(views_operations, "EVENTS_SECONDS", 0.0)


def test_every_word_is_shown_while_nobody_forgets(brief_events: None) -> None:
    """Of each world alike: so it is looked at once, and not before each request."""
    world = make_world()
    told = set[str]().union(*GONE.values())
    assert set().union(*shown_by(world, list(world.reads), gone=told).values()) == told


@pytest.mark.parametrize("scope", GONE)
def test_nothing_shows_it_right_after_the_request_nor_in_the_end(
    scope: str, brief_events: None
) -> None:
    world = make_world()
    everything = list(world.reads)
    op_id = request(world, scope)
    assert shown_by(world, everything, gone=GONE[scope]) == {}
    worker.drain()
    operation = Operation.objects.get(public_id=op_id)
    assert operation.status == Status.SUCCEEDED, operation.last_error
    # Asking about somebody of that name makes somebody new appear.
    assert shown_by(world, everything, gone=GONE[scope] - {"person"}) == {}
    assert Receipt.objects.get(operation=operation).scan["residue"] == 0


@pytest.mark.parametrize("scope", GONE)
def test_nothing_shows_it_whoever_reads_between_the_steps(
    scope: str, brief_events: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, order = make_world(), random.Random(scope)
    step = Run.step
    shown: dict[str, dict[str, set[str]]] = {}

    def look(at: str) -> None:
        names = order.sample(sorted(world.reads), k=8)
        # Asking about somebody of that name makes somebody new appear.
        shown[at] = shown_by(world, names, gone=GONE[scope] - {"person"})

    def watched(self: Run, name: str, **given: Any) -> None:
        step(self, name, **given)
        look(name)

    op_id = request(world, scope)
    look("request")
    monkeypatch.setattr(Run, "step", watched)
    worker.drain()
    assert len(shown) > 4 and {at: found for at, found in shown.items() if found} == {}
    operation = Operation.objects.get(public_id=op_id)
    assert operation.status == Status.SUCCEEDED, operation.last_error
