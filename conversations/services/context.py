"""The prompt's memory block: what is recalled for one message, assembled and traced."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import timezone

from conversations import prompt, selectors
from conversations.models import Conversation, ConversationKind, Summary
from conversations.prompt import BlockItem, Limits, Recalled
from memcenter.lib import segment
from memcenter.lib.errors import Invalid
from memories.extraction import sensitive
from memories.models import DailyNote, Kind, Project, TraceKind
from memories.services import notes, recall, traces
from memories.services.pool import PreparedQuery
from memories.services.recall import RecalledEpisode, RecalledMemory
from memories.services.shelves import masked_turn
from memories.services.traces import Hit, Stage
from ops.models import User, UserSettings
from ops.services import users

LEAST_BUDGET, MOST_BUDGET = 100, 32_000


@dataclass(frozen=True)
class WindowMessage:
    role: str
    content: str
    message_id: str


@dataclass(frozen=True)
class Item:
    """One thing that was recalled; `rank` counts from 1 in the order of the block."""

    type: str
    id: str
    text: str
    score: float
    rank: int
    components: Mapping[str, float]
    in_block: bool = True


@dataclass
class Gathered:
    """What each stage found, before assembly; `missed` came nearest of what was not recalled."""

    memories: Sequence[RecalledMemory] = ()
    missed: Sequence[RecalledMemory] = ()
    notes: Sequence[DailyNote] = ()
    summary: Summary | None = None
    episodes: Sequence[RecalledEpisode] = ()
    window: selectors.Window = field(default_factory=lambda: selectors.Window((), 0))
    stages: list[Stage] = field(default_factory=list)


@dataclass(frozen=True)
class Context:
    request_id: str
    block: str
    tokens: int
    sections: Sequence[prompt.Section]
    window: Sequence[WindowMessage]
    items: Sequence[Item]
    took_ms: float
    gathered: Gathered = field(default_factory=Gathered)


@dataclass(frozen=True)
class Wanted:
    """How the caller wants the block; None takes the settings' defaults."""

    conversation_kind: str | None = None
    project: Project | None = None
    kinds: Sequence[str] = ()
    token_budget: int | None = None
    top_k: int | None = None
    include_window: bool = True
    language: str | None = None
    misses: int = 0
    is_traced: bool = True


def build(
    prepared: PreparedQuery,
    *,
    user: User,
    conversation: Conversation | None = None,
    wanted: Wanted | None = None,
    own: UserSettings | None = None,
) -> Context:
    """Recall for one message, assemble the block within its budget, and keep a trace.

    Today's and yesterday's notes are in it, the newest first. In a group conversation nothing of
    the user scope is recalled; a layer that is switched off
    gives nothing. For the same state and message the block is the same. `own` are the person's
    settings where this request has read them. Raises `Invalid`.
    """
    started = time.perf_counter()
    wanted = wanted or Wanted()
    _check(wanted)
    own = own or users.settings_of(user)
    found = _gather(prepared, user=user, conversation=conversation, wanted=wanted, own=own)
    recalled = _recalled(found)
    block = prompt.assemble(
        recalled,
        limits=_limits(wanted),
        language=wanted.language or segment.language(prepared.text),
    )
    items = _items(found, block)
    took = (time.perf_counter() - started) * 1000
    request_id = ""
    if wanted.is_traced:
        used = [one.memory.pk for one in found.memories if _is_in(block, one)]
        request_id = traces.record(
            user=user,
            kind=TraceKind.RECALL,
            query=prepared.text,
            hits=[Hit(one.type, one.id, one.score, one.components, one.in_block) for one in items],
            stages=found.stages,
            took_ms=took,
            conversation=conversation,
            used=used,
        )
    window = [WindowMessage(m.role, m.content, m.public_id) for m in found.window.messages]
    return Context(
        request_id,
        block.text,
        block.tokens,
        block.sections,
        window if wanted.include_window else [],
        [one for one in items if one.in_block],
        took,
        found,
    )


def _check(wanted: Wanted) -> None:
    budget, top_k = wanted.token_budget, wanted.top_k
    if budget is not None and not LEAST_BUDGET <= budget <= MOST_BUDGET:
        raise Invalid.field("token_budget", f"Must be {LEAST_BUDGET} to {MOST_BUDGET:,}.")
    if top_k is not None and not 1 <= top_k <= recall.MAX_TOP_K:
        raise Invalid.field("top_k", f"Must be 1 to {recall.MAX_TOP_K}.")
    if wanted.conversation_kind not in (None, *ConversationKind.values):
        raise Invalid.field("conversation_kind", "Must be main or group.")
    if unknown := [kind for kind in wanted.kinds if kind not in Kind.values]:
        raise Invalid.field("kinds", f"{unknown[0]!r} is not one of {', '.join(Kind.values)}.")


