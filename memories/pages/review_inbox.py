"""The page of the review inbox, which asks the user to decide on one memory at a time."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date, datetime, time
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from foundation.errors import ApplicationError
from memories import review, selectors
from memories.extraction.masking import additions_in_words
from memories.models import Kind, Memory, MemoryStatus
from memories.pages import explanation, reason_words
from memories.pages.actions import remember_undo
from memories.pages.memory_form import mention_contradiction
from memories.pages.memory_rows import action_url, name_memory
from memories.review import ReviewInput, ReviewState
from memories.selectors import MemoryFilter
from ops.accounts import users
from ops.models import User
from ops.pages.base import day_of, own_transaction, person, personal_page

_LISTED = 20  # waiting memories on the page
_UNDO = "undecide"
_SWITCHING_OFF = ("keep_new", "keep_neither")  # decisions that end the use of the old memory


@require_safe
@personal_page
def memory_review(request: HttpRequest) -> HttpResponse:
    """Show the requested memory, or else the memory that has been waiting longest."""
    with own_transaction(request):
        user = person(request)
        waiting = selectors.memories_of(user, MemoryFilter(status=MemoryStatus.CANDIDATE))
        waiting = waiting.order_by("pk").select_related("conflicts_with")
        count = waiting.count()
        shown = list(waiting[:_LISTED])
        wanted = request.GET.get("candidate", "")
        current = next((one for one in shown if one.public_id == wanted), next(iter(shown), None))
        has_constraint = waiting.filter(kind=Kind.CONSTRAINT).exists()
        context: dict[str, Any] = {"count": count, "has_constraint": has_constraint}
        if current is not None:
            context |= _both_sides(user, current)
            context["others"] = [one for one in shown if one != current]
            if len(shown) > 1:
                after = shown[(shown.index(current) + 1) % len(shown)]
                context["after"] = f"{reverse('memory_review')}?candidate={after.public_id}"
        return render(request, "memories/memory_review.html", context)


@require_POST
@personal_page
def memory_decide(request: HttpRequest, memory_id: str) -> HttpResponse:
    decision = request.POST.get("decision", "")
    day = day_of(request.POST.get("since", ""))
    reviewed = ReviewInput(
        memory_id,
        decision,
        valid_from=_moment(day, time.min) if day else None,
        # The old memory stays valid until the end of the chosen day.
        old_until=_moment(day, time.max) if day else None,
    )
    try:
        with own_transaction(request):
            before = review.undecided(person(request), memory_id)
            other = before.other if before else ""
            old = selectors.memory_of(person(request), other) if other else None
            results = review.confirm(user=person(request), decisions=[reviewed], undoable=True)
    except ApplicationError as error:
        messages.error(request, _(error.message))
        return redirect("memory_review")
    if results[0].result == "not_found":
        return _decided_meanwhile(request, memory_id)
    ends = decision == "keep_both" and reviewed.old_until is not None
    assert before is not None
    words = _message(decision, removed=results[0].memory_id is None, ends=ends)
    # Name the old memory if it was part of every prompt, such as an allergy.
    if old is not None and old.is_always_included and decision in _SWITCHING_OFF:
        words = name_memory(_("I no longer follow this:"), old)
    undo = remember_undo(request, _UNDO, [json.dumps(asdict(before))], view="memory_undecide")
    messages.success(request, words, extra_tags=undo)
    if results[0].result == "accepted" and results[0].memory_id:
        with own_transaction(request):
            accepted = selectors.memory_of(person(request), results[0].memory_id)
        mention_contradiction(request, accepted)
    return redirect("memory_review")


def _decided_meanwhile(request: HttpRequest, memory_id: str) -> HttpResponse:
    """Show the message that this memory was already decided on, with its current state.

    If the memory is in the recycle bin, offer to restore it.
    """
    back = reverse("memory_review")
    with own_transaction(request):
        memory = selectors.memory_of(person(request), memory_id)
    if memory.deleted_at:
        said = _("This was decided meanwhile, perhaps in another tab. It is in the recycle bin.")
        messages.warning(request, said, extra_tags=action_url(memory, "restore", back=back))
    elif memory.status == MemoryStatus.ACTIVE:
        messages.info(request, _("This was decided meanwhile, perhaps in another tab. It is used."))
    else:
        said = _("This was decided meanwhile, perhaps in another tab. It is kept, but not used.")
        messages.info(request, said)
    return redirect(back)


@require_POST
@personal_page
def memory_undecide(request: HttpRequest, token: str) -> HttpResponse:
    """Undo a decision, and show the memory in the inbox again."""
    action, kept = request.session.get("undo", {}).get(token, ("", ()))
    if action != _UNDO:
        messages.warning(request, _("This can no longer be undone here."))
        return redirect("memory_review")
    try:
        with own_transaction(request):
            before = ReviewState(**json.loads(kept[0]))
            memory = review.undo(user=person(request), before=before)
    except ApplicationError:
        messages.warning(request, _("This can no longer be undone here."))
        return redirect("memory_review")
    messages.success(request, _("Undone. Please decide again."))
    return redirect(f"{reverse('memory_review')}?candidate={memory.public_id}")


def _both_sides(user: User, candidate: Memory) -> dict[str, Any]:
    known = candidate.contested
    version, verdict = selectors.version_in_use(candidate), selectors.last_verdict_on(candidate)
    sides = {
        "candidate": candidate,
        "known": known,
        "heard": _first_reason(candidate),
        "because": explanation.review_reason(
            candidate,
            version,
            verdict,
            known=known,
            confirms_all=users.settings_of(user).confirm_before_remembering,
        ),
    }
    if candidate.removal_asked_at:
        return sides | {"known": None, "ended_by": known}
    if known is None:
        return sides
    old, new = (additions_in_words(one.content) for one in (known, candidate))
    parts = explanation.diff_words(old, new)
    is_alike = any(part.change == "same" for part in parts)
    return sides | {
        "known_because": _first_reason(known),
        "is_alike": is_alike,
        "shared": reason_words.shared_words(new, old),
        "known_parts": [part for part in parts if part.change != "added"],
        "heard_parts": [part for part in parts if part.change != "removed"],
    }


def _first_reason(memory: Memory) -> explanation.Reason | None:
    return next(iter(explanation.reasons_of(memory, selectors.sources_of(memory)[:5])), None)


def _moment(day: date, at: time) -> datetime:
    return timezone.make_aware(datetime.combine(day, at))


def _message(decision: str, *, removed: bool, ends: bool = False) -> str:
    if decision == "accept" and removed:
        return _("Moved to the recycle bin.")
    return {
        "accept": _("Remembered."),
        "reject": _("Not remembered. It stays in the recycle bin for a day."),
        "keep_new": _("The new one is used; the old one is kept but no longer used."),
        "keep_old": _("What I knew is still used."),
        "keep_neither": _("Neither is used. Both are in the recycle bin."),
        "keep_both": _("Both are kept, the old one until the day that you chose.")
        if ends
        else _("Both are used."),
    }[decision]
