"""The stack that the model reads, as cards: each layer with its tokens and what is in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from conversations.models import Episode, Message
from conversations.prompt import SHARES
from conversations.selectors import Window
from conversations.services.context import Context
from conversations.services.preview import MISSES
from memories.services.recall import RecalledEpisode, RecalledMemory
from memories.services.shelves import masked_turn

_LAYERS = ("constraints", "preferences", "memories", "files", "summary", "episodes")
_OF_MEMORIES = ("constraints", "preferences", "memories")
SLID_OUT = 4  # messages shown from before the window


@dataclass(frozen=True)
class Recalled:
    """A memory in the block with the score that brought it there."""

    text: str
    kind: str
    url: str
    pinned: bool
    score: float
    components: Mapping[str, float]

    @property
    def percent(self) -> int:
        """How well it fits what was asked, before weighting."""
        return round(100 * self.components.get("raw_relevance", 0.0))


@dataclass(frozen=True)
class Layer:
    """One card. `most` is its own share of the budget; unused shares pass on down."""

    name: str
    label: str
    tokens: int
    most: int
    text: str = ""
    items: Sequence[Recalled] = ()


@dataclass(frozen=True)
class Likeness:
    """An episode and how like the question it is."""

    episode: Episode
    similarity: float | None
    is_in: bool = False

    @property
    def texts(self) -> tuple[str, str]:
        """What was said and what was answered, without secrets."""
        return masked_turn(self.episode.turn)


@dataclass(frozen=True)
class WindowCard:
    inside: Sequence[Message]
    slid_out: Sequence[Message]
    tokens: int
    total: int
    most_tokens: int = field(default_factory=lambda: settings.WINDOW_TOKENS)


def layers_of(built: Context) -> list[Layer]:
    """In the order of the block, the empty ones too: they say what could stand there."""
    sections = {one.name: one for one in built.sections}
    by_id = {one.memory.public_id: one for one in built.gathered.memories}
    layers = []
    for name in _LAYERS:
        section = sections.get(name)
        ids = section.item_ids if section and name in _OF_MEMORIES else ()
        layers.append(
            Layer(
                name=name,
                label=_label(name),
                tokens=section.tokens if section else 0,
                most=settings.BLOCK_TOKENS * SHARES[name] // 100,
                text=section.text if section else "",
                items=[_recalled(by_id[one]) for one in ids if one in by_id],
            )
        )
    return layers


def missed(built: Context) -> list[Recalled]:
    """What the budget had no room for, then what fitted the question too little."""
    inside = {item.id for item in built.items}
    trimmed = [one for one in built.gathered.memories if one.memory.public_id not in inside]
    near = [_recalled(one) for one in (*trimmed, *built.gathered.missed)][:MISSES]
    return near[:1] + [one for one in near[1:] if one.percent]


def _recalled(one: RecalledMemory) -> Recalled:
    memory = one.memory
    url = reverse("memory_page", args=[memory.public_id])
    return Recalled(
        memory.content, memory.kind, url, memory.pinned, one.parts.total, one.components
    )


def _label(name: str) -> str:
    return {
        "constraints": _("Constraints"),
        "preferences": _("Preferences"),
        "memories": _("Memories"),
        "files": _("Memory files and notes"),
        "summary": _("Summary"),
        "episodes": _("Earlier in this conversation"),
        "window": _("Window"),
    }[name]


def window_card(window: Window, before: Sequence[Message], *, total: int) -> WindowCard:
    return WindowCard(window.messages, list(before), window.tokens, total)


def share_of(layers: Sequence[Layer], window: WindowCard) -> dict[str, Any]:
    """The bar over the stack: block and window together."""
    budget = settings.BLOCK_TOKENS + window.most_tokens
    parts = [
        {
            "layer": layer.name,
            "label": layer.label,
            "tokens": layer.tokens,
            "percent": 100 * layer.tokens / budget,
        }
        for layer in layers
        if layer.tokens
    ]
    if window.tokens:
        percent = 100 * window.tokens / budget
        parts.append(
            {
                "layer": "window",
                "label": _label("window"),
                "tokens": window.tokens,
                "percent": percent,
            }
        )
    return {"parts": parts, "used": sum(one["tokens"] for one in parts), "budget": budget}


def likenesses(found: Sequence[RecalledEpisode], built: Context) -> list[Likeness]:
    inside = {item.id for item in built.items if item.type == "episode"}
    return [Likeness(one.episode, one.similarity, one.episode.public_id in inside) for one in found]


def recent(episodes: Sequence[Episode]) -> list[Likeness]:
    return [Likeness(one, None) for one in episodes]
