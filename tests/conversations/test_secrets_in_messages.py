"""A secret stays in the message that told it, if at all, and in nothing that is made of it."""

import json
from collections.abc import Callable, Sequence

import orjson
import pytest
from django.test import override_settings
from pytest_django import Settings

from conversations.block import builder
from conversations.models import Conversation, Message, Turn
from conversations.recording import (
    conversation_names,
    conversation_titles,
    episodes,
    summaries,
    temporary,
    turns,
)
from conversations.recording.turns import MessageInput, RecordedTurn
from foundation.providers.base import Vectors
from memories.extraction import masking
from memories.indexing import search_index
from memories.models import LexicalEntry, RecallTrace, Refusal
from memories.recall import search
from ops.access import as_user
from ops.models import User
from ops.queue import worker
from tests.memcenter.rest.client import Api, answer
from tests.transfer.rich import content_of, export
from tests.transfer.test_round_trip import bring_in, report

pytestmark = pytest.mark.django_db

SAID = "我的密码是 qwzt5813ab，银行卡号 6217001180012345678。"
REPLY = "好的，qwzt5813ab 我不会告诉别人。"
PARTS = ("qwzt5813ab", "6217001180012345678")


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return conversation_names.find_or_create(user=alice, reference="c1")


def record(conversation: Conversation, **ids: str) -> RecordedTurn:
    with as_user(conversation.user):
        return turns.record_turn(
            user=conversation.user,
            conversation=conversation,
            user_message=MessageInput(SAID, external_id=ids.get("user_id")),
            assistant_message=MessageInput(REPLY, external_id=ids.get("assistant_id")),
        )


def index(turn: RecordedTurn, user: User) -> None:
    with as_user(user):
        found = episodes.read(user=user, payloads=[{"turn": turn.turn.pk}])
        vectors = episodes.embed(found)
        episodes.store(dict(enumerate(found)), user=user, vectors=vectors)


def holds(told: object) -> list[str]:
    return [part for part in PARTS if part in str(told)]


