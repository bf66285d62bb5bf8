"""Cards that the chat shows after a request to forget.

A card is a form that asks which memories and messages to forget. Its list is built from the ids
stored in the turn's operation, so the list isn't stored in a message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations.models import Message, Role, Turn
from foundation.text.richtext import shorten
from memories.extraction.masking import additions_in_words
from memories.forgetting.spoken_requests import FORGOTTEN, NEEDS_CHOICE, ForgetOutcome
from memories.models import Memory, Source
from ops.models import Kind, Operation, User

_SHOWN = 160  # characters of a text
_NEAREST = 3  # memories shown if no memory is likely; more of them are collapsed
_LATELY = timedelta(days=7)  # no card is shown for requests older than this


@dataclass(frozen=True)
class Line:
    """A memory or message on a card, which the person can choose to forget.

    `name` is the name of its form field: memory or message. `is_likely` is True if the request
    probably means this item. `is_chosen` is True if the item is initially ticked, and `is_request`
    if it is the message that asks to forget. `teaches_more` is True for a message if memories that
    aren't on the card were learned only from its exchange; the button that forgets all likely items
    skips such a message. If a message is chosen, its whole exchange is forgotten: `said` holds the
    keys of the questions, `replies` the keys of the answers.
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

    `is_done` is True if the memory is already forgotten; the card then offers only messages, and
    memories that were learned from the same messages. `asks_again` is True if the card lists only
    the chosen items and asks for confirmation. In that case, `also` holds the texts of other
    memories that will be forgotten with the chosen messages, `stays` holds the texts of memories
    that were learned only from those messages but are kept, and `left_out` is the number of likely
    messages that the button for all likely items skips. `is_everything` is True if that button was
    pressed.
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
    is_everything: bool = False

    @property
    def everything(self) -> list[Line]:
        """Return the lines that the button "Forget all" selects.

        These are the likely lines, except messages with `teaches_more`.
        """
        lines = [*self.memories, *self.messages]
        return [one for one in lines if one.is_likely and not one.teaches_more]

    def ticking(self, chosen: Sequence[Line]) -> Card:
        """Return the card with exactly the chosen lines ticked."""
        memories = [replace(one, is_chosen=one in chosen) for one in self.memories]
        messages = [replace(one, is_chosen=one in chosen) for one in self.messages]
        return replace(self, memories=memories, messages=messages)

    def asking_again(
        self,
        chosen: Sequence[Line],
        also: Sequence[Memory],
        stays: Sequence[Memory],
        *,
        is_everything: bool,
    ) -> Card:
        """Return a card that asks to confirm the chosen lines.

        The other arguments are described in `Card`, which holds texts instead of memories.
        """
        left_out = [
            one for one in self.messages if one.teaches_more and one.is_likely and one not in chosen
        ]
        return replace(
            self,
            memories=[one for one in self.memories if one in chosen],
            messages=[one for one in self.messages if one in chosen],
            asks_again=True,
            is_everything=is_everything,
            also=_texts(also),
            stays=_texts(stays),
            left_out=len(left_out),
        )

    @property
    def groups(self) -> list[tuple[str, list[Line]]]:
        """Return the headings of the card with their lines: memories first, then messages.

        Only likely lines are included, or all lines if the card asks for confirmation. Without a
        likely memory, the first few memories are shown under a heading of their own.
        """
        heading_of_unlikely = (
            _("Learned at the same time") if self.is_done else _("Closest matches")
        )
        memories, said = (
            [one for one in lines if one.is_likely or self.asks_again]
            for lines in (self.memories, self.messages)
        )
        groups = [
            (_("Memories"), memories),
            (heading_of_unlikely, [] if memories else list(self.memories[:_NEAREST])),
            (_("Messages that mention it"), [one for one in said if not one.is_request]),
            (_("Your request"), [one for one in said if one.is_request]),
        ]
        return [(heading, lines) for heading, lines in groups if lines]

    @property
    def others(self) -> list[Line]:
        """Return the lines that aren't in `groups`: probable memories first, messages last."""
        shown = [one for _heading, lines in self.groups for one in lines]
        return [one for one in [*self.memories, *self.messages] if one not in shown]

    @property
    def likely_words(self) -> str:
        """Return the numbers of items that "Forget all" forgets, such as "1 memory, 2 messages"."""
        return _in_words(self.everything)

    @property
    def words(self) -> str:
        """Return the numbers of items that all lines of the card forget: "1 memory, 2 messages"."""
        return _in_words([*self.memories, *self.messages], also=len(self.also))

    @property
    def is_unsure(self) -> bool:
        """Return True if nothing is forgotten yet and no memory on the card is likely."""
        return not self.is_done and not any(one.is_likely for one in self.memories)

    @property
    def url(self) -> str:
        return reverse("turn_forget", args=[self.turn_id])


