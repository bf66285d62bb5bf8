"""Requests to forget in words, "forget that …": which memories one may mean, and its outcome.

Nothing is erased on a guess. A request that means exactly one memory, with nothing near it, is
carried out by the same service as the button. Anything else is a question: the outcome lists the
memories and the messages that told them, by ids, and the person chooses. `aboutness` decides what
a request means; this module finds what it has to decide about.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.utils import timezone

from conversations.models import Conversation, Message, Turn
from memcenter.lib import segment
from memcenter.providers.base import Vectors
from memories.extraction import aboutness, sensitive
from memories.extraction.types import Extraction, ForgetRequest, Said, TurnText
from memories.models import Memory, MemoryVersion, Source
from memories.retrieval import concepts
from memories.services import forgetting, indexing, providers, similar
from memories.services.listening import Heard
from memories.services.similar import Meant
from ops.access import as_user
from ops.models import User
from ops.services.worker import Run

FORGOTTEN, NEEDS_CHOICE, NOTHING_FOUND = "forgotten", "needs_choice", "nothing_found"
ONLY_MATCH = "only_match"  # who chose, in the payload and on the receipt: nobody was asked
LISTED = 20
_THAT = re.compile(r"^(?:the fact )?that\s+(?=\w)", re.IGNORECASE)
_NEAR = 0.3  # cosine; unrelated short statements are below 0.2 for the bundled embedder
_ASKED_WHO_SAYS_IT = 3  # memories for which messages beside their sources are looked for
_PERHAPS_SAYING = 6  # messages by meaning, and as many by words, that are read for each
_READ = 48  # memories that are compared with a request, the most similar; each takes ten ms


@dataclass(frozen=True)
class Asked:
    """A request with its vector, made before any transaction (None: "forget that")."""

    request: ForgetRequest
    vector: Vectors | None


@dataclass(frozen=True)
class Found:
    """What requests may mean, most probable first, and the messages that told it.

    `is_plain`: each request means exactly one memory, and nothing else is near it.
    """

    memories: Sequence[Memory] = ()
    messages: Sequence[Message] = ()
    is_plain: bool = False


@dataclass(frozen=True)
class Outcome:
    """What became of a request, by public ids only.

    `status` is FORGOTTEN (`memory_ids` are gone, `message_ids` still say it), NEEDS_CHOICE
    (nothing is gone) or NOTHING_FOUND.
    """

    status: str = NOTHING_FOUND
    memory_ids: Sequence[str] = ()
    message_ids: Sequence[str] = ()
    op_id: str = ""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Outcome:
        return cls(**told)

    @property
    def told(self) -> dict[str, Any]:
        """As an operation keeps it."""
        ids = {"memory_ids": list(self.memory_ids), "message_ids": list(self.message_ids)}
        return {"status": self.status, **ids, **({"op_id": self.op_id} if self.op_id else {})}

    def with_request(self, message: Message) -> Outcome:
        """The message that asked says it too, where there is anything to offer."""
        if self.status == NOTHING_FOUND or message.public_id in self.message_ids:
            return self
        return replace(self, message_ids=[*self.message_ids, message.public_id])


def prepare(requests: Sequence[ForgetRequest]) -> list[Asked]:
    """Embed what the requests are about; outside any transaction."""
    return [Asked(one, indexing.embed([one.about])[0] if one.about else None) for one in requests]


def asked_in(text: str) -> list[Asked]:
    """What a message asks to be forgotten, ready to be found; outside any transaction."""
    return prepare(_requests_in(text))


def asks_to_forget(text: str) -> bool:
    return bool(_requests_in(text))


def asked_about(about: str) -> list[Asked]:
    """The same of what an API client says that it is about: "forget that …", or only what."""
    found = [one for one in _requests_in(about) if one.about]
    words = _THAT.sub("", about.strip())
    return prepare(found or [ForgetRequest(sensitive.cover(words), about)])


def says_nothing_else(text: str, asked: Sequence[Asked]) -> bool:
    """Whether all that a message says is what it asks to be forgotten."""
    rest = text
    for one in asked:
        rest = rest.replace(one.request.quote, "")
    return bool(asked) and not any(character.isalnum() for character in rest)


def _requests_in(text: str) -> Sequence[ForgetRequest]:
    now = timezone.localtime()
    said = TurnText(user=Said(text, now), assistant=Said("", now))
    return providers.bundled_extractor().extract(said).forget


def settle(run: Run, *, user: User, heard: Heard, extraction: Extraction) -> Outcome | None:
    """Settle what a turn asks to be forgotten; None where it asks nothing.

    The chat settles it before it answers: then the outcome stands in the payload.
    """
    if told := run.payload.get("forget"):
        return Outcome.of(told)
    if not extraction.forget:
        return None
    asked = prepare(extraction.forget)
    with as_user(user):
        question = heard.turn.user_message
        found = find(asked, user=user, conversation=heard.turn.conversation, before=question.number)
    if not found.is_plain:
        return answer(found, user=user).with_request(question)
    with run.applying(user, durable=True):
        return answer(found, user=user).with_request(question)


def find(
    asked: Sequence[Asked],
    *,
    user: User,
    conversation: Conversation | None = None,
    before: int = 0,
) -> Found:
    """What the requests may mean. "Forget that" means what the turn before taught."""
    each = [
        _just_taught(user, conversation, before=before) if one.vector is None else _meant(one, user)
        for one in asked
    ]
    memories = list({memory.pk: memory for one in each for memory in one.memories}.values())
    messages = {message.pk: message for one in each for message in one.messages}
    messages |= {message.pk: message for message in _messages_of(user, memories)}
    plain = bool(memories) and all(one.is_plain for one in each)
    return Found(memories[:LISTED], list(messages.values()), plain)


def answer(found: Found, *, user: User, requested_by_key: int | None = None) -> Outcome:
    """Forget what is plain; everything else is a question. In the caller's transaction.

    Raises `NotFound` where a plain match has gone meanwhile.
    """
    if not found.memories and not found.messages:
        return Outcome()
    memories = [one.public_id for one in found.memories]
    messages = [one.public_id for one in found.messages]
    if not found.is_plain:
        return Outcome(NEEDS_CHOICE, memories, messages)
    operation = forgetting.forget_memories(
        user=user,
        memories=found.memories,
        requested_by_key=requested_by_key,
        chosen=ONLY_MATCH,
    )
    return Outcome(FORGOTTEN, memories, messages, operation.public_id)


def _meant(asked: Asked, user: User) -> Found:
    assert asked.vector is not None
    about = asked.request.about
    topics = concepts.asked_about(about)
    floor = max(_NEAR, settings.SIMILARITY_GATE)
    met = similar.perhaps_meant(
        asked.vector,
        user=user,
        terms={*segment.terms(about), *(term for topic in topics for term in topic.words)},
        longest=max(segment.words(about), key=len, default=""),
        floor=floor,
    )
    read, unread = met[:_READ], [one for one in met[_READ:] if one.similarity >= floor]
    said_before = _said_before(user, read)
    judged = [(_probability(about, one, said_before[one.pk]), one) for one in read]
    sure = [one for score, one in judged if score >= aboutness.SURE]
    near = [one for score, one in judged if score >= aboutness.PERHAPS]
    plain = len(sure) == 1 and near == sure and not unread
    if plain and _is_one_matter(about, said_before[sure[0].pk]):
        return Found(_rows(user, [sure[0].pk]), is_plain=True)
    listed = [
        (-score, -one.similarity, one.pk)
        for score, one in [*judged, *((0.0, one) for one in unread)]
        if score >= aboutness.PERHAPS or one.similarity >= floor or _is_alike(one, topics)
    ]
    return Found(_rows(user, [pk for _, _, pk in sorted(listed)]))


def _probability(about: str, meant: Meant, before: Collection[str]) -> float:
    """What an earlier version said makes it probable, never sure: the memory says otherwise now."""
    now = _is_about(about, meant.content)
    earlier = max((_is_about(about, text) for text in before), default=0.0)
    return max(now, min(earlier, aboutness.YES))


def _is_about(about: str, text: str) -> float:
    return aboutness.is_about(about, text, reader=providers.pair_reader())


def _is_alike(meant: Meant, topics: Sequence[concepts.Asked]) -> bool:
    """Both speak of one everyday concept: enough to be listed, not to stand in the way."""
    return bool(concepts.matched(topics, segment.terms(meant.content)))


def _is_one_matter(about: str, before: Collection[str]) -> bool:
    """Whether all earlier versions are rather meant too: with the memory they all go."""
    return all(_is_about(about, text) >= aboutness.YES for text in before)


def _said_before(user: User, met: Sequence[Meant]) -> dict[int, set[str]]:
    """The other texts of each memory's versions."""
    now = {one.pk: one.content for one in met}
    versions = MemoryVersion.objects.filter(user=user, memory__in=now).exclude(content="")
    texts: dict[int, set[str]] = defaultdict(set)
    for memory, content in versions.values_list("memory", "content"):
        if content != now[memory]:
            texts[memory].add(content)
    return texts


