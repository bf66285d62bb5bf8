"""Find and forget the memories that a request in a message means ("forget that …").

A memory is forgotten at once only if the request clearly means that memory and no other memory is
similar; then the service behind the Forget button is called. Otherwise the user is asked: the
outcome lists the ids of the memories and of their messages, and the user chooses.
`request_matching` decides which memories a request means; this module collects the memories to
compare.
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
from foundation.providers.base import Vectors
from foundation.text import segment
from memories import language_steps
from memories.extraction import masking
from memories.extraction.arbitration import pairs
from memories.extraction.requests.commands import only_asks_not_to_forget, speaks_of_forgetting
from memories.extraction.requests.request_subjects import begins_with_stop_clause, clauses_of
from memories.extraction.types import Extraction, ForgetRequest, TurnText, Utterance
from memories.forgetting import memory_forgets, request_matching
from memories.indexing import search_index
from memories.models import Memory, MemoryVersion, Source
from memories.retrieval import query
from memories.writing import similar_memories
from memories.writing.similar_memories import RequestMatch
from ops.access import as_user
from ops.models import User
from ops.queue.run import Run

FORGOTTEN, NEEDS_CHOICE, NOTHING_FOUND = "forgotten", "needs_choice", "nothing_found"
UNSURE = "unsure"  # reported instead of NEEDS_CHOICE if no memory is probably meant
LISTED = 20
_THAT = re.compile(r"^(?:the fact )?that\s+(?=\w)", re.IGNORECASE)
_NEAR = 0.3  # cosine; unrelated short statements are below 0.2 for the bundled embedder
# Number of memories for which further messages with the same statement are searched.
_MOST_WITH_REPEATING = 3
# Messages compared per memory: this many found by meaning, and as many found by words.
_MOST_REPEATING = 6
# Number of later turns whose memories may continue a statement ("her birthday is …").
_MOST_LATER = 5
_CONTINUES = re.compile(r"(?:s?he|hers?|his|they|their)\b|[她他]|TA", re.IGNORECASE)
_COMPARED = 48  # number of most similar memories to compare with a request; each takes 10 ms


@dataclass(frozen=True)
class EmbeddedRequest:
    """A request to forget and its subject.

    `subject` holds the words of the request that say what to forget. It is empty if the request has
    no such words ("delete that one"). `vector` is the embedded subject, or None if the request
    refers to the previous turn ("forget that").
    """

    request: ForgetRequest
    vector: Vectors | None
    subject: str = ""


@dataclass(frozen=True)
class ForgetMatches:
    """The memories that the requests may mean, most probable first, and messages that state them.

    `is_plain` is True if each request clearly means one memory and no other memory is similar.
    `likely` holds the keys of the memories that are probably meant, and `likely_messages` the keys
    of the messages that state one of them. `also` holds memories that come from the same messages
    as a clear match; they aren't forgotten, but the user may choose them.
    """

    memories: Sequence[Memory] = ()
    messages: Sequence[Message] = ()
    is_plain: bool = False
    likely: Collection[int] = ()
    likely_messages: Collection[int] = ()
    also: Sequence[Memory] = ()


@dataclass(frozen=True)
class ForgetOutcome:
    """The outcome of a request to forget: a status and public ids, but no text.

    `status` is FORGOTTEN (the operation `op_id` erases the memories in `memory_ids`, while the
    messages in `message_ids` are kept and still state them), NEEDS_CHOICE (nothing is erased until
    the user has chosen among these ids) or NOTHING_FOUND. `likely_ids` holds the ids of the
    memories and messages that are probably meant; the other ids are only possible matches.
    `also_ids` holds the ids of memories that weren't forgotten, but come from the same messages as
    the forgotten memories.
    """

    status: str = NOTHING_FOUND
    memory_ids: Sequence[str] = ()
    message_ids: Sequence[str] = ()
    op_id: str = ""
    likely_ids: Sequence[str] = ()
    also_ids: Sequence[str] = ()

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> ForgetOutcome:
        """Return the outcome that `as_payload` stored."""
        return cls(**payload)

    @property
    def as_payload(self) -> dict[str, Any]:
        """Return the outcome as a dict, which is stored in an operation's payload."""
        ids = {
            "memory_ids": list(self.memory_ids),
            "message_ids": list(self.message_ids),
            "likely_ids": list(self.likely_ids),
        }
        if self.also_ids:
            ids["also_ids"] = list(self.also_ids)
        return {"status": self.status, **ids, **({"op_id": self.op_id} if self.op_id else {})}

    @property
    def reported_status(self) -> str:
        """Return the status to report.

        UNSURE replaces NEEDS_CHOICE if memories are listed but none of them is likely.
        """
        asks = self.status == NEEDS_CHOICE and bool(self.memory_ids)
        return UNSURE if asks and set(self.likely_ids).isdisjoint(self.memory_ids) else self.status

    def with_request(self, message: Message) -> ForgetOutcome:
        """Return a copy that also lists the message with the request, among the likely ids.

        That message repeats the statement to forget. If nothing was found, return the outcome
        unchanged.
        """
        if self.status == NOTHING_FOUND or message.public_id in self.message_ids:
            return self
        own = message.public_id
        ids, likely = [*self.message_ids, own], [*self.likely_ids, own]
        return replace(self, message_ids=ids, likely_ids=likely)


