from dataclasses import replace
from datetime import UTC, datetime

import pytest

from conversations.models import Message
from foundation.database.statements import Batch
from memories.recall import candidate_pool, keyword_matches, search
from memories.recall.candidate_pool import SearchScope
from memories.recall.keyword_matches import Words
from memories.recall.searchable_texts import Filters, memory_scope, search_scopes
from ops.accounts import users
from ops.models import User
from tests.factories import make_conversation, make_memory, make_turn

pytestmark = pytest.mark.django_db


def words_of(query: str, scope: SearchScope, user: User) -> Words:
    prepared = search.prepare_query(query)
    asked = keyword_matches.add_query(
        prepared, scope, user=user, vector=prepared.vector, batch=Batch()
    )
    return keyword_matches.read_matches(asked, prepared, scope, user=user)


def test_of_very_many_messages_those_of_the_day_that_is_named_are_candidates(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = make_conversation(alice)
    for said in ("I went to the museum.", "I cooked lentils.", "I mended the fence."):
        make_turn(row, said, "Nice.")
    lentils = Message.objects.get(user=alice, content="I cooked lentils.")
    Message.objects.filter(pk=lentils.pk).update(created_at=datetime(2024, 5, 3, 9, tzinfo=UTC))
    monkeypatch.setattr(keyword_matches, "WHOLE", 2)
    own = users.settings_of(alice)
    [scope] = search_scopes(["message"], user=alice, own=own, filters=Filters())
    narrow = replace(scope, nearest=1, neighbours=None)
    prepared = search.prepare_query("What did I visit on 3 May 2024?")
    found = {unit.text for unit in candidate_pool.fill(prepared, narrow, user=alice).units}
    assert "I cooked lentils." in found
    without = search.prepare_query("What did I visit?")
    assert len(candidate_pool.fill(without, narrow, user=alice).units) <= 2


def test_a_memory_is_a_candidate_by_when_it_happened(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_memory(alice, "Cooked lentils.", occurred_at=datetime(2023, 7, 1, tzinfo=UTC))
    for number in range(3):
        make_memory(alice, f"Visited museum {number}.")
    monkeypatch.setattr(keyword_matches, "WHOLE", 2)
    scope = replace(memory_scope(alice, filters=Filters()), nearest=1)
    prepared = search.prepare_query("What did I visit in July 2023?")
    assert "Cooked lentils." in {
        unit.text for unit in candidate_pool.fill(prepared, scope, user=alice).units
    }


def test_a_memory_without_a_common_word_is_a_candidate_by_what_is_asked_about(
    alice: User,
) -> None:
    make_memory(alice, "在医院当护士")
    prepared = search.prepare_query("我是做什么工作的？")
    scope = memory_scope(alice, filters=Filters())
    [unit] = candidate_pool.fill(prepared, scope, user=alice).units
    assert "护士" in unit.terms


def test_words_are_counted_as_often_as_they_stand_in_each_text(alice: User) -> None:
    twice = make_memory(alice, "Tea before tea in Leeds.")
    once = make_memory(alice, "喜欢喝茶, and tea.")
    make_memory(alice, "Repairs old radios.")
    scope = memory_scope(alice, filters=Filters())
    found = words_of("tea in Leeds", scope, alice)
    assert sorted(found.places) == sorted([twice.pk, once.pk])
    assert sorted(found.terms_of(twice.pk)) == ["leed", "tea", "tea"]
    assert found.terms_of(once.pk) == ["tea"]
    assert found.corpus.total == 3
    assert found.corpus.document_frequency["tea"] == 2


def test_of_texts_that_are_not_eligible_no_words_are_read(alice: User, mallory: User) -> None:
    make_memory(mallory, "Tea in Leeds.")
    make_memory(alice, "Maps in Leeds.", status="archived")
    scope = memory_scope(alice, filters=Filters())
    found = words_of("tea in Leeds", scope, alice)
    assert not found.places
    assert not found.counts.frequency.size


def test_among_very_many_an_old_memory_is_found_by_a_rare_word(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = make_memory(alice, "Keeps a quokka at home.")
    hidden = make_memory(alice, "Saw a quokka once.", status="disabled")
    for number in range(12):
        make_memory(alice, f"Keeps bees at home, hive {number}.")
    monkeypatch.setattr(keyword_matches, "WHOLE", 10)
    monkeypatch.setattr(keyword_matches, "MATCHING", 3)
    scope = replace(memory_scope(alice, filters=Filters()), nearest=1)
    found = words_of("Who keeps a quokka?", scope, alice)
    assert old.pk in found.places and hidden.pk not in found.places
    assert len(found.places) == 4, "the newest that have the common word, and what has the rare one"
    frequency = found.corpus.document_frequency
    assert (frequency["quokka"], frequency["keep"]) == (1, found.corpus.total)
    assert found.corpus.total == 14