def _rows(user: User, pks: Sequence[int]) -> list[Memory]:
    """The memories in this order; those in the recycle bin as well."""
    found = Memory.everything.filter(user=user, pk__in=pks, hidden_at__isnull=True)
    rows = {one.pk: one for one in found.select_related("user")}
    return [rows[pk] for pk in pks if pk in rows]


def _messages_of(user: User, memories: Sequence[Memory]) -> list[Message]:
    """The person's messages that told these memories or say the same, oldest first."""
    sources = Source.objects.filter(user=user, memory__in=memories)
    told = sources.values_list("message", "turn__user_message", "turn__assistant_message")
    wanted = {pk for row in told for pk in _own_message(*row)}
    for memory in memories[:_ASKED_WHO_SAYS_IT]:
        wanted |= _saying(memory, known=wanted)
    return list(Message.objects.filter(user=user, pk__in=wanted).order_by("pk"))


def _saying(memory: Memory, *, known: Collection[int]) -> set[int]:
    """Messages that say it too, without being its source: the pair head reads the likeliest."""
    perhaps = set(similar.perhaps_saying(memory, few=_PERHAPS_SAYING)) - set(known)
    rows = Message.objects.filter(pk__in=perhaps).values_list("pk", "content")
    read = providers.pair_reader().relations([(memory.content, text) for _, text in rows])
    return {
        pk
        for (pk, text), shares in zip(rows, read, strict=True)
        if shares["same"] + shares["refines"] >= aboutness.YES and not asks_to_forget(text)
    }


