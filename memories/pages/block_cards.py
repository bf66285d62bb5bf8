"""What the model has in mind, as cards: each layer of its block with its content and tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from conversations.block.assembly import LAYER_SHARE, LAYERS, SHARES
from conversations.block.context import Context
from conversations.block.preview import MISSES
from conversations.models import Episode, Message
from conversations.selectors import Window
from memories.files.text import paths
from memories.pages import recall_words
from memories.recall.recall import RecalledEpisode, RecalledMemory
from memories.recall.searchable_texts import masked_turn

_LAYERS = (
    "constraints",
    "preferences",
    "memories",
    *LAYERS,
    "files",
    "summary",
    "episodes",
)
_OF_MEMORIES = ("constraints", "preferences", "memories")
_WORTH_TELLING = 0.005  # relevance
SLID_OUT = 4  # messages shown from before the window


@dataclass(frozen=True)
class Recalled:
    """A memory in the block with its score."""

    text: str
    kind: str
    url: str
    pinned: bool
    score: float
    components: Mapping[str, float]
    why: str


@dataclass(frozen=True)
class Layer:
    """One card. `most` is the layer's own share of the budget; unused shares pass to the next
    layers.
    """

    name: str
    label: str
    tokens: int
    most: int
    text: str = ""
    items: Sequence[Recalled] = ()

    @property
    def is_persona(self) -> bool:
        return self.name in LAYERS

    @property
    def title(self) -> str:
        """Return the heading for people; `label` is the layer's name."""
        return {
            "constraints": _("What I always keep in mind"),
            "preferences": _("What you prefer"),
            "memories": _("What I know about this"),
            "files": _("From your files and notes"),
            "summary": _("What was said before, in short"),
            "episodes": _("Moments of this conversation"),
        }.get(self.name, self.label)


@dataclass(frozen=True)
class Likeness:
    """An episode and its similarity to the question."""

    episode: Episode
    similarity: float | None
    is_in: bool = False
    asked: str = ""

    @property
    def texts(self) -> tuple[str, str]:
        """Return the messages of a turn, without secrets."""
        return masked_turn(self.episode.turn)

    @property
    def why(self) -> str:
        """Return in words why it was recalled."""
        text = "\n".join(self.texts)
        return recall_words.why_alike(self.similarity or 0.0, asked=self.asked, text=text)


@dataclass(frozen=True)
class WindowCard:
    inside: Sequence[Message]
    slid_out: Sequence[Message]
    tokens: int
    total: int
    most_tokens: int = field(default_factory=lambda: settings.WINDOW_TOKENS)


def layers_of(built: Context, *, asked: str) -> list[Layer]:
    """Return the layers in the block's order, including empty ones, which explain themselves.

    Empty persona layers are left out.
    """
    sections = {one.name: one for one in built.sections}
    by_id = {one.memory.public_id: one for one in built.gathered.memories}
    layers = []
    for name in _LAYERS:
        section = sections.get(name)
        if section is None and name in LAYERS:
            continue
        ids = section.item_ids if section and name in _OF_MEMORIES else ()
        layers.append(
            Layer(
                name=name,
                label=_label(name),
                tokens=section.tokens if section else 0,
                most=settings.BLOCK_TOKENS * SHARES.get(name, LAYER_SHARE) // 100,
                text=section.text if section else "",
                items=[_recalled(by_id[one], asked=asked) for one in ids if one in by_id],
            )
        )
    return layers


def missed(built: Context, *, asked: str) -> list[Recalled]:
    """Return what exceeded the budget, then what was less relevant than the threshold."""
    inside = {item.id for item in built.items}
    trimmed = [one for one in built.gathered.memories if one.memory.public_id not in inside]
    near = (*trimmed, *built.gathered.missed)[:MISSES]
    told = [one for place, one in enumerate(near) if not place or one.relevance >= _WORTH_TELLING]
    return [_recalled(one, asked=asked) for one in told]


def _recalled(one: RecalledMemory, *, asked: str) -> Recalled:
    memory = one.memory
    url = reverse("memory_page", args=[memory.public_id])
    components = one.components
    why = recall_words.why(components, asked=asked, text=memory.content, always=one.is_always_in)
    return Recalled(
        memory.content, memory.kind, url, memory.pinned, one.parts.total, components, why
    )


def _label(name: str) -> str:
    return {
        "constraints": _("Always kept in mind"),
        "preferences": _("Preferences"),
        "memories": _("Memories"),
        "user": paths.USER,
        "soul": paths.SOUL,
        "tools": paths.TOOLS,
        "files": _("Memory files and notes"),
        "summary": _("Summary"),
        "episodes": _("Earlier in this conversation"),
        "window": _("Recent messages"),
    }[name]


def window_card(window: Window, before: Sequence[Message], *, total: int) -> WindowCard:
    return WindowCard(window.messages, list(before), window.tokens, total)


def share_of(layers: Sequence[Layer], window: WindowCard) -> dict[str, Any]:
    """Return the bar above the layers: block and window together."""
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


def likenesses(found: Sequence[RecalledEpisode], built: Context, *, asked: str) -> list[Likeness]:
    inside = {item.id for item in built.items if item.type == "episode"}
    return [
        Likeness(one.episode, one.similarity, one.episode.public_id in inside, asked)
        for one in found
    ]


def recent(episodes: Sequence[Episode]) -> list[Likeness]:
    return [Likeness(one, None) for one in episodes]
