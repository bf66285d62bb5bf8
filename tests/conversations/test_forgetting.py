from collections.abc import Callable
from dataclasses import dataclass

import pytest

from conversations.models import (
    Conversation,
    Episode,
    Feedback,
    Message,
    Rating,
    Summary,
    Turn,
)
from conversations.services import forgetting, turns
from conversations.services.turns import MessageInput
from memcenter.lib.errors import NotFound
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
from ops.services import outbox, worker
from tests.factories import (
    make_conversation,
    make_episode,
    make_memory,
    make_message,
    make_summary,
    make_trace,
    make_turn,
    make_version,
)
from tests.killing import Kill, kill_at, revive
from tests.rows import rows_of

pytestmark = pytest.mark.django_db

TEA = "I drink green tea every morning before work"
JAZZ = "I play the double bass in a jazz trio"


@dataclass(frozen=True)
class Talk:
    """Two turns with all that is kept of them; the memory `tea` rests on the first one only."""

    conversation: Conversation
    tea_turn: Turn
    jazz_turn: Turn
    tea: Memory
    jazz: Memory


def make_talk(user: User) -> Talk:
    conversation = make_conversation(user, title=TEA[:20])
    tea_turn, jazz_turn = make_turn(conversation, TEA), make_turn(conversation, JAZZ)
    for turn in (tea_turn, jazz_turn):
        make_episode(turn)
        make_trace(
            user,
            turn.user_message.content,
            answer=turn.assistant_message,
            conversation=conversation,
        )
        Feedback.objects.create(
            user=user, message=turn.assistant_message, rating=Rating.POSITIVE, comment="thanks"
        )
        Refusal.objects.create(user=user, turn=turn, category="password")
    make_summary(conversation, "Alice drinks tea and plays jazz", through=4)
    tea = make_memory(user, "Alice drinks green tea every morning", turns=[tea_turn])
    jazz = make_memory(user, "Alice plays the double bass in a jazz trio", turns=[jazz_turn])
    Arbitration.objects.create(
        user=user, turn=tea_turn, memory=tea, verdict="ADD", candidate_text="tea", decided_by="rule"
    )
    conversation.refresh_from_db()
    return Talk(conversation, tea_turn, jazz_turn, tea, jazz)


@pytest.fixture
def talk(alice: User) -> Talk:
    return make_talk(alice)


def forget_message(message: Message, *, cascade: bool = False) -> Operation:
    with as_user(message.user):
        return forgetting.forget_message(user=message.user, message=message, cascade=cascade)


def forget_conversation(conversation: Conversation, *, memories: bool = True) -> Operation:
    user = conversation.user
    with as_user(user):
        return forgetting.forget_conversation(
            user=user, conversation=conversation, forget_memories=memories
        )


def clear(conversation: Conversation, *, memories: bool = True) -> Operation:
    user = conversation.user
    with as_user(user):
        return forgetting.clear_conversation(
            user=user, conversation=conversation, forget_memories=memories
        )


def drained(operation: Operation) -> Operation:
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED, operation.last_error
    return operation


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


# --- a message -------------------------------------------------------------------------------


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
    assert set(Tombstone.objects.get().message_ids) == ids


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
        forgetting.forget_message(user=mallory, message=message)
    drained(forget_message(message))
    with pytest.raises(NotFound):
        forget_message(message)


# --- a conversation --------------------------------------------------------------------------


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
        forgetting.forget_conversation(user=mallory, conversation=talk.conversation)
    drained(operation)
    with pytest.raises(NotFound):
        forget_conversation(talk.conversation)


# --- clearing --------------------------------------------------------------------------------


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


# --- all of them -----------------------------------------------------------------------------

Ask = Callable[[Talk], Operation]
ASK: dict[str, Ask] = {
    "message": lambda talk: forget_message(talk.tea_turn.assistant_message, cascade=True),
    "conversation": lambda talk: forget_conversation(talk.conversation),
    "clear": lambda talk: clear(talk.conversation),
    "keeping": lambda talk: forget_conversation(talk.conversation, memories=False),
}
STEPS = ["hide", "memories", "traces", "index", "summaries", "turns", "messages", "exports"]


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
def test_a_bystander_keeps_every_row(ask: Ask, talk: Talk, mallory: User) -> None:
    make_talk(mallory)
    before = rows_of(mallory)
    drained(ask(talk))
    assert rows_of(mallory) == before


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
def test_running_it_again_changes_nothing(ask: Ask, alice: User, talk: Talk) -> None:
    operation = drained(ask(talk))
    before, receipt = rows_of(alice), Receipt.objects.values().get()
    Operation.objects.filter(pk=operation.pk).update(status=Status.PENDING, finished_at=None)
    drained(operation)
    assert (rows_of(alice), Receipt.objects.values().get()) == (before, receipt)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", [*STEPS, "conversation", "receipt"])
def test_it_survives_being_killed_at_any_step(
    alice: User,
    mallory: User,
    talk: Talk,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    moment: str,
) -> None:
    make_talk(mallory)
    before, operation = rows_of(mallory), forget_conversation(talk.conversation)
    with pytest.raises(Kill):
        kill_at(monkeypatch, step=step, moment=moment)
    revive(monkeypatch)
    drained(operation)
    left = {table for table, rows in rows_of(alice).items() if rows}
    assert left == {"ops_user", "ops_usersettings", "memories_tombstone"}
    erased = Receipt.objects.get().erased["database"]
    assert (erased["conversations_message"], erased["memories_memory"]) == (4, 2)
    assert rows_of(mallory) == before


@pytest.mark.parametrize("step", [*STEPS, "receipt"])
def test_forgetting_a_turn_survives_being_killed(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    operation = forget_message(talk.tea_turn.assistant_message, cascade=True)
    with pytest.raises(Kill):
        kill_at(monkeypatch, step=step, moment="after")
    revive(monkeypatch)
    drained(operation)
    assert Message.everything.count() == 2
    assert Operation.objects.filter(kind=Kind.SUMMARIZE).count() == 1


def test_after_the_account_went_the_operation_still_ends(talk: Talk, alice: User) -> None:
    operation = forget_message(talk.tea_turn.user_message)
    User.objects.filter(pk=alice.pk).delete()
    drained(operation)
    assert Receipt.objects.get().scope == "message"
