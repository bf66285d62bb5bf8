"""Gather the inputs of an answer, and generate it with the chat model or the demo assistant."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from django.conf import settings
from django.db.models import F

from conversations import selectors
from conversations.block import builder
from conversations.block.builder import Context, WindowMessage
from conversations.chat import demo_assistant
from conversations.chat.demo_assistant import Intent
from conversations.models import Conversation, ConversationKind, Message, Role
from conversations.recording.temporary import TemporaryConversation, TemporaryMessage
from foundation.providers.base import ChatMessage, ModelUse
from foundation.text import segment, tokens
from memories import language_steps, portrait
from memories.extraction import masking
from memories.extraction.wording.owners import Ownership, ownership
from memories.forgetting import spoken_requests
from memories.forgetting.spoken_requests import EmbeddedRequest, ForgetOutcome
from memories.learning import learnability, turn_learning
from memories.models import Memory, MemoryStatus, MemoryVersion
from memories.recall import candidate_pool, search
from memories.recall.candidate_pool import PreparedQuery
from memories.recall.searchable_texts import Filters, memory_scope
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from ops.queue.run import record_model_call

_PROMPT_VERSION = "chat-3"
_ASKS_OF_SELF = re.compile(r"(?i)\b(?:i|me|my|mine|am)\b|我(?!们)")
# A relative, friend or colleague of the user, as in "my sister" and 我妈.
_NAMES_OTHERS = re.compile(
    r"(?i)\bmy (?:\w{1,20} )?(?:mum|mom|dad|mother|father|sister|brother|son|daughter|kids?|wife"
    r"|husband|partner|(?:girl|boy)?friend|boss|aunt|uncle|cousin|nan|gran\w{0,7})\w{0,3}\b"
    r"|我(?:的|家)?(?:爸|妈|哥|姐|弟|妹|儿|女|老|爷|奶|外|舅|姑|姨|叔|表|堂|男|媳|孩|同|朋)"
)
_BEGINS_WITH_SELF = re.compile(
    r"(?i)\W?(?:i|im|ive|i['’](?:m|ve|d|ll))\b|\W?我(?=[是在想要有喜爱不会住])"
)
_WHOSE_OTHERS = ("related.", "others.")  # codes of the reader model in a version's `reason`
_VERY_CLOSE = 0.9  # minimum relevance of a memory that shares no words with the question
_WORDS = {
    "en": {
        "frame": "You are a helpful assistant in a chat whose memory is kept by Memory Center."
        " Answer in the language of the user's latest message; Markdown is shown.",
        "forgotten": "What the user asks to be forgotten is no longer known, and a receipt shows"
        " when every trace of it is erased. Say so in one sentence, and don't repeat what it was.",
        "needs_choice": "It is not plain which memories the user asks to be forgotten. Nothing has"
        " been forgotten yet: the user chooses from the list that is shown below your answer. Say"
        " so in one sentence, and name none of them.",
        "unsure": "No memory clearly says what the user asks to be forgotten. Nothing has been"
        " forgotten: if it is in the list that is shown below your answer, the user can choose it."
        " Say so in one sentence, and name none of them.",
        "nothing_found": "The user asked for something to be forgotten, but no memory matched. Say"
        " so, and don't repeat what it was.",
        "off": "Nothing of this conversation is remembered: promise to remember nothing.",
        "not_to_keep": "The user asks not to keep this message, and nothing of it is remembered.",
    },
    "zh": {
        "frame": "你是一个乐于助人的助手，这个聊天的记忆由记忆中心管理。"
        "请用用户最新一条消息所用的语言回答；可以使用 Markdown。",
        "forgotten": "用户要求忘记的内容已经不再记得，痕迹全部清除后会有回执。"
        "请用一句话告诉用户，不要复述内容。",
        "needs_choice": "还不能确定用户要求忘记的是哪些记忆，目前什么都没有忘记："
        "你的回答下方会列出相关记忆，由用户选择。请用一句话说明，不要提及其中任何内容。",
        "unsure": "没有哪条记忆明确说到用户要求忘记的内容，什么都没有忘记："
        "如果它就在你的回答下方的列表里，用户可以选择它。请用一句话说明，不要提及其中任何内容。",
        "nothing_found": "用户要求忘记某些内容，但没有找到相符的记忆。请如实告知，不要复述内容。",
        "off": "这次对话的内容不会被记住：不要承诺会记住任何内容。",
        "not_to_keep": "用户要求不要记住这条消息，它的内容不会被记住。",
    },
}


@dataclass(frozen=True)
class Prepared:
    """The inputs of an answer, gathered before it is generated.

    `window` holds the messages before `text`. `forget` is the outcome of a request to forget, or
    None. `remembered`, `of_others` and `perhaps` hold the texts that the demo assistant quotes;
    `quoted` holds the ids of memories that it quotes from the portrait, not from recall.
    `remembering` is True if long-term memory is on and the chat isn't temporary. `is_demo` is True
    if the demo assistant answers; even if a model is configured, it answers messages that only ask
    to forget. `not_to_keep` is True if the message asks not to be kept; `secret` is True if the
    demo assistant must say that the message contains a secret. `passing` is True for a temporary
    chat, which can't store a list of memories to choose from. `teaches` is False if nothing in the
    message is important enough to remember. `waits` is True if no memory clearly answers the
    question, but a memory that awaits review may answer it.
    """

    text: str
    found: Context
    window: Sequence[WindowMessage]
    forget: ForgetOutcome | None
    remembered: Sequence[str]
    remembering: bool
    is_demo: bool
    not_to_keep: bool
    secret: bool
    passing: bool = False
    of_others: Sequence[str] = ()
    perhaps: Sequence[str] = ()
    quoted: Sequence[str] = ()
    teaches: bool = True
    waits: bool = False


def prepare(
    text: str,
    *,
    user: User,
    conversation: Conversation | TemporaryConversation,
    question: Message | TemporaryMessage | None = None,
    without: Collection[str] = (),
) -> Prepared:
    """Carry out the requests to forget in `text`, if any, and then recall memories for `text`.

    `question` is the message if it is already recorded. Messages whose public ids are in `without`
    are left out of the window. For a temporary chat no trace is recorded. Opens its own
    transactions, so call it outside a transaction. Raise `ProviderError` if a model call fails.
    """
    with as_user(user):
        speakers = selectors.speakers_of(user)
    query = search.prepare_query(text, speakers=speakers)
    extracted = spoken_requests.extract_without_context(text)
    requests = spoken_requests.prepare(extracted.forget)
    passing = isinstance(conversation, TemporaryConversation)
    is_demo = not model_name() or spoken_requests.says_nothing_else(text, requests)
    asks = learnability.asks_not_to_keep(text, role=Role.USER)
    not_to_keep = asks or extracted.not_to_keep
    secret = is_demo and bool(masking.screen(text).refused)
    with as_user(user, changing=bool(requests)):
        forget = _carry_out_forgets(requests, user, conversation, question) if requests else None
        found = builder.build(query, user=user, conversation=conversation)
        is_on = users.settings_of(user).longterm_enabled
        known = (
            _remembered_texts(text, found, user=user, is_on=is_on)
            if is_demo
            else _QuotableTexts([])
        )
        is_personal = conversation.kind != ConversationKind.GROUP
        is_sought = is_demo and is_on and is_personal and not (known.fitting or forget)
        return Prepared(
            text,
            found,
            [one for one in found.window if one.message_id not in without],
            forget,
            known.fitting,
            remembering=is_on and not passing,
            is_demo=is_demo,
            not_to_keep=not_to_keep,
            secret=secret,
            passing=passing,
            of_others=known.of_others,
            perhaps=known.perhaps,
            quoted=() if forget or not_to_keep or secret else known.ids,
            teaches=any(map(turn_learning.is_important, extracted.candidates)),
            waits=is_sought and _waits_for_review(query, user=user),
        )


def _carry_out_forgets(
    requests: Sequence[EmbeddedRequest],
    user: User,
    conversation: Conversation | TemporaryConversation,
    question: Message | TemporaryMessage | None,
) -> ForgetOutcome:
    """Forget the memories that the requests clearly mean, and return the outcome.

    In a temporary chat, "forget that" refers to nothing, because nothing is learned there.
    """
    if isinstance(conversation, TemporaryConversation):
        found = spoken_requests.find(requests, user=user)
    else:
        number = Conversation.objects.values_list("last_number", flat=True)
        before = (
            question.number if isinstance(question, Message) else number.get(pk=conversation.pk) + 1
        )
        found = spoken_requests.find(requests, user=user, conversation=conversation, before=before)
    return spoken_requests.answer(found, user=user)


@dataclass(frozen=True)
class _QuotableTexts:
    """The texts of memories that the demo assistant quotes, best first."""

    fitting: list[str]
    of_others: list[str] = field(default_factory=list)
    perhaps: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)


def _remembered_texts(text: str, found: Context, *, user: User, is_on: bool) -> _QuotableTexts:
    """Return the memories that the demo assistant quotes.

    If the message asks for a list of the person's memories or for their own name, return memories
    of the portrait, provided that long-term memory is on (`is_on`). For any other question,
    `fitting` holds the recalled memories that share words with the question, are about the same
    subject or are very close in meaning. If the question is about the user, memories about somebody
    else are in `of_others` instead, and `perhaps` holds the other relevant memories in the block.
    All lists are empty if the message is neither a question nor a request for a list.
    """
    intent = demo_assistant.intent_of(text)
    if intent is Intent.LIST and is_on:
        most = demo_assistant.LISTED + 1
        listed = {
            one.public_id: one.content for one in portrait.personal_memories(user, limit=most)
        }
        return _QuotableTexts(
            [*listed.values()], ids=[*listed][:-1] if len(listed) == most else [*listed]
        )
    if is_on and demo_assistant.asks_own_name(text) and (names := _own_names(text, user=user)):
        return _QuotableTexts([*names.values()], ids=[*names])
    if intent is not Intent.QUESTION:
        return _QuotableTexts([])
    # The block also contains constraints that aren't relevant.
    relevance = {one.id: one.components.get("raw_relevance", 0.0) for one in found.items}
    memories = [one for one in found.items if one.type == "memory"]
    fitting = [one for one in memories if _fits(one.components)]
    of_others = _ids_about_others(text, {one.id: one.text for one in memories}, user=user)
    used = [
        one
        for one in memories
        if _ASKS_OF_SELF.search(text) and one.in_block and one not in fitting
        if relevance[one.id] >= settings.RELEVANCE_FLOOR
    ]
    sure, perhaps = (
        sorted(each, key=lambda one: (one.id in of_others, -relevance[one.id]))
        for each in (fitting, used)
    )
    return _QuotableTexts(
        [one.text for one in sure if one.id not in of_others],
        [one.text for one in sure if one.id in of_others],
        [one.text for one in perhaps],
    )


def _waits_for_review(query: PreparedQuery, *, user: User) -> bool:
    """Return whether a memory that awaits review fits the question.

    If the message asks for a list of memories, every memory that awaits review fits.
    """
    intent = demo_assistant.intent_of(query.text)
    if intent is Intent.LIST:
        return Memory.visible.filter(user=user, status=MemoryStatus.CANDIDATE).exists()
    if intent is not Intent.QUESTION:
        return False
    scope = memory_scope(user, filters=Filters(personal=True, status=MemoryStatus.CANDIDATE))
    pool = candidate_pool.fill(query, scope, user=user)
    ranked = search.rank(query, pool, limit=None, least=settings.RELEVANCE_FLOOR, prompts=True)
    return any(_fits({**one.components, "raw_relevance": one.relevance}) for one in ranked)


def _own_names(text: str, *, user: User) -> dict[str, str]:
    named = {
        one.public_id: one.content
        for one in portrait.portrait_memories(user)
        if portrait.states_name(one)
    }
    of_others = _ids_about_others(text, named, user=user)
    return {id: content for id, content in named.items() if id not in of_others}


def _ids_about_others(text: str, memories: Mapping[str, str], *, user: User) -> set[str]:
    """Return the ids of memories about somebody else, if the question is about the user.

    Return an empty set for any other question; a question that mentions "my sister" or the like
    isn't about the user. `memories` maps ids to texts. A memory is about somebody else if its
    wording says so. If it doesn't begin with "I", a code of the reader model in the `reason` of its
    current version can say so too.
    """
    if not _ASKS_OF_SELF.search(text) or _NAMES_OTHERS.search(text):
        return set()
    versions = MemoryVersion.objects.filter(
        user=user, memory__public_id__in=list(memories), number=F("memory__current_version")
    )
    codes = dict(versions.values_list("memory__public_id", "reason"))
    return {
        id
        for id, content in memories.items()
        if ownership(text, content) is Ownership.OTHER
        or (
            not _BEGINS_WITH_SELF.match(content)
            and any(code in codes.get(id, "") for code in _WHOSE_OTHERS)
        )
    }


def _fits(components: Mapping[str, float]) -> bool:
    relevance = components.get("raw_relevance", 0.0)
    if relevance < settings.RELEVANCE_FLOOR:
        return False
    close = components.get("concept", 0.0) > 0 or relevance >= _VERY_CLOSE
    return components.get("matched", 0.0) > 0 or close


def model_name() -> str:
    """Return the name of the model, or an empty string for the demo assistant."""
    return str(settings.MODEL_NAME) if settings.MODEL_BASE_URL else ""


def pieces_of(prepared: Prepared) -> Iterator[str]:
    """Yield the answer in pieces, without a database query.

    Raise `ProviderError` if the model call fails.
    """
    if prepared.is_demo:
        yield from demo_answer(prepared).splitlines(keepends=True)
        return
    for piece in language_steps.chat_model(language_steps.endpoint()).reply(_messages(prepared)):
        if clean := piece.replace("\x00", ""):
            yield clean


def demo_answer(prepared: Prepared) -> str:
    return demo_assistant.answer(
        prepared.text,
        remembered=prepared.remembered,
        of_others=prepared.of_others,
        perhaps=prepared.perhaps,
        forget=prepared.forget.reported_status if prepared.forget else None,
        passing=prepared.passing,
        remembering=prepared.remembering,
        teaches=prepared.teaches,
        waits=prepared.waits,
        not_to_keep=prepared.not_to_keep,
        secret=prepared.secret,
    )


def record_answer_use(
    prepared: Prepared,
    answer: str,
    *,
    user: User,
    took_ms: int,
    outcome: Literal["ok", "truncated", "failed"],
) -> None:
    """Record the duration and the tokens of a model's answer; call this outside a transaction.

    Nothing is recorded for an answer of the demo assistant.
    """
    if prepared.is_demo:
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
    record_model_call(use, subject=user.subject)


def _messages(prepared: Prepared) -> list[ChatMessage]:
    """Return the messages for the model. Secrets in earlier messages are masked."""
    system = ChatMessage("system", "\n\n".join(_instructions(prepared)))
    texts = masking.masked_together([one.content for one in prepared.window])
    before = [ChatMessage(one.role, text) for one, text in zip(prepared.window, texts, strict=True)]
    return [system, *before, ChatMessage("user", prepared.text)]


def _instructions(prepared: Prepared) -> Iterator[str]:
    words = _WORDS["zh" if segment.language(prepared.text) == "zh" else "en"]
    yield words["frame"]
    if not prepared.remembering:
        yield words["off"]
    elif prepared.not_to_keep:
        yield words["not_to_keep"]
    if prepared.forget is not None:
        yield words[prepared.forget.reported_status]
    if prepared.found.block:
        yield prepared.found.block
