"""Actions on memories from the pages: pin, disable, delete and undo. Each redirects to its page."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from functools import partial

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from conversations.models import Rating
from memcenter.lib.errors import ApplicationError, NotFound
from memories import selectors
from memories.models import Memory, MemoryStatus
from memories.pages.lists.memory_rows import (
    act,
    is_in_place,
    is_row,
    row_again,
    row_in_bin,
    rows_again,
)
from memories.writing import curation, ratings
from ops.pages.base import here, is_htmx, leave, own_transaction, person, personal_page, way_back

_KEPT_UNDOS = 5
# What takes a bulk action back, and which memories it changes; only these are taken back.
_UNDONE_BY = {
    "recycle": ("restore", Q(deleted_at=None)),
    "disable": ("enable", Q(status=MemoryStatus.ACTIVE)),
    "enable": ("disable", Q(status=MemoryStatus.DISABLED)),
    "pin": ("unpin", Q(pinned=False)),
    "unpin": ("pin", Q(pinned=True)),
}


@require_POST
@personal_page
def memory_pin(request: HttpRequest, memory_id: str) -> HttpResponse:
    return _do(request, memory_id, curation.pin, said=_("Pinned."), undo="unpin")


@require_POST
@personal_page
def memory_unpin(request: HttpRequest, memory_id: str) -> HttpResponse:
    return _do(request, memory_id, curation.unpin, said=_("Unpinned."), undo="pin")


@require_POST
@personal_page
def memory_disable(request: HttpRequest, memory_id: str) -> HttpResponse:
    said = _("Disabled. It’s kept but no longer used.")
    return _do(request, memory_id, curation.disable, said=said, undo="enable")


@require_POST
@personal_page
def memory_enable(request: HttpRequest, memory_id: str) -> HttpResponse:
    return _do(request, memory_id, curation.enable, said=_("In use again."), undo="disable")


@require_POST
@personal_page
def memory_delete(request: HttpRequest, memory_id: str) -> HttpResponse:
    said = _("Moved to the recycle bin.")
    return _do(request, memory_id, curation.recycle, said=said, undo="restore")


@require_POST
@personal_page
def memory_restore(request: HttpRequest, memory_id: str) -> HttpResponse:
    return _do(request, memory_id, curation.take_back, said=_("Restored."))


@require_POST
@personal_page
def memory_rate(request: HttpRequest, memory_id: str) -> HttpResponse:
    """Rate a memory or remove the rating; for a very wrong one the page then offers to
    forget it.
    """
    rating = request.POST.get("rating", "")
    if rating not in ("", *Rating.values):
        return HttpResponse(_("There’s no such rating."), status=422)
    said = (
        _("Thanks. Your rating will be taken into account.")
        if rating
        else _("Your rating was removed.")
    )
    return _do(request, memory_id, partial(ratings.rate_memory, rating=rating or None), said=said)


def _do(
    request: HttpRequest,
    memory_id: str,
    service: Callable[..., Memory],
    *,
    said: str,
    undo: str = "",
) -> HttpResponse:
    listed = here(request) if is_htmx(request) else reverse("memory_list")
    back = way_back(request, default=listed)
    try:
        with own_transaction(request):
            memory = selectors.memory_of(person(request), memory_id)
            if memory.deleted_at and service not in (curation.recycle, curation.take_back):
                return ask_for_it_back(request, memory)
            memory = service(user=person(request), memory=memory)
    except NotFound:
        raise
    except ApplicationError as error:
        messages.error(request, _(error.message))
        return _answer(request, memory_id, back=back)
    messages.success(request, said, extra_tags=act(memory, undo, back=back) if undo else "")
    return _answer(request, memory_id, back=back)


def ask_for_it_back(request: HttpRequest, memory: Memory) -> HttpResponse:
    """Offer to restore a memory that was deleted meanwhile: in its row, or on its page."""
    if is_row(request):
        return row_in_bin(request, memory)
    messages.warning(request, _("This is in the recycle bin. Restore it to change it."))
    if is_in_place(request):
        return rows_again(request, [])
    return leave(request, reverse("memory_page", args=[memory.public_id]))


def _answer(request: HttpRequest, memory_id: str, *, back: str) -> HttpResponse:
    """Redirect to the page, or return the changed row if htmx replaces only that."""
    if not is_row(request):
        return _answer_all(request, [memory_id], back=back)
    with own_transaction(request):
        return row_again(request, selectors.memory_of(person(request), memory_id))


def _answer_all(request: HttpRequest, ids: Sequence[str], *, back: str) -> HttpResponse:
    """Redirect to the page, or return the changed rows if htmx replaces them in place."""
    if not is_in_place(request):
        return redirect(back)
    with own_transaction(request):
        return rows_again(request, ids)


@require_POST
@personal_page
def memory_bulk(request: HttpRequest) -> HttpResponse:
    """Apply one action to all selected memories."""
    ids, action = request.POST.getlist("ids"), request.POST.get("do", "")
    back = way_back(request, default=reverse("memory_list"))
    if not ids:
        messages.info(request, _("Nothing was selected."))
        return _answer_all(request, [], back=back)
    undoing, changed = _UNDONE_BY.get(action, ("", Q()))
    try:
        with own_transaction(request):
            rows = Memory.visible.filter(changed, user=person(request), public_id__in=ids)
            undone = list(rows.values_list("public_id", flat=True)) if undoing else []
            done = _bulk(request, ids, action=action, tag=request.POST.get("tag", ""))
    except ApplicationError as error:
        messages.error(request, _(error.message))
        return _answer_all(request, [], back=back)
    undo = _remember_undo(request, undoing, undone, back=back) if undone else ""
    messages.success(request, _said(action, len(done)), extra_tags=undo)
    return _answer_all(request, ids, back=back)


@require_POST
@personal_page
def memory_undo(request: HttpRequest, token: str) -> HttpResponse:
    """Take a bulk action back."""
    back = way_back(request, default=reverse("memory_list"))
    action, ids = request.session.get("undo", {}).get(token, ("", ()))
    if not action:
        said = _("This can no longer be undone here. What you deleted is in the recycle bin.")
        messages.warning(request, said)
        return _answer_all(request, [], back=back)
    with own_transaction(request):
        done = _bulk(request, ids, action=action)
    messages.success(request, _said(action, len(done)))
    return _answer_all(request, ids, back=back)


def _bulk(request: HttpRequest, ids: Sequence[str], *, action: str, tag: str = "") -> list[str]:
    results = curation.bulk(user=person(request), ids=ids, action=action, tag_name=tag)
    return [public_id for public_id, result in results if result == "done"]


def _remember_undo(request: HttpRequest, action: str, ids: Sequence[str], *, back: str) -> str:
    """Keep the ids in the session, since there can be too many for a URL."""
    token = secrets.token_urlsafe(8)
    kept = list(request.session.get("undo", {}).items())[1 - _KEPT_UNDOS :]
    request.session["undo"] = dict([*kept, (token, (action, list(ids)))])
    return reverse("memory_undo", args=[token], query={"next": back})


def _said(action: str, count: int) -> str:
    words = {
        "enable": ngettext("%(count)d in use again.", "%(count)d in use again.", count),
        "disable": ngettext("%(count)d disabled.", "%(count)d disabled.", count),
        "pin": ngettext("%(count)d pinned.", "%(count)d pinned.", count),
        "unpin": ngettext("%(count)d unpinned.", "%(count)d unpinned.", count),
        "tag": ngettext("%(count)d tagged.", "%(count)d tagged.", count),
        "untag": ngettext("%(count)d changed.", "%(count)d changed.", count),
        "recycle": ngettext(
            "%(count)d moved to the recycle bin.", "%(count)d moved to the recycle bin.", count
        ),
        "restore": ngettext("%(count)d restored.", "%(count)d restored.", count),
    }
    return words[action] % {"count": count}
