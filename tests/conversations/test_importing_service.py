from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from conversations.importing import dialogues
from conversations.importing.dialogues import Loaded, Progress, load_person
from conversations.importing.formats import file_rows
from conversations.importing.formats.values import (
    ASSISTANT,
    USER,
    ImportedConversation,
    ImportedMessage,
    ImportedPerson,
)
from conversations.models import Conversation, Message, Turn
from foundation.errors import Conflict, Invalid
from memories.models import Memory
from ops.accounts import users
from ops.models import Kind, Operation, Priority, User
from ops.queue.worker import drain

pytestmark = pytest.mark.django_db

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ASKED_AND_ANSWERED = [USER, ASSISTANT]


def conversation(
    name: str = "talk", roles: list[str] = ASKED_AND_ANSWERED, *, kind: str = "main"
) -> ImportedConversation:
    messages = tuple(
        ImportedMessage(
            client_id=str(number),
            role=role,
            speaker="",
            content=f"{name} {number} of the {role}",
            created_at=NOON + timedelta(minutes=number),
        )
        for number, role in enumerate(roles, start=1)
    )
    return ImportedConversation(name, name.title(), kind, NOON, messages)


def person(*conversations: ImportedConversation) -> ImportedPerson:
    return ImportedPerson("Alice", "alice", "en", conversations, timezone="Europe/London")


def with_content(one: ImportedConversation, number: int, content: str) -> ImportedConversation:
    messages = list(one.messages)
    messages[number - 1] = replace(messages[number - 1], content=content)
    return replace(one, messages=tuple(messages))


def rows() -> list[tuple[str, int, str, str]]:
    found = Message.objects.order_by("conversation__external_id", "number")
    return [
        (str(one.conversation.external_id), one.number, str(one.external_id), one.content)
        for one in found.select_related("conversation")
    ]


def test_everything_is_recorded_in_order_with_its_times(alice: User) -> None:
    source = conversation(roles=[USER, USER, ASSISTANT, ASSISTANT, USER, ASSISTANT])

    loaded = load_person(person(source), user=alice)

    assert loaded == Loaded(conversations=1, messages=6, turns=2, repeated=0, skipped=())
    found = Message.objects.order_by("number")
    assert [one.external_id for one in found] == ["1", "2", "3", "4", "5", "6"]
    assert [one.created_at for one in found] == [one.created_at for one in source.messages]
    assert [
        (one.user_message.external_id, one.assistant_message.external_id)
        for one in Turn.objects.order_by("pk")
    ] == [("2", "3"), ("5", "6")]


def test_a_conversation_keeps_its_title_kind_and_the_names_of_its_speakers(alice: User) -> None:
    source = conversation(kind="group")
    named = replace(source, messages=tuple(replace(m, speaker="Bo") for m in source.messages))

    load_person(person(named), user=alice)

    [found] = Conversation.objects.all()
    assert (found.external_id, found.title, found.kind) == ("talk", "Talk", "group")
    assert found.speakers == ["Bo"]


def test_what_is_learned_from_a_file_waits_behind_what_people_say_now(alice: User) -> None:
    load_person(person(conversation(roles=[USER, USER, ASSISTANT])), user=alice)

    found = Operation.objects.filter(subject=alice.subject)
    assert {one.kind for one in found} == {Kind.EXTRACT_TURN, Kind.INDEX_EPISODE}
    assert {one.priority for one in found} == {Priority.BULK}


def test_nothing_is_learned_while_long_term_memory_is_off(alice: User) -> None:
    """The turn is read all the same: the person may ask to forget something in it."""
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    told = with_content(conversation(), 1, "I'm allergic to walnuts.")

    load_person(person(told), user=alice)
    drain()

    assert Turn.objects.get().extracted_at
    assert not Memory.everything.exists()
    users.change_settings(user=alice, changes={"longterm_enabled": True})
    load_person(person(replace(told, client_id="later")), user=alice)
    drain()
    assert Memory.everything.get().content == "I'm allergic to walnuts"


def test_loading_it_again_records_nothing_more(alice: User) -> None:
    source = person(conversation("one"), conversation("two", [USER, USER, ASSISTANT, ASSISTANT]))
    load_person(source, user=alice)
    before, operations = rows(), Operation.objects.count()

    loaded = load_person(source, user=alice)

    assert loaded == Loaded(conversations=0, messages=0, turns=0, repeated=6, skipped=())
    assert rows() == before
    assert Operation.objects.count() == operations


@pytest.mark.parametrize("parts", range(1, 6))
def test_a_load_that_was_killed_is_completed_by_the_next(alice: User, parts: int) -> None:
    source = person(
        conversation("one", [USER, ASSISTANT, USER, ASSISTANT]),
        conversation("two", [ASSISTANT, USER, ASSISTANT, USER]),
    )
    seen: list[Progress] = []

    def killed(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) == parts:
            raise SystemExit

    with pytest.raises(SystemExit):
        load_person(source, user=alice, on_progress=killed)
    recorded = Message.objects.count()
    assert recorded == seen[-1].messages

    loaded = load_person(source, user=alice)

    assert (loaded.messages, loaded.repeated) == (8 - recorded, recorded)
    assert [(name, client_id) for name, _, client_id, _ in rows()] == [
        (one.client_id, message.client_id)
        for one in source.conversations
        for message in one.messages
    ]
    assert Turn.objects.count() == 3
    assert Operation.objects.filter(kind=Kind.EXTRACT_TURN).count() == 3


def test_two_people_may_use_the_same_ids(alice: User, mallory: User) -> None:
    load_person(person(conversation()), user=alice)
    load_person(person(conversation()), user=mallory)

    assert Message.objects.filter(user=alice).count() == 2
    assert Message.objects.filter(user=mallory).count() == 2


