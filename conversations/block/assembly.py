"""Turn recalled items into the text of the memory block, within a token budget."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType

from conversations.block.control_tokens import neutralize_control_tokens
from foundation.text import segment, tokens
from memories.files.block_texts import Words, words_for

OPEN, CLOSE = "<memory_block>", "</memory_block>"
LAYERS = ("user", "soul", "tools")  # persona layers, from USER.md, SOUL.md and TOOLS.md
SECTIONS = (
    "constraints",
    "preferences",
    "memories",
    *LAYERS,
    "files",
    "summary",
    "episodes",
    "window",
)
SHARES: Mapping[str, int] = MappingProxyType(
    {
        "constraints": 20,
        "preferences": 20,
        "memories": 25,
        "files": 10,
        "summary": 15,
        "episodes": 10,
        "window": 0,  # gets the tokens that the other sections don't use
    }
)
LAYER_SHARE = 5  # percent of the budget for each non-empty layer, subtracted before `SHARES` apply
# Maximum tokens per item. Clients can fetch the full text of a shortened memory.
_LONGEST = {
    "preferences": 100,
    "memories": 100,
    **dict.fromkeys(LAYERS, 160),
    "files": 100,
    "episodes": 160,
}
_ELLIPSIS = "…"
_GAP = 1  # tokens of the empty line between sections


@dataclass(frozen=True)
class BlockItem:
    """A recalled item that may appear in the memory block.

    `reply` is the assistant's part of an episode; `role` is used only for messages. Preferences,
    memories and episodes whose `relevance` is below the floor are left out; the floor doesn't apply
    to items with a `relevance` of None. `score` and `importance` determine the order. A `doubted`
    item still awaits the person's review; the block marks it as unconfirmed.
    """

    type: str  # memory | file | note | summary | episode | message
    id: str
    text: str
    kind: str = ""
    score: float = 0.0
    rank: int | None = None
    pinned: bool = False
    importance: float = 0.0
    relevance: float | None = None
    doubted: bool = False
    reply: str = ""
    role: str = "user"
    day: str = ""  # the day on which the text was said, as displayed


@dataclass(frozen=True)
class Recalled:
    """All recalled items from which the memory block is selected.

    `user`, `soul` and `tools` are the lines of the files USER.md, SOUL.md and TOOLS.md (the persona
    layers). The other fields are named after the sections of the block. Constraints, preferences,
    memories and episodes are sorted for the block; the other items keep the order given here.
    `window` lists the messages oldest first.
    """

    constraints: Sequence[BlockItem] = ()
    preferences: Sequence[BlockItem] = ()
    memories: Sequence[BlockItem] = ()
    user: Sequence[BlockItem] = ()
    soul: Sequence[BlockItem] = ()
    tools: Sequence[BlockItem] = ()
    files: Sequence[BlockItem] = ()
    summary: Sequence[BlockItem] = ()
    episodes: Sequence[BlockItem] = ()
    window: Sequence[BlockItem] = ()


@dataclass(frozen=True)
class Limits:
    """The limits of the memory block.

    `top_k` is the maximum number of preferences and memories that are selected by relevance; items
    without a relevance score don't count. `shares` are percentages of the token budget.
    """

    budget: int = 1_500
    shares: Mapping[str, int] = field(default_factory=lambda: SHARES)
    top_k: int = 6
    episodes: int = 3
    relevance_floor: float = 0.5


@dataclass(frozen=True)
class Section:
    name: str
    text: str
    tokens: int
    item_ids: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    text: str
    tokens: int
    sections: tuple[Section, ...] = ()


EMPTY = Block("", 0)


def assemble(recalled: Recalled, *, limits: Limits | None = None, language: str = "en") -> Block:
    """Return the memory block, which has at most `limits.budget` tokens.

    The block is empty if nothing was recalled or nothing fits. Each persona layer that has lines
    gets the same share of the budget. The tokens that remain after the layers and the fixed
    sentences are divided according to `limits.shares`; a section passes unused tokens on to the
    sections that follow. Items that don't fit are dropped from the end of their section (in the
    window, the oldest messages are dropped); if not even one item fits, the first item is
    shortened. The same input always gives the same text.
    """
    limits, words = limits or Limits(), words_for(language)
    chosen = _without_repetition(_chosen(recalled, limits=limits))
    body = limits.budget - _frame_tokens(language)
    layers = [name for name in LAYERS if chosen[name]]
    of_layer = body * LAYER_SHARE // 100
    shared = body - of_layer * len(layers)
    sections: list[Section] = []
    left = 0
    for name in SECTIONS:
        left += shared * limits.shares.get(name, 0) // 100
        limit = left
        if name in layers:
            still = len(layers) - layers.index(name)
            left += of_layer * len(layers) if still == len(layers) else 0
            limit = left // still
        section = _section(name, chosen[name], limit=limit - _GAP, words=words)
        if section is not None:
            sections.append(section)
            left -= section.tokens + _GAP
    return _fit_budget(sections, chosen=chosen, budget=limits.budget, words=words)


def _chosen(recalled: Recalled, *, limits: Limits) -> dict[str, list[BlockItem]]:
    """Return the items of each section in order of priority.

    Items that are below the relevance floor or exceed the maximum counts are left out.
    """
    preferences, memories = (
        [item for item in items if _passes(item, floor=limits.relevance_floor)]
        for items in (recalled.preferences, recalled.memories)
    )
    found = sorted([*preferences, *memories], key=_by_score)
    best = [one for one in found if one.relevance is None]
    best += [one for one in found if one.relevance is not None][: limits.top_k]
    episodes = [item for item in recalled.episodes if _passes(item, floor=limits.relevance_floor)]
    return {
        "constraints": sorted(recalled.constraints, key=_by_importance),
        "preferences": [item for item in best if item in preferences],
        "memories": [item for item in best if item not in preferences],
        **{name: list(getattr(recalled, name)) for name in (*LAYERS, "files", "summary")},
        "episodes": sorted(episodes, key=_by_score)[: limits.episodes],
        "window": list(reversed(recalled.window)),  # newest first, since the last items are dropped
    }


def _passes(item: BlockItem, *, floor: float) -> bool:
    return item.relevance is None or item.relevance >= floor


def _by_score(item: BlockItem) -> tuple[bool, float, str]:
    return (not item.pinned, -item.score, item.id)


def _by_importance(item: BlockItem) -> tuple[bool, float, float, str]:
    return (not item.pinned, -item.importance, -item.score, item.id)


def _without_repetition(chosen: Mapping[str, list[BlockItem]]) -> dict[str, list[BlockItem]]:
    seen: set[str] = set()
    kept: dict[str, list[BlockItem]] = {}
    for name in SECTIONS:
        kept[name] = []
        for item in map(_neutral, chosen[name]):
            marks = set() if name == "window" else _marks(item)
            if (item.text or item.reply) and seen.isdisjoint(marks):
                kept[name].append(item)
                seen |= marks
    return kept


def _neutral(item: BlockItem) -> BlockItem:
    text, reply, day = map(neutralize_control_tokens, (item.text, item.reply, item.day))
    return replace(item, text=text, reply=reply, day=day)


def _marks(item: BlockItem) -> set[str]:
    words = re.sub(r"\W+", "", segment.normalise(f"{item.text} {item.reply}"))
    return {f"id {item.type} {item.id}", f"said {words or item.text}"}


def _section(name: str, items: Sequence[BlockItem], *, limit: int, words: Words) -> Section | None:
    """Return a section with as many items as fit; if none fits, shorten the first item.

    Return None if there are no items, or if not even the shortened item fits.
    """
    items = (
        [_shortened(item, limit=_LONGEST[name]) for item in items] if name in _LONGEST else items
    )
    fitting = _largest_fitting(
        len(items), lambda count: tokens.count(_render(name, items[:count], words=words)) <= limit
    )
    if fitting:
        return _make_section(name, items[:fitting], words=words)
    return _cut_to_fit(name, items[0], limit=limit, words=words) if items else None


def _largest_fitting(highest: int, fits: Callable[[int], bool]) -> int:
    low = 0
    while low < highest:
        middle = (low + highest + 1) // 2
        low, highest = (middle, highest) if fits(middle) else (low, middle - 1)
    return low


def _cut_to_fit(name: str, item: BlockItem, *, limit: int, words: Words) -> Section | None:
    room = limit - tokens.count(_render(name, [replace(item, text="", reply="")], words=words))
    while room > 1:
        section = _make_section(name, [_shortened(item, limit=room)], words=words)
        if section.tokens <= limit:
            return section
        room -= section.tokens - limit
    return None


def _shortened(item: BlockItem, *, limit: int) -> BlockItem:
    text, reply = item.text, item.reply
    if tokens.count(text) + tokens.count(reply) <= limit:
        return item
    if reply:
        half = limit // 2
        text = _beginning(text, limit=max(half, limit - tokens.count(reply)))
        return replace(item, text=text, reply=_beginning(reply, limit=limit - tokens.count(text)))
    return replace(item, text=_beginning(text, limit=limit))


def _beginning(text: str, *, limit: int) -> str:
    if tokens.count(text) <= limit:
        return text
    start = tokens.truncate(text, limit=max(0, limit - 1)).rstrip()
    return f"{start}{_ELLIPSIS}" if start else ""


def _make_section(name: str, items: Sequence[BlockItem], *, words: Words) -> Section:
    text = _render(name, items, words=words)
    return Section(name, text, tokens.count(text), tuple(item.id for item in items))


def _render(name: str, items: Sequence[BlockItem], *, words: Words) -> str:
    lines = [f"## {words.headings[name]}"]
    if name == "memories":
        lines += _by_kind(items, words=words)
    elif name == "summary":
        lines += [item.text for item in items]
    elif name == "window":
        lines += [_message_line(item, words=words) for item in reversed(items)]
    else:
        lines += [_line(item, words=words) for item in items]
    return "\n".join(lines)


def _by_kind(items: Sequence[BlockItem], *, words: Words) -> list[str]:
    """Return the lines of the items, grouped by kind.

    The groups are ordered by their first item, and each group lists its items in the given order.
    """
    groups: dict[str, list[str]] = {}
    for item in items:
        kind = words.kinds.get(item.kind) or words.kinds[""]
        groups.setdefault(kind, [f"{kind}:"]).append(_line(item, words=words))
    return [line for group in groups.values() for line in group]


def _line(item: BlockItem, *, words: Words) -> str:
    day = f"({item.day}) " if item.day else ""
    if item.type != "episode":
        return f"- {day}{item.text}{words.doubted if item.doubted else ''}"
    line = f"- {day}{words.user}: {item.text}"
    return f"{line} | {words.assistant}: {item.reply}" if item.reply else line


def _message_line(item: BlockItem, *, words: Words) -> str:
    who = words.assistant if item.role == "assistant" else words.user
    return f"{who}: {item.text}"


def _framed(sections: Sequence[Section], *, words: Words) -> str:
    return "\n\n".join([f"{OPEN}\n{words.frame}", *(each.text for each in sections)]) + f"\n{CLOSE}"


@cache
def _frame_tokens(language: str) -> int:
    return tokens.count(_framed([], words=words_for(language)))


def _fit_budget(
    sections: list[Section],
    *,
    chosen: Mapping[str, Sequence[BlockItem]],
    budget: int,
    words: Words,
) -> Block:
    """Return the block; shorten or drop its last sections until the finished text fits the budget.

    The finished text is counted as a whole, because it can have more tokens than the sum of its
    sections.
    """
    while sections:
        text = _framed(sections, words=words)
        count = tokens.count(text)
        if count <= budget:
            return Block(text, count, tuple(sections))
        last = sections.pop()
        smaller = _section(
            last.name, chosen[last.name], limit=last.tokens - (count - budget), words=words
        )
        if smaller is not None:
            sections.append(smaller)
    return EMPTY
