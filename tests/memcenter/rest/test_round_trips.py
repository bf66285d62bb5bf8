"""How often a call waits for PostgreSQL and Redis, read off the wire."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, connection
from psycopg.pq import Trace

from foundation.database import statements
from foundation.deferred_writes import DeferredWrites
from memcenter.rest import throttling
from memories.models import Memory, RecallTrace
from ops.access import as_user
from ops.accounts import keys, users
from ops.models import User
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer

pytestmark = pytest.mark.django_db(transaction=True)
ASK = {"message": "What do I like to drink in the morning?"}


@dataclass
class Wire:
    """What was sent to the server and had to be answered before anything else was done."""

    sink: Any
    before: int | None = None
    queries: list[str] = field(default_factory=list)

    def trips(self) -> int:
        self.sink.flush()
        self.sink.seek(0)
        sent = [line.split("\t") for line in self.sink if line.startswith("F\t")]
        return sum(parts[2].strip() in ("Sync", "Query") for parts in sent)


Watch = Callable[[], AbstractContextManager[Wire]]


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Watch:
    @contextmanager
    def watch() -> Iterator[Wire]:
        with tempfile.TemporaryFile("w+") as sink:
            seen = Wire(sink)
            settle = DeferredWrites.run

            def settled(deferred: DeferredWrites) -> None:
                seen.before = seen.trips()
                settle(deferred)

            monkeypatch.setattr(DeferredWrites, "run", settled)
            connection.ensure_connection()
            raw: Any = connection.connection
            raw.pgconn.trace(sink.fileno())
            raw.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
            try:
                yield seen
            finally:
                raw.pgconn.untrace()
                monkeypatch.setattr(DeferredWrites, "run", settle)

    return watch


def call(api: Api, path: str, **named: Any) -> Any:
    if path == "search":
        return answer(api.get("/search", query="drink tea", types="memory", **named))
    return answer(api.post("/memory/context", {**ASK, **named}))


@pytest.mark.parametrize("path", ["search", "context"])
@pytest.mark.parametrize("bound", [True, False])
def test_a_search_and_a_context_wait_four_times_and_once_after_the_answer(
    wire: Watch, path: str, bound: bool
) -> None:
    alice = users.find_or_create("alice")
    text = keys.create(name="k", scopes=["read", "write"], user=alice if bound else None)[1]
    make_memory(alice, "Likes green tea in the morning", kind="preference")
    make_memory(alice, " ".join(f"Drinks tea number {number}." for number in range(900)))
    api, named = Api(text), {} if bound else {"user_id": "alice"}
    for _ in range(5):  # the key's first use is noted, and statements get planned
        call(api, path, **named)
    with wire() as seen:
        told = call(api, path, **named)
        assert seen.before is not None and seen.before <= 4
        assert seen.trips() - seen.before == 1
    assert RecallTrace.objects.filter(user=alice, request_id=told["request_id"]).exists()
    used = Memory.objects.get(user=alice, kind="preference")
    assert (used.last_accessed_at is not None) == (path == "context")


@pytest.mark.parametrize("path", ["/api/v1/memory/long_term", "http://testserver/v3/memories/add/"])
def test_an_add_waits_seldom(wire: Watch, path: str) -> None:
    """For its key, its beginning, what is known, the new rows, what follows, and the commit."""
    alice = users.find_or_create("alice")
    api = Api(keys.create(name="k", scopes=["read", "write"])[1])

    def add(text: str) -> None:
        said = [{"role": "user", "content": text}]
        body = {"user_id": "alice", "content": text, "messages": said, "infer": False}
        answer(api.post(path, body), status=200 if "v3" in path else 201)

    for number in range(7):  # until the statements are planned
        add(f"Has been in country number {number}")
    with wire() as seen:
        add("Likes green tea in the morning")
        assert seen.trips() <= (5 if "v3" in path else 6)
    assert Memory.objects.filter(user=alice).count() == 8


def test_a_call_begins_without_asking_whether_the_connection_lives(wire: Watch) -> None:
    text = keys.create(name="k", scopes=["read"], user=users.find_or_create("alice"))[1]
    api = Api(text)
    answer(api.get("/memory/settings"))
    with wire() as seen:
        answer(api.get("/memory/settings"))
        seen.sink.seek(0)
        assert not [line for line in seen.sink if line.startswith("F") and '"SELECT 1"' in line]


def test_a_call_after_the_server_closed_the_connection_is_answered() -> None:
    alice = users.find_or_create("alice")
    make_memory(alice, "Likes green tea in the morning", kind="preference")
    api = Api(keys.create(name="k", scopes=["read", "write"], user=alice)[1])
    call(api, "context")
    [(pid,)] = statements.rows("SELECT pg_backend_pid()")
    with psycopg.connect(
        dbname=connection.settings_dict["NAME"],
        user=connection.settings_dict["USER"],
        password=connection.settings_dict["PASSWORD"],
        host=connection.settings_dict["HOST"],
        port=connection.settings_dict["PORT"] or None,
        autocommit=True,
    ) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
    assert "green tea" in call(api, "context")["block"]
    assert statements.rows("SELECT pg_backend_pid()") != [(pid,)]


def test_both_rates_are_counted_in_one_call_of_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    users.find_or_create("alice")
    api = Api(keys.create(name="k", scopes=["read"])[1])
    counted: list[int] = []
    real = throttling._used

    def used(names: list[str]) -> list[int]:
        counted.append(len(names))
        return real(names)

    monkeypatch.setattr(throttling, "_used", used)
    response = api.get("/memory/settings", user_id="alice")
    assert counted == [2]
    assert response["RateLimit-Policy"].count("q=") == 2


def test_a_begin_with_the_first_statement_is_that_of_the_person_whatever_sends_that_statement() -> (
    None
):
    alice, mallory = users.find_or_create("alice"), users.find_or_create("mallory")
    make_memory(alice, "Likes tea")
    make_memory(mallory, "Likes coffee")
    for user, text in ((alice, "Likes tea"), (mallory, "Likes coffee")):
        with as_user(user, at_once=False):
            assert [one.content for one in Memory.objects.all()] == [text]
        with as_user(user, at_once=False):
            assert statements.rows("SELECT content FROM memories_memory") == [(text,)]
        batch = statements.Batch()
        with as_user(user, at_once=False):
            found = [batch.add("SELECT content FROM memories_memory") for _ in range(2)]
            assert [one.rows() for one in found] == [[(text,)], [(text,)]]


def test_a_begin_with_the_first_statement_leaves_nothing_of_the_person_to_the_next() -> None:
    alice = users.find_or_create("alice")
    with as_user(alice, at_once=False):
        pass
    whose = "SELECT current_setting('memcenter.user', true)"
    with connection.cursor() as cursor:
        cursor.execute(whose)
        assert cursor.fetchone()[0] in (None, "")
    assert statements.rows(whose)[0][0] in (None, "")


def test_a_begin_with_the_first_statement_is_undone_as_a_whole() -> None:
    alice = users.find_or_create("alice")
    row = make_memory(alice, "Likes tea")
    change = "UPDATE memories_memory SET content = 'Likes milk' WHERE id = %s"
    batch = statements.Batch()
    batch.add(change, [row.pk])
    batch.add("INSERT INTO ops_usersettings (user_id) VALUES (NULL)")
    with pytest.raises(DatabaseError), as_user(alice, at_once=False):
        batch.run(ends=True)
    row.refresh_from_db()
    assert row.content == "Likes tea"
    with as_user(alice):  # the connection is as good as before
        assert User.objects.filter(pk=alice.pk).exists()
