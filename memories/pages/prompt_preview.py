"""The tab "This conversation", which shows the prompt that a chat model would get now, by parts.

Here, a layer is a part of the memory block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from conversations import selectors
from conversations.block.assembly import LAYER_SHARE, LAYERS, SHARES
from conversations.block.builder import PREVIEW_MISSES, Context, preview
from conversations.models import Conversation, ConversationKind, Episode, Message, Role
from conversations.selectors import Window
from foundation.errors import NotFound
from memories.extraction import masking
from memories.files import grammar
from memories.indexing.conversation_texts import masked_turn
from memories.pages import reason_words
from memories.recall import recall
from memories.recall.candidate_pool import PreparedQuery
from memories.recall.recall import RecalledMemory
from memories.recall.search import prepare_query
from ops.models import User
from ops.pages.base import own_settings, own_transaction, person, personal_page, target

_CHOICE = 30  # conversations to choose from
_EPISODES = 5
_SUMMARIES = 6  # versions of the summary
_LONGEST = 400  # characters of a question


@dataclass(frozen=True)
class ShownConversation:
    """The conversation that the page shows, and the question for which the prompt is built.

    `asked` is the question that the user typed on the page. If it is empty, `latest` is used: the
    newest user message of the conversation. `choice` holds the conversations to choose from.
    """

    conversation: Conversation
    asked: str
    latest: str
    choice: Sequence[Conversation]


@require_safe
@personal_page
def memory_conversation(request: HttpRequest) -> HttpResponse:
    asked = request.GET.get("q", "").strip()[:_LONGEST]
    if asked:  # the question is already known, so it is analysed before the transaction
        prepared = prepare_query(asked)
        with own_transaction(request):
            return _shown(request, _requested(request, asked), prepared)
    with own_transaction(request):
        opened = _requested(request, asked)
    question = prepare_query(opened.latest) if opened and opened.latest else None
    with own_transaction(request):
        return _shown(request, opened, question)


def _shown(
    request: HttpRequest, opened: ShownConversation | None, prepared: PreparedQuery | None
) -> HttpResponse:
    context: dict[str, Any] = {"opened": opened}
    if opened is not None and prepared is not None:
        context |= _stack(request, opened, prepared)
    part = "#stack" if target(request) == "stack" else ""
    return render(request, f"memories/conversation_detail.html{part}", context)


def _requested(request: HttpRequest, asked: str) -> ShownConversation | None:
    user, reference = person(request), request.GET.get("conversation", "")
    said = Message.objects.filter(conversation=OuterRef("pk"), role=Role.USER).order_by("-number")
    rows = selectors.conversations_of(user).annotate(latest=Subquery(said.values("content")[:1]))
    newest = list(rows.order_by("-last_message_at", "-pk")[:_CHOICE])
    found = next((one for one in newest if reference in ("", one.public_id)), None)
    if found is None and reference:
        found = rows.filter(public_id=reference).first()
        if found is None:
            raise NotFound("This conversation doesn’t exist.")
        newest.append(found)
    if found is None:
        return None
    return ShownConversation(found, asked, (found.latest or "")[:_LONGEST], newest)


def _stack(
    request: HttpRequest, opened: ShownConversation, prepared: PreparedQuery
) -> dict[str, Any]:
    user, conversation = person(request), opened.conversation
    own = own_settings(request)
    built = preview(prepared, user=user, conversation=conversation, own=own)
    layers = layers_of(built, asked=prepared.text)
    window = _window(user, conversation, built.recalled.window)
    # Content that the page shows for a layer in addition to the text that the model gets.
    extras: dict[str, Sequence[Any]] = {
        "memories": missed(built, asked=prepared.text) if opened.asked else [],
        "summary": list(selectors.summaries_of(user, conversation)[:_SUMMARIES]),
        "episodes": _episodes(user, opened, prepared, built),
    }
    shown = [one for one in layers if one.tokens or extras.get(one.name)]
    return {
        "built": built,
        "layers": layers,
        "shown": shown,
        "empty": [one for one in layers if one not in shown],
        "missed": extras["memories"],
        "window": window,
        "share": share_of(layers, window["tokens"]),
        "summaries": extras["summary"],
        "episodes": extras["episodes"],
        "is_group": conversation.kind == ConversationKind.GROUP,
        "own": own,
    }


def _window(user: User, conversation: Conversation, window: Window) -> dict[str, Any]:
    before: list[Message] = []
    if window.first_number is not None and window.first_number > 1:
        messages = selectors.messages_of(user, conversation)
        older = messages.filter(number__lt=window.first_number).order_by("-number")
        before = list(older[:SLID_OUT])[::-1]
    return {
        "inside": _masked(window.messages),
        "slid_out": _masked(before),
        "tokens": window.tokens,
        "total": conversation.message_count,
        "most_tokens": settings.WINDOW_TOKENS,
    }


def _masked(messages: Sequence[Message]) -> Sequence[Message]:
    """Mask the secrets in the messages in place, as in the prompt; never save these messages."""
    said = masking.masked_together([one.content for one in messages])
    for message, text in zip(messages, said, strict=True):
        message.content = text
    return messages


def _episodes(
    user: User, opened: ShownConversation, prepared: PreparedQuery, built: Context
) -> list[Likeness]:
    if not opened.asked:
        latest = selectors.episodes_of(user, opened.conversation)[:_EPISODES]
        return [Likeness(one, None) for one in latest]
    found = recall.recall_episodes(
        prepared, user=user, conversation=opened.conversation, limit=_EPISODES, floor=0.0
    )
    inside = {item.id for item in built.items if item.type == "episode"}
    return [
        Likeness(one.episode, one.similarity, one.episode.public_id in inside, prepared.text)
        for one in found
    ]


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
_LEAST_RELEVANCE = 0.005  # minimum relevance of a missed memory, except the first
SLID_OUT = 4  # number of messages before the window that are shown


@dataclass(frozen=True)
class Layer:
    """One part of the memory block, shown as a card on the page.

    `most` is the number of tokens reserved for this part; unused tokens are passed on to the next
    parts.
    """

    name: str
    label: str
    tokens: int
    most: int
    text: str = ""
    items: Sequence[dict[str, Any]] = ()

    @property
    def is_persona(self) -> bool:
        return self.name in LAYERS

    @property
    def title(self) -> str:
        """Return the heading of the card; `label` is the short name of the layer."""
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
    """An episode (an earlier turn) on the page. `is_in` is True if it is part of the prompt.

    `similarity` is its similarity to the question `asked`, or None if the user typed no question.
    """

    episode: Episode
    similarity: float | None
    is_in: bool = False
    asked: str = ""

    @property
    def texts(self) -> tuple[str, str]:
        """Return the question and the answer of the episode's turn, with secrets masked."""
        return masked_turn(self.episode.turn)

    @property
    def why(self) -> str:
        text = "\n".join(self.texts)
        return reason_words.why_alike(self.similarity or 0.0, asked=self.asked, text=text)


