"""Data management: choose a conversation, delete a layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_safe

from conversations import selectors
from conversations.forgetting import layer_deletion
from conversations.models import Conversation, Episode, Summary
from memories.forgetting import memory_forgets
from memories.models import Memory
from ops.models import User
from ops.pages.base import leave, own_transaction, person, personal_page, target
from ops.pages.error_texts import forgotten

_A_PAGE = 20
_LONGEST = 200
Words = Callable[[int], str]


@require_safe
@personal_page
def data_conversations(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "").strip()[:_LONGEST]
    with own_transaction(request):
        page = _page(person(request), query, number=request.GET.get("page", "1"))
        context = {"page": page, "query": query, "section": "memory"}
        part = "#list" if target(request) == "list" else ""
        return render(request, f"ops/conversation_choice.html{part}", context)


def _page(user: User, query: str, *, number: str) -> Page[Conversation]:
    rows = selectors.conversations_of(user, query=query).order_by("-last_message_at", "-pk")
    return Paginator(rows, _A_PAGE).get_page(number)


@dataclass(frozen=True)
class Layer:
    """A layer with a switch: its size, its delete function and its texts."""

    count: Callable[[User], int]
    delete: Callable[[User], object]
    title: Callable[[], str]
    goes: Words
    stays: Callable[[], list[str]]


def _forget_memories(user: User) -> None:
    """Forget all memories, also binned and archived ones; do nothing if there is none."""
    memories = list(Memory.visible.filter(user=user).only("pk"))
    if memories:
        memory_forgets.forget_memories(user=user, memories=memories)


LAYERS = {
    "memory": Layer(
        count=lambda user: Memory.visible.filter(user=user).count(),
        delete=_forget_memories,
        title=lambda: _("Forget all memories?"),
        goes=lambda n: ngettext(
            "%(n)s memory, with its versions and everything derived from it",
            "%(n)s memories, with their versions and everything derived from them",
            n,
        ),
        stays=lambda: [_("your conversations"), _("their summaries and earlier moments")],
    ),
    "summary": Layer(
        count=lambda user: Summary.objects.filter(user=user).count(),
        delete=lambda user: layer_deletion.delete_layer(user=user, layer="summary"),
        title=lambda: _("Delete all summaries?"),
        goes=lambda n: ngettext("%(n)s summary", "%(n)s summaries", n),
        stays=lambda: [_("your conversations"), _("your memories")],
    ),
    "episode": Layer(
        count=lambda user: Episode.objects.filter(user=user).count(),
        delete=lambda user: layer_deletion.delete_layer(user=user, layer="episode"),
        title=lambda: _("Delete all earlier moments?"),
        goes=lambda n: ngettext("%(n)s earlier moment", "%(n)s earlier moments", n),
        stays=lambda: [_("your conversations"), _("your memories")],
    ),
}


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def data_layer_delete(request: HttpRequest, layer: str) -> HttpResponse:
    if layer not in LAYERS:
        raise Http404
    found = LAYERS[layer]
    with own_transaction(request):
        if request.method != "POST":
            part = "#dialog" if target(request) == "dialogs" else ""
            context = _what_goes(found, person(request), layer)
            return render(request, f"ops/layer_delete.html{part}", context)
        found.delete(person(request))
    messages.success(request, forgotten())
    return leave(request, reverse("data_management"))


def _what_goes(layer: Layer, user: User, name: str) -> dict[str, Any]:
    count = layer.count(user)
    words = layer.goes(count) % {"n": number_format(count, force_grouping=True)}
    receipt = _("This can’t be undone. You will get a receipt.")
    return {
        "action": reverse("data_layer_delete", args=[name]),
        "title": layer.title(),
        "text": receipt,
        "goes": [words, _("finished exports, which may hold a copy")],
        "stays": layer.stays(),
        "confirm": _("Delete"),
        "cancel_href": reverse("data_management"),
    }
