"""Whether something that was said may be learned: the one place that every path asks.

A message carries the answer for itself, `Message.withheld`: it is decided when the message is
said. What a message that isn't withheld says is then held against what was forgotten: it isn't
learned again from anything said before the forget, and is learned when it is told anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from conversations.models import Message, Role, Told, Turn, Withheld
from memories.extraction import keeping
from memories.extraction.types import Candidate, Extraction
from memories.models import DailyNote
from memories.services import tombstones
from memories.services.tombstones import Telling
from ops.models import User


def mark_of(text: str, *, role: str, is_on: bool) -> Withheld:
    """The mark of a message that is said now; `is_on`: long-term memory is."""
    if not is_on:
        return Withheld.MEMORY_OFF
    asked = role == Role.USER and keeping.is_asked_not_to(text)
    return Withheld.ASKED if asked else Withheld.NO


def may_teach(turn: Turn) -> bool:
    return not (turn.user_message.withheld or turn.assistant_message.withheld)


def is_heard(turn: Turn) -> bool:
    """Whether the turn is read at all: one that may not teach may still ask to forget."""
    marks = {turn.user_message.withheld, turn.assistant_message.withheld}
    return marks <= {Withheld.NO, Withheld.ASKED}


def what_may_be_heard(extraction: Extraction) -> Extraction:
    """Of a message that isn't to be kept: only "forget that", about what was said before it."""
    return Extraction(forget=tuple(one for one in extraction.forget if not one.about))


def may_learn(candidate: Candidate, telling: Telling, *, user: User) -> bool:
    """Whether the statement wasn't forgotten since it was said."""
    return not tombstones.is_forgotten(
        user=user, text=candidate.content, quote=candidate.quote, telling=telling
    )


def telling_of_turn(turn: Turn, candidate: Candidate, *, needs: Sequence[Turn] = ()) -> Telling:
    """Where a turn says it; what was put together from several comes from all of them."""
    own = candidate.quoted_role == "user"
    said = turn.user_message if own else turn.assistant_message
    return telling_of_turns((turn, *needs), said=said.content)


def telling_of_turns(turns: Collection[Turn], *, said: str = "") -> Telling:
    """What turns say together is told when the last of them is."""
    ids = [
        message.public_id for one in turns for message in (one.user_message, one.assistant_message)
    ]
    moments = [told_at(one.user_message) for one in turns]
    known = [one for one in moments if one is not None]
    return _telling(said, ids, max(known) if len(known) == len(moments) else None)


def telling_of_message(message: Message) -> Telling:
    return _telling(message.content, [message.public_id], told_at(message))


def telling_of_note(line: DailyNote) -> Telling:
    return _telling(line.text, [line.public_id], line.created_at)


def telling_of_text(text: str, *, at: datetime | None) -> Telling:
    """A message that isn't recorded here."""
    return _telling(text, (), at)


def told_at(message: Message) -> datetime | None:
    """When we were told, or when it was said elsewhere; None where nobody knows."""
    if message.told == Told.UNDATED:
        return None
    return message.created_at if message.told == Told.DATED else message.recorded_at


def _telling(text: str, ids: Iterable[str], at: datetime | None) -> Telling:
    said = tombstones.tombstone_key(text) if text else ""
    return Telling(text, said, tuple(ids), at)
