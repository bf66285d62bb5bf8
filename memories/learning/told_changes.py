"""A sentence typed under the portrait: show the changes that it would make, then keep them.

The sentence is read like a message in the chat. Nothing is stored between the two steps: the id of
a change is the signed candidate itself, as in `memory_flush`.
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils import timezone

from memcenter.lib.errors import Invalid
from memories import language_steps
from memories.extraction.secret_masking import screen
from memories.extraction.types import Candidate, Said, TurnText, Verdict
from memories.indexing import search_index
from memories.learning import ingest, memory_flush
from memories.learning.memory_flush import Proposed
from memories.models import Origin
from memories.writing import direct_writes, similar_memories, verdicts
from memories.writing.memory_writes import Draft, SourceInput
from memories.writing.verdicts import Decided, Meeting
from ops.access import as_user
from ops.accounts import users
from ops.models import User

LONGEST = 1_000
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Change:
    """What a statement would change. `old` is the text that it meets, `new` the text to be kept.

    `verdict` is ADD or KEEP_BOTH (a new memory), REPLACE, MERGE, SKIP (known already) or REVIEW
    (it would wait beside `old` for a decision).
    """

    id: str
    verdict: Verdict
    new: str
    old: str = ""


def preview(text: str, *, user: User) -> list[Change]:
    """Read the sentence and decide, without writing; call it outside any transaction.

    A sentence in which nothing is found is proposed as it stands. Raises `Invalid` (nothing but a
    secret, too long, empty), `Conflict` (`memory_off`) and `ProviderError`.
    """
    text = text.strip()
    if not text:
        raise Invalid.field("said", "The text must not be empty.")
    if len(text) > LONGEST:
        raise Invalid.field("said", "The text is too long.")
    if screen(text).drop:
        raise Invalid.field("said", "This looks like a secret, and secrets are not remembered.")
    with as_user(user):
        direct_writes.check_on(user)
        zone = zoneinfo.ZoneInfo(users.settings_of(user).timezone)
    return [_change(one, user=user) for one in _candidates(text, zone)]


def keep(ids: Sequence[str], *, user: User) -> list[Decided]:
    """Keep the changes that `preview` proposed to this user.

    Raises `Invalid` if an id isn't ours or is older than a day, and `Conflict` (`memory_off`). It
    decides again, since what is known may have changed in the meantime.
    """
    met = [_met(one.candidate, user=user) for one in memory_flush.taken_back(ids, user=user)]
    merged = [verdicts.merged_draft(meeting, draft) for meeting, draft in met]
    with as_user(user, changing=True):
        direct_writes.check_on(user)
        return [
            _write(meeting, draft, merging, user=user)
            for (meeting, draft), merging in zip(met, merged, strict=True)
        ]


def _candidates(text: str, zone: zoneinfo.ZoneInfo) -> list[Candidate]:
    now = timezone.now().astimezone(zone)
    found = ingest.extract(TurnText(Said(text, now), Said("", now)))
    if found.withheld:
        return []
    read = [one for one in found.candidates if one.quoted_role == "user"]
    return [replace(one, explicit=True) for one in read] or [_as_it_stands(text)]


def _as_it_stands(text: str) -> Candidate:
    return Candidate(
        kind=direct_writes.kind_of(text),
        content=screen(text).text,
        importance=0.7,
        confidence=_CONFIDENCE,
        quote=screen(text).text,
        explicit=True,
        reasons=("explicit",),
    )


def _change(candidate: Candidate, *, user: User) -> Change:
    meeting, draft = _met(candidate, user=user)
    decision = meeting.decision
    new = (decision.content or draft.content) if meeting.met else draft.content
    return Change(Proposed(candidate).signed(user), decision.verdict, new, _met_text(meeting))


def _met_text(meeting: Meeting) -> str:
    beside = meeting.decision.verdict in (Verdict.ADD, Verdict.KEEP_BOTH)
    return "" if beside or meeting.met is None else meeting.met.content


def _met(candidate: Candidate, *, user: User) -> tuple[Meeting, Draft]:
    """Compare a candidate with the known memories, by the arbiter that the chat uses."""
    draft = _draft(candidate)
    assert draft.vectors is not None
    with as_user(user):
        known = similar_memories.similar_to(draft.vectors[0], user=user, content=draft.content)
    return verdicts.meet(candidate, known=known, arbiter=language_steps.arbiter()), draft


def _draft(candidate: Candidate) -> Draft:
    vectors, pieces = search_index.embed_memory(candidate.content)
    draft = ingest.draft_of(candidate, vectors, pieces, None)
    confidence = max(draft.confidence, _CONFIDENCE)
    return replace(draft, origin=Origin.USER, confidence=confidence)


def _write(meeting: Meeting, draft: Draft, merged: Draft | None, *, user: User) -> Decided:
    source = SourceInput(origin=Origin.USER, quote=meeting.candidate.quote)
    return verdicts.apply(meeting, draft, user=user, source=source, merged=merged)