@pytest.mark.parametrize(("number", "kept"), [(1, "2"), (2, "1")])
def test_a_message_over_the_limit_is_left_out_and_the_other_side_stays(
    alice: User, settings: Settings, number: int, kept: str
) -> None:
    settings.MAX_MESSAGE_CHARS = 100
    source = person(with_content(conversation(), number, "x" * 101), conversation("after"))

    loaded = load_person(source, user=alice)

    [left_out] = loaded.skipped
    assert (left_out.conversation, left_out.message) == ("talk", str(number))
    assert "100 characters" in left_out.reason
    assert "xxx" not in left_out.reason
    assert [client_id for name, _, client_id, _ in rows() if name == "talk"] == [kept]
    assert loaded.turns == 1
    again = load_person(source, user=alice)
    assert (again.messages, again.repeated, again.skipped) == (0, 3, loaded.skipped)


def test_a_single_message_over_the_limit_is_left_out(alice: User, settings: Settings) -> None:
    settings.MAX_MESSAGE_CHARS = 100
    source = with_content(conversation(roles=[USER, USER, ASSISTANT]), 1, "x" * 101)

    loaded = load_person(person(source), user=alice)

    assert [one.message for one in loaded.skipped] == ["1"]
    assert (loaded.messages, loaded.turns) == (2, 1)


def test_an_id_that_has_another_text_by_now_is_left_as_it_is(alice: User) -> None:
    source = conversation(roles=[USER, ASSISTANT, USER, ASSISTANT])
    load_person(person(source), user=alice)
    before = rows()

    loaded = load_person(person(with_content(source, 2, "changed")), user=alice)

    assert [one.message for one in loaded.skipped] == ["1", "2"]
    assert loaded.repeated == 2
    assert rows() == before


def test_a_conversation_that_is_there_as_the_other_kind_is_left_out(alice: User) -> None:
    load_person(person(conversation()), user=alice)

    loaded = load_person(
        person(conversation(kind="group"), conversation("other", kind="group")), user=alice
    )

    assert [(one.conversation, one.message) for one in loaded.skipped] == [
        ("talk", "1"),
        ("talk", "2"),
    ]
    assert (loaded.conversations, loaded.messages) == (1, 2)


def test_a_conversation_that_is_forgotten_meanwhile_does_not_come_back(alice: User) -> None:
    source = person(conversation(roles=[USER, ASSISTANT, USER, ASSISTANT]), conversation("next"))

    def forget(progress: Progress) -> None:
        Conversation.objects.filter(external_id="talk").update(hidden_at=timezone.now())

    loaded = load_person(source, user=alice, on_progress=forget)

    assert [(one.conversation, one.message) for one in loaded.skipped] == [
        ("talk", "3"),
        ("talk", "4"),
    ]
    assert Conversation.objects.get().external_id == "next"


def test_a_forget_of_the_person_stops_the_load(alice: User) -> None:
    def forget(progress: Progress) -> None:
        User.objects.filter(pk=alice.pk).update(hidden_at=timezone.now())

    with pytest.raises(Conflict) as caught:
        load_person(
            person(conversation("one"), conversation("two")), user=alice, on_progress=forget
        )

    assert caught.value.code == "being_forgotten"
    assert {name for name, *_ in rows()} == {"one"}


def test_progress_tells_the_conversation_and_counts_messages(alice: User) -> None:
    seen: list[Progress] = []

    load_person(
        person(conversation("one", [USER, ASSISTANT, USER]), conversation("two")),
        user=alice,
        on_progress=seen.append,
    )

    assert seen == [
        Progress(1, 2, messages=2, total=5, conversation_is_done=False),
        Progress(1, 2, messages=3, total=5, conversation_is_done=True),
        Progress(2, 2, messages=5, total=5, conversation_is_done=True),
    ]


def test_an_account_is_made_with_what_the_file_says(db: None) -> None:
    user = dialogues.find_or_create_account(
        replace(person(), language="zh"), external_id="demo-alice"
    )

    assert (user.external_id, user.display_name) == ("demo-alice", "Alice")
    decided = users.settings_of(user)
    assert (decided.language, decided.timezone) == ("zh-hans", "Europe/London")
    assert not user.has_usable_password()


def test_an_account_keeps_what_its_person_decided(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(display_name="Alicia")
    users.change_settings(user=alice, changes={"language": "en", "timezone": "Asia/Tokyo"})

    user = dialogues.find_or_create_account(replace(person(), language="zh"), external_id="alice")

    assert (user.pk, user.display_name) == (alice.pk, "Alicia")
    decided = users.settings_of(user)
    assert (decided.language, decided.timezone) == ("en", "Asia/Tokyo")


def test_an_impossible_external_id_makes_no_account(db: None) -> None:
    with pytest.raises(Invalid):
        dialogues.find_or_create_account(person(), external_id="a\nb")
    assert not User.objects.filter(display_name="Alice").exists()


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["cn", "en"])
def test_a_person_of_memorybank_is_loaded_whole(alice: User, name: str) -> None:
    path = SHARED / "memorybank" / f"{name}.json"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    source = next(iter(file_rows.read_people(path)))
    wanted = [
        (one.client_id, message.client_id, message.content)
        for one in source.conversations
        for message in one.messages
    ]

    loaded = load_person(source, user=alice)

    assert loaded.skipped == ()
    assert [(name, client_id, text) for name, _, client_id, text in rows()] == wanted
    assert loaded.turns == Turn.objects.count() == sum(len(c.turns) for c in source.conversations)
    assert load_person(source, user=alice).messages == 0
