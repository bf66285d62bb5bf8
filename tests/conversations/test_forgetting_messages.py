"""A message forgotten alone or with its turn, and what the memories that rest on it become."""

from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from conversations.forgetting import message_forgets
from conversations.models import Conversation, Episode, Feedback, Message, Summary, Turn
from foundation.errors import NotFound
from memories.models import (
    Arbitration,
    Change,
    LexicalEntry,
    Memory,
    MemoryVersion,
    Origin,
    RecallTrace,
    Refusal,
    Source,
    Tombstone,
    Vector,
)
from ops.access import as_user
from ops.models import Kind, Operation, Receipt, Status, User
from ops.queue import outbox, worker
from tests.conversations.talks import TEA, Talk, forget_message
from tests.draining import drained
from tests.factories import (
    make_conversation,
    make_memory,
    make_message,
    make_trace,
    make_turn,
    make_version,
)
from tests.rows import rows_of

pytestmark = pytest.mark.django_db


def in_the_bin() -> dict[str, Any]:
    return {"deleted_at": timezone.now(), "purge_at": timezone.now()}


def test_a_turn_is_hidden_at_once_with_all_that_rests_on_it(talk: Talk) -> None:
    forget_message(talk.tea_turn.assistant_message, cascade=True)
    assert Message.objects.count() == 2
    assert list(Turn.objects.all()) == [talk.jazz_turn]
    assert Episode.objects.get().turn == talk.jazz_turn
    assert not Summary.objects.exists()
    assert list(Memory.objects.all()) == [talk.jazz]
    assert not RecallTrace.objects.filter(query=TEA).exists()
    talk.conversation.refresh_from_db()
    assert talk.conversation.message_count == 2


def test_without_cascade_the_other_message_stays(talk: Talk) -> None:
    drained(forget_message(talk.tea_turn.assistant_message))
    assert Message.objects.filter(pk=talk.tea_turn.user_message_id).exists()
    assert not Turn.everything.filter(pk=talk.tea_turn.pk).exists()
    assert list(Memory.everything.all()) == [talk.jazz]


def test_forgetting_the_users_message_takes_the_turn_as_a_source_away(talk: Talk) -> None:
    drained(forget_message(talk.tea_turn.user_message))
    left = Message.everything.filter(conversation=talk.conversation).values_list("pk", flat=True)
    assert talk.tea_turn.assistant_message_id in left
    assert talk.tea_turn.user_message_id not in left
    assert not Memory.everything.filter(pk=talk.tea.pk).exists()


def test_a_forgotten_turn_is_erased_from_every_table(alice: User, talk: Talk) -> None:
    drained(forget_message(talk.tea_turn.assistant_message, cascade=True))
    assert Message.everything.count() == 2
    assert Episode.everything.get().turn == talk.jazz_turn
    assert Feedback.objects.get().message == talk.jazz_turn.assistant_message
    assert Refusal.objects.get().turn == talk.jazz_turn
    assert not Arbitration.objects.exists()
    everything = str(rows_of(alice)).casefold()
    assert "green tea" not in everything
    assert "jazz trio" in everything


@pytest.mark.parametrize("is_repeated", [True, False])
def test_the_receipt_says_if_another_answer_repeats_a_memory_of_the_message(
    alice: User, talk: Talk, is_repeated: bool
) -> None:
    said = f"You told me: {talk.tea.content}" if is_repeated else "You told me a lot"
    make_turn(make_conversation(alice), "What do you know?", said)
    operation = drained(forget_message(talk.tea_turn.assistant_message, cascade=True))
    assert operation.payload["still_said"] == int(is_repeated)
    assert Receipt.objects.get().kept == (["messages"] if is_repeated else [])


def test_the_words_and_vectors_of_a_forgotten_turn_go(talk: Talk) -> None:
    before = Vector.objects.count(), LexicalEntry.objects.count()
    drained(forget_message(talk.tea_turn.assistant_message, cascade=True))
    after = Vector.objects.count(), LexicalEntry.objects.count()
    gone = 5  # two messages, the episode, the summary, the memory
    assert after == (before[0] - gone, before[1] - gone)


def test_a_question_asked_before_it_was_indexed_goes_with_it(alice: User, talk: Talk) -> None:
    about = make_trace(alice, "And what of the tea?")
    elsewhere = make_trace(alice, "And what of the bass?")
    drained(forget_message(talk.tea_turn.assistant_message, cascade=True))
    left = dict(RecallTrace.objects.values_list("pk", "query"))
    assert (left[about.pk], left[elsewhere.pk]) == ("", "And what of the bass?")


def test_a_summary_that_covered_it_is_asked_for_again(talk: Talk) -> None:
    operation = forget_message(talk.tea_turn.assistant_message, cascade=True)
    worker.drain(limit=1)
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED
    again = Operation.objects.get(kind=Kind.SUMMARIZE)
    assert again.payload == {"conversation": talk.conversation.pk}
    assert not Summary.everything.exclude(text="").exists()


