"""Build the memory block for a message: recall the items, assemble the block and record a trace.

A trace is a row that lists what was recalled for a message, so that the person can inspect it
later. The module also builds blocks for temporary conversations and for a preview, both without a
trace.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import timezone

from conversations import selectors
from conversations.block import assembly
from conversations.block.assembly import BlockItem, Limits, Recalled
from conversations.models import Conversation, ConversationKind, Summary
from conversations.recording import temporary
from conversations.recording.temporary import TemporaryConversation, TemporaryMessage
from foundation.database import statements
from foundation.errors import Invalid
from foundation.text import segment
from memories.extraction import masking
from memories.files import daily_notes, grammar
from memories.files.daily_notes import RecentLines
from memories.indexing.conversation_texts import masked_turn
from memories.models import DailyNote, Kind, MemoryStatus, Project, TraceKind
from memories.recall import recall, traces
from memories.recall.candidate_pool import PreparedQuery
from memories.recall.recall import RecalledEpisode, RecalledMemory
from memories.recall.traces import Hit, Stage
from ops.accounts import users
from ops.models import User, UserSettings

LEAST_BUDGET, MOST_BUDGET = 100, 32_000
PREVIEW_MISSES = 4


@dataclass(frozen=True)
class WindowMessage:
    role: str
    content: str
    message_id: str


@dataclass(frozen=True)
class Item:
    """A recalled item, whether or not it fitted in the block.

    `rank` counts from 1 in the order of the block.
    """

    type: str
    id: str
    text: str
    score: float
    rank: int
    components: Mapping[str, float]
    in_block: bool = True


@dataclass
class RecalledContext:
    """Everything that was recalled for a message, before the block is assembled.

    `missed` holds the memories that ranked just below the cut-off. `noted` holds the persona layers
    (lines of USER.md, SOUL.md and TOOLS.md) and recent daily notes. `stages` holds the duration of
    each stage.
    """

    memories: Sequence[RecalledMemory] = ()
    missed: Sequence[RecalledMemory] = ()
    noted: RecentLines = field(default_factory=RecentLines)
    summary: Summary | None = None
    episodes: Sequence[RecalledEpisode] = ()
    window: selectors.Window = field(default_factory=lambda: selectors.Window((), 0))
    stages: list[Stage] = field(default_factory=list)


@dataclass(frozen=True)
class Context:
    request_id: str
    block: str
    tokens: int
    sections: Sequence[assembly.Section]
    window: Sequence[WindowMessage]
    items: Sequence[Item]
    took_ms: float
    recalled: RecalledContext = field(default_factory=RecalledContext)


@dataclass(frozen=True)
class BlockOptions:
    """The caller's options for the block.

    If `token_budget` or `top_k` is None, the value from the settings is used. If `language` is
    None, the block is in the language of the message. If `kinds` isn't empty, the memories are
    limited to these kinds, and daily notes and persona layers are left out. `misses` is the number
    of memories just below the cut-off that are returned too.
    """

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
    conversation: Conversation | TemporaryConversation | None = None,
    options: BlockOptions | None = None,
    own: UserSettings | None = None,
) -> Context:
    """Recall items for one message, assemble the memory block from them and record a trace.

    The block also contains the daily notes of today and yesterday, newest first, and the persona
    layers. In a group conversation only items of that conversation are recalled. If the person has
    switched off long-term memory, summaries or episodes, those items are left out. The same stored
    data and message give the same block. For a temporary conversation nothing is written, not even
    a trace or an access count. `own` holds the person's settings if the request has already read
    them. Raise `Invalid` if `options` contains an invalid value.
    """
    started = time.perf_counter()
    options = options or BlockOptions()
    if isinstance(conversation, TemporaryConversation):
        return _build_temporary(prepared, user, conversation, options, own)
    _check(options)
    own = own or users.settings_of(user)
    found = _recall_context(
        prepared, user=user, conversation=conversation, options=options, own=own
    )
    block = assembly.assemble(
        _block_candidates(found),
        limits=_limits(options),
        language=options.language or segment.language(prepared.text),
    )
    items = _items(found, block)
    took = (time.perf_counter() - started) * 1000
    request_id = ""
    if options.is_traced:
        request_id = traces.record(
            user=user,
            kind=TraceKind.RECALL,
            query=prepared.text,
            hits=[Hit(one.type, one.id, one.score, one.components, one.in_block) for one in items],
            stages=found.stages,
            took_ms=took,
            conversation=conversation,
            used=_used_memories(found, items),
        )
    window = found.window.messages if options.include_window else ()
    return Context(
        request_id,
        block.text,
        block.tokens,
        block.sections,
        [WindowMessage(one.role, one.content, one.public_id) for one in window],
        [one for one in items if one.in_block],
        took,
        found,
    )


def preview(
    prepared: PreparedQuery,
    *,
    user: User,
    conversation: Conversation,
    own: UserSettings | None = None,
) -> Context:
    """Return the same result as `build`, but record no trace and don't count the memories as used.

    The result also contains a few memories that ranked just below the cut-off. `own` has the same
    meaning as in `build`.
    """
    options = BlockOptions(misses=PREVIEW_MISSES, is_traced=False)
    return build(prepared, user=user, conversation=conversation, options=options, own=own)


def _build_temporary(
    prepared: PreparedQuery,
    user: User,
    conversation: TemporaryConversation,
    options: BlockOptions,
    own: UserSettings | None,
) -> Context:
    """Build the block for a temporary conversation, whose latest messages form the window.

    The block is empty if the person has no user row.
    """
    window = _temporary_window(conversation) if options.include_window else []
    if user.pk is None:
        return Context("", "", 0, [], window, [], 0.0)
    options = replace(options, conversation_kind=conversation.kind, is_traced=False)
    return replace(build(prepared, user=user, options=options, own=own), window=window)


def _temporary_window(conversation: TemporaryConversation) -> list[WindowMessage]:
    taken: list[TemporaryMessage] = []
    total = 0
    spoken = [one for one in temporary.read(conversation) if one.completed]
    for message in reversed(spoken[-settings.WINDOW_MESSAGES :]):
        total += message.token_count
        if taken and total > settings.WINDOW_TOKENS:
            break
        taken.append(message)
    return [WindowMessage(one.role, one.content, one.public_id) for one in reversed(taken)]


def _check(options: BlockOptions) -> None:
    budget, top_k = options.token_budget, options.top_k
    if budget is not None and not LEAST_BUDGET <= budget <= MOST_BUDGET:
        raise Invalid.field("token_budget", f"Must be {LEAST_BUDGET} to {MOST_BUDGET:,}.")
    if top_k is not None and not 1 <= top_k <= recall.MAX_TOP_K:
        raise Invalid.field("top_k", f"Must be 1 to {recall.MAX_TOP_K}.")
    if options.conversation_kind not in (None, *ConversationKind.values):
        raise Invalid.field("conversation_kind", "Must be main or group.")
    if unknown := [kind for kind in options.kinds if kind not in Kind.values]:
        raise Invalid.field("kinds", f"{unknown[0]!r} is not one of {', '.join(Kind.values)}.")


def _recall_context(
    prepared: PreparedQuery,
    *,
    user: User,
    conversation: Conversation | None,
    options: BlockOptions,
    own: UserSettings,
) -> RecalledContext:
    kind = conversation.kind if conversation else options.conversation_kind
    found = RecalledContext()
    if own.longterm_enabled and kind != ConversationKind.GROUP:
        batch = statements.Batch()
        zone = ZoneInfo(own.timezone)
        noted = (
            None if options.kinds else daily_notes.add_recent_query(user, zone=zone, batch=batch)
        )
        with _Timer("memories", found.stages) as timer:
            recalled = recall.recall(
                prepared,
                user=user,
                project=options.project,
                kinds=options.kinds,
                top_k=options.top_k,
                misses=options.misses,
                doubted=not own.confirm_before_remembering,
                batch=batch,
            )
            found.memories, found.missed = recalled.memories, recalled.missed
            timer.count = len(found.memories)
        if noted is not None:
            found.noted = daily_notes.recent_lines(noted)
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
    def __init__(self, name: str, stages: list[Stage]) -> None:
        self.name, self.stages, self.count = name, stages, 0

    def __enter__(self) -> _Timer:
        self.began = time.perf_counter()
        return self

    def __exit__(self, *exception: object) -> None:
        took = (time.perf_counter() - self.began) * 1000
        self.stages.append(Stage(self.name, took, self.count))


def _limits(options: BlockOptions) -> Limits:
    return Limits(
        budget=options.token_budget or settings.BLOCK_TOKENS,
        top_k=options.top_k or settings.TOP_K,
        episodes=settings.TOP_EPISODES,
        relevance_floor=settings.RELEVANCE_FLOOR,
    )


def _block_candidates(found: RecalledContext) -> Recalled:
    items = {one.memory.public_id: _memory_item(one) for one in found.memories}
    by_kind: dict[str, list[BlockItem]] = {"constraints": [], "preferences": [], "memories": []}
    sections = {Kind.CONSTRAINT.value: "constraints", Kind.PREFERENCE.value: "preferences"}
    for item in items.values():
        by_kind[sections.get(item.kind, "memories")].append(item)
    summary, layers = found.summary, found.noted.layers
    return Recalled(
        constraints=by_kind["constraints"],
        preferences=by_kind["preferences"],
        memories=by_kind["memories"],
        user=_lines(layers.get(grammar.USER, ())),
        soul=_lines(layers.get(grammar.SOUL, ())),
        tools=_lines(layers.get(grammar.TOOLS, ())),
        files=_lines(found.noted.notes),
        summary=(
            [BlockItem("summary", summary.public_id, masking.masked(summary.text))]
            if summary
            else []
        ),
        episodes=[_episode_item(one) for one in found.episodes],
    )


def _lines(recent: Sequence[DailyNote]) -> list[BlockItem]:
    return [BlockItem("note", note.public_id, note.text) for note in recent]


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
        relevance=None if one.is_always_in else one.relevance,
        doubted=memory.status == MemoryStatus.CANDIDATE,
        day=_day(memory.occurred_at) if memory.kind == Kind.EVENT else "",
    )


def _day(moment: datetime | None) -> str:
    return timezone.localtime(moment).date().isoformat() if moment else ""


def _episode_item(one: RecalledEpisode) -> BlockItem:
    turn = one.episode.turn
    text, reply = masked_turn(turn)
    return BlockItem(
        type="episode",
        id=one.episode.public_id,
        text=text,
        reply=reply,
        score=one.similarity,
        relevance=one.similarity,
        day=_day(turn.created_at),
    )


def _used_memories(found: RecalledContext, items: Sequence[Item]) -> list[int]:
    """Return the primary keys of the memories in the block that count as used for the message.

    A memory that is part of every block counts as used only if its relevance to the message
    reaches `RELEVANCE_FLOOR`.
    """
    ids_in_block = {one.id for one in items if one.in_block}
    return [
        one.memory.pk
        for one in found.memories
        if one.memory.public_id in ids_in_block and one.relevance >= settings.RELEVANCE_FLOOR
    ]


def _items(found: RecalledContext, block: assembly.Block) -> list[Item]:
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
    noted = chain(*found.noted.layers.values(), found.noted.notes)
    rows += [Item("note", note.public_id, note.text, 1.0, 0, {}) for note in noted]
    if found.summary:
        text = masking.masked(found.summary.text)
        rows.append(Item("summary", found.summary.public_id, text, 1.0, 0, {}))
    rows.sort(key=lambda one: order.get(one.id, len(order)))
    return [
        replace(one, rank=rank, in_block=one.id in order) for rank, one in enumerate(rows, start=1)
    ]
