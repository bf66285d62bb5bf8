from __future__ import annotations

import json

import pytest

from conversations.management.commands import demo
from conversations.management.commands.demo import SAMPLE
from memories.models import Memory
from ops.models import User
from tests.factories import make_memory

pytestmark = pytest.mark.django_db


def test_what_contains_the_words_is_pinned_and_tagged_once(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(external_id="demo-maya")
    alice.refresh_from_db()
    make_memory(alice, "Allergic to Penicillin")
    make_memory(alice, "Has booked ten days in Seville")
    for _ in range(2):
        demo.apply_touches(SAMPLE / "touches.json", people=[alice])
    rows = Memory.objects.order_by("pk").values_list("pinned", "tags")
    assert list(rows) == [(True, []), (False, ["travel"])]


def test_nobody_else_is_touched(alice: User) -> None:
    make_memory(alice, "Allergic to penicillin")
    demo.apply_touches(SAMPLE / "touches.json", people=[alice])
    assert not Memory.objects.get().pinned


def test_the_touches_are_about_the_people_of_the_example() -> None:
    named = set(json.loads((SAMPLE / "touches.json").read_text(encoding="utf-8")))
    assert named == {f"demo-{path.stem}" for path in SAMPLE.glob("*.jsonl")}