def _own_message(message: int | None, question: int | None, reply: int | None) -> set[int]:
    """A claim of a reply stands in its turn, which goes by the person's message."""
    one = question if message in (None, reply) else message
    return set() if one is None else {one}


def _just_taught(user: User, conversation: Conversation | None, *, before: int) -> Found:
    """What the turn before taught; the turn itself where it isn't learned from yet."""
    turns = Turn.objects.filter(
        user=user, conversation=conversation, user_message__number__lt=before
    )
    turn = turns.select_related("user_message").order_by("-user_message__number").first()
    if conversation is None or turn is None:
        return Found()
    sources = list(Source.objects.filter(user=user, turn=turn).select_related("memory"))
    memories = list({one.memory_id: one.memory for one in sources if one.memory}.values())
    if not memories:
        return Found(messages=[] if turn.extracted_at else [turn.user_message])
    plain = turn.extracted_at is not None and len(memories) == 1
    return Found(memories, is_plain=plain and _says_nothing_else(turn, memories[0], sources))


def _says_nothing_else(turn: Turn, memory: Memory, sources: Sequence[Source]) -> bool:
    """Whether the message told this and no more, and nothing else told it."""
    told = segment.terms(" ".join([memory.content, *(one.quote for one in sources)]))
    elsewhere = Source.objects.filter(memory=memory).exclude(turn=turn)
    return set(segment.terms(turn.user_message.content)) <= set(told) and not elsewhere.exists()