def cards_of(user: User, turns: Sequence[Turn], *, asked: Sequence[Operation]) -> dict[int, Card]:
    """Return the cards that the person has not yet answered, by turn key.

    `asked` holds the operations with the requests to forget.
    """
    by_turn = {one.payload["turn"]: one for one in asked if not one.payload.get("answered")}
    outcomes = {pk: ForgetOutcome.from_payload(one.forget_outcome) for pk, one in by_turn.items()}
    memory_ids = {pk for one in outcomes.values() for pk in (*one.memory_ids, *one.also_ids)}
    message_ids = {one for outcome in outcomes.values() for one in outcome.message_ids}
    memories = Memory.visible.filter(user=user, public_id__in=memory_ids)
    said = Message.objects.filter(user=user, public_id__in=message_ids)
    known = {one.public_id: one for one in memories}
    messages = {one.public_id: one for one in said}
    exchanges = _Exchanges.of(user, list(messages.values()))
    sources = Source.objects.filter(user=user, turn__in=list(by_turn)).exclude(memory=None)
    taught = set(sources.values_list("turn", "memory"))
    cards = {}
    for turn in turns:
        outcome = outcomes.get(turn.pk)
        if outcome is None:
            continue
        own = {memory for turn_pk, memory in taught if turn_pk == turn.pk}
        card = _card(
            turn, outcome, memories=known, messages=messages, exchanges=exchanges, taught=own
        )
        if card.memories or card.messages:
            cards[turn.pk] = card
    return cards


def settled_words(asked: Iterable[Operation]) -> dict[int, str]:
    """Return, by turn key, a sentence about the outcome of each card that the person has answered.

    Cards without an open choice, because the memory was already forgotten, are left out. The page
    shows the sentence instead of the assistant's answer, which says that nothing has been forgotten
    yet.
    """
    return {
        one.payload["turn"]: _("You chose what to forget. The receipt says what is gone.")
        if one.payload.get("answered_by")
        else _("You chose to keep everything.")
        for one in asked
        if one.payload.get("answered")
        and ForgetOutcome.from_payload(one.forget_outcome).status == NEEDS_CHOICE
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
class _Exchanges:
    """The exchanges that contain the messages on the cards.

    `questions` maps the key of an answer to the text of its question. `learned` maps the key of a
    message to the memories that were learned only from the message's exchange. `keys` maps the key
    of a message to the keys of the questions and of the answers in its exchanges.
    """

    questions: Mapping[int, str]
    learned: Mapping[int, Sequence[Memory]]
    keys: Mapping[int, tuple[frozenset[int], frozenset[int]]]

    @classmethod
    def of(cls, user: User, messages: Sequence[Message]) -> _Exchanges:
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
            keys={one.pk: _exchange_of(one, turns) for one in messages},
        )


def _exchange_of(message: Message, turns: Iterable[Turn]) -> tuple[frozenset[int], frozenset[int]]:
    """Return the keys of the questions and of the answers that are forgotten with a message."""
    own = [one for one in turns if message.pk in (one.user_message_id, one.assistant_message_id)]
    said = {one.user_message_id for one in own}
    replies = {one.assistant_message_id for one in own}
    (replies if message.role == Role.ASSISTANT else said).add(message.pk)
    return frozenset(said), frozenset(replies)


def _card(
    turn: Turn,
    outcome: ForgetOutcome,
    *,
    memories: Mapping[str, Memory],
    messages: Mapping[str, Message],
    exchanges: _Exchanges,
    taught: Collection[int] = (),
) -> Card:
    """Return the card of a turn.

    `taught` holds the keys of memories learned from this turn. They aren't initially ticked, even
    if they are likely.
    """
    offered = dict.fromkeys((*outcome.memory_ids, *outcome.also_ids))
    own = [memories[one] for one in offered if one in memories]
    mentioning = [messages[one] for one in outcome.message_ids if one in messages]
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
                exchanges=exchanges,
                others=[other for other in exchanges.learned[one.pk] if other not in own],
                is_likely=is_done or one.public_id in likely,
            )
            for one in mentioning
        ],
    )


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
    message: Message,
    turn: Turn,
    *,
    exchanges: _Exchanges,
    others: Sequence[Memory],
    is_likely: bool,
) -> Line:
    """Return the line of a message, which isn't initially ticked.

    Choosing the message also forgets the other message of its exchange and the memories in
    `others`. The line of an answer shows the text of its question.
    """
    text = message.content
    if message.pk == turn.user_message_id:
        note = _("what you just asked, and the answer")
    elif message.role == Role.ASSISTANT:
        text, note = (
            exchanges.questions.get(message.pk, text),
            _("your question, and the answer that mentions it"),
        )
    else:
        note = _("with its answer")
    if others:
        texts = _(", ").join(_("“%(text)s”") % {"text": text} for text in _texts(others))
        note = " · ".join((note, _("this also forgets: %(memories)s") % {"memories": texts}))
    said, replies = exchanges.keys[message.pk]
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
    """Return in words how many items are forgotten if these lines are chosen.

    The items are counted as on the receipt. `also` is the number of additional memories.
    """
    chosen = list(lines)
    memories = also + sum(one.name == "memory" for one in chosen)
    said = len(frozenset[int]().union(*(one.said for one in chosen)))
    replies = len(frozenset[int]().union(*(one.replies for one in chosen)))
    return counts_in_words(memories=memories, said=said, replies=replies)


def counts_in_words(*, said: int, replies: int, memories: int = 0) -> str:
    """Return the non-zero counts in words, such as "2 messages and 1 reply"."""
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