def prepare(requests: Sequence[ForgetRequest]) -> list[EmbeddedRequest]:
    """Embed the subjects of the requests. Call this function outside a transaction."""
    return [_prepared(one) for one in requests]


def _prepared(request: ForgetRequest) -> EmbeddedRequest:
    about = request.about
    if not about:
        return EmbeddedRequest(request, None)
    subject = ", ".join(clauses_of(about, whole=about == request.quote))
    return EmbeddedRequest(request, search_index.embed([subject or about])[0], subject)


def asked_in(text: str) -> list[EmbeddedRequest]:
    """Return the requests to forget that a message contains, with embedded subjects.

    Call this function outside a transaction.
    """
    return prepare(_requests_in(text))


def asks_to_forget(text: str) -> bool:
    return bool(_requests_in(text))


def requests_of_api_text(about: str) -> list[EmbeddedRequest]:
    """Return the requests to forget in a text that an API client sent, with embedded subjects.

    The text may be a request ("forget that …") or only a subject ("coffee"). Unlike a chat message,
    the text is always meant as a request, even if it is as brief as "forget coffee". A text that
    speaks of forgetting without asking for it ("she always forgets the gas") is never a clear
    request. The result is empty if the text only asks not to forget something.
    """
    if only_asks_not_to_forget(about):
        return []
    speaks = speaks_of_forgetting(about)
    requests = [one for one in _requests_in(about) if one.about]
    found = [one for one in requests if one.in_words or not speaks]
    words = masking.cover_secrets(_THAT.sub("", about.strip()))
    whole = ForgetRequest(words, words, in_words=bool(requests) or not speaks)
    return prepare([replace(one, in_words=True) for one in found] or [whole])


def says_nothing_else(text: str, asked: Sequence[EmbeddedRequest]) -> bool:
    """Return True if the message consists only of its requests to forget."""
    rest = text
    for one in asked:
        rest = rest.replace(one.request.quote, "")
    return bool(asked) and not any(character.isalnum() for character in rest)


def _requests_in(text: str) -> Sequence[ForgetRequest]:
    return extract_without_context(text).forget


def extract_without_context(text: str) -> Extraction:
    """Run the bundled extractor on a message alone, without earlier messages as context."""
    now = timezone.localtime()
    said = TurnText(user=Utterance(text, now), assistant=Utterance("", now))
    return language_steps.bundled_extractor().extract(said)


def carry_out_requests(
    run: Run, *, user: User, turn: Turn, extraction: Extraction
) -> ForgetOutcome | None:
    """Carry out a turn's requests to forget, and return the outcome.

    Return None if the turn has no such request. The chat carries out requests before the answer is
    written; in that case, return the outcome that is stored in the operation's payload.
    """
    if stored := run.payload.get("forget"):
        return ForgetOutcome.from_payload(stored)
    if not extraction.forget:
        return None
    asked = prepare(extraction.forget)
    with as_user(user):
        question = turn.user_message
        found = find(asked, user=user, conversation=turn.conversation, before=question.number)
    if not found.is_plain:
        return answer(found, user=user).with_request(question)
    with run.applying(user, durable=True):
        return answer(found, user=user).with_request(question)