def layers_of(built: Context, *, asked: str) -> list[Layer]:
    """Return the layers in the order of the memory block.

    Empty layers are included, because the page lists them as empty. Only empty persona layers are
    left out.
    """
    sections = {one.name: one for one in built.sections}
    by_id = {one.memory.public_id: one for one in built.recalled.memories}
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


def missed(built: Context, *, asked: str) -> list[dict[str, Any]]:
    """Return relevant memories that aren't in the prompt, at most `PREVIEW_MISSES`.

    Recalled memories that didn't fit in the token budget come first, followed by the most relevant
    memories that weren't recalled. The first memory is always returned; any other is left out if
    its relevance is very low.
    """
    inside = {item.id for item in built.items}
    trimmed = [one for one in built.recalled.memories if one.memory.public_id not in inside]
    near = (*trimmed, *built.recalled.missed)[:PREVIEW_MISSES]
    relevant = [one for one in near[1:] if one.relevance >= _LEAST_RELEVANCE]
    return [_recalled(one, asked=asked) for one in (*near[:1], *relevant)]


def _recalled(found: RecalledMemory, *, asked: str) -> dict[str, Any]:
    memory, components = found.memory, found.components
    why = reason_words.why(components, asked=asked, text=memory.content, always=found.is_always_in)
    return {
        "text": memory.content,
        "kind": memory.kind,
        "url": reverse("memory_page", args=[memory.public_id]),
        "pinned": memory.pinned,
        "score": found.parts.total,
        "components": components,
        "why": why,
    }


def _label(name: str) -> str:
    return {
        "constraints": _("Always kept in mind"),
        "preferences": _("Preferences"),
        "memories": _("Memories"),
        "user": grammar.USER,
        "soul": grammar.SOUL,
        "tools": grammar.TOOLS,
        "files": _("Memory files and notes"),
        "summary": _("Summary"),
        "episodes": _("Earlier in this conversation"),
        "window": _("Recent messages"),
    }[name]


def share_of(layers: Sequence[Layer], window_tokens: int) -> dict[str, Any]:
    """Return the data of the bar that shows how many tokens each layer and the window use."""
    budget = settings.BLOCK_TOKENS + settings.WINDOW_TOKENS
    used = [(layer.name, layer.label, layer.tokens) for layer in layers]
    used.append(("window", _label("window"), window_tokens))
    parts = [
        {"layer": name, "label": label, "tokens": tokens, "percent": 100 * tokens / budget}
        for name, label, tokens in used
        if tokens
    ]
    return {"parts": parts, "used": sum(tokens for *_rest, tokens in used), "budget": budget}
