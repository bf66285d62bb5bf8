"""Forget now: list exactly what goes and what stays, then enqueue it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from conversations.forgetting import forget_choices
from conversations.models import Turn
from memcenter.lib.text.richtext import inner
from memories import projects, selectors
from memories.forgetting import memory_forgets
from memories.models import Memory, Project
from memories.selectors import BIN, MemoryFilter
from ops.pages.base import leave, own_transaction, person, personal_page, render_page, way_back
from ops.pages.error_texts import forgotten

_SHOWN = 80


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def memory_forget(request: HttpRequest, memory_id: str) -> HttpResponse:
    with own_transaction(request):
        memory = selectors.memory_of(person(request), memory_id)
        turns = _turns(memory)
        if request.method != "POST":
            context = _what_goes(request, memory, turns)
            return render_page(request, "memories/memory_forget.html", context)
        if turns and request.POST.get("turns"):
            told = [turn.user_message.public_id for turn in turns]
            forget_choices.forget(user=memory.user, memory_ids=[memory.public_id], message_ids=told)
        else:
            chosen = forget_choices.PERSON if turns else ""
            memory_forgets.forget_memory(user=memory.user, memory=memory, chosen=chosen)
    messages.success(request, forgotten())
    return leave(request, way_back(request, default=reverse("memory_list")))


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def bin_empty(request: HttpRequest) -> HttpResponse:
    """Forget everything in the recycle bin."""
    with own_transaction(request):
        memories = list(selectors.memories_of(person(request), MemoryFilter(status=BIN)))
        if request.method != "POST" and memories:
            context = _what_goes_of_the_bin(len(memories))
            return render_page(request, "memories/memory_forget.html", context)
        if memories:
            memory_forgets.forget_memories(user=person(request), memories=memories)
            messages.success(request, forgotten())
    return leave(request, reverse("memory_bin"))


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def project_forget(request: HttpRequest, key: str) -> HttpResponse:
    """Forget a project with all its memories."""
    with own_transaction(request):
        project = projects.find(user=person(request), key=key)
        if request.method != "POST":
            context = _what_goes_of_a_project(project)
            return render_page(request, "memories/memory_forget.html", context)
        memory_forgets.forget_project(user=person(request), project=project)
    messages.success(request, forgotten())
    return leave(request, reverse("memory_list"))


def _what_goes_of_a_project(project: Project) -> dict[str, Any]:
    count = Memory.visible.filter(user=project.user_id, project=project).count()
    words = ngettext(
        "%(n)d memory, with its versions and everything derived from it",
        "%(n)d memories, with their versions and everything derived from them",
        count,
    )
    return {
        "action": reverse("project_forget", args=[project.key]),
        "title": _("Forget the project “%(name)s”?") % {"name": project.name or project.key},
        "text": _("This can't be undone. You will get a receipt."),
        "goes": [words % {"n": count}, _("the project itself")],
        "stays": [_("your conversations"), _("all other memories")],
        "confirm": _("Forget now"),
        "cancel_href": f"{reverse('memory_list')}?{urlencode({'project': project.key})}",
    }


def _turns(memory: Memory) -> list[Turn]:
    found = {one.turn_id: one.turn for one in selectors.sources_of(memory) if one.turn}
    return list(found.values())


def _what_goes(request: HttpRequest, memory: Memory, turns: Sequence[Turn]) -> dict[str, Any]:
    user = person(request)
    uses = selectors.recalls_of(user, memory).count()
    versions = selectors.versions_of(memory).count()
    goes = [_("“%(text)s”") % {"text": inner(_short(memory.content))}]
    if versions > 1:
        words = ngettext("%(n)d version of it", "all %(n)d versions of it", versions)
        goes.append(words % {"n": versions})
    if uses:
        words = ngettext("the record of %(n)d use", "the records of %(n)d uses", uses)
        goes.append(words % {"n": uses})
    goes.append(
        _("everything derived from it: search index, links to other memories, lines in files")
    )
    back = way_back(request, default=reverse("memory_list"))
    page = reverse("memory_page", args=[memory.public_id])
    return {
        "action": reverse("memory_forget", args=[memory.public_id]),
        "title": _("Forget this now?"),
        "text": _("This can't be undone. You will get a receipt."),
        "goes": goes,
        "stays": _what_stays(turns),
        "choices": _choices(turns),
        "confirm": _("Forget now"),
        "cancel_href": back if back != reverse("memory_list") else page,
        # The page of a forgotten memory would be a 404.
        "hidden": [{"name": "next", "value": reverse("memory_list") if back == page else back}],
    }


def _what_stays(turns: Sequence[Turn]) -> list[str]:
    if not turns:
        return [_("your conversations")]
    count = 2 * len(turns)
    titles = list(dict.fromkeys(turn.conversation.title for turn in turns))
    if len(titles) == 1 and titles[0]:
        words = ngettext(
            "the %(n)d message it came from, in “%(title)s”",
            "the %(n)d messages it came from, in “%(title)s”",
            count,
        )
        return [words % {"n": count, "title": titles[0]}]
    words = ngettext("the %(n)d message it came from", "the %(n)d messages it came from", count)
    return [words % {"n": count}]


def _choices(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    if not turns:
        return []
    label = ngettext("Also delete this exchange", "Also delete these %(n)d exchanges", len(turns))
    help_text = _("What you said and the answer, plus anything else learned only there.")
    return [{"name": "turns", "label": label % {"n": len(turns)}, "help": help_text}]


def _what_goes_of_the_bin(count: int) -> dict[str, Any]:
    words = ngettext(
        "%(n)d memory in the recycle bin, with everything derived from it",
        "%(n)d memories in the recycle bin, with everything derived from them",
        count,
    )
    return {
        "action": reverse("bin_empty"),
        "title": _("Forget everything in the recycle bin?"),
        "text": _("This can't be undone. You will get a receipt."),
        "goes": [words % {"n": count}],
        "stays": [_("the conversations they came from"), _("all other memories")],
        "confirm": _("Forget all"),
        "cancel_href": reverse("memory_bin"),
    }


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1].rstrip() + "…"
