"""Views that pin, disable, delete, restore, rate or forget memories, and undo bulk actions.

Each view redirects to the page where the action was chosen. The views that forget first list what
is erased and what is kept.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from conversations.forgetting import message_forgets
from conversations.models import Message, Rating, Turn
from foundation.errors import ApplicationError, NotFound
from foundation.text.richtext import shorten, with_inner_quotation_marks
from memories import projects, selectors
from memories.extraction.masking import additions_in_words
from memories.forgetting import memory_forgets
from memories.models import Memory, MemoryStatus
from memories.pages.memory_rows import (
    action_url,
    is_in_place,
    is_row,
    name_memory,
    render_changed_rows,
)
from memories.selectors import BIN, MemoryFilter
from memories.writing import curation
from ops.pages.base import (
    current_address,
    is_htmx,
    next_address,
    own_transaction,
    person,
    personal_page,
    redirect_after_form,
    render_page,
)
from ops.pages.operation_rows import forgotten_words

_KEPT_UNDOS = 5
# For each rating: the message that is shown after it.
_RATED = {
    Rating.POSITIVE: gettext_lazy("Thanks. I’ll rely on it more."),
    Rating.NEGATIVE: gettext_lazy("Thanks. I’ll rely on it less. You can also correct it."),
    Rating.VERY_NEGATIVE: gettext_lazy(
        "Thanks. I’ll use it only where little else fits. You can also correct or forget it."
    ),
    "": gettext_lazy("Your rating was removed."),
}
# For each bulk action: the reverse action, and a filter for the memories that the bulk action will
# change. An undo applies the reverse action only to these memories.
_UNDONE_BY = {
    "recycle": ("restore", Q(deleted_at=None)),
    "disable": ("enable", Q(status=MemoryStatus.ACTIVE)),
    "enable": ("disable", Q(status=MemoryStatus.DISABLED)),
    "pin": ("unpin", Q(pinned=False)),
    "unpin": ("pin", Q(pinned=True)),
}


# For each action on one memory: the service, the message, and the action that undoes it.
ACTIONS: dict[str, tuple[Callable[..., Memory], Any, str]] = {
    "pin": (curation.pin, gettext_lazy("Pinned."), "unpin"),
    "unpin": (curation.unpin, gettext_lazy("Unpinned."), "pin"),
    "disable": (
        curation.disable,
        gettext_lazy("Disabled. It’s kept but no longer used."),
        "enable",
    ),
    "enable": (curation.enable, gettext_lazy("In use again."), "disable"),
    "delete": (curation.recycle, gettext_lazy("Moved to the recycle bin."), "restore"),
    "restore": (curation.restore_from_bin, gettext_lazy("Restored."), ""),
}


@require_POST
@personal_page
def memory_act(request: HttpRequest, memory_id: str, action: str) -> HttpResponse:
    service, words, undo = ACTIONS[action]
    return _do(request, memory_id, service, words=str(words), undo=undo)


@require_POST
@personal_page
def memory_rate(request: HttpRequest, memory_id: str) -> HttpResponse:
    """Rate a memory or remove the rating.

    After a very bad rating the page offers to forget the memory.
    """
    rating = request.POST.get("rating", "")
    if rating not in _RATED:
        return HttpResponse(_("This rating doesn’t exist."), status=422)
    service = partial(curation.rate_memory, rating=rating or None)
    return _do(request, memory_id, service, words=str(_RATED[rating]))


def _do(
    request: HttpRequest,
    memory_id: str,
    service: Callable[..., Memory],
    *,
    words: str,
    undo: str = "",
) -> HttpResponse:
    listed = current_address(request) if is_htmx(request) else reverse("memory_list")
    back = next_address(request, default=listed)
    try:
        with own_transaction(request):
            memory = selectors.memory_of(person(request), memory_id)
            if memory.deleted_at and service not in (curation.recycle, curation.restore_from_bin):
                return offer_restore(request, memory)
            memory = service(user=person(request), memory=memory)
    except NotFound:
        raise
    except ApplicationError as error:
        messages.error(request, _(error.message))
        return _answer(request, memory_id, back=back)
    # A redirect stores the message in a cookie, which must not contain the text of a memory.
    if undo and (is_row(request) or is_in_place(request)):
        words = name_memory(words, memory)
    messages.success(request, words, extra_tags=action_url(memory, undo, back=back) if undo else "")
    return _answer(request, memory_id, back=back)


def offer_restore(request: HttpRequest, memory: Memory) -> HttpResponse:
    """Offer to restore a memory that was deleted in the meantime, in its row or on its page."""
    if is_row(request):
        return render(request, "memories/includes/row_in_bin.html", {"memory": memory})
    messages.warning(request, _("This is in the recycle bin. Restore it to change it."))
    if is_in_place(request):
        return render_changed_rows(request, [])
    return redirect_after_form(request, reverse("memory_page", args=[memory.public_id]))


def _answer(request: HttpRequest, memory_id: str, *, back: str) -> HttpResponse:
    if not is_row(request):
        return _answer_all(request, [memory_id], back=back)
    with own_transaction(request):
        return render_changed_rows(request, [memory_id], oob=False)


def _answer_all(request: HttpRequest, ids: Sequence[str], *, back: str) -> HttpResponse:
    if not is_in_place(request):
        return redirect(back)
    with own_transaction(request):
        return render_changed_rows(request, ids)


@require_POST
@personal_page
def memory_bulk(request: HttpRequest) -> HttpResponse:
    ids, action = request.POST.getlist("ids"), request.POST.get("do", "")
    back = next_address(request, default=reverse("memory_list"))
    if not ids:
        messages.info(request, _("Nothing was selected."))
        return _answer_all(request, [], back=back)
    reverse_action, to_change = _UNDONE_BY.get(action, ("", Q()))
    try:
        with own_transaction(request):
            rows = Memory.visible.filter(to_change, user=person(request), public_id__in=ids)
            changing = list(rows.values_list("public_id", flat=True)) if reverse_action else []
            done = _bulk(request, ids, action=action, tag=request.POST.get("tag", ""))
    except ApplicationError as error:
        messages.error(request, _(error.message))
        return _answer_all(request, [], back=back)
    undo = remember_undo(request, reverse_action, changing, back=back) if changing else ""
    messages.success(request, _bulk_message(action, len(done)), extra_tags=undo)
    if gone := len(set(ids)) - len(done):
        words = ngettext(
            "%(count)d was changed meanwhile: it is in the recycle bin or no longer exists.",
            "%(count)d were changed meanwhile: they are in the recycle bin or no longer exist.",
            gone,
        )
        messages.warning(request, words % {"count": gone})
    return _answer_all(request, ids, back=back)


@require_POST
@personal_page
def memory_undo(request: HttpRequest, token: str) -> HttpResponse:
    """Undo a bulk action."""
    back = next_address(request, default=reverse("memory_list"))
    action, ids = request.session.get("undo", {}).get(token, ("", ()))
    if not action:
        said = _("This can no longer be undone here. What you deleted is in the recycle bin.")
        messages.warning(request, said)
        return _answer_all(request, [], back=back)
    with own_transaction(request):
        done = _bulk(request, ids, action=action)
    messages.success(request, _bulk_message(action, len(done)))
    return _answer_all(request, ids, back=back)


def _bulk(request: HttpRequest, ids: Sequence[str], *, action: str, tag: str = "") -> list[str]:
    results = curation.apply_to_many(user=person(request), ids=ids, action=action, tag_name=tag)
    return [public_id for public_id, result in results if result == "done"]


def remember_undo(
    request: HttpRequest,
    action: str,
    ids: Sequence[str],
    *,
    back: str = "",
    view: str = "memory_undo",
) -> str:
    """Store an undo in the session, and return the URL of `view`, which performs the undo.

    The view reads `action` and `ids` from the session, because there can be too many ids for a URL.
    The session keeps only the latest `_KEPT_UNDOS` undos.
    """
    token = secrets.token_urlsafe(8)
    kept = list(request.session.get("undo", {}).items())[1 - _KEPT_UNDOS :]
    request.session["undo"] = dict([*kept, (token, (action, list(ids)))])
    return reverse(view, args=[token], query={"next": back} if back else None)


def _bulk_message(action: str, count: int) -> str:
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


_SHOWN = 80  # characters of a memory


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def memory_forget(request: HttpRequest, memory_id: str) -> HttpResponse:
    with own_transaction(request):
        memory = selectors.memory_of(person(request), memory_id)
        sources = selectors.sources_of(memory)
        turns = list({one.turn_id: one.turn for one in sources if one.turn}.values())
        messages_of_turns = [turn.user_message for turn in turns]
        repeated = memory_forgets.repeating_messages(
            memory.user, [memory.pk], told=[one.pk for one in messages_of_turns]
        )
        source_messages = [*messages_of_turns, *repeated]
        if request.method != "POST":
            context = _forget_context(request, memory, turns, repeated)
            return _ask_to_forget(request, **context)
        if source_messages and request.POST.get("turns"):
            message_ids = [one.public_id for one in source_messages]
            operation = message_forgets.forget_chosen(
                user=memory.user, memory_ids=[memory.public_id], message_ids=message_ids
            )
        else:
            chosen = message_forgets.BY_PERSON if source_messages else ""
            operation = memory_forgets.forget_memory(user=memory.user, memory=memory, chosen=chosen)
    messages.success(request, forgotten_words(operation))
    return redirect_after_form(request, next_address(request, default=reverse("memory_list")))


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def bin_empty(request: HttpRequest) -> HttpResponse:
    """Forget all memories in the recycle bin."""
    with own_transaction(request):
        memories = list(selectors.memories_of(person(request), MemoryFilter(status=BIN)))
        if request.method != "POST" and memories:
            words = ngettext(
                "%(n)d memory in the recycle bin, with everything derived from it",
                "%(n)d memories in the recycle bin, with everything derived from them",
                len(memories),
            )
            return _ask_to_forget(
                request,
                action=reverse("bin_empty"),
                title=_("Forget everything in the recycle bin?"),
                goes=[words % {"n": len(memories)}],
                confirm=_("Forget all"),
                cancel_href=reverse("memory_bin"),
            )
        if memories:
            operation = memory_forgets.forget_memories(user=person(request), memories=memories)
            messages.success(request, forgotten_words(operation))
    return redirect_after_form(request, reverse("memory_bin"))


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def project_forget(request: HttpRequest, key: str) -> HttpResponse:
    with own_transaction(request):
        project = projects.find(user=person(request), key=key)
        if request.method != "POST":
            count = Memory.visible.filter(user=project.user_id, project=project).count()
            words = ngettext(
                "%(n)d memory, with its versions and everything derived from it",
                "%(n)d memories, with their versions and everything derived from them",
                count,
            )
            return _ask_to_forget(
                request,
                action=reverse("project_forget", args=[project.key]),
                title=_("Forget the project “%(name)s”?") % {"name": project.name or project.key},
                goes=[words % {"n": count}, _("the project itself")],
                cancel_href=f"{reverse('memory_list')}?{urlencode({'project': project.key})}",
            )
        operation = memory_forgets.forget_project(user=person(request), project=project)
    messages.success(request, forgotten_words(operation))
    return redirect_after_form(request, reverse("memory_list"))


def _ask_to_forget(request: HttpRequest, **given: Any) -> HttpResponse:
    usual = {
        "text": _("This can’t be undone. You will get a receipt."),
        "stays": [_("your conversations"), _("all other memories")],
        "confirm": _("Forget now"),
    }
    return render_page(request, "memories/memory_forget.html", usual | given)


def _forget_context(
    request: HttpRequest, memory: Memory, turns: Sequence[Turn], repeated: Sequence[Message]
) -> dict[str, Any]:
    user = person(request)
    uses = selectors.recalls_of(user, memory).count()
    versions = selectors.versions_of(memory).count()
    goes = [
        _("“%(text)s”")
        % {"text": with_inner_quotation_marks(additions_in_words(shorten(memory.content, _SHOWN)))}
    ]
    if versions > 1:
        words = ngettext("%(n)d version of it", "all %(n)d versions of it", versions)
        goes.append(words % {"n": versions})
    if uses:
        words = ngettext("%(n)d usage record", "%(n)d usage records", uses)
        goes.append(words % {"n": uses})
    goes.append(
        _("everything derived from it: search index, links to other memories, lines in files")
    )
    back = next_address(request, default=reverse("memory_list"))
    page = reverse("memory_page", args=[memory.public_id])
    return {
        "action": reverse("memory_forget", args=[memory.public_id]),
        "title": _("Forget this now?"),
        "goes": goes,
        "stays": [*_remaining(turns), *_repeating(len(repeated))],
        "choices": _choices(memory, [*(turn.user_message for turn in turns), *repeated]),
        "cancel_href": back if back != reverse("memory_list") else page,
        # The page of a forgotten memory would be a 404.
        "hidden": [{"name": "next", "value": reverse("memory_list") if back == page else back}],
    }


def _remaining(turns: Sequence[Turn]) -> list[str]:
    if not turns:
        return [_("your conversations")]
    count = len(turns)
    titles = list(dict.fromkeys(turn.conversation.title for turn in turns))
    if len(titles) == 1 and titles[0]:
        words = ngettext(
            "the exchange it came from, in “%(title)s”",
            "the %(n)d exchanges it came from, in “%(title)s”",
            count,
        )
        return [words % {"n": count, "title": titles[0]}]
    words = ngettext("the exchange it came from", "the %(n)d exchanges it came from", count)
    return [words % {"n": count}]


def _repeating(count: int) -> list[str]:
    if not count:
        return []
    words = ngettext(
        "%(n)d other message that repeats it word for word",
        "%(n)d other messages that repeat it word for word",
        count,
    )
    return [words % {"n": count}]


def _choices(memory: Memory, source_messages: Sequence[Message]) -> list[dict[str, Any]]:
    count = len(source_messages)
    if not count:
        return []
    also = message_forgets.also_forgotten(
        memory.user,
        memory_ids=[memory.public_id],
        message_ids=[one.public_id for one in source_messages],
    )
    named = [shorten(additions_in_words(one.content), _SHOWN) for one in also]
    label = ngettext("Also delete this exchange", "Also delete these %(n)d exchanges", count)
    help_text = (
        _("What you said and the answer. These memories were learned only there and go too:")
        if named
        else _("What you said and the answer. No other memory was learned only there.")
    )
    return [{"name": "turns", "label": label % {"n": count}, "help": help_text, "also": named}]
