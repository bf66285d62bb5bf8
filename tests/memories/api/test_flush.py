"""What a client is about to drop becomes candidates, then memories and lines of today's note."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings

from conversations.models import Conversation
from memories.models import DailyNote, Memory, Source
from ops.accounts import keys
from ops.models import Receipt, User
from ops.queue import worker
from tests.factories import make_conversation, make_memory, make_turn
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_reader")]
FLUSH = "/memory/flush"
TEA = "I am allergic to peanuts."


@pytest.fixture
def talk(alice: User) -> Conversation:
    conversation = make_conversation(alice, external_id="c1")
    make_turn(conversation, TEA, "Noted, no peanuts.")
    make_turn(conversation, "What is the weather like?", "Sunny.")
    return conversation


def flush(key: str, **body: Any) -> Any:
    return answer(Api(key).post(FLUSH, {"conversation_id": "c1", **body}))


def test_candidates_name_the_words_they_rest_on_and_nothing_is_written(
    talk: Conversation, alice_key: str
) -> None:
    body = flush(alice_key, stage="candidates")
    [one] = body["candidates"]
    said = talk.turns.order_by("pk")[0].user_message
    assert one["source"]["message_id"] == said.public_id
    assert one["source"]["quote"] in TEA and one["source"]["index"] is None
    assert (one["kind"], body["note"]) == ("constraint", "") and "written" not in body
    assert body["tokens"] > 0
    assert not Memory.objects.exists() and not DailyNote.objects.exists()


def test_what_is_committed_is_a_memory_of_the_turn_and_a_line_of_the_note(
    alice: User, talk: Conversation, alice_key: str
) -> None:
    [one] = flush(alice_key, stage="candidates")["candidates"]
    body = flush(alice_key, stage="commit", candidates=[one["id"]])
    memory, note = Memory.objects.get(), DailyNote.objects.get()
    [written] = body["written"]
    assert (written["id"], written["result"]) == (memory.public_id, "created")
    assert written["note_line"].endswith(f"[flush] {memory.content}")
    assert memory.content == note.text and written["note_id"] == note.public_id
    source = Source.objects.get()
    assert (source.turn_id, source.reference) == (talk.turns.order_by("pk")[0].pk, note.public_id)
    again = flush(alice_key, stage="commit", candidates=[one["id"]])
    assert [(o["id"], o["result"]) for o in again["written"]] == [(memory.public_id, "skipped")]
    assert Memory.objects.count() == DailyNote.objects.count() == 1


def test_a_flush_is_made_once_for_each_compaction(talk: Conversation, alice_key: str) -> None:
    assert flush(alice_key)["written"][0]["result"] == "created"
    nothing = {"candidates": [], "written": [], "tokens": 0, "note": "NO_REPLY"}
    assert flush(alice_key) == nothing
    talk.refresh_from_db()
    make_turn(talk, "I live in Porto.", "Lovely.")
    assert [one["result"] for one in flush(alice_key)["written"]] == ["created"]


def test_below_the_threshold_nothing_happens(
    talk: Conversation, alice_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = flush(alice_key, only_if_due=True)
    assert waits["note"] == "NO_REPLY" and 0 < waits["tokens"] < settings.FLUSH_TOKENS
    assert not Memory.objects.exists()
    monkeypatch.setattr(settings, "FLUSH_TOKENS", waits["tokens"])
    assert flush(alice_key, only_if_due=True)["written"][0]["result"] == "created"


def test_edited_candidates_are_taken_and_hostile_ones_are_not(
    mallory: User, talk: Conversation, alice_key: str, mallory_key: str
) -> None:
    [one] = flush(alice_key, stage="candidates")["candidates"]

    def commit(*candidates: Any) -> Any:
        body = {"conversation_id": "c1", "stage": "commit", "candidates": list(candidates)}
        return Api(alice_key).post(FLUSH, body)

    for wrong in (
        "cand_x",
        one["id"][:-1],
        5,
        {"content": "Owns a yacht."},
        {**one, "content": " "},
        {**one, "importance": 2},
        {**one, "importance": True},
        {**one, "kind": "nonsense"},
        {**one, "content": 7},
    ):
        error(commit(wrong), 400, "invalid")
    make_conversation(mallory, external_id="c1")
    theirs = {"conversation_id": "c1", "stage": "commit", "candidates": [one["id"]]}
    assert refused(Api(mallory_key).post(FLUSH, theirs), "candidates")
    secret = {**one, "content": "My password is hunter2-Zebra!"}
    edited = {**one, "content": "Alice must not eat peanuts.", "importance": 0.4}
    results = answer(commit(secret, edited))["written"]
    assert [one["result"] for one in results] == ["refused", "created"]
    assert (Memory.objects.get().content, Memory.objects.get().importance) == (
        edited["content"],
        0.4,
    )


@pytest.mark.parametrize(
    ("field", "longest", "one"),
    [("messages", 400, {"role": "user", "content": "x"}), ("candidates", 200, "cand_x")],
)
@pytest.mark.parametrize("stage", [None, "candidates", "commit"])
def test_a_list_that_is_too_long_is_refused(
    alice: User,
    talk: Conversation,
    alice_key: str,
    stage: str | None,
    field: str,
    longest: int,
    one: Any,
) -> None:
    body: dict[str, Any] = {"conversation_id": talk.public_id, "stage": stage, "candidates": []}
    refused(Api(alice_key).post("/memory/flush", {**body, field: [one] * (longest + 1)}), field)


def test_messages_that_are_not_recorded_here_are_read_as_given(
    alice: User, talk: Conversation, alice_key: str
) -> None:
    said = talk.turns.order_by("pk")[0].user_message
    messages = [
        {"role": "assistant", "content": "Welcome."},
        {"role": "user", "content": "I live in Porto."},
        {"role": "assistant", "content": "Lovely."},
        {"role": "user", "content": TEA, "message_id": said.public_id},
    ]
    found = flush(alice_key, stage="candidates", messages=messages)["candidates"]
    places = {one["source"]["index"]: one["source"]["message_id"] for one in found}
    assert places == {None: said.public_id, 1: None}
    done = flush(alice_key, stage="commit", candidates=[one["id"] for one in found])["written"]
    assert {one["result"] for one in done} == {"created"}
    porto = Memory.objects.get(content__contains="Porto")
    assert porto.origin == "agent" and DailyNote.objects.count() == 2
    talk.refresh_from_db()
    assert talk.flushed_through == 0


def test_forgetting_the_turn_takes_memory_and_note_and_stales_the_candidate(
    alice: User, talk: Conversation, alice_key: str
) -> None:
    [one] = flush(alice_key, stage="candidates")["candidates"]
    flush(alice_key, stage="commit", candidates=[one["id"]])
    said = talk.turns.order_by("pk")[0].user_message
    forget = {"scope": "message", "message_id": said.public_id, "cascade": True}
    answer(Api(alice_key).post("/memory/forget", forget), 202)
    assert not DailyNote.objects.exists() and not Memory.objects.exists()
    worker.drain()
    assert Receipt.objects.get().scan["residue"] == 0
    assert not DailyNote.everything.exists()
    gone = flush(alice_key, stage="commit", candidates=[one["id"]])["written"]
    assert [o["result"] for o in gone] == ["gone"]


def test_nothing_to_keep_and_nobody_else_s(
    alice: User, mallory_key: str, alice_key: str, product_key: str
) -> None:
    make_turn(make_conversation(alice, external_id="c1"), "Hello?", "Hi.")
    assert flush(alice_key, stage="candidates")["note"] == "NO_REPLY"
    error(Api(mallory_key).post(FLUSH, {"conversation_id": "c1"}), 404, "not_found")
    error(Api(alice_key).post(FLUSH, {"conversation_id": "c2"}), 404, "not_found")
    assert refused(Api(product_key).post(FLUSH, {"conversation_id": "c1"}), "user_id")
    reader = keys.create(name="reader", scopes=["read"], user=alice)[1]
    error(Api(reader).post(FLUSH, {"conversation_id": "c1"}), 403, "not_allowed")
    body = {"conversation_id": "c1", "stage": "commit"}
    assert refused(Api(alice_key).post(FLUSH, body), "candidates")
    make_memory(alice, "Plays the oboe")
    off = {"longterm_enabled": False}
    answer(Api(alice_key).patch("/memory/settings", off))
    assert flush(alice_key)["note"] == "NO_REPLY"


def test_messages_of_a_conversation_that_is_not_known_here_are_kept(
    alice: User, alice_key: str
) -> None:
    said = [{"role": "user", "content": TEA}, {"role": "assistant", "content": "Noted."}]
    body = answer(Api(alice_key).post(FLUSH, {"conversation_id": "never-seen", "messages": said}))
    assert [one["result"] for one in body["written"]] == ["created"]
    assert Memory.objects.get(user=alice).kind == "constraint"
    assert Conversation.objects.get(user=alice, external_id="never-seen").message_count == 0


def test_candidates_of_messages_write_nothing_not_even_an_empty_conversation(
    alice: User, alice_key: str
) -> None:
    said = [{"role": "user", "content": TEA}, {"role": "assistant", "content": "Noted."}]
    body = {"conversation_id": "never-seen", "messages": said}
    told = answer(Api(alice_key).post(FLUSH, {**body, "stage": "candidates"}))
    [one] = told["candidates"]
    assert not Conversation.everything.exists()
    assert not Memory.objects.exists() and not DailyNote.objects.exists()
    chosen = {"conversation_id": "never-seen", "stage": "commit", "candidates": [one["id"]]}
    done = answer(Api(alice_key).post(FLUSH, chosen))
    assert [written["result"] for written in done["written"]] == ["created"]


@pytest.mark.parametrize("stage", [None, "candidates"])
def test_the_first_call_of_a_person_may_be_a_flush(product_key: str, stage: str | None) -> None:
    said = [{"role": "user", "content": TEA}, {"role": "assistant", "content": "Noted."}]
    api, body = Api(product_key), {"user_id": "zoe", "conversation_id": "new", "messages": said}
    told = answer(api.post(FLUSH, {**body, "stage": stage}))
    if stage:
        chosen = [one["id"] for one in told["candidates"]]
        told = answer(api.post(FLUSH, {**body, "stage": "commit", "candidates": chosen}))
    assert [one["result"] for one in told["written"]] == ["created"]
    assert Memory.objects.get().user.external_id == "zoe"


@pytest.mark.parametrize("stage", [None, "candidates"])
def test_an_id_like_ours_makes_no_conversation(
    alice: User, alice_key: str, stage: str | None
) -> None:
    said = [{"role": "user", "content": TEA}]
    body = {"conversation_id": "conv_unknown", "messages": said, "stage": stage}
    error(Api(alice_key).post(FLUSH, body), 404, "not_found")
    assert not Conversation.objects.exists() and not Memory.objects.exists()