def test_a_summary_that_did_not_cover_it_stays(talk: Talk) -> None:
    turn = make_turn(talk.conversation, "I have a cat called Momo")
    drained(forget_message(turn.assistant_message, cascade=True))
    assert Summary.objects.get().text
    assert not Operation.objects.filter(kind=Kind.SUMMARIZE).exists()


def test_a_title_taken_from_a_forgotten_message_goes(talk: Talk) -> None:
    forget_message(talk.tea_turn.user_message)
    talk.conversation.refresh_from_db()
    assert talk.conversation.title == ""


def test_a_title_of_its_own_stays(talk: Talk) -> None:
    Conversation.objects.update(title="Mornings in Lyon")
    forget_message(talk.tea_turn.user_message)
    talk.conversation.refresh_from_db()
    assert talk.conversation.title == "Mornings in Lyon"


def test_the_last_speaker_of_a_name_takes_it_along(alice: User) -> None:
    conversation = make_conversation(alice, speakers=["Bob", "Caroline"])
    message = make_message(conversation, "Hi there", speaker="Caroline")
    make_message(conversation, "Hello", speaker="Bob")
    forget_message(message)
    conversation.refresh_from_db()
    assert conversation.speakers == ["Bob"]


def test_a_memory_with_another_source_stays(alice: User, talk: Talk) -> None:
    memory = make_memory(alice, "Owns a cat", turns=[talk.jazz_turn, talk.tea_turn])
    drained(forget_message(talk.tea_turn.user_message))
    memory.refresh_from_db()
    assert (memory.content, memory.hidden_at) == ("Owns a cat", None)
    assert Source.everything.get(memory=memory).turn == talk.jazz_turn


def test_a_memory_goes_back_to_the_newest_text_that_still_has_a_source(
    alice: User, talk: Talk
) -> None:
    memory = make_memory(alice, "Lives in Lyon", turns=[talk.jazz_turn], tags=["home"])
    make_version(memory, "Lives in Paris", change=Change.REPLACED, turns=[talk.tea_turn])
    operation = forget_message(talk.tea_turn.user_message)
    assert not Memory.objects.filter(pk=memory.pk).exists()
    drained(operation)
    memory.refresh_from_db()
    assert (memory.content, memory.current_version) == ("Lives in Lyon", 3)
    first, second, third = memory.versions.order_by("number")
    assert second.erased_at is not None and second.content == ""
    assert (third.change, third.content) == (Change.DERIVED, "Lives in Lyon")
    assert third.sources.get().turn == talk.jazz_turn
    assert first.erased_at is None
    terms = LexicalEntry.objects.get(target_kind="memory", target_id=memory.pk).terms
    assert "lyon" in terms and "paris" not in terms
    assert Vector.objects.filter(target_kind="memory", target_id=memory.pk).exists()


def test_an_older_version_is_erased_and_the_present_text_stays_in_view(
    alice: User, talk: Talk
) -> None:
    memory = make_memory(alice, "Lives in Lyon", turns=[talk.tea_turn])
    make_version(memory, "Lives in Paris", change=Change.REPLACED, turns=[talk.jazz_turn])
    operation = forget_message(talk.tea_turn.user_message)
    assert Memory.objects.get(pk=memory.pk).content == "Lives in Paris"
    drained(operation)
    assert memory.versions.get(number=1).erased_at is not None
    assert Memory.objects.get(pk=memory.pk).current_version == 2


def test_side_texts_of_an_erased_older_version_are_erased(alice: User, talk: Talk) -> None:
    side = {"tags": ["rain over the old town of Lyon"], "feedback_reason": "Lyon in the rain"}
    memory = make_memory(alice, "Likes rain over the old town of Lyon", turns=[talk.tea_turn])
    Memory.objects.filter(pk=memory.pk).update(**side, feedback="positive", data={"a": "Lyon"})
    make_version(memory, "Lives in Paris", change=Change.REPLACED, turns=[talk.jazz_turn])
    assert drained(forget_message(talk.tea_turn.user_message)).status == Status.SUCCEEDED
    memory.refresh_from_db()
    assert (memory.content, memory.feedback) == ("Lives in Paris", "positive")
    assert (memory.tags, memory.data, memory.feedback_reason) == ([], {}, "")


def joined(user: User, *turns: Turn) -> Memory:
    """A memory that rests on these turns together."""
    memory = make_memory(user, "Hears jazz over tea", turns=turns)
    Source.objects.filter(memory=memory).update(joint=True)
    return memory


def merged(user: User, first: Turn, second: Turn) -> Memory:
    memory = make_memory(user, "Has a cat", turns=[first])
    make_version(
        memory,
        "Has a cat and a dog",
        change=Change.MERGED,
        turns=[second],
        candidate_text="Has a dog",
        inputs=[memory.versions.get()],
    )
    return memory


def of_the_message_alone(user: User, turn: Turn) -> Memory:
    memory = make_memory(user, "Has a cat", turns=[turn])
    Source.objects.filter(memory=memory).update(turn=None, message=turn.user_message)
    return memory