def find(
    asked: Sequence[EmbeddedRequest],
    *,
    user: User,
    conversation: Conversation | None = None,
    before: int = 0,
) -> ForgetMatches:
    """Return the memories that the requests may mean, with the messages that state them.

    A request without a subject ("forget that") means the memories learned from the previous turn:
    the last turn of `conversation` whose message has a number below `before`.
    """
    each = [
        _learned_from_previous_turn(user, conversation, before=before)
        if one.vector is None
        else _find_meant(one, user)
        for one in asked
    ]
    memories = list({memory.pk: memory for one in each for memory in one.memories}.values())
    memories = memories[:LISTED]
    likely = {pk for one in each for pk in one.likely}
    of_likely = {message.pk: message for one in each for message in one.messages}
    told = _messages_of(user, [one for one in memories if one.pk in likely])
    of_likely |= {message.pk: message for message in told}
    others = _messages_of(user, [one for one in memories if one.pk not in likely])
    messages = of_likely | {
        message.pk: message for message in others if message.pk not in of_likely
    }
    in_words = all(one.request.in_words for one in asked)
    plain = in_words and bool(memories) and all(one.is_plain for one in each)
    meant = {one.pk for one in memories}
    also = {one.pk: one for found in each for one in found.also if plain and one.pk not in meant}
    told_by = list(messages.values())
    return ForgetMatches(memories, told_by, plain, likely, set(of_likely), list(also.values()))


def answer(
    found: ForgetMatches, *, user: User, requested_by_key: int | None = None
) -> ForgetOutcome:
    """Forget the memories if the requests are clear; otherwise return the options for the user.

    This function runs in the caller's transaction. Raise `NotFound` if none of the memories to
    forget exists any more.
    """
    if not found.memories and not found.messages:
        return ForgetOutcome()
    memories = [one.public_id for one in found.memories]
    messages = [one.public_id for one in found.messages]
    likely = [one.public_id for one in found.memories if one.pk in found.likely]
    likely += [one.public_id for one in found.messages if one.pk in found.likely_messages]
    if not found.is_plain:
        return ForgetOutcome(NEEDS_CHOICE, memories, messages, likely_ids=likely)
    operation = memory_forgets.forget_memories(
        user=user,
        memories=found.memories,
        requested_by_key=requested_by_key,
        chosen=memory_forgets.ONLY_MATCH,
        said_in=[one.pk for one in found.messages],
    )
    also = [one.public_id for one in found.also]
    return ForgetOutcome(FORGOTTEN, memories, messages, operation.public_id, likely, also)


def _find_meant(asked: EmbeddedRequest, user: User) -> ForgetMatches:
    assert asked.vector is not None
    about, subject = asked.request.about, asked.subject
    if not subject:  # the request doesn't say what to forget: offer the latest memories
        rows = Memory.everything.filter(user=user, hidden_at__isnull=True).select_related("user")
        return ForgetMatches(list(rows.order_by("-pk")[:LISTED]))
    floor = max(_NEAR, settings.SIMILARITY_GATE)
    concepts = query.asked_about(subject)
    found = similar_memories.find_request_matches(
        asked.vector,
        user=user,
        terms={*segment.terms(subject), *(term for topic in concepts for term in topic.words)},
        longest=max(segment.words(subject), key=len, default=""),
        floor=floor,
        nearest=_COMPARED,
    )
    found = _promising_first(subject, found)
    read, unread = found[:_COMPARED], [one for one in found[_COMPARED:] if one.similarity >= floor]
    now = {one.pk: one.content for one in read}
    versions = MemoryVersion.objects.filter(user=user, memory__in=now).exclude(content="")
    said_before: dict[int, set[str]] = defaultdict(set)
    for memory, content in versions.values_list("memory", "content"):
        if content != now[memory]:
            said_before[memory].add(content)
    judged = {one.pk: _probability(about, one, said_before[one.pk]) for one in read}
    ranked = request_matching.signals_of(subject, read, judged)
    keeps = request_matching.says_what_to_keep(asked.request.quote)
    is_clear = not unread and not keeps and not begins_with_stop_clause(asked.request)
    plain = request_matching.clear_match(about, ranked) if is_clear else None
    matches = request_matching.probable_matches(subject, ranked, said=asked.request.quote)
    likely = [one.pk for one in matches]
    # All earlier versions must match too, since they are erased together with the memory.
    if plain and all(_is_about(about, text) >= pairs.YES for text in said_before[plain.pk]):
        return _clear_match_or_choices(asked, plain, read, user, judged, likely)
    others = [one.pk for one in request_matching.possible_matches(ranked) if one.pk not in likely]
    others += [one.pk for one in unread]
    return ForgetMatches(_rows(user, [*likely, *others]), likely=likely)


