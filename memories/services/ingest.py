"""Learning from a turn: extract, meet what is known, decide, apply."""

from __future__ import annotations

import zoneinfo
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from conversations.models import Learning, Message, Role, Turn
from conversations.prompt_words import words_for
from memcenter.providers.base import Vectors
from memories.extraction.rules import repeated
from memories.extraction.types import Candidate, Extraction, Refused, Said, TurnText
from memories.models import Arbitration, Memory, Origin, Project, RecallHit, Refusal
from memories.services import deciding, indexing, providers, similar, tombstones, writing
from memories.services.deciding import Decided
from memories.services.writing import Draft, SourceInput
from ops.access import as_user
from ops.models import User
from ops.services import users
from ops.services.worker import Run

_BEFORE = 4
ACCEPTED_CHARS = 200
_BLOCK_AGE = timedelta(hours=24)
_FRAMES = (words_for("en"), words_for("zh"))
_OPENINGS = tuple(one.frame.splitlines()[0] for one in _FRAMES)
_FRAME_LINES = tuple(one.frame for one in _FRAMES)
_HEADINGS = {text for one in _FRAMES for text in (*one.headings.values(), *one.kinds.values())}


@dataclass(frozen=True)
class Heard:
    """A turn with all that extraction needs of it, read in one go."""

    turn: Turn
    text: TurnText
    project: Project | None


def hear(*, user: User, turn_id: int) -> Heard | None:
    """Read the turn; None when it is gone, was learned from already, or memory is off."""
    own = users.settings_of(user)
    turn = (
        Turn.objects.filter(user=user, pk=turn_id, extracted_at__isnull=True)
        .select_related("user_message", "assistant_message", "conversation")
        .first()
    )
    if turn is None or not own.longterm_enabled or user.hidden_at is not None:
        return None
    zone = zoneinfo.ZoneInfo(own.timezone)
    return Heard(turn, _turn_text(turn, zone=zone), project_of(turn))


def without_our_block(text: str) -> str:
    """What is left of a message into which a careless client pasted our memory block."""
    return repeated.without_block(text, openings=_OPENINGS, headings=_HEADINGS)


def project_of(turn: Turn) -> Project | None:
    if not turn.project_key:
        return None
    return Project.objects.filter(user=turn.user_id, key=turn.project_key).first()


def _turn_text(turn: Turn, *, zone: zoneinfo.ZoneInfo) -> TurnText:
    before, reply = said_before(turn.user_message, zone=zone)
    return TurnText(
        user=said_in(turn.user_message, zone),
        assistant=said_in(turn.assistant_message, zone),
        before=before,
        before_assistant=reply,
        known_block=recently_shown(turn.user_id),
    )


def said_before(message: Message, *, zone: zoneinfo.ZoneInfo) -> tuple[tuple[Said, ...], str]:
    """What the person said of late before a message, and the reply right before it, if one is."""
    earlier = Message.objects.filter(
        conversation=message.conversation_id, number__lt=message.number
    )
    said = list(earlier.order_by("-number")[:_BEFORE])
    replies = [one.content for one in said[:1] if one.role == Role.ASSISTANT]
    own = tuple(said_in(one, zone) for one in reversed(said) if one.role == Role.USER)
    return own, replies[0] if replies else ""


def said_in(message: Message, zone: zoneinfo.ZoneInfo) -> Said:
    text = without_our_block(message.content)
    return Said(text, message.created_at.astimezone(zone), message.speaker)


def recently_shown(user_id: int) -> str:
    """What we put into this person's prompts of late, our own rules too: never learned back."""
    since = timezone.now() - _BLOCK_AGE
    shown = RecallHit.objects.filter(
        user=user_id, type="memory", in_block=True, trace__created_at__gte=since
    ).values("target_public_id")
    texts = Memory.objects.filter(user=user_id, public_id__in=shown)
    return "\n".join([*texts.values_list("content", flat=True)[:200], *_FRAME_LINES])


def extract(text: TurnText) -> Extraction:
    """Ask the extractor and leave out what isn't important enough. Raises `ProviderError`."""
    found = providers.extractor().extract(text)
    kept = tuple(
        one
        for one in found.candidates
        if one.explicit or one.importance >= settings.IMPORTANCE_FLOOR
    )
    return Extraction(candidates=kept, refused=found.refused, forget=found.forget)


def extract_from(heard: Heard) -> Extraction:
    """What the turn yields beyond what was learned from its question alone.

    A question that had no reply for long was learned from by itself (`unanswered`); only what the
    other one of two named people said is new then.
    """
    if heard.turn.user_message.learning != Learning.DONE:
        return extract(heard.text)
    if not (heard.text.user.speaker and heard.text.assistant.speaker):
        return Extraction()
    found = extract(heard.text).candidates
    return Extraction(tuple(one for one in found if one.quoted_role == "assistant"))