@pytest.mark.parametrize("by", ["user_message", "assistant_message"])
def test_memories_that_go_with_messages_are_known_before(
    alice: User,
    mallory: User,
    talk: Talk,
    django_assert_num_queries: DjangoAssertNumQueries,
    by: str,
) -> None:
    tea, jazz = talk.tea_turn, talk.jazz_turn
    edited = make_memory(alice, "Has a hen", turns=[tea])
    make_version(edited, "Has two hens", change=Change.EDITED, actor=Origin.USER)
    binned = make_memory(alice, "Has a pony", turns=[tea], **in_the_bin())
    theirs = make_memory(mallory, "Has a cow", turns=[make_turn(make_conversation(mallory), "Moo")])
    lost = [binned, joined(alice, tea, jazz), merged(alice, tea, tea), talk.tea]
    lost.append(of_the_message_alone(alice, tea))
    kept = [edited, theirs, joined(alice, jazz), merged(alice, jazz, tea), merged(alice, tea, jazz)]
    message_ids = [getattr(tea, by).public_id]
    with django_assert_num_queries(1):
        also = message_forgets.also_forgotten(
            alice, memory_ids=[talk.tea.public_id], message_ids=message_ids
        )
    assert {one.pk for one in also} == {one.pk for one in lost} - {talk.tea.pk}
    with as_user(alice):
        operation = message_forgets.forget_chosen(user=alice, message_ids=message_ids)
    assert drained(operation).status == Status.SUCCEEDED
    left = set(Memory.everything.values_list("pk", flat=True))
    assert {one.pk for one in kept} <= left and left.isdisjoint(one.pk for one in lost)


def test_a_merged_memory_says_only_what_remains(alice: User, talk: Talk) -> None:
    memory = make_memory(alice, "Has a cat", turns=[talk.tea_turn])
    make_version(
        memory,
        "Has a cat and a dog",
        change=Change.MERGED,
        turns=[talk.jazz_turn],
        candidate_text="Has a dog",
        inputs=[memory.versions.get()],
    )
    drained(forget_message(talk.tea_turn.user_message))
    memory.refresh_from_db()
    assert memory.content == "Has a dog"
    assert "cat" not in str(MemoryVersion.everything.filter(memory=memory).values())


def test_what_a_person_wrote_over_it_stays(alice: User, talk: Talk) -> None:
    make_version(talk.tea, "Prefers coffee", change=Change.EDITED, actor=Origin.USER)
    drained(forget_message(talk.tea_turn.user_message))
    assert Memory.objects.get(pk=talk.tea.pk).content == "Prefers coffee"


def test_two_turns_of_one_memory_can_be_forgotten_one_after_the_other(
    alice: User, talk: Talk
) -> None:
    memory = make_memory(alice, "Lives in Lyon", turns=[talk.jazz_turn])
    make_version(memory, "Lives in Paris", change=Change.REPLACED, turns=[talk.tea_turn])
    forget_message(talk.tea_turn.user_message)
    drained(forget_message(talk.jazz_turn.user_message))
    assert not Memory.everything.exists()
    assert Receipt.objects.count() == 2


def test_a_forgotten_statement_leaves_a_tombstone(alice: User, talk: Talk) -> None:
    drained(forget_message(talk.tea_turn.assistant_message))
    ids = {talk.tea_turn.user_message.public_id, talk.tea_turn.assistant_message.public_id}
    of_memory = Tombstone.objects.exclude(memory_public_id="")
    assert of_memory.exists() and all(set(one.message_ids) == ids for one in of_memory)
    of_message = Tombstone.objects.get(memory_public_id="")
    assert of_message.message_ids == [talk.tea_turn.assistant_message.public_id]


def test_learning_from_a_forgotten_turn_is_withdrawn(alice: User, talk: Talk) -> None:
    waiting = outbox.enqueue(
        Kind.EXTRACT_TURN, subject=alice.subject, payload={"turn": talk.tea_turn.pk}
    )
    forget_message(talk.tea_turn.user_message)
    waiting.refresh_from_db()
    assert waiting.status == Status.CANCELLED


def test_what_was_learned_while_it_was_asked_goes_too(alice: User, talk: Talk) -> None:
    operation = forget_message(talk.tea_turn.user_message)
    late = make_memory(alice, "Alice likes mornings", turns=[talk.tea_turn])
    drained(operation)
    assert not Memory.everything.filter(pk=late.pk).exists()


def test_asking_for_the_other_message_later_is_another_operation(talk: Talk) -> None:
    first = forget_message(talk.tea_turn.assistant_message)
    assert forget_message(talk.tea_turn.assistant_message) == first
    second = forget_message(talk.tea_turn.assistant_message, cascade=True)
    assert second != first
    drained(second)
    assert Message.everything.count() == 2


def test_a_message_that_is_gone_or_anothers_is_not_found(talk: Talk, mallory: User) -> None:
    message = talk.tea_turn.user_message
    with pytest.raises(NotFound), as_user(mallory):
        message_forgets.forget_message(user=mallory, message=message)
    drained(forget_message(message))
    with pytest.raises(NotFound):
        forget_message(message)