def _clear_match_or_choices(
    asked: EmbeddedRequest,
    plain: RequestMatch,
    read: Sequence[RequestMatch],
    user: User,
    judged: Mapping[int, float],
    likely: Collection[int],
) -> ForgetMatches:
    """Return the clear match (`plain`), or choices if the request may mean other memories as well.

    `judged` holds the reader model's probability for each memory in `read`. The request may mean
    other memories if it asks to forget everything about a topic. Then the choices are the match,
    the memories that contain a word that the request and the match share, the memories that the
    reader model judges to be about the request, and the memories from the same turns. Only the
    match and the memories in `likely` are preselected.
    """
    common = set(segment.terms(asked.subject)) & set(segment.terms(plain.content))
    common -= segment.ENGLISH_STOP_WORDS
    is_wide = request_matching.asks_for_everything(asked.request.quote)
    naming = [
        one.pk
        for one in read
        if is_wide and one.pk != plain.pk
        if judged[one.pk] > pairs.YES or common & set(segment.terms(one.content))
    ]
    rows = _rows(user, [plain.pk, *naming])
    known = {one.pk for one in rows}
    others = [one for one in _from_same_messages(user, rows, later=is_wide) if one.pk not in known]
    if is_wide and (naming or others):
        return ForgetMatches([*rows, *others], likely={plain.pk, *likely})
    return ForgetMatches(rows, is_plain=True, likely={plain.pk}, also=others)


def _from_same_messages(user: User, memories: Sequence[Memory], *, later: bool) -> list[Memory]:
    """Return the memories learned from the same turns as these memories, oldest first.

    If `later` is True, also return memories of the next turns that begin with "she", "his" etc.
    """
    turns = list(Turn.objects.filter(user=user, sources__memory__in=memories).distinct())
    sources = Source.objects.filter(turn__in=turns, memory__isnull=False)
    wanted = {pk for pk in sources.values_list("memory", flat=True) if pk is not None}
    if later:
        wanted = wanted.union(*map(_continued_after, turns))
    found = Memory.everything.filter(user=user, pk__in=wanted, hidden_at__isnull=True)
    return list(found.select_related("user").order_by("pk")[:LISTED])


def _continued_after(turn: Turn) -> set[int]:
    """Return the keys of the following turns' memories whose text begins with a pronoun."""
    following = Turn.objects.filter(user=turn.user_id, conversation=turn.conversation_id)
    following = following.filter(pk__gt=turn.pk).order_by("pk")
    sources = Source.objects.filter(turn__in=list(following[:_MOST_LATER]), memory__isnull=False)
    learned = [one.memory for one in sources.select_related("memory")]
    return {one.pk for one in learned if one is not None and _CONTINUES.match(one.content.lstrip())}


def _promising_first(subject: str, matches: Sequence[RequestMatch]) -> list[RequestMatch]:
    """Sort the memories by all signals except the reader model, best first.

    The reader model takes time for each memory, so only the first memories are compared by it.
    """
    unknown = dict.fromkeys((one.pk for one in matches), pairs.YES)
    return [one.meant for one in request_matching.signals_of(subject, matches, unknown)]


