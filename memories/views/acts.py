"""What a click does to a memory: pin, disable, delete, and back. Each leads back to its page."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from memcenter.lib.errors import ApplicationError, NotFound
from memories import selectors
from memories.models import Memory
from memories.services import curating
from memories.views.rows import act, is_row, row_again
from ops.pages import here, is_htmx, own_transaction, person, personal_page, way_back

_KEPT_UNDOS = 5


@require_POST
@personal_page
def memory_pin(request: HttpRequest, memory_id: str) -> HttpResponse:
    said = _("Pinned: it comes first from now on.")
    return _do(request, memory_id, curating.pin, said=said, undo="unpin")


@require_POST
@personal_page
def memory_unpin(request: HttpRequest, memory_id: str) -> HttpResponse:
    return _do(request, memory_id, curating.unpin, said=_("Unpinned."), undo="pin")


@require_POST
@personal_page
def memory_disable(request: HttpRequest, memory_id: str) -> HttpResponse:
    said = _("Disabled: it is kept, but no longer used.")
    return _do(request, memory_id, curating.disable, said=said, undo="enable")


@require_POST
@personal_page
def memory_enable(request: HttpRequest, memory_id: str) -> HttpResponse:
    return _do(request, memory_id, curating.enable, said=_("In use again."), undo="disable")


@require_POST
@personal_page
def memory_delete(request: HttpRequest, memory_id: str) -> HttpResponse:
    said = _("Moved to the recycle bin.")
    return _do(request, memory_id, curating.recycle, said=said, undo="restore")


@require_POST
@personal_page
def memory_restore(request: HttpRequest, memory_id: str) -> HttpResponse:
    return _do(request, memory_id, curating.take_back, said=_("It is back."))


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
            memory = service(user=person(request), memory=memory)
    except NotFound:
        raise
    except ApplicationError as error:
        messages.error(request, _(error.message))
        return _answer(request, memory_id, back=back)
    messages.success(request, said, extra_tags=act(memory, undo, back=back) if undo else "")
    return _answer(request, memory_id, back=back)


def _answer(request: HttpRequest, memory_id: str, *, back: str) -> HttpResponse:
    """The page again; for htmx, which replaces the row alone, the row as it is now."""
    if not is_row(request):
        return redirect(back)
    with own_transaction(request):
        return row_again(request, selectors.memory_of(person(request), memory_id))


@require_POST
@personal_page
def memory_bulk(request: HttpRequest) -> HttpResponse:
    """One act on all that is ticked."""
    ids, action = request.POST.getlist("ids"), request.POST.get("do", "")
    back = way_back(request, default=reverse("memory_list"))
    if not ids:
        messages.info(request, _("Nothing was ticked."))
        return redirect(back)
    try:
        done = _bulk(request, ids, action=action, tag=request.POST.get("tag", ""))
    except ApplicationError as error:
        messages.error(request, _(error.message))
        return redirect(back)
    undo = _remember_undo(request, done, back=back) if action == "recycle" else ""
    messages.success(request, _said(action, len(done)), extra_tags=undo)
    return redirect(back)


@require_POST
@personal_page
def memory_undo(request: HttpRequest, token: str) -> HttpResponse:
    """Take back out of the bin what one bulk act put there."""
    ids = request.session.get("undo", {}).get(token)
    if ids is None:
        raise Http404
    done = _bulk(request, ids, action="restore")
    said = ngettext("%(count)d is back.", "%(count)d are back.", len(done))
    messages.success(request, said % {"count": len(done)})
    return redirect(way_back(request, default=reverse("memory_list")))


def _bulk(request: HttpRequest, ids: Sequence[str], *, action: str, tag: str = "") -> list[str]:
    with own_transaction(request):
        results = curating.bulk(user=person(request), ids=ids, action=action, tag_name=tag)
    return [public_id for public_id, result in results if result == "done"]


def _remember_undo(request: HttpRequest, ids: Sequence[str], *, back: str) -> str:
    """The ids stay in the session: there can be too many for an address."""
    token = secrets.token_urlsafe(8)
    kept = list(request.session.get("undo", {}).items())[1 - _KEPT_UNDOS :]
    request.session["undo"] = dict([*kept, (token, list(ids))])
    return f"{reverse('memory_undo', args=[token])}"


def _said(action: str, count: int) -> str:
    words = {
        "enable": ngettext("%(count)d is in use again.", "%(count)d are in use again.", count),
        "disable": ngettext("%(count)d disabled.", "%(count)d disabled.", count),
        "pin": ngettext("%(count)d pinned.", "%(count)d pinned.", count),
        "unpin": ngettext("%(count)d unpinned.", "%(count)d unpinned.", count),
        "tag": ngettext("%(count)d tagged.", "%(count)d tagged.", count),
        "untag": ngettext("%(count)d changed.", "%(count)d changed.", count),
        "recycle": ngettext(
            "%(count)d moved to the recycle bin.", "%(count)d moved to the recycle bin.", count
        ),
        "restore": ngettext("%(count)d is back.", "%(count)d are back.", count),
    }
    return words[action] % {"count": count}
