"""Cards and receipts, which the chat shows after a request to forget.

A card is a form that asks which memories and messages to forget. Its list is built from the ids
stored in the turn's operation, so the list isn't stored in a message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from conversations.models import Message, Role, Turn
from foundation.errors import NotFound
from foundation.text.richtext import shorten
from memories.extraction.masking import additions_in_words
from memories.forgetting import memory_forgets
from memories.forgetting.spoken_requests import FORGOTTEN, NEEDS_CHOICE, Outcome
from memories.models import Kind as MemoryKind
from memories.models import Memory, Source
from memories.templatetags.memory_center import day_and_time
from ops import selectors
from ops.forgetting.erasure import FORGET_KINDS
from ops.models import Kind, Operation, Receipt, Status, User
from ops.pages import forgetting, operation_rows
from ops.pages.base import is_htmx, own_transaction, person, personal_page
from ops.pages.forgetting import ShownReceipt
from ops.pages.operation_rows import OperationLine

_SHOWN = 160
_NEAREST = 3  # doubtful memories shown at once if no memory is likely; the others are folded
_LATELY = timedelta(days=7)  # no card is shown for requests older than this


@dataclass(frozen=True)
class Line:
    """A memory or message on a card, which the person can choose to forget.

    `name` is the name of its form field: memory or message. `is_likely` is True if the request
    probably means this item. `is_chosen` is True if the item is ticked at first, and `is_request`
    if it is the message that asks to forget. `teaches_more` is True for a message if memories that
    aren't on the card were learned only from its exchange; the button that forgets all likely items
    leaves out such a message. `said` and `replies` are the keys of the messages that choosing a
    message forgets: its exchange.
    """

    name: str
    public_id: str
    text: str
    at: datetime
    note: str
    is_likely: bool
    is_chosen: bool = False
    is_request: bool = False
    teaches_more: bool = False
    said: frozenset[int] = frozenset()
    replies: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Card:
    """The choices that the chat offers after a request to forget.

    `is_done` is True if the memory is already forgotten. Then only messages remain to be chosen,
    and memories that were learned from the same messages. `asks_again` is True if the card lists
    only the chosen items and asks for confirmation. Then `also` holds the texts of other memories
    that go with the chosen messages, `stays` those of memories that were learned only there but are
    kept, and `left_out` counts likely messages that the button for all likely items leaves out.
    """

    turn_id: str
    is_done: bool
    memories: Sequence[Line]
    messages: Sequence[Line]
    error: str = ""
    asks_again: bool = False
    also: Sequence[str] = ()
    stays: Sequence[str] = ()
    left_out: int = 0

    @property
    def everything(self) -> list[Line]:
        """Return the likely lines without `teaches_more`, which one button selects together."""
        lines = [*self.memories, *self.messages]
        return [one for one in lines if one.is_likely and not one.teaches_more]

    def asking_again(
        self, chosen: Sequence[Line], also: Sequence[Memory], stays: Sequence[Memory]
    ) -> Card:
        """Return a card that asks to confirm the chosen lines. `also` and `stays` are as above."""
        left_out = [
            one for one in self.messages if one.teaches_more and one.is_likely and one not in chosen
        ]
        return replace(
            self,
            memories=[one for one in self.memories if one in chosen],
            messages=[one for one in self.messages if one in chosen],
            asks_again=True,
            also=_texts(also),
            stays=_texts(stays),
            left_out=len(left_out),
        )

    @property
    def groups(self) -> list[tuple[str, list[Line]]]:
        """Return groups of lines with headings: memories first, then messages."""
        beside = _("Learned at the same time") if self.is_done else _("Closest matches")
        said = [one for one in self.messages if self._is_shown(one)]
        groups = [
            (_("Memories"), [one for one in self.memories if self._is_shown(one)]),
            (beside, self._nearest),
            (_("Messages that mention it"), [one for one in said if not one.is_request]),
            (_("Your request"), [one for one in said if one.is_request]),
        ]
        return [(heading, lines) for heading, lines in groups if lines]

    @property
    def others(self) -> list[Line]:
        """Return the doubtful lines that aren't in `groups`, most probable memories first."""
        shown = [one for _heading, lines in self.groups for one in lines]
        return [one for one in [*self.memories, *self.messages] if one not in shown]

    @property
    def _nearest(self) -> list[Line]:
        is_found = any(self._is_shown(one) for one in self.memories)
        return [] if is_found else list(self.memories[:_NEAREST])

    def _is_shown(self, line: Line) -> bool:
        return line.is_likely or self.asks_again

    @property
    def likely_words(self) -> str:
        """Return what `everything` forgets: "1 memory, 2 messages and 2 replies"."""
        return _in_words(self.everything)

    @property
    def words(self) -> str:
        """Return what a confirmed choice forgets: "2 memories, 1 message and 1 reply"."""
        return _in_words([*self.memories, *self.messages], also=len(self.also))

    @property
    def is_unsure(self) -> bool:
        """Return True if no memory on the card is likely to be meant."""
        return not self.is_done and not any(one.is_likely for one in self.memories)

    @property
    def needs_second_question(self) -> bool:
        """Return True if the card lists a message or more than one memory."""
        return len(self.memories) > 1 or bool(self.messages)

    @property
    def url(self) -> str:
        return reverse("turn_forget", args=[self.turn_id])