def _probability(about: str, meant: RequestMatch, before: Collection[str]) -> float:
    """Return the probability that the request means this memory.

    `before` holds the memory's earlier texts. If only an earlier text matches the request, the
    probability is at most `pairs.YES`, since the current text is different.
    """
    now = _is_about(about, meant.content)
    earlier = max((_is_about(about, text) for text in before), default=0.0)
    return max(now, min(earlier, pairs.YES))


def _is_about(about: str, text: str) -> float:
    return pairs.probability_of_reference(about, text, reader=language_steps.pair_reader())


def _rows(user: User, pks: Sequence[int]) -> list[Memory]:
    """Return the memories in the order of `pks`, including those in the recycle bin."""
    found = Memory.everything.filter(user=user, pk__in=pks, hidden_at__isnull=True)
    rows = {one.pk: one for one in found.select_related("user")}
    return [rows[pk] for pk in pks if pk in rows]


def _messages_of(user: User, memories: Sequence[Memory]) -> list[Message]:
    """Return the messages that state these memories, oldest first.

    These are the user's messages that are sources of the memories or repeat their statements, and
    answers that repeat a memory word for word, unless their questions are included anyway.
    """
    sources = Source.objects.filter(user=user, memory__in=memories)
    own = sources.values_list("message", "turn__user_message", "turn__assistant_message")
    wanted = {pk for row in own for pk in _own_message(*row)}
    for memory in memories[:_MOST_WITH_REPEATING]:
        # The reader model compares the memory only with the most similar messages.
        found = similar_memories.possible_source_messages(memory, few=_MOST_REPEATING)
        perhaps = set(found) - wanted
        rows = Message.objects.filter(pk__in=perhaps).values_list("pk", "content")
        read = language_steps.pair_reader().relations([(memory.content, text) for _, text in rows])
        wanted |= {
            pk
            for (pk, text), shares in zip(rows, read, strict=True)
            if shares["same"] + shares["refines"] >= pairs.YES and not asks_to_forget(text)
        }
    repeated = memory_forgets.repeating_messages(user, [one.pk for one in memories], told=wanted)
    wanted |= {one.pk for one in repeated if not asks_to_forget(one.content)}
    return list(Message.objects.filter(user=user, pk__in=wanted).order_by("pk"))


def _own_message(message: int | None, question: int | None, reply: int | None) -> set[int]:
    """Return a set with the key of the user's message that belongs to a source.

    For a source in a reply, this is the message that the reply answers. The set is empty if there
    is no such message.
    """
    one = question if message in (None, reply) else message
    return set() if one is None else {one}


def _learned_from_previous_turn(
    user: User, conversation: Conversation | None, *, before: int
) -> ForgetMatches:
    """Return the memories learned from the last turn before the message with the number `before`.

    If the turn is still queued for learning, return its message instead.
    """
    turns = Turn.objects.filter(
        user=user, conversation=conversation, user_message__number__lt=before
    )
    turn = turns.select_related("user_message").order_by("-user_message__number").first()
    if conversation is None or turn is None:
        return ForgetMatches()
    sources = list(Source.objects.filter(user=user, turn=turn).select_related("memory"))
    memories = list({one.memory_id: one.memory for one in sources if one.memory}.values())
    if not memories:
        return ForgetMatches(messages=[] if turn.extracted_at else [turn.user_message])
    plain = turn.extracted_at is not None and len(memories) == 1
    plain = plain and _says_nothing_else(turn, memories[0], sources)
    return ForgetMatches(memories, is_plain=plain, likely={one.pk for one in memories})


def _says_nothing_else(turn: Turn, memory: Memory, sources: Sequence[Source]) -> bool:
    """Return True if the message states only this memory, and the memory has no other source."""
    stated = segment.terms(" ".join([memory.content, *(one.quote for one in sources)]))
    elsewhere = Source.objects.filter(memory=memory).exclude(turn=turn)
    return set(segment.terms(turn.user_message.content)) <= set(stated) and not elsewhere.exists()
