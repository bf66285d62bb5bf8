"""A conversation forgotten with or without its memories, and one that is cleared."""

import pytest
from django.utils import translation

from conversations.forgetting import message_forgets
from conversations.models import Conversation, Episode, Message, Summary, Turn
from conversations.recording import turns
from conversations.recording.turns import MessageInput
from foundation.errors import NotFound
from memories.models import LexicalEntry, Memory, Origin, RecallTrace, Source, Vector
from ops import audit_log
from ops.access import as_user
from ops.models import Receipt, User
from ops.pages.forgetting import receipt_in_words
from tests.conversations.talks import Talk, clear, forget_conversation
from tests.draining import drained
from tests.factories import make_conversation, make_memory, make_message, make_turn
from tests.rows import rows_of

pytestmark = pytest.mark.django_db


def test_a_conversation_is_hidden_at_once_with_all_that_was_made_of_it(talk: Talk) -> None:
    forget_conversation(talk.conversation)
    for model in (Conversation, Message, Turn, Episode, Summary, Memory):
        assert not model.objects.exists()
    assert not RecallTrace.objects.exists()


def test_a_conversation_is_erased_and_tombstones_are_all_that_is_left(
    alice: User, talk: Talk
) -> None:
    drained(forget_conversation(talk.conversation))
    left = {table for table, rows in rows_of(alice).items() if rows}
    assert left == {"ops_user", "ops_usersettings", "memories_tombstone"}


def test_a_memory_with_a_source_in_another_conversation_stays(alice: User, talk: Talk) -> None:
    elsewhere = make_turn(make_conversation(alice), "I have a cat called Momo")
    memory = make_memory(alice, "Has a cat", turns=[elsewhere, talk.tea_turn])
    drained(forget_conversation(talk.conversation))
    assert Memory.everything.get() == memory
    assert Source.everything.get().turn == elsewhere


def test_memories_can_stay_as_the_persons_own_words(alice: User, talk: Talk) -> None:
    operation = forget_conversation(talk.conversation, memories=False)
    assert Memory.objects.count() == 2
    drained(operation)
    tea = Memory.objects.get(pk=talk.tea.pk)
    assert (tea.origin, tea.content) == (Origin.USER, talk.tea.content)
    source = Source.objects.get(memory=tea)
    assert (source.origin, source.turn, source.message, source.quote) == (
        Origin.USER,
        None,
        None,
        "",
    )
    assert source.comment == "kept when its conversation was deleted"
    assert not Message.everything.exists()
    assert Receipt.objects.get(operation=operation).kept == ["memories"]


def test_a_conversation_of_the_same_id_can_begin_anew(alice: User) -> None:
    old = make_conversation(alice, external_id="c1")
    operation = forget_conversation(old)
    new = make_conversation(alice, external_id="c1")
    make_message(new, "Hello again")
    drained(operation)
    assert Conversation.everything.get() == new
    assert Message.objects.count() == 1


def test_a_conversation_is_asked_about_once(alice: User, talk: Talk, mallory: User) -> None:
    operation = forget_conversation(talk.conversation)
    assert forget_conversation(talk.conversation) == operation
    with pytest.raises(NotFound):
        clear(talk.conversation)
    with pytest.raises(NotFound), as_user(mallory):
        message_forgets.forget_conversation(user=mallory, conversation=talk.conversation)
    drained(operation)
    with pytest.raises(NotFound):
        forget_conversation(talk.conversation)


def test_an_answer_that_repeats_what_is_known_from_elsewhere_is_no_trace(alice: User) -> None:
    known = "Is severely allergic to penicillin, with hives"
    told = make_turn(make_conversation(alice), "Penicillin is bad for me, properly, hives and all")
    memory = make_memory(alice, known, turns=[told])
    brief = make_conversation(alice)
    turn = make_turn(brief, "Kiwis, too.", f"Noted. {known}.")
    make_memory(alice, "Is allergic to kiwis", turns=[turn])
    drained(forget_conversation(brief))
    assert [one.content for one in Memory.everything.all()] == [known]
    assert memory.versions.get().content == known


def test_a_cleared_conversation_stays_empty(alice: User, talk: Talk) -> None:
    operation = clear(talk.conversation)
    assert not Message.objects.exists() and not Summary.objects.exists()
    drained(operation)
    conversation = Conversation.objects.get()
    assert (conversation.message_count, conversation.last_message_at) == (0, None)
    for model in (Message, Turn, Episode, Summary, Memory):
        assert not model.everything.exists()
    assert not Vector.objects.exists() and not LexicalEntry.objects.exists()


def test_what_is_said_after_clearing_is_not_touched(alice: User, talk: Talk) -> None:
    operation = clear(talk.conversation)
    with as_user(alice):
        turns.record_turn(
            user=alice,
            conversation=talk.conversation,
            user_message=MessageInput("I moved to Lyon last week"),
            assistant_message=MessageInput("Welcome!"),
        )
    drained(operation)
    assert [one.number for one in Message.objects.order_by("number")] == [5, 6]
    assert Conversation.objects.get().message_count == 2


@pytest.mark.parametrize(
    ("surface", "actor", "chosen", "label"),
    [
        ("page", "user", "person", "Kept, as you chose"),
        ("api", "key 7", "program", "Kept, as the program asked"),
        ("command", "operator", "", "Kept, as the request said"),
    ],
)
def test_the_receipt_says_who_chose_that_memories_stay(
    talk: Talk, surface: str, actor: str, chosen: str, label: str
) -> None:
    with audit_log.use_actor(actor, surface):
        operation = forget_conversation(talk.conversation, memories=False)
    drained(operation)
    receipt = Receipt.objects.get(operation=operation)
    assert (receipt.kept, receipt.chosen) == (["memories"], chosen)
    shown = receipt_in_words(receipt)
    assert (shown.kept, shown.chosen) == ([(label, "what was learned from it")], "")
    with translation.override("zh-hans"):
        [(chinese, _words)] = receipt_in_words(receipt).kept
    assert chinese not in ("", label)


def test_nothing_is_kept_where_nothing_was_learned(alice: User) -> None:
    conversation = make_conversation(alice)
    make_message(conversation, "Hello")
    operation = forget_conversation(conversation, memories=False)
    drained(operation)
    assert Receipt.objects.get(operation=operation).kept == []