def cards_of(user: User, turns: Sequence[Turn], *, asked: Sequence[Operation]) -> dict[int, Card]:
    """Return the cards that the person has not yet answered, as a mapping from turn keys.

    `asked` holds the operations with the requests to forget.
    """
    by_turn = {one.payload["turn"]: one for one in asked if not one.payload.get("answered")}
    outcomes = {pk: Outcome.from_payload(one.forget_outcome) for pk, one in by_turn.items()}
    memory_ids = {pk for one in outcomes.values() for pk in (*one.memory_ids, *one.also_ids)}
    message_ids = {one for outcome in outcomes.values() for one in outcome.message_ids}
    memories = Memory.visible.filter(user=user, public_id__in=memory_ids)
    said = Message.objects.filter(user=user, public_id__in=message_ids)
    known = {one.public_id: one for one in memories}
    told = {one.public_id: one for one in said}
    around = _Around.of(user, list(told.values()))
    taught = set(_taught_by(user, list(by_turn)))
    cards = {}
    for turn in turns:
        outcome = outcomes.get(turn.pk)
        if outcome is None:
            continue
        own = {memory for asking, memory in taught if asking == turn.pk}
        card = _card(turn, outcome, memories=known, said=told, around=around, taught=own)
        if card.memories or card.messages:
            cards[turn.pk] = card
    return cards


def settled_words(asked: Iterable[Operation]) -> dict[int, str]:
    """Return what became of the answered cards, as a mapping from turn keys.

    The words stand in place of the answer, which says that nothing is forgotten yet.
    """
    return {
        one.payload["turn"]: _("You chose what to forget. The result is shown below.")
        if one.payload.get("answered_by")
        else _("You chose to keep everything.")
        for one in asked
        if one.payload.get("answered")
        and Outcome.from_payload(one.forget_outcome).status == NEEDS_CHOICE
    }


def requests_of(user: User, turns: Sequence[Turn]) -> list[Operation]:
    """Return the operations that contain recent requests to forget, made in these turns."""
    if not turns:
        return []
    found = Operation.objects.filter(
        subject=user.subject,
        kind=Kind.EXTRACT_TURN,
        created_at__gte=timezone.now() - _LATELY,
        payload__turn__in=[one.pk for one in turns],
    )
    return [one for one in found.order_by("pk") if one.forget_outcome]


@dataclass(frozen=True)
class _Around:
    """The exchanges that contain the messages on the cards.

    `questions` maps the key of an answer to the text of its question. `learned` maps the key of a
    message to the memories that were learned only from the message's exchange. `exchanges` maps it
    to the keys of the questions and of the answers of its exchanges.
    """

    questions: Mapping[int, str]
    learned: Mapping[int, Sequence[Memory]]
    exchanges: Mapping[int, tuple[frozenset[int], frozenset[int]]]

    @classmethod
    def of(cls, user: User, messages: Sequence[Message]) -> _Around:
        if not messages:
            return cls({}, {}, {})
        pks = [one.pk for one in messages]
        of_them = Q(user_message__in=pks) | Q(assistant_message__in=pks)
        turns = list(Turn.objects.filter(of_them, user=user).select_related("user_message"))
        place: dict[int | None, object] = {one: f"message {one}" for one in pks}
        for turn in turns:
            place[turn.user_message_id] = place[turn.assistant_message_id] = turn.pk
        here = Source.objects.filter(Q(turn__in=turns) | Q(message__in=place), user=user)
        places: dict[int, set[object]] = defaultdict(set)
        sources = Source.objects.filter(user=user, memory__in=here.values("memory"))
        for memory, turn_id, message in sources.values_list("memory", "turn", "message"):
            places[memory].add(turn_id or place.get(message))
        learned: dict[object, list[Memory]] = defaultdict(list)
        for one in Memory.visible.filter(user=user, pk__in=places).order_by("pk"):
            if len(places[one.pk]) == 1:
                learned[places[one.pk].pop()].append(one)
        return cls(
            questions={turn.assistant_message_id: turn.user_message.content for turn in turns},
            learned={pk: learned[place[pk]] for pk in pks},
            exchanges={one.pk: _exchange_of(one, turns) for one in messages},
        )


