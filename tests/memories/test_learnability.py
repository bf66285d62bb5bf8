"""What was forgotten, or said while memory was off, is never learned again; told anew it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from conversations.models import Conversation, Message, Withheld
from conversations.recording import turns
from conversations.recording.turns import MessageInput
from memories import language_steps
from memories.extraction.types import Candidate, Extraction, TurnText
from memories.learning import memory_flush
from memories.learning.memory_flush import CallerMessage
from memories.models import DailyNote, Memory, Tombstone
from ops.access import as_user
from ops.accounts import users
from ops.models import Kind, Operation, User
from ops.queue import worker
from tests.memcenter.rest.client import Api, answer
from tests.memories.extraction.readings import statement
from tests.memories.plain_reader import PlainReader
from tests.memories.quiet import falls_quiet, texts
from tests.transfer.rich import content_of, export
from tests.transfer.test_round_trip import bring_in, report

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_reader")]
HOME = {"en": "I live in Brno.", "zh": "我住在天水。"}
PLACE = {"en": "Brno", "zh": "天水"}
ALLERGY = {"en": "I am allergic to shrimp.", "zh": "我对虾过敏。"}
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])
Forget = Callable[[Api, str], None]


@pytest.fixture
def api(alice_key: str) -> Api:
    return Api(alice_key)


def tell(api: Api, text: str, *, ids: Sequence[str] = (), thread: str = "c1") -> dict[str, Any]:
    """A turn, learned from."""
    named = dict(zip(("user_message_id", "assistant_message_id"), ids, strict=False))
    body = {"conversation_id": thread, "user_message": text, "assistant_message": "Noted.", **named}
    told: dict[str, Any] = answer(api.post("/turns", body), 201)
    worker.drain()
    return told


def flush(api: Api, **body: Any) -> dict[str, Any]:
    told: dict[str, Any] = answer(api.post("/memory/flush", {"conversation_id": "c1", **body}))
    worker.drain()
    return told


def given(text: str, **more: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text, **more}, {"role": "assistant", "content": "Noted."}]


def forget_turn(api: Api, text: str) -> None:
    message = Message.objects.get(content=text)
    body = {"scope": "message", "message_id": message.public_id, "cascade": True}
    answer(api.post("/memory/forget", body), 202)
    worker.drain()


def forget_reply(api: Api, text: str) -> None:
    message = Message.objects.get(content=text).turn_as_question.assistant_message
    answer(api.post("/memory/forget", {"scope": "message", "message_id": message.public_id}), 202)
    worker.drain()


def forget_memory(api: Api, text: str) -> None:
    memory = Memory.objects.get()
    answer(api.post("/memory/forget", {"scope": "memory", "memory_id": memory.public_id}), 202)
    worker.drain()


def delete_memory(api: Api, text: str) -> None:
    answer(api.delete(f"/memory/long_term/{Memory.objects.get().public_id}"), 202)
    worker.drain()


def forget_conversation(api: Api, text: str) -> None:
    answer(api.post("/memory/forget", {"scope": "conversation", "conversation_id": "c1"}), 202)
    worker.drain()
    answer(api.post("/conversations", {"conversation_id": "c1"}), 201)


def clear(api: Api, text: str) -> None:
    answer(api.post("/clear", {"conversation_id": "c1"}), 202)
    worker.drain()


WAYS: list[Forget] = [
    forget_turn,
    forget_reply,
    forget_memory,
    delete_memory,
    forget_conversation,
    clear,
]


def switch(user: User, is_on: bool) -> None:
    users.change_settings(user=user, changes={"longterm_enabled": is_on})


# What was forgotten.


@LANGUAGES
@pytest.mark.parametrize("forget", WAYS)
def test_a_flush_never_brings_back_what_was_forgotten_and_telling_it_anew_does(
    api: Api, language: str, forget: Forget
) -> None:
    said = HOME[language]
    tell(api, said, ids=["q3", "q4"])
    assert PLACE[language] in Memory.objects.get().content
    forget(api, said)
    assert texts() == []
    for messages in (
        given(said),
        given(said, message_id="q9"),
        given(said, message_id="q3"),
        given(f"  {said.rstrip('.。')}!"),
        None,
    ):
        assert flush(api, messages=messages)["note"] == "NO_REPLY"
    assert texts() == [] and not DailyNote.objects.exists()
    tell(api, said, ids=["q5", "q6"])
    assert PLACE[language] in Memory.objects.get().content


@LANGUAGES
@pytest.mark.parametrize("forget", WAYS)
def test_from_the_moment_a_forget_is_asked_for_a_flush_brings_nothing_back(
    api: Api, language: str, forget: Forget, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = HOME[language]
    tell(api, said)
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(worker, "drain", lambda: None)
        forget(api, said)
        messages = given(said)
        body = {"conversation_id": "c1", "messages": messages}
        assert answer(api.post("/memory/flush", body))["note"] == "NO_REPLY"
    worker.drain()
    assert texts() == [] and not Operation.objects.filter(status="failed").exists()


@LANGUAGES
def test_a_candidate_from_before_the_forget_is_not_committed_after_it(
    api: Api, language: str
) -> None:
    said = HOME[language]
    answer(api.post("/conversations", {"conversation_id": "c1"}), 201)
    [one] = flush(api, messages=given(said), stage="candidates")["candidates"]
    tell(api, said)
    delete_memory(api, said)
    [written] = flush(api, stage="commit", candidates=[one["id"]])["written"]
    assert (written["id"], written["result"]) == (None, "gone")
    assert texts() == [] and not DailyNote.objects.exists()


def test_a_flush_that_says_when_it_was_said_tells_before_from_after(api: Api) -> None:
    tell(api, HOME["en"])
    delete_memory(api, HOME["en"])
    before = timezone.now() - timedelta(days=1)
    later = timezone.now() + timedelta(seconds=1)
    flush(api, messages=given(HOME["en"], created_at=before.isoformat()))
    assert texts() == []
    flush(api, messages=given(HOME["en"], created_at=later.isoformat()))
    assert texts() == ["I live in Brno"]


@pytest.mark.parametrize("forget", WAYS)
def test_other_things_of_the_same_messages_are_still_learned(api: Api, forget: Forget) -> None:
    tell(api, HOME["en"])
    forget(api, HOME["en"])
    flush(api, messages=given(f"{HOME['en']} I play the cello."))
    assert texts() == ["I play the cello"]


def test_another_turn_that_said_it_before_teaches_nothing_when_its_time_comes(
    api: Api, alice: User
) -> None:
    """It waited in the queue while the memory was forgotten."""
    tell(api, HOME["en"])
    body = {"conversation_id": "c2", "user_message": HOME["en"], "assistant_message": "Ok."}
    answer(api.post("/turns", body), 201)
    waiting = Operation.objects.filter(kind=Kind.EXTRACT_TURN, status="pending")
    later = timezone.now() + timedelta(hours=1)
    pks = list(waiting.values_list("pk", flat=True))
    waiting.update(run_after=later)
    delete_memory(api, HOME["en"])
    Operation.objects.filter(pk__in=pks).update(run_after=timezone.now())
    worker.drain()
    assert not Operation.objects.filter(pk__in=pks).exclude(status="succeeded").exists()
    assert texts() == []


def test_a_forgotten_project_is_not_learned_again_from_its_messages(
    api: Api, conversation: Conversation
) -> None:
    body = {"project_key": "boat", "project_name": "Boat"}
    page = {"content_type": "plan", "content": HOME["en"]}
    answer(api.post("/ingest/memory", {**body, **page}), 201)
    answer(api.post("/memory/forget", {"scope": "project", "project_key": "boat"}), 202)
    worker.drain()
    stone = Tombstone.objects.get()
    assert stone.forgotten_at <= timezone.now() and PLACE["en"] not in str(stone.__dict__)
    flush(api, messages=given(HOME["en"]))
    assert texts() == []
    tell(api, HOME["en"], thread="anew")
    assert texts() == ["I live in Brno"]


def test_a_message_that_was_forgotten_before_it_was_learned_from_teaches_nothing_by_flush(
    api: Api,
) -> None:
    body = {"conversation_id": "c1", "user_message": HOME["en"], "assistant_message": "Ok."}
    answer(api.post("/turns", body), 201)
    forget_turn(api, HOME["en"])
    flush(api, messages=given(HOME["en"]))
    assert texts() == []
    tell(api, HOME["en"], thread="anew")
    assert texts() == ["I live in Brno"]


class Rereader:
    """An extractor that words the same thing anew, and cuts its quotation out elsewhere."""

    name = "rereader"

    def __init__(self, content: str, quote: str) -> None:
        self._content, self._quote = content, quote

    def extract(self, turn: TurnText) -> Extraction:
        at = turn.user.text.find(self._quote)
        if at < 0:
            return Extraction()
        found = Candidate("fact", self._content, 0.6, 0.9, self._quote, quote_start=at)
        return Extraction((found,))


LONG = {
    "en": "Since the spring I live in a small flat near the old harbour of Brno with two cats.",
    "zh": "我从今年春天开始和两只猫一起住在天水老港口附近的一间小公寓里。",
}
CUTS = {
    "en": [
        ("Home: Brno", "I live in a small flat near the old harbour of Brno"),
        ("Home: Brno", "live in a small flat near the old harbour"),
        ("Home: Brno", LONG["en"]),
    ],
    "zh": [
        ("家在天水", "我从今年春天开始和两只猫一起住在天水老港口附近"),
        ("家在天水", "一起住在天水老港口附近的一间小公寓"),
        ("家在天水", LONG["zh"]),
    ],
}


@LANGUAGES
@pytest.mark.parametrize("cut", range(3))
def test_the_same_words_stay_unlearned_when_another_extractor_reads_them(
    api: Api, monkeypatch: pytest.MonkeyPatch, language: str, cut: int
) -> None:
    said = LONG[language]
    old = Rereader("Has a home", said[2:-3])
    monkeypatch.setattr(language_steps, "extractor", lambda: old)
    tell(api, said)
    delete_memory(api, said)
    content, quote = CUTS[language][cut]
    monkeypatch.setattr(language_steps, "extractor", lambda: Rereader(content, quote))
    flush(api, messages=given(said))
    assert texts() == []
    tell(api, said)
    assert texts() == [content]


def test_other_words_of_the_same_sentence_are_learned_by_another_extractor(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        language_steps, "extractor", lambda: Rereader("Has a home", LONG["en"][:70])
    )
    tell(api, LONG["en"])
    delete_memory(api, LONG["en"])
    monkeypatch.setattr(
        language_steps, "extractor", lambda: Rereader("Has two cats", "with two cats")
    )
    flush(api, messages=given(LONG["en"]))
    assert texts() == ["Has two cats"]


def test_a_tombstone_of_a_message_holds_no_text(api: Api) -> None:
    tell(api, LONG["en"])
    forget_turn(api, LONG["en"])
    stones = str(list(Tombstone.objects.values()))
    assert not any(word in stones.casefold() for word in ("brno", "harbour", "cats", "noted"))


# Brought in from elsewhere.


def jsonl(text: str, at: datetime | None = None, *, thread: str = "old") -> bytes:
    row = {"conversation": thread, "user_message": text, "assistant_message": "Ok."}
    return json.dumps(row | ({"created_at": at.isoformat()} if at else {})).encode()


def test_a_file_without_times_was_said_before(api: Api, alice: User) -> None:
    tell(api, HOME["en"])
    delete_memory(api, HOME["en"])
    report(bring_in(alice, jsonl(HOME["en"])))
    report(bring_in(alice, jsonl(HOME["en"], timezone.now() - timedelta(days=9), thread="older")))
    assert texts() == [] and Message.objects.filter(content=HOME["en"]).count() == 3
    report(bring_in(alice, jsonl(HOME["en"], timezone.now(), thread="new")))
    assert texts() == ["I live in Brno"]


def test_our_own_export_brings_nothing_back(api: Api, alice: User) -> None:
    tell(api, HOME["en"])
    tell(api, "I play the cello.")
    file = content_of(export(alice))
    forget_turn(api, HOME["en"])
    told = report(bring_in(alice, file))
    assert texts() == ["I play the cello"]
    assert "it was forgotten here" in {one["why"] for one in told["skipped"]}
    flush(api)
    falls_quiet(Conversation.objects.get())
    assert texts() == ["I play the cello"]


def test_what_was_said_while_memory_was_off_stays_so_in_an_export(
    api: Api, alice: User, mallory: User, mallory_key: str
) -> None:
    switch(alice, False)
    tell(api, ALLERGY["en"])
    file = content_of(export(alice))
    report(bring_in(mallory, file))
    Conversation.objects.filter(user=mallory).update(flushed_through=0)
    flush(Api(mallory_key))
    marks = Message.objects.filter(user=mallory).values_list("withheld", flat=True)
    assert set(marks) == {Withheld.MEMORY_OFF} and texts() == []


def test_what_comes_in_while_memory_is_off_is_never_learned(api: Api, alice: User) -> None:
    switch(alice, False)
    report(bring_in(alice, jsonl(ALLERGY["en"], timezone.now())))
    switch(alice, True)
    answer(api.post("/memory/flush", {"conversation_id": "old"}))
    assert texts() == []


def test_an_old_message_that_mem0_adds_again_teaches_nothing(alice: User, alice_key: str) -> None:
    api = Api(alice_key)
    tell(api, HOME["en"])
    delete_memory(api, HOME["en"])

    def add(messages: Sequence[dict[str, Any]], **more: Any) -> None:
        body = {"user_id": "alice", "messages": list(messages), **more}
        answer(api.post("http://testserver/v3/memories/add/", body))
        worker.drain()

    yesterday = int((timezone.now() - timedelta(days=1)).timestamp())
    add(given(HOME["en"]), timestamp=yesterday)
    add([*given(HOME["en"]), *given("What is the weather like?")])
    assert texts() == []
    add(given(HOME["en"]))
    assert texts() == ["I live in Brno"]


# What was said while memory was off.


@LANGUAGES
def test_what_was_said_while_memory_was_off_is_not_learned_by_a_flush(
    api: Api, alice: User, language: str
) -> None:
    switch(alice, False)
    said = ALLERGY[language]
    tell(api, said, ids=["q1", "q2"])
    message = Message.objects.get(content=said)
    switch(alice, True)
    for messages in (
        None,
        given(said),
        given(said, message_id="q1"),
        given(said, message_id=message.public_id),
    ):
        assert flush(api, messages=messages)["note"] == "NO_REPLY"
        assert flush(api, messages=messages, stage="candidates")["candidates"] == []
    assert texts() == [] and not DailyNote.objects.exists()
    tell(api, said)
    assert len(texts()) == 1


def test_nor_by_the_roll_of_the_summary_or_when_it_falls_quiet(
    alice: User, conversation: Conversation, settings: Settings
) -> None:
    settings.WINDOW_MESSAGES, settings.SUMMARY_EVERY = 2, 2
    switch(alice, False)
    for text in (ALLERGY["en"], "I go swimming on Mondays.", "Monday, so I go swimming again."):
        say(conversation, text)
        say(conversation, "Ok.", role="assistant")
    say(conversation, HOME["en"])
    switch(alice, True)
    for _ in range(3):
        say(conversation, "Hm.")
    worker.drain()
    assert Operation.objects.filter(kind=Kind.SUMMARIZE, status="succeeded").exists()
    falls_quiet(conversation)
    assert texts() == []


@LANGUAGES
@pytest.mark.parametrize("forget", [forget_memory, delete_memory])
def test_what_was_forgotten_is_learned_neither_by_the_roll_of_the_summary_nor_when_it_falls_quiet(
    api: Api, conversation: Conversation, settings: Settings, language: str, forget: Forget
) -> None:
    """The old message waited for the roll, which learns another one that waited beside it."""
    settings.WINDOW_MESSAGES, settings.SUMMARY_EVERY = 2, 2
    said = HOME[language]
    say(conversation, said)
    say(conversation, "I play the cello.")
    tell(api, said, thread="c2")
    assert PLACE[language] in Memory.objects.get().content
    forget(api, said)
    assert Message.objects.filter(content=said).count() == 2
    for _ in range(3):
        say(conversation, "Hm.")
    worker.drain()
    assert Operation.objects.filter(kind=Kind.SUMMARIZE, status="succeeded").exists()
    assert texts() == ["I play the cello"]
    say(conversation, "I swim.")
    falls_quiet(conversation)
    falls_quiet(Conversation.objects.get(external_id="c2"))
    assert texts() == ["I play the cello", "I swim"]
    assert not DailyNote.objects.filter(text__contains=PLACE[language]).exists()
    tell(api, said)
    assert len(texts()) == 3


def say(conversation: Conversation, text: str, *, role: str = "user") -> Message:
    with as_user(conversation.user):
        recorded = turns.record_message(
            user=conversation.user,
            conversation=conversation,
            message=MessageInput(text, role=role),
        )
    return recorded.message


def test_a_reply_that_comes_after_memory_is_on_again_teaches_nothing_of_the_question(
    alice: User, conversation: Conversation
) -> None:
    switch(alice, False)
    say(conversation, ALLERGY["en"])
    switch(alice, True)
    say(conversation, "Noted.", role="assistant")
    falls_quiet(conversation)
    assert texts() == []


def test_what_was_said_while_memory_was_off_is_no_context_of_what_is_said_later(
    alice: User, conversation: Conversation
) -> None:
    switch(alice, False)
    say(conversation, "You are vegan, right?", role="assistant")
    switch(alice, True)
    say(conversation, "Yes, exactly.")
    falls_quiet(conversation)
    assert texts() == []


# Not to be kept.


@pytest.mark.parametrize(
    "said",
    [
        "Don't keep this: I am allergic to shrimp.",
        "I am allergic to shrimp. Please don’t remember that.",
        "Off the record, I am allergic to shrimp.",
        "别记，我对虾过敏。",
        "我对虾过敏。这句话不要保存。",
    ],
)
def test_what_is_not_to_be_kept_is_learned_by_no_path(api: Api, alice: User, said: str) -> None:
    tell(api, said)
    flush(api)
    flush(api, messages=given(said))
    falls_quiet(Conversation.objects.get())
    assert texts() == [] and not DailyNote.objects.exists()
    assert Message.objects.get(role="user").withheld == Withheld.ASKED


@pytest.mark.parametrize(
    ("said", "statement_"),
    [
        ("Don't forget this: I am allergic to shrimp.", "I am allergic to shrimp"),
        ("别忘了，我对虾过敏。", "我对虾过敏"),
        ("记住我对虾过敏。", "我对虾过敏"),
    ],
)
def test_what_is_to_be_kept_is(
    api: Api, plain_reader: PlainReader, said: str, statement_: str
) -> None:
    plain_reader.hears(said, statement(said, statement_), flags=["remember"])
    tell(api, said)
    assert texts() == [statement_]


def test_what_is_flushed_rests_on_no_transaction_of_its_own(
    alice: User, conversation: Conversation
) -> None:
    """The two stages ask again each: what was forgotten between them is gone."""
    message = CallerMessage("user", HOME["en"])
    found = memory_flush.propose(user=alice, conversation=conversation, given=[message])
    ready = memory_flush.prepare_candidates(found.proposed)
    with as_user(alice):
        [written] = memory_flush.commit_candidates(ready, user=alice)
    assert written.result == "created"
