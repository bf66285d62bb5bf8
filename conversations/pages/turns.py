"""Forget a turn, rate it, and show what was learned from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from conversations import selectors
from conversations.forgetting import forget_choices, forget_preview, learned_undo, message_forgets
from conversations.models import Message, Role, Turn
from conversations.pages import bubbles, chat_page, forget_cards, learned
from conversations.pages.chat_page import Opened
from conversations.pages.forms import RatingForm
from conversations.pages.manage import delete_texts
from conversations.recording import ratings
from memcenter.lib.errors import ApplicationError, NotFound
from memories.models import Memory
from memories.writing import review
from memories.writing.review import ReviewInput
from ops.audit import audit_log
from ops.pages.base import is_htmx, own_transaction, person, personal_page
from ops.queue import outbox


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def message_forget(request: HttpRequest, message_id: str) -> HttpResponse:
    """Forget a message with the other message of its turn and everything derived from them."""
    with own_transaction(request):
        user = person(request)
        message = selectors.message_of(user, message_id)
        if request.method != "POST":
            found = forget_preview.of_message(message, user=user)
            return delete_texts.ask(request, delete_texts.of_message(message, found))
        operation = message_forgets.forget_message(user=user, message=message, cascade=True)
    messages.success(request, _forgotten())
    return _conversation(request, message.conversation.public_id, forget=operation.public_id)


@require_POST
@personal_page
def message_rate(request: HttpRequest, message_id: str) -> HttpResponse:
    form = RatingForm(request.POST)
    with own_transaction(request):
        message = selectors.message_of(person(request), message_id)
        if message.role != Role.ASSISTANT or not form.is_valid():
            return HttpResponse(_("Only answers can be rated, up or down."), status=422)
        rating, comment = form.cleaned_data["rating"] or None, _comment(form, message)
        ratings.rate_message(user=person(request), message=message, rating=rating, comment=comment)
        if not is_htmx(request):
            page = reverse("conversation", args=[message.conversation.public_id])
            return redirect(f"{page}#{message_id}")
        message = selectors.message_of(person(request), message_id)
        asks = "comment" not in request.POST and rating is not None
        context = {"bubble": bubbles.made(person(request), [message])[0], "asks": asks, "oob": True}
        return render(request, "conversations/includes/thumbs.html", context)


def _comment(form: RatingForm, message: Message) -> str:
    """Return the new comment; changing only the thumb keeps the old comment."""
    if "comment" in form.data or not hasattr(message, "feedback"):
        return str(form.cleaned_data["comment"])
    return message.feedback.comment


@require_POST
@personal_page
def turn_undo(request: HttpRequest, turn_id: str) -> HttpResponse:
    """Undo one memory that was learned from a turn."""
    with own_transaction(request):
        turn = _turn(request, turn_id)
    page = Opened(kept=turn.conversation).url
    memory_id = request.POST.get("memory", "")
    try:
        memory = learned_undo.take_back(user=person(request), turn=turn, memory_id=memory_id)
    except NotFound:
        raise
    except ApplicationError as error:
        messages.warning(request, _(error.message))
    else:
        _say_what_is_back(request, memory, page=page)
    if not is_htmx(request):
        return redirect(f"{page}#{turn.assistant_message.public_id}")
    return _without_it(request, turn)


def _say_what_is_back(request: HttpRequest, memory: Memory, *, page: str) -> None:
    if memory.deleted_at is None:
        messages.success(request, _("This exchange has been undone."))
        return
    undo = reverse("memory_restore", args=[memory.public_id])
    undo = f"{undo}?{urlencode({'next': page})}"
    messages.success(request, _("Moved to the recycle bin."), extra_tags=undo)


def _without_it(request: HttpRequest, turn: Turn) -> HttpResponse:
    """Return the updated panel and chips of the answer."""
    with own_transaction(request):
        found = Opened(kept=turn.conversation)
        context = {"row": found.row, "opened": found, "page": found.url}
        context |= chat_page.beside(person(request), turn.assistant_message)
        return render(request, f"{chat_page.TEMPLATE}#undone", context)


_LESSONS = "conversations/includes/lessons.html"
_CARD = "conversations/includes/forget_card.html"
_CHANGED = "dialog-done, conversation-changed, title-changed"


@require_POST
@personal_page
def turn_forget(request: HttpRequest, turn_id: str) -> HttpResponse:
    """Forget the ticked items, all or none; this answers the question."""
    with own_transaction(request):
        user = person(request)
        turn = _turn(request, turn_id)
        asked = forget_cards.requests_of(user, [turn])
        card = forget_cards.cards_of(user, [turn], asked=asked).get(turn.pk)
        if card is None:
            raise NotFound("There is nothing to choose here.")
        memory_ids = _ticked(request, "memory", card.memories)
        message_ids = _ticked(request, "message", card.messages)
        keeps = "keep" in request.POST
        if not keeps and not memory_ids and not message_ids:
            return _ask_again(request, turn, card)
        op_id = ""
        if keeps:
            audit_log.record("forget.declined", subject=user.subject, target=turn.public_id)
        else:
            op_id = forget_choices.forget(
                user=user, memory_ids=memory_ids, message_ids=message_ids
            ).public_id
        for one in asked:
            outbox.mark_answered(one, by=op_id)
    messages.success(request, _("Everything was kept.") if keeps else _forgotten())
    return _conversation(request, turn.conversation.public_id, forget=op_id)


def _ticked(request: HttpRequest, name: str, lines: Sequence[forget_cards.Line]) -> list[str]:
    """Return the ticked items of the question; the form can forget nothing else."""
    listed = [one.public_id for one in lines]
    ticked = listed if "all" in request.POST else request.POST.getlist(name)
    return [one for one in listed if one in ticked]


def _ask_again(request: HttpRequest, turn: Turn, card: forget_cards.Card) -> HttpResponse:
    error = _("Nothing was selected, so nothing was forgotten.")
    if is_htmx(request):
        return render(request, _CARD, {"card": replace(card, error=error)}, status=422)
    messages.warning(request, error)
    response = chat_page.show(request, Opened(kept=turn.conversation))
    response.status_code = 422
    return response


def _forgotten() -> str:
    return _("Forgotten. It’s no longer shown or used. The receipt will appear below.")


def _conversation(request: HttpRequest, public_id: str, *, forget: str) -> HttpResponse:
    """Return the conversation as it is now, with the receipt of a forget below it."""
    if not is_htmx(request):
        return redirect(delete_texts.page_after(public_id, forget=forget))
    with own_transaction(request):
        kept = chat_page.opened(person(request), public_id)
        response = chat_page.show(request, kept, part="#without", forget=forget)
    response["HX-Retarget"], response["HX-Reswap"] = "#bubbles", "outerHTML"
    response["HX-Trigger"] = _CHANGED
    return response


def _turn(request: HttpRequest, turn_id: str) -> Turn:
    turns = Turn.objects.filter(user=person(request), public_id=turn_id)
    found = turns.select_related("conversation", "assistant_message").first()
    if found is None:
        raise NotFound("There is no such turn.")
    return found


@require_safe
@personal_page
def turn_lessons(request: HttpRequest, turn_id: str) -> HttpResponse:
    """Return the chips under an answer; the page polls while the turn is queued."""
    tries = request.GET.get("try", "")
    with own_transaction(request):
        user = person(request)
        turn = _turn(request, turn_id)
        page = Opened(kept=turn.conversation).url
        if not is_htmx(request):
            return redirect(f"{page}#{turn.assistant_message.public_id}")
        count = int(tries) if tries.isdecimal() and len(tries) < 4 else learned.TRIES
        lessons = learned.lessons_of(user, [turn], tries=count)[turn.pk]
        context = {"lessons": lessons, "page": page}
        response = render(request, _LESSONS, context)
    if not lessons.again_url:
        response["HX-Trigger"] = "memories-learned"
    return response


@require_POST
@personal_page
def turn_owner(request: HttpRequest, turn_id: str) -> HttpResponse:
    """Confirm that a constraint is the person's own, or forget it."""
    decision = "accept" if request.POST.get("mine") == "yes" else "reject"
    with own_transaction(request):
        user = person(request)
        turn = _turn(request, turn_id)
        asked = learned.lessons_of(user, [turn])[turn.pk].asked_about
        if asked is None or asked.public_id != request.POST.get("memory"):
            raise NotFound("There is nothing to answer here.")
        review.confirm(user=user, decisions=[ReviewInput(asked.public_id, decision)])
        page = Opened(kept=turn.conversation).url
        if not is_htmx(request):
            return redirect(f"{page}#{turn.assistant_message.public_id}")
        lessons = learned.lessons_of(user, [turn])[turn.pk]
        response = render(request, _LESSONS, {"lessons": lessons, "page": page})
    response["HX-Trigger"] = "memories-learned"
    return response
