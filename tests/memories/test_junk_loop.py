"""What is only repeated and recalled is never learned as something new (mem0#4573)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from bench import junk_loop
from conversations.block import builder
from conversations.models import Conversation, Turn
from conversations.recording import conversation_names, turns
from conversations.recording.turns import MessageInput
from memories import tasks
from memories.files.block_texts import words_for
from memories.learning import turn_context
from memories.learning.turn_context import without_our_block
from memories.models import Memory
from memories.recall import search
from ops.models import User
from ops.queue import worker
from tests.chat_server import Answer, ChatServer, said

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_reader")]
MODEL_TURNS = 100
ASKED = {"en": "What do you know about me?", "zh": "你知道我什么？"}
TURNS = 10  # of each language, every shape once; bench/junk_loop.py asks the learned reader


def tell(conversation: Conversation, text: str, reply: str) -> None:
    turns.record_turn(
        user=conversation.user,
        conversation=conversation,
        user_message=MessageInput(text or "…"),
        assistant_message=MessageInput(reply or "…"),
    )


def block_for(conversation: Conversation, message: str) -> str:
    prepared = search.prepare_query(message)
    return builder.build(prepared, user=conversation.user, conversation=conversation).block


def learned(user: User, language: str, *, most: int = 12) -> tuple[Conversation, set[int]]:
    conversation = conversation_names.find_or_create(user=user, reference=f"c-{language}")
    for text in junk_loop.TOLD[language][:most]:
        tell(conversation, text, "OK.")
    worker.drain()
    return conversation, set(Memory.everything.values_list("pk", flat=True))


def repeat(conversation: Conversation, language: str, count: int) -> None:
    reply = ""
    for turn, shape in zip(range(count), junk_loop.shapes(language), strict=False):
        block = block_for(conversation, shape.told)
        text, reply = shape.filled(block, before=reply, turn=turn)
        tell(conversation, text, reply)
        worker.drain()


def new_since(known: set[int]) -> list[str]:
    return list(Memory.everything.exclude(pk__in=known).values_list("content", flat=True))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_repeated_and_recalled_makes_no_memory(alice: User, language: str) -> None:
    conversation, known = learned(alice, language)
    assert len(known) >= 9
    repeat(conversation, language, TURNS)
    Conversation.objects.update(last_message_at=timezone.now() - timedelta(hours=1))
    tasks.request_examinations()
    worker.drain()
    assert new_since(known) == []


def test_a_pasted_block_is_blanked_and_what_stands_behind_it_is_heard(alice: User) -> None:
    conversation, _ = learned(alice, "zh", most=3)
    block = block_for(conversation, "你知道我什么？")
    text = f"上下文：\n{block}\n我住在成都。"
    seen = turn_context.without_our_block(text)
    assert len(seen) == len(text)
    assert "花生" in block and "花生" not in seen
    assert seen.endswith("我住在成都。")


# --- By a model, which answers with what we told it ---------------------------------------------


def parroted(block: str) -> Answer:
    """Every point of our own block, as if the person had just said it."""
    lines = [line[2:] for line in block.splitlines() if line.startswith("- ")]
    fields = {"kind": "fact", "importance": 0.9, "confidence": 0.9, "tags": [], "date": None}
    items = [fields | {"quote": line, "content": line, "corrects": False} for line in lines]
    return said({"memories": items, "over_turns": []})


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_model_that_repeats_our_block_teaches_nothing(
    alice: User, server: ChatServer, settings: Settings, language: str
) -> None:
    settings.LANGUAGE_METHOD = "bundled"
    conversation, known = learned(alice, language, most=5)
    settings.LANGUAGE_METHOD = "model"
    server.by_step = {
        "over_turns": said({"over_turns": []}),
        "verdict": said({"verdict": "ADD", "id": None, "content": None}),
        "summary": said({"summary": "They talked about what is known."}),
    }
    block = reply = ""
    for turn, shape in zip(range(MODEL_TURNS), junk_loop.shapes(language), strict=False):
        if turn % 10 == 0:
            worker.drain()
            block = block_for(conversation, ASKED[language])
            server.by_step["memories"] = parroted(block)
        text, reply = shape.filled(block, before=reply, turn=turn)
        tell(conversation, text, reply)
    worker.drain()
    assert block.count("\n- ") >= 4 and len(server.asked) > MODEL_TURNS / 2
    assert not Turn.objects.filter(extracted_at=None).exists()
    assert new_since(known) == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_sentence_of_our_own_frame_is_nothing_that_the_person_says(language: str) -> None:
    for line in words_for(language).frame.splitlines()[1:]:
        sentence = line.lstrip("- ")
        left = without_our_block(f"You said: {sentence} I keep bees.")
        assert left.split() == ["You", "said:", "I", "keep", "bees."]
        assert left.index("I keep bees") == len(f"You said: {sentence} ")
