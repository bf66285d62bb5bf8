"""Check whether a statement may be learned. All code that learns uses this module.

Whether a message is withheld from learning (`Message.withheld`) is decided when the message is
recorded; it may also be withheld later, if the extractor finds that the user asked for this or if
the other message of its turn is forgotten. Only this module reads or writes that column
(`tests/rules/test_withheld.py`). Statements of messages that aren't withheld are checked against
the tombstones: a forgotten statement isn't learned again from messages older than the request to
forget, but is learned if somebody says it again later.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from conversations import selectors
from conversations.models import Message, MessageTime, Role, Turn, Withheld
from foundation.database.statements import Sql
from memories import language_steps
from memories.extraction import masking
from memories.extraction.arbitration import pairs
from memories.extraction.arbitration.pairs import PairReader
from memories.extraction.requests import commands
from memories.extraction.types import Candidate, Extraction
from memories.forgetting import tombstones
from memories.forgetting.tombstones import Provenance
from memories.models import DailyNote
from ops.models import User

_BOTH_TEACH: dict[str, Any] = {
    "user_message__withheld": Withheld.NO,
    "assistant_message__withheld": Withheld.NO,
}
_IS_FRAME = re.compile(r"\[(?:我|I|\d{4}[^\[\]]*)\]")  # an added subject or date


def mark_learnability(message: Message, *, is_on: bool) -> None:
    """Set whether memories may be learned from a new message, which isn't saved yet.

    `is_on` is True if long-term memory is on.
    """
    if not is_on:
        message.withheld = Withheld.MEMORY_OFF
    elif asks_not_to_keep(message.content, role=message.role):
        message.withheld = Withheld.ASKED
    else:
        message.withheld = Withheld.NO


def mark_imported(message: Message, *, is_on: bool, has_several_people: bool) -> None:
    """Set whether memories may be learned from an imported message, which isn't saved yet.

    A message that was already withheld when the file was exported is still withheld.
    `has_several_people` is True if it is unknown whom the statements in the file are about.
    """
    if has_several_people:
        message.withheld = message.withheld or Withheld.MANY_PEOPLE
    elif not message.withheld:
        mark_learnability(message, is_on=is_on)


def asks_not_to_keep(text: str, *, role: str) -> bool:
    """Return True if a text by the user asks in plain words that it not be kept."""
    return role == Role.USER and commands.asks_not_to_store(text)


def withhold_as_asked(message: Message) -> bool:
    """Withhold a locked message, since its speaker asked not to keep it.

    Return False if the message was already withheld.
    """
    if message.withheld:
        return False
    message.withheld = Withheld.ASKED
    message.save(update_fields=["withheld"])
    return True


# An assignment in SQL that withholds the message `m` if the placeholder is True.
WITHHOLD_IF_ASKED = (
    f"withheld = CASE WHEN m.withheld = '' AND %s THEN '{Withheld.ASKED.value}' ELSE m.withheld END"
)


def withhold_as_forgotten(messages: QuerySet[Message]) -> None:
    """Withhold these messages, since the other message of each turn is being forgotten."""
    messages.filter(withheld=Withheld.NO).update(withheld=Withheld.FORGOTTEN)


def teaches_sql(alias: str) -> str:
    """Return an SQL condition: true if memories may be learned from the message with this alias."""
    return f"{alias}.withheld = '{Withheld.NO.value}'"


def not_to_keep_sql(alias: str) -> str:
    """Return an SQL condition: true if the user asked not to keep the message with this alias."""
    return f"{alias}.withheld = '{Withheld.ASKED.value}'"


def teachable_turns(turns: QuerySet[Turn]) -> QuerySet[Turn]:
    """Return the turns from which memories may be learned, since neither message is withheld."""
    return turns.filter(**_BOTH_TEACH)


def teaching_turns(user: User, where: Sql) -> list[Turn]:
    """Return turns, with both messages loaded, from which memories may be learned.

    `where` has the same meaning as in `conversations.selectors.whole_turns`.
    """
    teach = f"{teaches_sql('q')} AND {teaches_sql('a')}"
    return selectors.whole_turns(user, Sql(f"{teach} AND {where.text}", where.values))


def withheld_among(messages: QuerySet[Message]) -> QuerySet[Message]:
    return messages.exclude(withheld=Withheld.NO)


def not_to_keep_among(messages: QuerySet[Message]) -> QuerySet[Message]:
    """Return the messages that their speakers asked not to keep."""
    return messages.filter(withheld=Withheld.ASKED)


def is_withheld(message: Message) -> bool:
    return bool(message.withheld)


def is_not_to_keep(message: Message) -> bool:
    """Return True if the speaker asked not to keep the message."""
    return message.withheld == Withheld.ASKED


def may_teach(turn: Turn) -> bool:
    return not (is_withheld(turn.user_message) or is_withheld(turn.assistant_message))


def must_be_processed(turn: Turn) -> bool:
    """Return True if the turn must be processed, even if nothing may be learned from it.

    A turn from which nothing may be learned can still contain a request to forget.
    """
    marks = {turn.user_message.withheld, turn.assistant_message.withheld}
    return marks <= {Withheld.NO, Withheld.ASKED, Withheld.MEMORY_OFF}


def was_recorded_while_off(message: Message) -> bool:
    """Return True if long-term memory was off when the message was recorded."""
    return message.withheld == Withheld.MEMORY_OFF


def was_said_while_off(turn: Turn) -> bool:
    return any(map(was_recorded_while_off, (turn.user_message, turn.assistant_message)))


def only_forget_requests(extraction: Extraction) -> Extraction:
    """Return an extraction with only the requests such as "forget that", and the role play.

    Use it for a message that must not be kept. Such requests still count because they refer to
    earlier messages.
    """
    about_earlier = tuple(one for one in extraction.forget if not one.about)
    return Extraction(forget=about_earlier, role_play=extraction.role_play)


def without_topics(extraction: Extraction, asked: Sequence[str]) -> Extraction:
    """Drop candidates about a topic that an earlier message asked not to keep.

    `asked` holds such messages, for example "Don't keep anything about my divorce". They apply to
    the rest of the conversation, until they are forgotten. If no candidate is left, `not_to_keep`
    is set, so that the message is withheld and the chat tells the user.
    """
    if not (extraction.undecided and asked):
        return extraction
    reads = language_steps.bundled_extractor().asks_not_to_keep_topic
    requests, reader = [one for one in asked if reads(one)], language_steps.pair_reader()
    kept, endings = (
        tuple(
            one
            for one in some
            if not any(_is_on_topic(text, one.content, reader=reader) for text in requests)
        )
        for some in (extraction.candidates, extraction.endings)
    )
    withholds = bool(extraction.candidates) and not kept
    not_to_keep = extraction.not_to_keep or withholds
    return replace(extraction, candidates=kept, endings=endings, not_to_keep=not_to_keep)


def _is_on_topic(request: str, content: str, *, reader: PairReader) -> bool:
    """Return whether a statement is about the topic that a request asks not to keep.

    The added subject and date are removed from the statement first. Otherwise the reader model
    judges [我]昨天[2026-11-25]搬的 ("[I] moved yesterday [2026-11-25]") to be about any topic.
    """
    own = masking.ADDED.sub(lambda found: "" if _IS_FRAME.match(found[0]) else found[0], content)
    plain = masking.additions_in_words(own)
    return pairs.probability_of_reference(request, plain, reader=reader) >= pairs.YES


def may_learn(candidate: Candidate, provenance: Provenance, *, user: User) -> bool:
    """Return True unless the statement was forgotten after it was said."""
    return not tombstones.is_forgotten(
        user=user, text=candidate.content, quote=candidate.quote, provenance=provenance
    )


def provenance_of_turn(
    turn: Turn, candidate: Candidate, *, needs: Sequence[Turn] = ()
) -> Provenance:
    """Return where and when a candidate was said.

    `needs` holds the further turns from which the candidate was composed.
    """
    own = candidate.quoted_role == "user"
    said = turn.user_message if own else turn.assistant_message
    return provenance_of_turns((turn, *needs), said=said.content)


def provenance_of_turns(turns: Collection[Turn], *, said: str = "") -> Provenance:
    """Return where and when a statement of several turns was said.

    The time is that of the last turn, or None if the time of any turn is unknown.
    """
    ids = [
        message.public_id for one in turns for message in (one.user_message, one.assistant_message)
    ]
    moments = [time_for_forgets(one.user_message) for one in turns]
    known = [one for one in moments if one is not None]
    return _provenance(said, ids, max(known) if len(known) == len(moments) else None)


def provenance_of_message(message: Message) -> Provenance:
    return _provenance(message.content, [message.public_id], time_for_forgets(message))


def provenance_of_note(line: DailyNote) -> Provenance:
    return _provenance(line.text, [line.public_id], line.created_at)


def provenance_of_text(text: str, *, at: datetime | None) -> Provenance:
    """Return where and when a text was said, for a text that isn't stored as a message."""
    return _provenance(text, (), at)


def time_for_forgets(message: Message) -> datetime | None:
    """Return the time to compare with requests to forget, or None if the time is unknown.

    For an imported message, this is the time at which the message was said; for any other message,
    the time at which the message was recorded.
    """
    if message.told == MessageTime.UNDATED:
        return None
    return message.created_at if message.told == MessageTime.DATED else message.recorded_at


def _provenance(text: str, ids: Iterable[str], at: datetime | None) -> Provenance:
    said = tombstones.tombstone_key(text) if text else ""
    return Provenance(text, said, tuple(ids), at)