def _exchange_of(message: Message, turns: Iterable[Turn]) -> tuple[frozenset[int], frozenset[int]]:
    """Return the keys of what is forgotten with a message: questions, and answers to them."""
    own = [one for one in turns if message.pk in (one.user_message_id, one.assistant_message_id)]
    said = {one.user_message_id for one in own}
    replies = {one.assistant_message_id for one in own}
    (replies if message.role == Role.ASSISTANT else said).add(message.pk)
    return frozenset(said), frozenset(replies)


def _card(
    turn: Turn,
    outcome: Outcome,
    *,
    memories: Mapping[str, Memory],
    said: Mapping[str, Message],
    around: _Around,
    taught: Collection[int] = (),
) -> Card:
    """Return the card of a turn.

    `taught` holds the keys of memories learned from this turn. They aren't ticked at first.
    """
    offered = dict.fromkeys((*outcome.memory_ids, *outcome.also_ids))
    own = [memories[one] for one in offered if one in memories]
    told = [said[one] for one in outcome.message_ids if one in said]
    likely, is_done = set(outcome.likely_ids), outcome.status == FORGOTTEN
    return Card(
        turn_id=turn.public_id,
        is_done=is_done,
        memories=[
            _memory_line(one, is_likely=one.public_id in likely, is_chosen=one.pk not in taught)
            for one in own
        ],
        messages=[
            _message_line(
                one,
                turn,
                around=around,
                others=[other for other in around.learned[one.pk] if other not in own],
                is_likely=is_done or one.public_id in likely,
            )
            for one in told
        ],
    )


def _taught_by(user: User, turns: Sequence[int]) -> Iterator[tuple[int, int]]:
    if turns:
        found = Source.objects.filter(user=user, turn__in=turns).exclude(memory=None)
        yield from found.values_list("turn", "memory")


def _memory_line(memory: Memory, *, is_likely: bool, is_chosen: bool) -> Line:
    if memory.deleted_at is not None:
        state = _("in the recycle bin")
    else:
        state = "" if memory.status == "active" else memory.get_status_display()
    note = " · ".join(filter(None, (str(memory.get_kind_display()), state)))
    text = _short(additions_in_words(memory.content))
    at, pk = memory.created_at, memory.public_id
    return Line(
        "memory", pk, text, at, note, is_likely=is_likely, is_chosen=is_likely and is_chosen
    )


def _message_line(
    message: Message, turn: Turn, *, around: _Around, others: Sequence[Memory], is_likely: bool
) -> Line:
    """Return the line of a message, which isn't ticked at first.

    Choosing the message also forgets the other message of its exchange and the memories in
    `others`. The line of an answer shows the text of its question.
    """
    text = message.content
    if message.pk == turn.user_message_id:
        note = _("what you just asked, and the answer")
    elif message.role == Role.ASSISTANT:
        text, note = (
            around.questions.get(message.pk, text),
            _("your question, and the answer that mentions it"),
        )
    else:
        note = _("with its answer")
    if others:
        texts = _(", ").join(_("“%(text)s”") % {"text": text} for text in _texts(others))
        note = " · ".join((note, _("this also forgets: %(memories)s") % {"memories": texts}))
    said, replies = around.exchanges[message.pk]
    return Line(
        "message",
        message.public_id,
        _short(text),
        message.created_at,
        note,
        is_likely=is_likely,
        is_request=message.pk == turn.user_message_id,
        teaches_more=bool(others),
        said=said,
        replies=replies,
    )


def _in_words(lines: Iterable[Line], *, also: int = 0) -> str:
    """Return what choosing the lines forgets, counted as on the receipt; `also` counts memories."""
    chosen = list(lines)
    memories = also + sum(one.name == "memory" for one in chosen)
    said = len(frozenset[int]().union(*(one.said for one in chosen)))
    replies = len(frozenset[int]().union(*(one.replies for one in chosen)))
    return counts_in_words(memories=memories, said=said, replies=replies)


