"""Consolidating with the worker and the database: what is joined, what stays, what is derived."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import hypothesis
import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import strategies as st
from pytest_django import Settings

from conversations.forgetting import message_forgets as said
from conversations.models import Turn
from memories import language_steps, tasks
from memories.extraction.arbitration.pairs import JoinedStatement, join
from memories.extraction.chat_model.arbiter import Ungrounded
from memories.forgetting import forget_plan, memory_forgets
from memories.models import Change, Kind, Memory, MemoryStatus, MemoryVersion, Origin, Source
from memories.pages.explanation import related_to
from memories.writing import consolidation, memory_writes
from ops.access import as_user
from ops.accounts import users
from ops.models import AuditEvent, Operation, Status, User
from ops.models import Kind as OperationKind
from ops.queue import worker
from tests.factories import make_conversation, make_memory, make_turn
from tests.killing import Kill, revive

pytestmark = pytest.mark.django_db

TEAS = ("Likes oolong tea", "Likes green tea", "Likes black tea")
TOGETHER = "Likes oolong tea; Likes green tea; Likes black tea"
CHINESE = ("喜欢乌龙茶", "喜欢绿茶", "喜欢红茶")


def remembered(
    user: User, texts: Sequence[str] = TEAS, *, days: int = 40, **fields: Any
) -> tuple[list[Memory], list[Turn]]:
    """Old memories, each from a turn of its own."""
    conversation = make_conversation(user)
    turns = [make_turn(conversation, f"I say: {text}") for text in texts]
    then = timezone.now() - timedelta(days=days)
    given: dict[str, Any] = {"kind": Kind.PREFERENCE, "created_at": then} | fields
    return [
        make_memory(user, text, turns=[turn], **given)
        for text, turn in zip(texts, turns, strict=True)
    ], turns


def consolidate(user: User, *, dry_run: bool = False) -> Operation:
    operation = consolidation.request(user=user, dry_run=dry_run)
    worker.drain()
    operation.refresh_from_db()
    return operation


def active(user: User) -> list[str]:
    found = Memory.objects.filter(user=user, status=MemoryStatus.ACTIVE).order_by("pk")
    return list(found.values_list("content", flat=True))


@pytest.mark.parametrize(
    ("texts", "text"), [(TEAS, TOGETHER), (CHINESE, "喜欢乌龙茶；喜欢绿茶；喜欢红茶")]
)
def test_old_similar_memories_become_one(alice: User, texts: Sequence[str], text: str) -> None:
    originals, turns = remembered(alice, texts)
    operation = consolidate(alice)
    assert active(alice) == [text]
    made = Memory.objects.get(content=text)
    version = MemoryVersion.objects.get(memory=made)
    assert version.change == Change.CONSOLIDATED
    assert {one.memory_id for one in version.inputs.all()} == {one.pk for one in originals}
    assert set(Source.objects.filter(memory=made).values_list("turn", flat=True)) == {
        turn.pk for turn in turns
    }
    assert operation.result["made"] == [
        {"id": made.public_id, "from": [one.public_id for one in originals]}
    ]
    for original in originals:
        original.refresh_from_db()
        assert (original.status, original.superseded_by) == (MemoryStatus.ARCHIVED, made)
    archived = AuditEvent.objects.get(action="memory.archived").details["ids"]
    assert archived == [original.public_id for original in originals]


def test_the_page_of_what_was_made_names_what_it_was_made_of(alice: User) -> None:
    originals, _ = remembered(alice)
    consolidate(alice)
    related = related_to(Memory.objects.get(content=TOGETHER), ())
    assert [one.memory for one in related] == originals
    originals[0].refresh_from_db()
    assert [one.memory.content for one in related_to(originals[0], ())] == [TOGETHER]


def test_running_it_again_changes_nothing(alice: User) -> None:
    remembered(alice)
    consolidate(alice)
    assert consolidate(alice).result == {"made": []}
    assert Memory.objects.count() == 4


def test_a_dry_run_only_says_what_would_be_joined(alice: User) -> None:
    originals, _ = remembered(alice)
    operation = consolidate(alice, dry_run=True)
    assert operation.result == {"would_join": [[one.public_id for one in originals]]}
    assert active(alice) == list(TEAS)


@pytest.mark.parametrize(
    "fields",
    [
        {"pinned": True},
        {"kind": Kind.CONSTRAINT},
        {"access_count": 5},
        {"status": MemoryStatus.DISABLED},
        {"status": MemoryStatus.CANDIDATE},
        {"created_at": timezone.now() - timedelta(days=29)},
        {"valid_until": timezone.now() + timedelta(days=9)},
        {"removal_asked_at": timezone.now()},
    ],
)
def test_what_is_pinned_used_new_or_a_constraint_stays(alice: User, fields: dict[str, Any]) -> None:
    originals, _ = remembered(alice)
    Memory.objects.filter(pk=originals[0].pk).update(**fields)
    consolidate(alice)
    assert Memory.objects.count() == 3


def test_pages_that_agents_write_stay_as_they_are(alice: User) -> None:
    remembered(alice, kind=Kind.PLAN, origin=Origin.AGENT)
    remembered(alice, CHINESE, kind=Kind.PLAN)
    consolidate(alice)
    assert active(alice) == [*TEAS, "喜欢乌龙茶；喜欢绿茶；喜欢红茶"]


def test_shelf_after_shelf_is_read_until_there_is_enough_for_one_run(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    remembered(alice)
    remembered(alice, kind=Kind.FACT)
    now = timezone.now()
    with as_user(alice), CaptureQueriesContext(connection) as both:
        assert len(consolidation.groups_of(alice, now=now)) == 2
    monkeypatch.setattr(consolidation, "GROUPS", 1)
    monkeypatch.setattr(consolidation, "_COMPARED", 3)
    with as_user(alice), CaptureQueriesContext(connection) as one:
        assert len(consolidation.groups_of(alice, now=now)) == 1
    of_memories = [sql["sql"] for sql in one if '"memories_memory"."content"' in str(sql["sql"])]
    assert len(of_memories) == 1 and "LIMIT 3" in of_memories[0]
    assert len(one) < len(both)


def test_kinds_projects_and_people_are_never_mixed(alice: User, mallory: User) -> None:
    remembered(alice, TEAS[:2])
    remembered(alice, TEAS[2:], kind=Kind.FACT)
    remembered(mallory, TEAS[2:])
    consolidate(alice)
    assert Memory.objects.count() == 4


def test_what_was_consolidated_takes_part_again_after_ninety_days(alice: User) -> None:
    remembered(alice)
    consolidate(alice)
    remembered(alice, ("Likes white tea", "Likes green tea with mint"))
    consolidate(alice)
    assert TOGETHER in active(alice)
    long_ago = timezone.now() - timedelta(days=91)
    Memory.objects.filter(content=TOGETHER).update(created_at=long_ago)
    consolidate(alice)
    assert active(alice) == [
        "Likes oolong tea; Likes black tea; Likes white tea; Likes green tea with mint"
    ]


def test_nothing_is_joined_while_memory_is_off(alice: User) -> None:
    remembered(alice)
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    assert consolidate(alice).result == {"made": []}


def test_what_changed_meanwhile_is_left_as_it_is(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    originals, _ = remembered(alice)
    real = consolidation.propose

    def while_somebody_pins(*args: Any, **given: Any) -> Any:
        Memory.objects.filter(pk=originals[1].pk).update(pinned=True)
        return real(*args, **given)

    monkeypatch.setattr(consolidation, "propose", while_somebody_pins)
    assert consolidate(alice).result == {"made": []}
    assert active(alice) == list(TEAS)


@pytest.mark.django_db(transaction=True)
def test_killed_half_way_nothing_is_half_done(monkeypatch: pytest.MonkeyPatch) -> None:
    user = users.find_or_create("alice")
    remembered(user)
    remembered(user, CHINESE)
    operation = consolidation.request(user=user)
    real = memory_writes.create
    calls: list[int] = []

    def deadly(*args: Any, **given: Any) -> Memory:
        if calls:
            raise Kill
        calls.append(1)
        return real(*args, **given)

    monkeypatch.setattr(memory_writes, "create", deadly)
    with pytest.raises(Kill):
        worker.drain()
    assert sorted(active(user)) == sorted([*TEAS, *CHINESE])
    assert Memory.objects.count() == 6
    revive(monkeypatch)
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED
    assert sorted(active(user)) == sorted([TOGETHER, "喜欢乌龙茶；喜欢绿茶；喜欢红茶"])


def test_forgetting_one_original_derives_what_was_made_of_it(alice: User) -> None:
    originals, _ = remembered(alice)
    consolidate(alice)
    with_it = memory_forgets.forget_memory(user=alice, memory=originals[1])
    assert active(alice) == []
    worker.drain()
    with_it.refresh_from_db()
    assert with_it.status == Status.SUCCEEDED
    assert active(alice) == ["Likes oolong tea; Likes black tea"]


def test_forgetting_a_turn_goes_through_every_level(alice: User) -> None:
    _, turns = remembered(alice)
    consolidate(alice)
    remembered(alice, ("Likes white tea", "Likes yellow tea"), days=100)
    Memory.objects.filter(content=TOGETHER).update(created_at=timezone.now() - timedelta(days=99))
    consolidate(alice)
    (everything,) = active(alice)
    assert (
        everything
        == "Likes white tea; Likes yellow tea; Likes oolong tea; Likes green tea; Likes black tea"
    )
    said.forget_message(user=alice, message=turns[1].user_message, cascade=True)
    worker.drain()
    assert active(alice) == ["Likes oolong tea; Likes black tea; Likes white tea; Likes yellow tea"]
    texts = [*MemoryVersion.everything.values_list("content", flat=True)]
    assert not [text for text in texts if "green" in text]


def test_forgetting_what_was_made_forgets_what_it_was_made_of(alice: User) -> None:
    remembered(alice)
    consolidate(alice)
    made = Memory.objects.get(content=TOGETHER)
    operation = memory_forgets.forget_memory(user=alice, memory=made)
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED
    assert not Memory.everything.exists()


def test_an_answer_that_cannot_be_used_fails_and_changes_nothing(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    class HalfBad:
        name = "model"
        asked = 0

        def consolidate(self, texts: Sequence[str]) -> list[JoinedStatement]:
            self.asked += 1
            if self.asked == 2:
                raise Ungrounded
            return [JoinedStatement(", ".join(texts), tuple(range(len(texts))))]

    remembered(alice)
    remembered(alice, CHINESE)
    one = HalfBad()
    monkeypatch.setattr(language_steps, "consolidator", lambda: one)
    operation = consolidate(alice)
    assert operation.status == Status.FAILED
    assert Memory.objects.filter(status=MemoryStatus.ACTIVE).count() == 6


def test_every_night_there_is_one_operation_for_each_who_has_enough(
    alice: User, mallory: User
) -> None:
    remembered(alice)
    remembered(mallory, TEAS[:2])
    assert tasks.request_consolidation() == 1
    assert tasks.request_consolidation() == 1
    waiting = Operation.objects.get(kind=OperationKind.CONSOLIDATE)
    assert waiting.subject == alice.subject


def test_the_command_reports_without_changing_anything(
    alice: User, capsys: pytest.CaptureFixture[str]
) -> None:
    remembered(alice)
    call_command("consolidate", "--dry-run", "--user", "alice", "--texts")
    shown = capsys.readouterr().out
    assert TOGETHER in shown and "3 memories would become fewer" in shown
    call_command("consolidate", "--dry-run")
    assert "tea" not in capsys.readouterr().out
    assert active(alice) == list(TEAS)


def test_the_command_has_it_done(alice: User, settings: Settings) -> None:
    remembered(alice)
    call_command("consolidate", "--user", "alice")
    worker.drain()
    assert active(alice) == [TOGETHER]


def test_others_are_not_touched(alice: User, mallory: User) -> None:
    remembered(mallory)
    with as_user(alice):
        assert consolidation.groups_of(alice, now=timezone.now()) == []
    consolidate(alice)
    assert active(mallory) == list(TEAS)


_NAMES = ("oolong", "green", "black", "white", "yellow", "mint", "rooibos")


@hypothesis.settings(max_examples=15, deadline=None)
@hypothesis.given(
    names=st.lists(st.sampled_from(_NAMES), min_size=3, max_size=7, unique=True),
    levels=st.integers(min_value=1, max_value=3),
    data=st.data(),
)
def test_what_forgetting_leaves_is_what_the_others_say(
    names: list[str], levels: int, data: st.DataObject
) -> None:
    """Pure: consolidated over several levels, any of the originals forgotten in any order."""
    texts = [
        forget_plan.Text(
            number, number, f"Likes {name} tea", sources=[forget_plan.VersionSource(name, False)]
        )
        for number, name in enumerate(names, start=1)
    ]
    top = list(texts)
    for level in range(levels):
        cut = data.draw(st.integers(min_value=1, max_value=len(top)))
        made = forget_plan.Text(
            100 + level,
            100 + level,
            join(one.content for one in top[:cut]),
            sources=[source for one in top[:cut] for source in one.sources],
            inputs=[one.id for one in top[:cut]],
            consolidated=True,
        )
        texts.append(made)
        top = [made, *top[cut:]]
    assert {source.key for one in top for source in one.sources} == set(names)
    gone = set(data.draw(st.lists(st.sampled_from(names), min_size=1)))
    after = [
        replace(
            one, sources=[replace(source, forgotten=source.key in gone) for source in one.sources]
        )
        for one in texts
    ]
    outcomes = forget_plan.plan(after)
    left = " ".join(outcomes[one.id].content for one in top)
    assert {name for name in names if name in left} == set(names) - gone
