"""The "About you" page: the portrait of the user, and a form below it to correct or complete it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from memcenter.lib.errors import ApplicationError, ProviderError
from memories.learning import told_messages
from memories.models import MemoryStatus
from memories.pages.memory_form import TellForm
from memories.portrait import portrait_of
from ops.accounts import users
from ops.pages.base import leave, own_transaction, person, personal_page, target

_NOT_READ = gettext_lazy("The model didn’t answer, so nothing was changed. Try again in a moment.")


@require_safe
@personal_page
def memory_home(request: HttpRequest) -> HttpResponse:
    return _show(request, {"form": TellForm()})


@require_POST
@personal_page
def memory_tell(request: HttpRequest) -> HttpResponse:
    """Show what the typed sentence would change in the memories, before anything is changed."""
    form = TellForm(request.POST)
    if not form.is_valid():
        return _show(request, {"form": form}, status=422)
    try:
        changes = told_messages.preview_changes(form.cleaned_data["said"], user=person(request))
    except ApplicationError as error:
        form.refuse(error)
        return _show(request, {"form": form}, status=422)
    except ProviderError:
        form.add_error(None, _NOT_READ)
        return _show(request, {"form": form}, status=422)
    return _show(request, {"form": form, "changes": changes, "is_told": True})


@require_POST
@personal_page
def memory_keep_told(request: HttpRequest) -> HttpResponse:
    """Apply the changes that were shown and that the user has confirmed."""
    try:
        kept = told_messages.keep_changes(request.POST.getlist("keep"), user=person(request))
    except ApplicationError as error:
        messages.error(request, _(error.message))
        return leave(request, reverse("memory_home"))
    except ProviderError:
        messages.error(request, _NOT_READ)
        return leave(request, reverse("memory_home"))
    waiting = [one for one in kept if one.memory.status == MemoryStatus.CANDIDATE]
    if waiting:
        messages.warning(request, _("This contradicts something I knew. Please decide."))
        return leave(request, reverse("memory_review"))
    if kept:
        messages.success(request, _("Remembered."))
    return leave(request, reverse("memory_home"))


def _show(request: HttpRequest, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    part = "#tell" if target(request) == "tell" else ""
    with own_transaction(request):
        user = person(request)
        groups = [] if part else portrait_of(user, since=users.visit_portrait(user))
        is_worded = any(one.wording for group in groups for one in group.phrases)
        page = {"groups": groups, "is_worded": is_worded, **context}
        return render(request, f"memories/about_you.html{part}", page, status=status)