def counts_in_words(*, said: int, replies: int, memories: int = 0) -> str:
    """Return the counts in words, without those that are 0: "2 messages and 1 reply"."""
    counted = (
        (memories, ngettext("%(n)d memory", "%(n)d memories", memories)),
        (said, ngettext("%(n)d message", "%(n)d messages", said)),
        (replies, ngettext("%(n)d reply", "%(n)d replies", replies)),
    )
    parts = [words % {"n": count} for count, words in counted if count]
    return _(" and ").join(filter(None, (_(", ").join(parts[:-1]), *parts[-1:])))


def _texts(memories: Iterable[Memory]) -> list[str]:
    return [_short(additions_in_words(one.content)) for one in memories]


def _short(text: str) -> str:
    return shorten(" ".join(text.split()), _SHOWN)


@dataclass(frozen=True)
class ForgetLine:
    """An operation that forgets something, as shown in the chat.

    If `is_open` is set, the finished receipt is shown in full instead of as a link.
    """

    operation: Operation
    is_open: bool = False

    @property
    def receipt(self) -> Receipt | None:
        return getattr(self.operation, "receipt", None)

    @property
    def was(self) -> str:
        """Return the kinds and dates of the memories forgotten without asking, or ""."""
        return _(", ").join(
            _("%(kind)s, from %(moment)s")
            % {"kind": MemoryKind(kind).label, "moment": day_and_time(datetime.fromisoformat(at))}
            for kind, at in self.operation.payload.get(memory_forgets.WAS, ())
        )

    @property
    def happening(self) -> OperationLine:
        return operation_rows.line_of(self.operation)

    @property
    def words(self) -> str:
        return operation_rows.forgotten_and_kept(self.operation)

    @property
    def shown(self) -> ShownReceipt | None:
        return forgetting.receipt_in_words(self.receipt) if self.receipt and self.is_open else None

    @property
    def is_moving(self) -> bool:
        return self.operation.status in (Status.PENDING, Status.RUNNING)

    @property
    def url(self) -> str:
        return reverse("forget_receipt", args=[self.operation.public_id])


def open_receipt(user: User, op_id: str) -> ForgetLine | None:
    """Return the operation with its full receipt; None if the person has no such operation."""
    found = _forgets_of(user, [op_id]).get(op_id) if op_id else None
    return ForgetLine(found, is_open=True) if found is not None else None


def failing_one(user: User, conversation: int, *, without: Collection[str]) -> ForgetLine | None:
    """Return the conversation's newest unfinished forget operation that has failed, or None.

    The message that requested the operation may be forgotten too, so the page shows the operation
    separately. `without` holds the ids of the operations that messages already show.
    """
    about = Q(payload__conversation=conversation) | Q(payload__conversations__contains=conversation)
    failed = (
        selectors.operations_of(user)
        .filter(about, kind__in=FORGET_KINDS)
        .exclude(Q(last_error="") | Q(status__in=(Status.SUCCEEDED, Status.CANCELLED)))
    )
    found = failed.exclude(public_id__in=without).order_by("-pk").first()
    return ForgetLine(found) if found is not None else None


def receipts_of(user: User, asked: Iterable[Operation]) -> Mapping[int, Sequence[ForgetLine]]:
    """Return the operations that carried out requests to forget, as a mapping from turn keys.

    `asked` holds the operations that contain the requests.
    """
    wanted = {
        one.payload["turn"]: [
            op_id
            for op_id in (one.forget_outcome.get("op_id"), one.payload.get("answered_by"))
            if op_id
        ]
        for one in asked
    }
    found = _forgets_of(user, [op_id for each in wanted.values() for op_id in each])
    by_turn: dict[int, list[ForgetLine]] = defaultdict(list)
    for turn, op_ids in wanted.items():
        by_turn[turn] += [ForgetLine(found[one]) for one in op_ids if one in found]
    return by_turn


def _forgets_of(user: User, op_ids: Sequence[str]) -> dict[str, Operation]:
    if not op_ids:
        return {}
    found = selectors.operations_of(user).filter(public_id__in=op_ids, kind__in=FORGET_KINDS)
    return {one.public_id: one for one in found}


@require_safe
@personal_page
def forget_receipt(request: HttpRequest, op_id: str) -> HttpResponse:
    """Return the progress of a forget operation, or its receipt once it is finished.

    Without htmx, redirect to the receipt's own page, or to the data page if there is no receipt.
    """
    with own_transaction(request):
        found = open_receipt(person(request), op_id)
        if found is None:
            raise NotFound("This operation doesn’t exist.")
        if is_htmx(request):
            template = "conversations/includes/forget_receipt.html"
            return render(request, template, {"one": found})
        if found.receipt is None:
            return redirect("data_management")
        return redirect("receipt_page", found.receipt.public_id)
