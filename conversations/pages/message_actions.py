"""Views that forget, rate or remember a message, and show or undo the memories learned from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from conversations import selectors
from conversations.forgetting import learned_undo, message_erasure, message_forgets
from conversations.models import Message, Role, Turn
from conversations.pages import bubbles, chat_page, deletions, forget_cards, turn_memories
from conversations.pages.chat_page import OpenedConversation, RatingForm
from conversations.recording import turns
from foundation.errors import ApplicationError, NotFound
from memories import review
from memories.learning import remember_this
from memories.learning.remember_this import Proposal, Span
from memories.models import Arbitration, Memory
from memories.pages.memory_form import MemoryForm, report_write_result
from memories.pages.memory_rows import name_memory
from memories.review import ReviewInput
from memories.selectors import memory_of
from memories.writing import curation
from memories.writing.direct_writes import MemoryInput
from ops import audit_log
from ops.models import Operation
from ops.pages import operation_rows
from ops.pages.base import (
    field_of,
    is_htmx,
    number_of,
    own_settings,
    own_transaction,
    person,
    personal_page,
    render_page,
)
from ops.queue import outbox

_ANSWERED = gettext_lazy("You have answered this already, perhaps in another tab.")
_LESSONS = "conversations/includes/lessons.html"


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def message_forget(request: HttpRequest, message_id: str) -> HttpResponse:
    """Forget a message with the other message of its turn and everything derived from them."""
    with own_transaction(request):
        user = person(request)
        message = selectors.message_of(user, message_id)
        if request.method != "POST":
            found = message_erasure.consequences_of_message(message, user=user)
            return deletions.show_dialog(request, deletions.message_dialog(message, found))
        operation = message_forgets.forget_message(user=user, message=message, cascade=True)
    words = operation_rows.forgotten_words(operation)
    messages.success(request, words, extra_tags=operation_rows.SHOWS_RECEIPTS)
    return _conversation(request, message.conversation.public_id, forget=operation.public_id)


@require_POST
@personal_page
def message_rate(request: HttpRequest, message_id: str) -> HttpResponse:
    form = RatingForm(request.POST)
    with own_transaction(request):
        message = selectors.message_of(person(request), message_id)
        if message.role != Role.ASSISTANT or not form.is_valid():
            return HttpResponse(_("Only answers can be rated, up or down."), status=422)
        rating, comment = form.cleaned_data["rating"] or None, form.cleaned_data["comment"]
        if "comment" not in request.POST and hasattr(message, "feedback"):
            comment = message.feedback.comment  # only the rating changes
        turns.rate_message(user=person(request), message=message, rating=rating, comment=comment)
        if not is_htmx(request):
            page = reverse("conversation", args=[message.conversation.public_id])
            return redirect(f"{page}#{message_id}")
        message = selectors.message_of(person(request), message_id)
        asks = "comment" not in request.POST and rating is not None
        context = {
            "bubble": bubbles.build_bubbles(person(request), [message])[0],
            "asks": asks,
            "oob": True,
        }
        return render(request, "conversations/includes/thumbs.html", context)


@require_POST
@personal_page
def turn_undo(request: HttpRequest, turn_id: str) -> HttpResponse:
    """Undo one memory that was learned from a turn."""
    with own_transaction(request):
        turn = _turn(request, turn_id)
    memory_id = field_of(request.POST, "memory")
    try:
        memory = learned_undo.undo_learned_memory(
            user=person(request), turn=turn, memory_id=memory_id
        )
    except NotFound:  # the memory may be in the recycle bin
        with own_transaction(request):
            memory = memory_of(person(request), memory_id)
        if memory.deleted_at is None:
            raise NotFound("There is nothing to undo here.") from None
        words = _("It is in the recycle bin.")
        messages.warning(request, words, extra_tags=_restore_url(memory, turn))
    except ApplicationError as error:
        messages.warning(request, _(error.message))
    else:
        if memory.deleted_at is None:
            messages.success(
                request, _("Undone: the memory is as it was before. The message stays.")
            )
        else:
            said = _("Moved to the recycle bin.")
            if is_htmx(request):  # a redirect would store this text in a cookie
                said = name_memory(said, memory)
            messages.success(request, said, extra_tags=_restore_url(memory, turn))
    if not is_htmx(request):
        return redirect(_answer_url(turn))
    with own_transaction(request):
        found = OpenedConversation(turn.conversation)
        context = {"row": found.row, "opened": found, "page": found.url}
        context |= chat_page.side_panel_context(person(request), turn.assistant_message)
        return render(request, f"{chat_page.TEMPLATE}#undone", context)


@require_POST
@personal_page
def turn_forget(request: HttpRequest, turn_id: str) -> HttpResponse:
    """Forget the items that the person ticked on a card, and mark the card as answered.

    Either all ticked items are forgotten or none. A second card counts and lists the items and asks
    for confirmation in two cases: memories that weren't ticked would be forgotten with a message,
    or the button for all likely items selected several.
    """
    with own_transaction(request):
        user = person(request)
        turn = _turn(request, turn_id)
        asked = forget_cards.requests_of(user, [turn])
        card = forget_cards.cards_of(user, [turn], asked=asked).get(turn.pk)
        op_id, said = "", str(_ANSWERED)
        if card is not None:
            done = _answer_card(request, turn, card, asked)
            if isinstance(done, HttpResponse):
                return done
            op_id, said = done
    messages.success(request, said)
    return _conversation(request, turn.conversation.public_id, forget=op_id)


def _answer_card(
    request: HttpRequest, turn: Turn, card: forget_cards.Card, asked: Sequence[Operation]
) -> HttpResponse | tuple[str, str]:
    """Forget the chosen items or keep everything; return the operation's id and a message to show.

    The id is "" if everything is kept. If the person must first choose or confirm, forget nothing
    and return a response that shows the card.
    """
    user = person(request)
    chosen, keeps = _ticked(request, card), "keep" in request.POST
    if "again" in request.POST:
        has_ticked = chosen and "everything" not in request.POST
        return _show_card(request, turn, card.ticking(chosen) if has_ticked else card)
    stay_ids = [one.public_id for one in card.memories if one not in chosen]
    if not keeps and not chosen:
        error = _("Nothing was selected, so nothing was forgotten.")
        return _show_card(request, turn, replace(card, error=error), status=422)
    memory_ids = [one.public_id for one in chosen if one.name == "memory"]
    message_ids = [one.public_id for one in chosen if one.name == "message"]
    if not keeps and "sure" not in request.POST:
        lost = message_forgets.also_forgotten(user, memory_ids=memory_ids, message_ids=message_ids)
        also = [one for one in lost if one.public_id not in stay_ids]
        stays = [one for one in lost if one.public_id in stay_ids]
        is_everything = "all" in request.POST
        if also or (is_everything and len(chosen) > 1):
            asks = card.asking_again(chosen, also, stays, is_everything=is_everything)
            return _show_card(request, turn, asks)
    op_id, said = "", _("Everything was kept.")
    if keeps:
        audit_log.record("forget.declined", subject=user.subject, target=turn.public_id)
    else:
        operation = message_forgets.forget_chosen(
            user=user,
            memory_ids=memory_ids,
            message_ids=message_ids,
            keep_ids=stay_ids,
            said_in=[turn.user_message_id],
        )
        op_id = operation.public_id
        said = _("%(forgotten)s The receipt will appear in this conversation.") % {
            "forgotten": operation_rows.forgotten_and_kept(operation)
        }
    for one in asked:
        outbox.mark_answered(one, by=op_id)
    return op_id, said


def _ticked(request: HttpRequest, card: forget_cards.Card) -> list[forget_cards.Line]:
    if "all" in request.POST:
        return card.everything
    lines = [*card.memories, *card.messages]
    return [one for one in lines if one.public_id in request.POST.getlist(one.name)]


def _show_card(
    request: HttpRequest, turn: Turn, card: forget_cards.Card, *, status: int = 200
) -> HttpResponse:
    part = "conversations/includes/forget_card.html"
    template = part if is_htmx(request) else "conversations/forget_card_page.html"
    context = {"card": card, "back": OpenedConversation(turn.conversation).url}
    return render(request, template, context, status=status)


def _conversation(request: HttpRequest, public_id: str, *, forget: str) -> HttpResponse:
    if not is_htmx(request):
        return redirect(deletions.page_with_receipt(public_id, forget=forget))
    with own_transaction(request):
        kept = chat_page.open_conversation(person(request), public_id)
        response = chat_page.show(request, kept, part="#without", forget=forget)
    response["HX-Retarget"], response["HX-Reswap"] = "#bubbles", "outerHTML"
    response["HX-Trigger"] = "dialog-done, conversation-changed, title-changed"
    return response


def _answer_url(turn: Turn) -> str:
    return f"{OpenedConversation(turn.conversation).url}#{turn.assistant_message.public_id}"


def _turn(request: HttpRequest, turn_id: str) -> Turn:
    rows = Turn.objects.filter(user=person(request), public_id=turn_id)
    found = rows.select_related("conversation", "assistant_message").first()
    if found is None:
        raise NotFound("This turn doesn’t exist.")
    return found


@require_safe
@personal_page
def turn_lessons(request: HttpRequest, turn_id: str) -> HttpResponse:
    """Return the labels under an answer that show which memories were learned from its turn.

    The page requests them repeatedly while the turn is queued.
    """
    tries = request.GET.get("try", "")
    with own_transaction(request):
        user = person(request)
        turn = _turn(request, turn_id)
        if not is_htmx(request):
            return redirect(_answer_url(turn))
        count = int(tries) if tries.isdecimal() and len(tries) < 4 else turn_memories.TRIES
        lessons = turn_memories.lessons_of(user, [turn], tries=count)[turn.pk]
        context = {"lessons": lessons, "page": OpenedConversation(turn.conversation).url}
        response = render(request, _LESSONS, context)
    if not lessons.again_url:
        response["HX-Trigger"] = "memories-learned"
    return response


@require_POST
@personal_page
def turn_owner(request: HttpRequest, turn_id: str) -> HttpResponse:
    """Process the person's answer to the question whether a constraint is about them.

    After "yes" the constraint is confirmed, otherwise it is moved to the recycle bin.
    """
    is_own = request.POST.get("mine") == "yes"
    with own_transaction(request):
        user = person(request)
        turn = _turn(request, turn_id)
        asked = turn_memories.lessons_of(user, [turn])[turn.pk].asked_about
        if asked is None or asked.public_id != field_of(request.POST, "memory"):
            learned = Arbitration.objects.filter(turn=turn)
            if not learned.filter(memory__public_id=field_of(request.POST, "memory")).exists():
                raise NotFound("There’s no message to answer here.")
            messages.info(request, _ANSWERED)
        elif is_own:
            review.confirm(user=user, decisions=[ReviewInput(asked.public_id, "accept")])
            messages.success(request, _("Remembered as yours."))
        else:
            curation.recycle(user=user, memory=asked)
            said = _("Moved to the recycle bin, as it’s not about you.")
            messages.success(request, said, extra_tags=_restore_url(asked, turn))
        if not is_htmx(request):
            return redirect(_answer_url(turn))
        lessons = turn_memories.lessons_of(user, [turn])[turn.pk]
        context = {"lessons": lessons, "page": OpenedConversation(turn.conversation).url}
        response = render(request, _LESSONS, context)
        response.write(render_to_string("includes/toast_list.html", {"oob": True}, request))
    response["HX-Trigger"] = "memories-learned"
    return response


def _restore_url(memory: Memory, turn: Turn) -> str:
    back = urlencode({"next": OpenedConversation(turn.conversation).url})
    return f"{reverse('memory_restore', args=[memory.public_id])}?{back}"


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def message_remember(request: HttpRequest, message_id: str) -> HttpResponse:
    """Show a form with a proposed memory for a message; when it is submitted, store the memory."""
    with own_transaction(request):
        message = selectors.message_of(person(request), message_id)
    if message.role != Role.USER:
        raise NotFound("This message doesn’t exist.")
    data = request.POST if request.method == "POST" else request.GET
    span = remember_this.span_of(
        message,
        start=number_of(data.get("start")),
        end=number_of(data.get("end")),
    )
    if request.method != "POST":
        found = remember_this.propose(message, span)
        initial = {"content": found.text, "kind": found.kind, "tags": found.tags}
        return _ask_to_remember(request, message, span, MemoryForm(initial=initial), found=found)
    form = MemoryForm(request.POST)
    if form.is_valid():
        with form.refusing():
            written = remember_this.write_remembered(
                MemoryInput(**form.cleaned_data), user=person(request), message=message, span=span
            )
    if form.errors:
        return _ask_to_remember(request, message, span, form)
    report_write_result(request, written)
    if not is_htmx(request):
        return redirect(_place_of(message))
    with own_transaction(request):
        user = person(request)
        turn = selectors.turn_of(user, message)
        lessons = turn_memories.lessons_of(user, [turn])[turn.pk] if turn is not None else None
        context = {"lessons": lessons, "page": OpenedConversation(message.conversation).url}
        response = render(request, f"{chat_page.TEMPLATE}#remembered", context)
    response["HX-Reswap"] = "none"
    response["HX-Trigger"] = "dialog-done, memories-learned"
    return response


def _ask_to_remember(
    request: HttpRequest,
    message: Message,
    span: Span,
    form: MemoryForm,
    *,
    found: Proposal | None = None,
) -> HttpResponse:
    is_part = len(span.text) < len(message.content.strip())
    context: dict[str, Any] = {
        "section": "chat",
        "form": form,
        "message": message,
        "back": _place_of(message),
        "is_off": not own_settings(request).longterm_enabled,
        "is_part": is_part,
        "found": found,
    }
    if is_part:
        end = span.start + len(span.text)
        context["hidden"] = [{"name": "start", "value": span.start}, {"name": "end", "value": end}]
    status = 422 if form.is_bound else 200
    with own_transaction(request):
        return render_page(request, "conversations/message_remember.html", context, status=status)


def _place_of(message: Message) -> str:
    page = OpenedConversation(message.conversation).url
    return f"{page}?{urlencode({'at': message.public_id})}#{message.public_id}"
