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
from memories.forgetting.spoken_requests import EmbeddedRequest
from memories.learning import change_previews
from memories.models import Memory, MemoryStatus
from memories.pages.memory_form import TellForm
from memories.portrait import MOST, portrait_of
from memories.selectors import in_use
from memories.weekly_changes import week_of
from ops.accounts import users
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
    """Preview how the typed sentence would change the memories; nothing is changed yet.

    Memories that share words with the sentence are listed too, with links to edit or forget each
    memory. If the sentence asks to forget something, the memories that the request may mean are
    listed instead.
    """
    return _preview(request)


def _preview(request: HttpRequest, *, is_nothing_selected: bool = False) -> HttpResponse:
    form, about = TellForm(request.POST), request.POST.get("about", "")
    if not form.is_valid():
        return _show(request, {"form": form, "about": about})
    sentence = form.cleaned_data["said"]
    forget_requests = spoken_requests.asked_in(sentence)
    only_forgets = spoken_requests.says_nothing_else(sentence, forget_requests)
    changes: list[change_previews.PreviewedChange] = []
    try:
        if not only_forgets:
            changes = change_previews.preview_changes(sentence, user=person(request), about=about)
    except ApplicationError as error:
        form.refuse(error)
    except ProviderError:
        form.add_error(None, _NOT_READ)
    if form.errors:
        return _show(request, {"form": form, "about": about})
    context = {
        "form": form,
        "about": about,
        "changes": changes,
        "only_forgets": only_forgets,
        "may_keep": any(one.verdict != Verdict.SKIP for one in changes),
        "asks_to_forget": bool(forget_requests),
        "is_told": True,
        "is_nothing_selected": is_nothing_selected,
    }
    return _show(request, context, forget_requests=forget_requests)


@require_POST
@personal_page
def memory_keep_told(request: HttpRequest) -> HttpResponse:
    """Apply the previewed changes that the user has selected.

    If the user selected to keep the sentence exactly as typed (`exact`), ignore all other changes.
    If no change is selected, show the preview again.
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
    if waiting := next((one for one in kept if one.status == MemoryStatus.CANDIDATE), None):
        words = _("I’m not sure about this. Please decide.")
        with own_transaction(request):
            if known := waiting.contested:
                text = Truncator(additions_in_words(known.content)).chars(_QUOTED)
                words = _("This may contradict “%(text)s”. Please decide.") % {"text": text}
        messages.warning(request, words)
        return redirect_after_form(
            request, f"{reverse('memory_review')}?candidate={waiting.public_id}"
        )
    if kept:
        messages.success(request, _("Remembered."))
    else:
        messages.info(request, _("Nothing was selected, so nothing was changed."))
    # Without `#main`, the browser would keep the fragment of the form's URL, and scroll to the end.
    return redirect_after_form(request, f"{reverse('memory_home')}#main")


def _show(
    request: HttpRequest,
    context: dict[str, Any],
    *,
    forget_requests: Sequence[EmbeddedRequest] = (),
) -> HttpResponse:
    part = "#tell" if target(request) == "tell" else ""
    form, about, user = context["form"], context["about"], person(request)
    page: dict[str, Any] = {"exact": [], "meant": [], "others": [], "related": []}
    with own_transaction(request):
        page["groups"] = [] if part else portrait_of(user, since=users.visit_portrait(user))
        if phrases := [one for group in page["groups"] for one in group.phrases]:
            of_projects = Memory.objects.filter(in_use(), user=user).exclude(project=None)
            page |= {
                "is_worded": any(one.wording for one in phrases),
                "is_full": len(phrases) >= MOST,
                "most_shown": MOST,
                "leaves_projects_out": of_projects.exists(),
            }
        if forget_requests:
            found = spoken_requests.find(forget_requests, user=user)
            memories = list(found.memories)
            likely = [one for one in memories if one.pk in found.likely]
            page["meant"] = likely or memories[:_NEAREST]
            page["others"] = [one for one in memories if one not in page["meant"]]
        elif context.get("is_told"):
            page["related"] = change_previews.related_memories(
                form.cleaned_data["said"],
                user=user,
                without={one.memory for one in context["changes"]},
            )
        if context.get("is_told") and not context["only_forgets"]:
            page["exact"] = change_previews.exact_changes(
                form.cleaned_data["said"], context["changes"], user=user, about=about
            )
        known = Memory.objects.filter(user=user, public_id=about).first() if about else None
        page |= context | {"about": known}
        status = 422 if context.get("is_nothing_selected") else form.status
        return render(request, f"memories/about_you.html{part}", page, status=status)


@require_safe
@personal_page
def memory_week(request: HttpRequest) -> HttpResponse:
    """Show the seven days that end with the day `last` (by default today)."""
    with own_transaction(request):
        week = week_of(person(request), last=day_of(request.GET.get("last", "")))
        context = {"week": week, "is_on": own_settings(request).longterm_enabled}
        return render(request, "memories/week.html", context)
