"""This conversation: what the model has in mind now, in plain words, and the figures behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from conversations import selectors
from conversations.block.context import Context
from conversations.block.preview import preview
from conversations.models import Conversation, ConversationKind, Message, Role
from conversations.selectors import Window
from memcenter.lib.errors import NotFound
from memories.pages import block_cards
from memories.recall import recall
from memories.recall.candidate_pool import PreparedQuery
from memories.recall.search import prepare_query
from ops.models import User
from ops.pages.base import own_settings, own_transaction, person, personal_page, target

_CHOICE = 30
_EPISODES = 5
_SUMMARIES = 6
_LONGEST = 400


@dataclass(frozen=True)
class Looked:
    """The conversation that is shown, and the question that is tried on it."""

    conversation: Conversation
    asked: str
    latest: str
    choice: Sequence[Conversation]


@require_safe
@personal_page
def memory_conversation(request: HttpRequest) -> HttpResponse:
    asked = request.GET.get("q", "").strip()[:_LONGEST]
    if asked:  # what is asked is known before anything is read
        prepared = prepare_query(asked)
        with own_transaction(request):
            return _shown(request, _looked(request, asked), prepared)
    with own_transaction(request):
        looked = _looked(request, asked)
    question = prepare_query(looked.latest) if looked and looked.latest else None
    with own_transaction(request):
        return _shown(request, looked, question)


def _shown(
    request: HttpRequest, looked: Looked | None, prepared: PreparedQuery | None
) -> HttpResponse:
    context: dict[str, Any] = {"looked": looked}
    if looked is not None and prepared is not None:
        context |= _stack(request, looked, prepared)
    part = "#stack" if target(request) == "stack" else ""
    return render(request, f"memories/conversation_detail.html{part}", context)


def _looked(request: HttpRequest, asked: str) -> Looked | None:
    return _look(person(request), request.GET.get("conversation", ""), asked)


def _look(user: User, reference: str, asked: str) -> Looked | None:
    """Return the named conversation, or the newest; None if there is none."""
    said = Message.objects.filter(conversation=OuterRef("pk"), role=Role.USER).order_by("-number")
    rows = selectors.conversations_of(user).annotate(latest=Subquery(said.values("content")[:1]))
    newest = list(rows.order_by("-last_message_at", "-pk")[:_CHOICE])
    found = next((one for one in newest if reference in ("", one.public_id)), None)
    if found is None and reference:
        found = rows.filter(public_id=reference).first()
        if found is None:
            raise NotFound("There is no such conversation.")
        newest.append(found)
    if found is None:
        return None
    return Looked(found, asked, (found.latest or "")[:_LONGEST], newest)


def _stack(request: HttpRequest, looked: Looked, prepared: PreparedQuery) -> dict[str, Any]:
    user, conversation = person(request), looked.conversation
    own = own_settings(request)
    built = preview(prepared, user=user, conversation=conversation, own=own)
    layers = block_cards.layers_of(built, asked=prepared.text)
    window = _window(user, conversation, built.gathered.window)
    beside: dict[str, Sequence[Any]] = {  # what a layer shows beside what the model reads
        "memories": block_cards.missed(built, asked=prepared.text) if looked.asked else [],
        "summary": list(selectors.summaries_of(user, conversation)[:_SUMMARIES]),
        "episodes": _episodes(user, looked, prepared, built),
    }
    shown = [one for one in layers if one.tokens or beside.get(one.name)]
    return {
        "built": built,
        "layers": layers,
        "shown": shown,
        "empty": [one for one in layers if one not in shown],
        "missed": beside["memories"],
        "window": window,
        "share": block_cards.share_of(layers, window),
        "summaries": beside["summary"],
        "episodes": beside["episodes"],
        "is_group": conversation.kind == ConversationKind.GROUP,
        "own": own,
    }


def _window(user: User, conversation: Conversation, window: Window) -> block_cards.WindowCard:
    before: list[Message] = []
    if window.first_number is not None and window.first_number > 1:
        messages = selectors.messages_of(user, conversation)
        older = messages.filter(number__lt=window.first_number).order_by("-number")
        before = list(older[: block_cards.SLID_OUT])[::-1]
    return block_cards.window_card(window, before, total=conversation.message_count)


def _episodes(
    user: User, looked: Looked, prepared: PreparedQuery, built: Context
) -> list[block_cards.Likeness]:
    """Return the episodes most similar to the question, or the most recent ones without a
    question.
    """
    if not looked.asked:
        return block_cards.recent(
            list(selectors.episodes_of(user, looked.conversation)[:_EPISODES])
        )
    found = recall.recall_episodes(
        prepared, user=user, conversation=looked.conversation, limit=_EPISODES, floor=0.0
    )
    return block_cards.likenesses(found, built, asked=prepared.text)
