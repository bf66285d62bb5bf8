"""Old daily notes become memories, with the note's line as their source."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memories import operations
from memories.files import daily_notes
from memories.forgetting import memory_forgets
from memories.learning import single_texts
from memories.models import DailyNote, Kind, Memory, Source, Tombstone
from memories.writing import consolidation
from ops.access import as_system, as_user
from ops.accounts import users
from ops.models import Operation, Receipt, User
from ops.queue import worker
from tests.factories import make_memory
from tests.memories.pages import address, signed_in, text_of
from tests.pair_reader import FakePairs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_reader")]


def note(user: User, text: str, *, days: int = 40, source: str = "") -> DailyNote:
    line = daily_notes.append(text, user=user, source=source).note
    line.day, line.created_at = line.on - timedelta(days=days), timezone.now() - timedelta(days)
    line.save()
    return line


def consolidate(user: User) -> Operation:
    operation = consolidation.request(user=user)
    worker.drain()
    operation.refresh_from_db()
    return operation


def forget(memory: Memory) -> Receipt:
    with as_user(memory.user):
        operation = memory_forgets.forget_memory(user=memory.user, memory=memory)
    worker.drain()
    return Receipt.objects.get(operation=operation)


def test_an_old_line_becomes_a_memory_and_is_its_source(alice: User) -> None:
    line = note(alice, "I am allergic to peanuts.", source="my agent")
    recent = note(alice, "I am allergic to shellfish.", days=1)
    flushed = note(alice, "Lives in Lisbon", days=41, source="flush")
    consolidate(alice)
    memory = Memory.objects.get(user=alice)
    assert memory.kind == Kind.CONSTRAINT and memory.content.endswith("llergic to peanuts")
    source = Source.objects.get(memory=memory)
    assert (source.reference, source.quote) == (line.public_id, line.text)
    page = text_of(signed_in(alice).get(address("memory_page", memory.public_id)))
    assert "daily notes" in page and line.text in page and daily_notes.path_of(line.on) in page
    left = DailyNote.objects.filter(learned_at=None).values_list("pk", flat=True)
    assert set(left) == {recent.pk, flushed.pk}


def test_it_is_asked_for_every_night_and_learns_a_line_once(alice: User, mallory: User) -> None:
    note(alice, "我对花生过敏。")
    note(mallory, "Rain all day.", days=2)
    with as_system():
        assert operations.people_to_consolidate(timezone.now()) == [alice]
    consolidate(alice)
    DailyNote.objects.update(learned_at=None)  # as after a kill before the mark
    consolidate(alice)
    assert Source.objects.filter(user=alice).count() == 1
    with as_system():
        assert operations.people_to_consolidate(timezone.now()) == []


def test_what_is_known_gains_the_line_as_a_source_and_off_means_nothing(
    alice: User, pairs: FakePairs
) -> None:
    pairs.says("Allergic to peanuts", "I am allergic to peanuts", "same")
    known = make_memory(alice, "Allergic to peanuts", kind=Kind.CONSTRAINT)
    line = note(alice, "I am allergic to peanuts.")
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    consolidate(alice)
    assert DailyNote.objects.get().learned_at is None
    users.change_settings(user=alice, changes={"longterm_enabled": True})
    consolidate(alice)
    assert list(Memory.objects.filter(user=alice)) == [known]
    assert known.sources.filter(reference=line.public_id).exists()


def test_forgetting_the_memory_takes_its_line_along_at_once_and_for_good(alice: User) -> None:
    line = note(alice, "I am allergic to peanuts.")
    consolidate(alice)
    memory = Memory.objects.get(user=alice)
    with as_user(alice):
        memory_forgets.forget_memory(user=alice, memory=memory)
    assert not DailyNote.objects.filter(pk=line.pk).exists(), "hidden in the request"
    worker.drain()
    receipt = Receipt.objects.get()
    assert receipt.scan["residue"] == 0 and not DailyNote.everything.exists()
    assert Tombstone.objects.filter(message_ids__contains=[line.public_id]).exists()


def test_a_line_that_taught_two_things_leaves_the_other_without_its_words(alice: User) -> None:
    note(alice, "I am allergic to peanuts. My cat is called Biscuit.")
    consolidate(alice)
    cat = Memory.objects.get(user=alice, content__contains="Biscuit")
    receipt = forget(Memory.objects.get(user=alice, content__contains="peanuts"))
    assert receipt.scan["residue"] == 0 and not DailyNote.everything.exists()
    source = Source.objects.get(memory=cat)
    assert (source.quote, source.reference) == ("", "")
    page = text_of(signed_in(alice).get(address("memory_page", cat.public_id)))
    assert "since been forgotten" in page
    assert single_texts.unread_notes(timezone.now()).count() == 0
