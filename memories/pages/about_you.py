"""The pages "About you" and "Your week".

"About you" shows the portrait of the user, and a form below it to correct or complete it. "Your
week" shows what was learned, changed and forgotten in seven days.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from foundation.errors import ApplicationError, ProviderError
from memories.extraction.masking import additions_in_words
from memories.extraction.types import Verdict
from memories.forgetting import spoken_requests
from memories.forgetting.spoken_requests import EmbeddedRequest, ForgetMatches
from memories.learning import change_previews
from memories.models import Memory, MemoryStatus
from memories.pages.memory_form import TellForm
from memories.portrait import MOST, Group, portrait_of
from memories.selectors import in_use
from memories.weekly_changes import week_of
from ops.accounts import users
from ops.models import User
from ops.pages.base import (
    day_of,
    own_settings,
    own_transaction,
    person,
    personal_page,
    redirect_after_form,
    target,
)

_QUOTED = 80  # characters
_NEAREST = 3  # memories listed first if none is a likely match
_NOT_READ = gettext_lazy("The model didn’t answer, so nothing was changed. Try again in a moment.")
# An error about one of these fields means that the ids of previewed changes are invalid.
_IDS_OF_CHANGES = {"keep", "candidates"}
_EXPIRED = gettext_noop(
    "This preview has expired or belongs to another account. Preview the changes again."
)


@require_safe
@personal_page
def memory_home(request: HttpRequest) -> HttpResponse:
    """Show the portrait, with the form for a correction.

    The query parameter `about` is the public id of the memory to correct.
    """
    return _show(request, {"form": TellForm(), "about": request.GET.get("about", "")})


@require_POST
@personal_page
def memory_tell(request: HttpRequest) -> HttpResponse:
    """Show what the typed sentence would change in the memories, before anything is changed.

    Memories that share words with the sentence are listed too, with links to edit or forget each
    memory. If the sentence asks to forget something, the memories that it may mean are listed
    instead.
    """
    return _preview(request)


def _preview(request: HttpRequest, *, is_nothing_selected: bool = False) -> HttpResponse:
    form, about = TellForm(request.POST), request.POST.get("about", "")
    if not form.is_valid():
        return _show(request, {"form": form, "about": about}, status=422)
    said = form.cleaned_data["said"]
    asked = spoken_requests.asked_in(said)
    try:
        only_forgets = spoken_requests.says_nothing_else(said, asked)
        user = person(request)
        changes = (
            [] if only_forgets else change_previews.preview_changes(said, user=user, about=about)
        )
    except ApplicationError as error:
        form.refuse(error)
        return _show(request, {"form": form, "about": about}, status=422)
    except ProviderError:
        form.add_error(None, _NOT_READ)
        return _show(request, {"form": form, "about": about}, status=422)
    context = {
        "form": form,
        "about": about,
        "changes": changes,
        "only_forgets": only_forgets,
        "may_keep": any(one.verdict != Verdict.SKIP for one in changes),
        "asks_to_forget": bool(asked),
        "is_told": True,
        "is_nothing_selected": is_nothing_selected,
    }
    return _show(request, context, asked=asked, status=422 if is_nothing_selected else 200)


@require_POST
@personal_page
def memory_keep_told(request: HttpRequest) -> HttpResponse:
    """Apply the changes that were shown and that the user has confirmed.

    If the user chose to keep the sentence exactly as typed (`exact`), ignore all other changes. If
    no change is selected, show the preview again.
    """
    chosen = request.POST.getlist("exact") or request.POST.getlist("keep")
    if not chosen and request.POST.get("said"):
        return _preview(request, is_nothing_selected=True)
    try:
        kept = change_previews.keep_changes(chosen, user=person(request))
    except ApplicationError as error:
        refused = _EXPIRED if _IDS_OF_CHANGES & error.fields.keys() else error.message
        messages.error(request, _(refused))
        return redirect_after_form(request, reverse("memory_home"))
    except ProviderError:
        messages.error(request, _NOT_READ)
        return redirect_after_form(request, reverse("memory_home"))
    if waits := next((one for one in kept if one.status == MemoryStatus.CANDIDATE), None):
        with own_transaction(request):
            messages.warning(request, _please_decide(waits))
        return redirect_after_form(
            request, f"{reverse('memory_review')}?candidate={waits.public_id}"
        )
    if kept:
        messages.success(request, _("Remembered."))
    else:
        messages.info(request, _("Nothing was selected, so nothing was changed."))
    # Without `#main`, the browser would keep the fragment of the form's URL, and scroll to the end.
    return redirect_after_form(request, f"{reverse('memory_home')}#main")


def _please_decide(waits: Memory) -> str:
    known = waits.contested
    if known is None:
        return _("I’m not sure about this. Please decide.")
    text = Truncator(additions_in_words(known.content)).chars(_QUOTED)
    return _("This may contradict “%(text)s”. Please decide.") % {"text": text}


def _show(
    request: HttpRequest,
    context: dict[str, Any],
    *,
    asked: Sequence[EmbeddedRequest] = (),
    status: int = 200,
) -> HttpResponse:
    part = "#tell" if target(request) == "tell" else ""
    with own_transaction(request):
        user = person(request)
        groups = [] if part else portrait_of(user, since=users.visit_portrait(user))
        meant, others = _split_by_likelihood(asked, user)
        related = [] if asked else _related(context, user)
        page = {"groups": groups, "meant": meant, "others": others, "related": related}
        page |= (_notes_on(groups, user) if groups else {}) | context | _told_about(context, user)
        return render(request, f"memories/about_you.html{part}", page, status=status)


def _notes_on(groups: Sequence[Group], user: User) -> dict[str, Any]:
    """Return the context for the notes below the portrait.

    They say whether a chat model wrote some of its phrases, and which memories it leaves out.
    """
    phrases = [one for group in groups for one in group.phrases]
    return {
        "is_worded": any(one.wording for one in phrases),
        "is_full": len(phrases) >= MOST,
        "most_shown": MOST,
        "leaves_projects_out": Memory.objects.filter(in_use(), user=user)
        .exclude(project=None)
        .exists(),
    }


def _split_by_likelihood(
    asked: Sequence[EmbeddedRequest], user: User
) -> tuple[list[Memory], list[Memory]]:
    """Return the memories that a request to forget probably means, and the other possible ones.

    If no memory is likely, the first list holds the `_NEAREST` most probable memories.
    """
    found = spoken_requests.find(asked, user=user) if asked else ForgetMatches()
    memories = list(found.memories)
    first = [one for one in memories if one.pk in found.likely] or memories[:_NEAREST]
    return first, [one for one in memories if one not in first]


def _told_about(context: dict[str, Any], user: User) -> dict[str, Any]:
    about = str(context.get("about", ""))
    known = Memory.objects.filter(user=user, public_id=about).first() if about else None
    if not context.get("is_told") or context["only_forgets"]:
        return {"about": known, "exact": []}
    said, changes = context["form"].cleaned_data["said"], context["changes"]
    exact = change_previews.exact_changes(said, changes, user=user, about=about)
    return {"about": known, "exact": exact}


def _related(context: dict[str, Any], user: User) -> list[Memory]:
    if not context.get("is_told"):
        return []
    said, shown = context["form"].cleaned_data["said"], {one.memory for one in context["changes"]}
    return change_previews.related_memories(said, user=user, without=shown)


@require_safe
@personal_page
def memory_week(request: HttpRequest) -> HttpResponse:
    """Show the seven days that end with the day `last` (by default today)."""
    with own_transaction(request):
        week = week_of(person(request), last=day_of(request.GET.get("last", "")))
        context = {"week": week, "is_on": own_settings(request).longterm_enabled}
        return render(request, "memories/week.html", context)