def test_the_index_and_what_is_embedded_hold_no_secret(
    conversation: Conversation, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded: list[str] = []
    embed = search_index.embed

    def note(texts: Sequence[str]) -> Vectors:
        embedded.extend(texts)
        return embed(texts)

    monkeypatch.setattr(search_index, "embed", note)
    index(record(conversation), alice)

    assert len(embedded) == 3 and not holds(embedded)
    assert not holds(list(LexicalEntry.objects.values_list("terms", flat=True)))


def test_search_and_block_show_and_note_no_secret(conversation: Conversation, alice: User) -> None:
    index(record(conversation), alice)
    prepared = search.prepare_query(f"{SAID} 密码是什么？")
    with as_user(alice):
        hits = search.search(prepared, user=alice, types=("message", "episode")).results
        built = builder.build(prepared, user=alice, conversation=conversation)

    assert hits and not holds([(hit.text, hit.snippet) for hit in hits])
    assert not holds((built.block, built.items))
    assert not holds(list(RecallTrace.objects.values_list("query", flat=True)))


def test_the_summary_holds_no_secret(conversation: Conversation, alice: User) -> None:
    record(conversation)
    messages = tuple(Message.objects.order_by("number"))
    text = summaries.write(summaries.DueSummary(conversation, None, messages))

    assert text and not holds(text)


def test_a_title_holds_no_secret(conversation: Conversation) -> None:
    assert not holds(conversation_titles.title_of(SAID))


def test_the_message_stays_as_it_was_typed(conversation: Conversation) -> None:
    assert record(conversation).user_message.content == SAID


def test_messages_are_masked_at_rest_where_the_settings_say_so(
    conversation: Conversation, settings: Settings
) -> None:
    settings.SECRETS_IN_MESSAGES = "mask"
    turn = record(conversation, user_id="u1", assistant_id="a1")

    assert not holds(list(Message.objects.values_list("content", flat=True)))
    assert set(Refusal.objects.values_list("category", flat=True)) == {"password", "card"}
    assert record(conversation, user_id="u1", assistant_id="a1").turn == turn.turn


def test_a_secret_that_only_the_reader_finds_is_masked_at_rest_too(
    conversation: Conversation, settings: Settings
) -> None:
    settings.SECRETS_IN_MESSAGES = "mask"
    said = "marmaladetuesday gets me into our netflix, don't tell the kids"
    assert masking.masked(said) == said  # no rule finds it
    with as_user(conversation.user):
        turns.record_turn(
            user=conversation.user,
            conversation=conversation,
            user_message=MessageInput(said),
            assistant_message=MessageInput("Noted."),
        )

    stored = list(Message.objects.values_list("content", flat=True))
    assert "marmaladetuesday" not in " ".join(stored)
    assert any("gets me into our netflix" in text for text in stored)


@pytest.fixture
def masked(settings: Settings) -> None:
    settings.SECRETS_IN_MESSAGES = "mask"


def by_message(user: User, key: str) -> None:
    for role, text in (("user", SAID), ("assistant", REPLY)):
        body = {"role": role, "content": text}
        answer(Api(key).post("/conversations/c1/messages", body), 201)


def by_import(user: User, key: str) -> None:
    row = {"conversation": "c1", "user_message": SAID, "assistant_message": REPLY}
    report(bring_in(user, json.dumps(row).encode()))


def by_own_export(user: User, key: str) -> None:
    """The file was written where messages stay as they are typed."""
    with override_settings(SECRETS_IN_MESSAGES="keep"):
        by_message(user, key)
        file = content_of(export(user))
    assert holds(file.decode()) == list(PARTS)
    with as_user(user):
        Conversation.objects.all().delete()
    report(bring_in(user, file))


def by_turn(user: User, key: str) -> None:
    body = {"conversation_id": "c1", "user_message": SAID, "assistant_message": REPLY}
    answer(Api(key).post("/turns", body), 201)


@pytest.mark.usefixtures("conversation", "masked")
@pytest.mark.parametrize("path", [by_message, by_import, by_own_export, by_turn])
def test_every_path_masks_what_it_stores(
    alice: User, alice_key: str, path: Callable[[User, str], None]
) -> None:
    path(alice, alice_key)
    worker.drain()

    stored = list(Message.objects.order_by("number").values_list("content", flat=True))
    assert len(stored) == 2 and not holds(stored)
    assert "密码" in stored[0] and "好的" in stored[1]  # the rest of both stays


@pytest.mark.usefixtures("masked")
def test_a_temporary_chat_masks_what_it_stores(alice: User) -> None:
    chat = temporary.create(user=alice, external_id="t1")
    said = (MessageInput(SAID), MessageInput(REPLY, role="assistant"))
    temporary.append(chat, messages=said)
    redis = temporary.client()
    rows = [orjson.loads(one) for one in redis.lrange(temporary._messages(chat.public_id), 0, -1)]

    assert len(rows) == 2 and not holds(rows)
    assert "密码" in rows[0]["content"] and "好的" in rows[1]["content"]


@pytest.mark.usefixtures("masked")
def test_tool_calls_and_labels_are_masked_at_rest_too(conversation: Conversation) -> None:
    call = {"name": "sign_in", "input": {"said": SAID, "deep": [{"note": SAID}]}, "output": SAID}
    with as_user(conversation.user):
        turns.record_turn(
            user=conversation.user,
            conversation=conversation,
            user_message=MessageInput("Sign me in, please."),
            assistant_message=MessageInput("Done."),
            tools=[call],
            labels={"note": SAID},
        )
    stored = Turn.objects.get()

    assert stored.tools[0]["name"] == "sign_in" and str(stored.tools).count("密码") == 3
    assert "密码" in stored.labels["note"]
    assert not holds((stored.tools, stored.labels))
