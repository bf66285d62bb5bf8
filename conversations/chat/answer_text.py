"""Answer in the chat by the configured model, or by the demo assistant if there is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from django.conf import settings

from conversations.chat import demo_assistant
from conversations.chat.preparation import Prepared
from memcenter.lib.text import segment, tokens
from memcenter.providers.base import ChatMessage, ModelUse
from memories import language_steps
from memories.extraction import dont_keep
from ops.models import User
from ops.queue import model_calls

_PROMPT_VERSION = "chat-3"
_WORDS = {
    "en": {
        "frame": "You are a helpful assistant in a chat whose memory is kept by Memory Center."
        " Answer in the language of the user's latest message; Markdown is shown.",
        "forgotten": "What the user asks to be forgotten has just been forgotten. Say so in one"
        " sentence, and don't repeat what it was.",
        "needs_choice": "It is not plain which memories the user asks to be forgotten. Nothing has"
        " been forgotten yet: the user chooses from the list that is shown below your answer. Say"
        " so in one sentence, and name none of them.",
        "nothing_found": "The user asked for something to be forgotten, but no memory matched. Say"
        " so, and don't repeat what it was.",
        "off": "Nothing of this conversation is remembered: promise to remember nothing.",
        "withheld": "The user asks not to keep this message, and nothing of it is remembered.",
    },
    "zh": {
        "frame": "你是一个乐于助人的助手，这个聊天的记忆由记忆中心管理。"
        "请用用户最新一条消息所用的语言回答；可以使用 Markdown。",
        "forgotten": "用户要求忘记的内容刚才已经彻底忘记。请用一句话告诉用户，不要复述内容。",
        "needs_choice": "还不能确定用户要求忘记的是哪些记忆，目前什么都没有忘记："
        "你的回答下方会列出相关记忆，由用户选择。请用一句话说明，不要提及其中任何内容。",
        "nothing_found": "用户要求忘记某些内容，但没有找到相符的记忆。请如实告知，不要复述内容。",
        "off": "这次对话的内容不会被记住：不要承诺会记住任何内容。",
        "withheld": "用户要求不要记住这条消息，它的内容不会被记住。",
    },
}


def model_name() -> str:
    """Return the name of the model, or an empty string for the demo assistant."""
    return str(settings.MODEL_NAME) if settings.MODEL_BASE_URL else ""


def pieces_of(prepared: Prepared) -> Iterator[str]:
    """Yield the answer in pieces, without a database query. Raises `ProviderError`."""
    if not model_name() or prepared.only_forgets:
        yield from demo_answer(prepared).splitlines(keepends=True)
        return
    for piece in language_steps.chat_model(language_steps.endpoint()).reply(_messages(prepared)):
        if clean := piece.replace("\x00", ""):
            yield clean


def demo_answer(prepared: Prepared) -> str:
    return demo_assistant.answer(
        prepared.text,
        remembered=prepared.remembered,
        forget=prepared.forget.status if prepared.forget else None,
        passing=prepared.passing,
        remembering=prepared.remembering,
        withheld=dont_keep.is_asked_not_to(prepared.text),
    )


def account(
    prepared: Prepared,
    answer: str,
    *,
    user: User,
    took_ms: int,
    outcome: Literal["ok", "truncated", "failed"],
) -> None:
    """Record the time and tokens of a model's answer, outside of any transaction."""
    if not model_name() or prepared.only_forgets:
        return
    sent = sum(tokens.count(one.content) for one in _messages(prepared))
    use = ModelUse(
        step="chat",
        provider="openai_compatible",
        model=model_name(),
        prompt_version=_PROMPT_VERSION,
        input_tokens=sent,
        output_tokens=tokens.count(answer),
        took_ms=took_ms,
        outcome=outcome,
    )
    model_calls.record(use, subject=user.subject)


def _messages(prepared: Prepared) -> list[ChatMessage]:
    system = ChatMessage("system", "\n\n".join(_instructions(prepared)))
    before = [ChatMessage(one.role, one.content) for one in prepared.window]
    return [system, *before, ChatMessage("user", prepared.text)]


def _instructions(prepared: Prepared) -> Iterator[str]:
    words = _WORDS["zh" if segment.language(prepared.text) == "zh" else "en"]
    yield words["frame"]
    if not prepared.remembering:
        yield words["off"]
    elif dont_keep.is_asked_not_to(prepared.text):
        yield words["withheld"]
    if prepared.forget is not None:
        yield words[prepared.forget.status]
    if prepared.found.block:
        yield prepared.found.block