def learn(run: Run, *, user: User, heard: Heard, extraction: Extraction) -> list[Decided]:
    """Decide on each candidate and apply it, one transaction each, then mark the turn.

    Running it again after a kill leaves out what was decided before: the verdicts are logged in
    the transactions that applied them.
    """
    decided = []
    for candidate in extraction.candidates:
        outcome = learn_one(run, candidate, user=user, turn=heard.turn, project=heard.project)
        if outcome is not None:
            decided.append(outcome)
    with run.applying(user):
        if still := _still_there(user, heard.turn):
            _note_refusals(still, extraction.refused)
            still.extracted_at = timezone.now()
            still.save(update_fields=["extracted_at"])
    return decided


def learn_one(
    run: Run,
    candidate: Candidate,
    *,
    user: User,
    turn: Turn,
    project: Project | None,
    needs: Sequence[Turn] = (),
) -> Decided | None:
    """Decide on one candidate and apply it in a transaction of its own.

    What was put together from several turns `needs` the others as well: its text goes with any of
    them. None where it was decided before or forgotten, a turn is gone or memory is off.
    """
    vectors, pieces = indexing.embed_memory(candidate.content)
    with as_user(user):
        if not _is_new(user, turn, candidate, needs=needs):
            return None
        known = similar.similar_to(
            vectors[0], user=user, content=candidate.content, project=project
        )
    meeting = deciding.meet(candidate, known=known, arbiter=providers.arbiter())
    draft = labelled(draft_of(candidate, vectors, pieces, project), turn.labels)
    merged = deciding.merged_draft(meeting, draft)
    with run.applying(user):
        still = _still_there(user, turn)
        others = [_still_there(user, one) for one in needs]
        own = users.settings_of(user)
        if still is None or None in others or not own.longterm_enabled:
            return None
        decided = deciding.apply(
            meeting,
            draft,
            user=user,
            source=_source(still, candidate),
            turn=still,
            always_review=own.confirm_before_remembering and not candidate.explicit,
            merged=merged,
        )
        if decided.result == "updated" and turn.labels:
            _label(decided.memory, draft)
        if decided.result != "skipped":
            writing.join_sources(decided.memory, turn=still, others=needs)
        return decided


def _is_new(user: User, turn: Turn, candidate: Candidate, *, needs: Sequence[Turn] = ()) -> bool:
    """Not decided upon before (a second run), and not forgotten from these very messages."""
    messages = [
        message.public_id
        for one in (turn, *needs)
        for message in (one.user_message, one.assistant_message)
    ]
    if tombstones.is_forgotten(user=user, text=candidate.content, message_ids=messages):
        return False
    return not Arbitration.objects.filter(
        user=user, turn=turn, candidate_text=candidate.content
    ).exists()


def _still_there(user: User, turn: Turn) -> Turn | None:
    return (
        Turn.objects.select_for_update(of=("self",))
        .filter(user=user, pk=turn.pk)
        .select_related("user_message", "assistant_message")
        .first()
    )


def draft_of(
    candidate: Candidate, vectors: Vectors, pieces: Sequence[str], project: Project | None
) -> Draft:
    return Draft(
        content=candidate.content,
        kind=candidate.kind,
        vectors=vectors,
        pieces=pieces,
        importance=min(1.0, max(0.0, candidate.importance)),
        confidence=min(1.0, max(0.0, candidate.confidence)),
        tags=candidate.tags,
        data=candidate.data,
        project=project,
        origin=Origin.EXTRACTED,
        occurred_at=candidate.occurred_at,
    )


def labelled(draft: Draft, labels: Mapping[str, Any]) -> Draft:
    """The draft with what the turn's labels give to all that is learned from it."""
    until, at = labels.get("valid_until"), labels.get("occurred_at")
    return replace(
        draft,
        occurred_at=draft.occurred_at or (datetime.fromisoformat(at) if at else None),
        agent_id=labels.get("agent_id", ""),
        app_id=labels.get("app_id", ""),
        run_id=labels.get("run_id", ""),
        metadata=labels.get("metadata", {}),
        valid_until=datetime.fromisoformat(until) if until else None,
    )


def _label(memory: Memory, draft: Draft) -> None:
    """A known memory that got another text keeps whose it is and takes on the rest."""
    for name in ("agent_id", "app_id", "run_id"):
        setattr(memory, name, getattr(memory, name) or getattr(draft, name))
    memory.metadata = {**memory.metadata, **draft.metadata}
    memory.valid_until = draft.valid_until or memory.valid_until
    memory.save(
        update_fields=["agent_id", "app_id", "run_id", "metadata", "valid_until", "updated_at"]
    )


def _source(turn: Turn, candidate: Candidate) -> SourceInput:
    """The message of the turn that says it; a claim of the reply before, which the person
    accepted, rests on their accepting it.
    """
    message, quote, start = turn.user_message, candidate.quote, candidate.quote_start
    if candidate.quoted_role != "user":
        if candidate.quote in turn.assistant_message.content:
            message = turn.assistant_message
        else:
            quote, start = message.content[:ACCEPTED_CHARS], 0
    return SourceInput(
        origin=Origin.EXTRACTED, turn=turn, message=message, quote=quote, quote_start=start
    )


def _note_refusals(turn: Turn, refused: Sequence[Refused]) -> None:
    Refusal.objects.filter(turn=turn).delete()
    Refusal.objects.bulk_create(
        Refusal(user_id=turn.user_id, turn=turn, category=one.category, redacted=one.redacted)
        for one in refused
    )
