"""The chaos bench itself: it sees what is wrong, and dies at every step there is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import moments, planted, questions
from bench.careful import Client
from bench.chaotic import Person, people
from bench.dying import ReportedMoments
from bench.planted import Store
from ops import registry
from ops.access import as_user
from ops.models import Kind, User
from ops.queue import outbox, worker
from ops.queue.run import Run
from tests.databases import folder
from tests.factories import make_conversation, make_memory, make_turn
from tests.processes import fork

pytestmark = pytest.mark.django_db(transaction=True)

RUN = 7
WORD = planted.word(RUN, 1)


@pytest.fixture
def store() -> Iterator[Store]:
    one = Store(folder)
    yield one
    one.close()


@pytest.fixture
def person(alice: User) -> Person:
    (one,) = people(Client(0, ""), run=RUN, count=1)
    one.user_id = "alice"
    return one


def test_what_is_left_missing_or_there_twice_is_seen(
    alice: User, person: Person, store: Store
) -> None:
    with as_user(alice):
        thread = make_conversation(alice)
        make_turn(thread, f"I like {WORD}", f"{WORD}, I see.")
        make_memory(alice, f"Likes {WORD}")
    person.book.turns[WORD] = "talk-0"
    person.book.memories[WORD] = "mem"
    assert questions._lost(store, person, store.places(RUN)) == []
    assert questions._twice(store, person) == []
    with as_user(alice):
        make_turn(thread, f"I like {WORD}")
        make_memory(alice, f"Likes {WORD}")
    assert len(questions._twice(store, person)) == 2
    person.book.gone.add(WORD)
    (left,) = questions._residue(person, store.places(RUN))
    assert "conversations_message" in left and "memories_memory" in left
    person.book.turns[planted.word(RUN, 2)] = "talk-0"
    assert questions._lost(store, person, store.places(RUN)) == [planted.word(RUN, 2)]


def test_a_bystander_who_changed_is_seen(alice: User, mallory: User, store: Store) -> None:
    before = store.fingerprint([alice.pk])
    with as_user(mallory):
        make_memory(mallory, "Plays chess")
    assert store.fingerprint([alice.pk]) == before
    with as_user(alice):
        outbox.enqueue(Kind.CLEANUP, subject=alice.subject, payload={})
    changed = {name for name, was in store.fingerprint([alice.pk]).items() if was != before[name]}
    assert changed == {"ops_operation"}


def test_a_step_is_a_moment_to_die_at_because_a_handler_names_it(
    alice: User, store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def handler(run: Run) -> None:
        run.step("something new")
        with run.applying(alice):
            make_conversation(alice)

    monkeypatch.setattr(registry, "_handlers", {Kind.CLEANUP.value: handler})
    with as_user(alice):
        outbox.enqueue(Kind.CLEANUP, subject=alice.subject, payload={})
    told = tmp_path / "moments"

    def work(_reach: object) -> None:
        passed: list[str] = []
        moments.watch_worker(passed.append)
        worker.drain()
        told.write_text(json.dumps(passed))

    assert fork(work).ended() == ""
    assert json.loads(told.read_text()) == [
        "cleanup: claimed",
        "cleanup: something new: begins",
        "cleanup: something new: before commit 1",
        "cleanup: something new: after commit 1",
        "cleanup: end: before commit 1",
        "cleanup: end: after commit 1",
    ]
    assert questions.step_names(store) == {"cleanup: something new"}


def test_processes_die_in_every_step_before_they_die_at_every_moment_of_one() -> None:
    begun, again = "cleanup: bin: begins", "cleanup: bin: after commit 1"
    other = "cleanup: traces: begins"
    known = ReportedMoments(died={begun}, passed={other})
    assert known.chance(other) > known.chance(again) > known.chance(begun) > 0
    known.died.add(other)
    assert known.chance(again) == 1.0