def _gather(
    prepared: PreparedQuery,
    *,
    user: User,
    conversation: Conversation | None,
    wanted: Wanted,
    own: UserSettings,
) -> Gathered:
    kind = conversation.kind if conversation else wanted.conversation_kind
    found = Gathered()
    if own.longterm_enabled and kind != ConversationKind.GROUP:
        with _Timer("memories", found.stages) as timer:
            recalled = recall.recall(
                prepared,
                user=user,
                project=wanted.project,
                kinds=wanted.kinds,
                top_k=wanted.top_k,
                misses=wanted.misses,
            )
            found.memories, found.missed = recalled.memories, recalled.missed
            timer.count = len(found.memories)
        if not wanted.kinds:
            found.notes = notes.recent(user, zone=ZoneInfo(own.timezone))
    if conversation is None:
        return found
    with _Timer("window", found.stages) as timer:
        found.window = selectors.window_of(user, conversation)
        timer.count = len(found.window.messages)
    if own.summary_enabled:
        found.summary = selectors.summary_of(user, conversation)
    if own.episodic_enabled:
        with _Timer("episodes", found.stages) as timer:
            found.episodes = recall.recall_episodes(
                prepared,
                user=user,
                conversation=conversation,
                before_number=found.window.first_number,
            )
            timer.count = len(found.episodes)
    return found


class _Timer:
    """Times one stage; the caller sets `count`."""

    def __init__(self, name: str, stages: list[Stage]) -> None:
        self.name, self.stages, self.count = name, stages, 0

    def __enter__(self) -> _Timer:
        self.began = time.perf_counter()
        return self

    def __exit__(self, *exception: object) -> None:
        took = (time.perf_counter() - self.began) * 1000
        self.stages.append(Stage(self.name, took, self.count))


def _limits(wanted: Wanted) -> Limits:
    return Limits(
        budget=wanted.token_budget or settings.BLOCK_TOKENS,
        top_k=wanted.top_k or settings.TOP_K,
        episodes=settings.TOP_EPISODES,
        relevance_floor=settings.RELEVANCE_FLOOR,
    )


def _recalled(found: Gathered) -> Recalled:
    items = {one.memory.public_id: _memory_item(one) for one in found.memories}
    by_kind: dict[str, list[BlockItem]] = {"constraints": [], "preferences": [], "memories": []}
    sections = {Kind.CONSTRAINT.value: "constraints", Kind.PREFERENCE.value: "preferences"}
    for item in items.values():
        by_kind[sections.get(item.kind, "memories")].append(item)
    summary = found.summary
    return Recalled(
        constraints=by_kind["constraints"],
        preferences=by_kind["preferences"],
        memories=by_kind["memories"],
        files=[BlockItem("note", note.public_id, note.text) for note in found.notes],
        summary=(
            [BlockItem("summary", summary.public_id, sensitive.masked(summary.text))]
            if summary
            else []
        ),
        episodes=[_episode_item(one) for one in found.episodes],
    )


def _memory_item(one: RecalledMemory) -> BlockItem:
    memory = one.memory
    return BlockItem(
        type="memory",
        id=memory.public_id,
        text=memory.summary or memory.content,
        kind=memory.kind,
        score=one.parts.total,
        pinned=memory.pinned,
        importance=memory.importance,
        relevance=None if memory.kind == Kind.CONSTRAINT else one.relevance,
        day=_day(memory.occurred_at) if memory.kind == Kind.EVENT else "",
    )


def _day(moment: datetime | None) -> str:
    return timezone.localtime(moment).date().isoformat() if moment else ""


def _episode_item(one: RecalledEpisode) -> BlockItem:
    turn = one.episode.turn
    said, reply = masked_turn(turn)
    return BlockItem(
        type="episode",
        id=one.episode.public_id,
        text=said,
        reply=reply,
        score=one.similarity,
        relevance=one.similarity,
        day=_day(turn.created_at),
    )


def _is_in(block: prompt.Block, one: RecalledMemory) -> bool:
    return any(one.memory.public_id in section.item_ids for section in block.sections)


def _items(found: Gathered, block: prompt.Block) -> list[Item]:
    """In the order of the block, then what was recalled and didn't fit."""
    order = {
        public_id: place
        for place, public_id in enumerate(
            public_id for section in block.sections for public_id in section.item_ids
        )
    }
    rows = [
        Item("memory", one.memory.public_id, one.memory.content, one.parts.total, 0, one.components)
        for one in found.memories
    ]
    rows += [
        Item(
            "episode",
            one.episode.public_id,
            masked_turn(one.episode.turn)[0],
            one.similarity,
            0,
            {"relevance": one.similarity},
        )
        for one in found.episodes
    ]
    rows += [Item("note", note.public_id, note.text, 1.0, 0, {}) for note in found.notes]
    if found.summary:
        text = sensitive.masked(found.summary.text)
        rows.append(Item("summary", found.summary.public_id, text, 1.0, 0, {}))
    rows.sort(key=lambda one: order.get(one.id, len(order)))
    return [
        replace(one, rank=rank, in_block=one.id in order) for rank, one in enumerate(rows, start=1)
    ]
