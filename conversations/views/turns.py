"""What can be done to one turn: forget it, rate it, see what came of it."""

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
from conversations.forms import RatingForm
from conversations.models import Message, Role, Turn
from conversations.services import consequences, feedback, forget_choices, forgetting, undoing
from conversations.views import bubbles, forget_cards, going, learning, showing
from conversations.views.showing import Opened
from memcenter.lib.errors import ApplicationError, NotFound
from memories.models import Memory
from ops.pages import is_htmx, own_transaction, person, personal_page
from ops.services import audit, outbox
from ops.views.saying import forgotten


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def message_forget(request: HttpRequest, message_id: str) -> HttpResponse:
    """Forget a message with the other one of its turn, and all that rests on it."""
    with own_transaction(request):
        user = person(request)
        message = selectors.message_of(user, message_id)
        if request.method != "POST":
            found = consequences.of_message(message, user=user)
            return going.ask(request, going.of_message(message, found))
        forgetting.forget_message(user=user, message=message, cascade=True)
    messages.success(request, forgotten())
    if not is_htmx(request):
        return redirect("conversation", message.conversation.public_id)
    with own_transaction(request):
        kept = showing.opened(person(request), message.conversation.public_id)
        response = showing.show(request, kept, part="#without")
    response["HX-Reswap"], response["HX-Trigger"] = "outerHTML", _DONE
    return response


_DONE = '{"dialog-done": "", "conversation-changed": ""}'


@require_POST
@personal_page
def message_rate(request: HttpRequest, message_id: str) -> HttpResponse:
    form = RatingForm(request.POST)
    with own_transaction(request):
        message = selectors.message_of(person(request), message_id)
        if message.role != Role.ASSISTANT or not form.is_valid():
            return HttpResponse(_("Only answers can be rated, up or down."), status=422)
        rating, comment = form.cleaned_data["rating"] or None, _comment(form, message)
        feedback.rate_message(user=person(request), message=message, rating=rating, comment=comment)
        if not is_htmx(request):
            page = reverse("conversation", args=[message.conversation.public_id])
            return redirect(f"{page}#{message_id}")
        message = selectors.message_of(person(request), message_id)
        asks = "comment" not in request.POST and rating is not None
        context = {"bubble": bubbles.made(person(request), [message])[0], "asks": asks, "oob": True}
        return render(request, "conversations/includes/thumbs.html", context)


def _comment(form: RatingForm, message: Message) -> str:
    """What is said now; another thumb alone leaves what was said before."""
    if "comment" in form.data or not hasattr(message, "feedback"):
        return str(form.cleaned_data["comment"])
    return message.feedback.comment


@require_POST
@personal_page
def turn_undo(request: HttpRequest, turn_id: str) -> HttpResponse:
    """Take back one memory that a turn taught."""
    with own_transaction(request):
        turn = _turn(request, turn_id)
    page = Opened(kept=turn.conversation).url
    memory_id = request.POST.get("memory", "")
    try:
        memory = undoing.take_back(user=person(request), turn=turn, memory_id=memory_id)
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
        messages.success(request, _("It is again as it was before this turn."))
        return
    undo = reverse("memory_restore", args=[memory.public_id])
    undo = f"{undo}?{urlencode({'next': page})}"
    messages.success(request, _("Moved to the recycle bin."), extra_tags=undo)


def _without_it(request: HttpRequest, turn: Turn) -> HttpResponse:
    """The panel about the answer and the chips under it, as they are now."""
    with own_transaction(request):
        found = Opened(kept=turn.conversation)
        context = {"row": found.row, "opened": found, "page": found.url}
        context |= showing.beside(person(request), turn.assistant_message)
        return render(request, f"{showing.TEMPLATE}#undone", context)


_CARD = "conversations/includes/forget_card.html"
_CHANGED = "conversation-changed, title-changed"


@require_POST
@personal_page
def turn_forget(request: HttpRequest, turn_id: str) -> HttpResponse:
    """Forget what is ticked, or all of it, or keep everything; then the question is answered."""
    with own_transaction(request):
        user = person(request)
        turn = _turn(request, turn_id)
        card = forget_cards.cards_of(user, [turn]).get(turn.pk)
        if card is None:
            raise NotFound("There is nothing to choose here.")
        memory_ids = _ticked(request, "memory", card.memories)
        message_ids = _ticked(request, "message", card.messages)
        keeps = "keep" in request.POST
        if not keeps and not memory_ids and not message_ids:
            return _ask_again(request, turn, card)
        for operation in forget_cards.questions_of(user, [turn]):
            outbox.mark_answered(operation)
        if keeps:
            audit.record("forget.declined", subject=user.subject, target=turn.public_id)
        else:
            forget_choices.forget(user=user, memory_ids=memory_ids, message_ids=message_ids)
    messages.success(request, _("Everything stays.") if keeps else forgotten())
    return _conversation(request, turn.conversation.public_id)


def _ticked(request: HttpRequest, name: str, lines: Sequence[forget_cards.Line]) -> list[str]:
    """Of what is asked about; nothing else can be forgotten by this form."""
    listed = [one.public_id for one in lines]
    ticked = listed if "all" in request.POST else request.POST.getlist(name)
    return [one for one in listed if one in ticked]


def _ask_again(request: HttpRequest, turn: Turn, card: forget_cards.Card) -> HttpResponse:
    error = _("Nothing is ticked, so nothing was forgotten.")
    if is_htmx(request):
        return render(request, _CARD, {"card": replace(card, error=error)}, status=422)
    messages.warning(request, error)
    response = showing.show(request, Opened(kept=turn.conversation))
    response.status_code = 422
    return response


def _conversation(request: HttpRequest, public_id: str) -> HttpResponse:
    if not is_htmx(request):
        return redirect("conversation", public_id)
    with own_transaction(request):
        kept = showing.opened(person(request), public_id)
        response = showing.show(request, kept, part="#without")
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
    """The chips under an answer; asked for again while the turn is being learned from."""
    tries = request.GET.get("try", "")
    with own_transaction(request):
        user = person(request)
        turn = _turn(request, turn_id)
        page = Opened(kept=turn.conversation).url
        if not is_htmx(request):
            return redirect(f"{page}#{turn.assistant_message.public_id}")
        count = int(tries) if tries.isdecimal() and len(tries) < 4 else learning.TRIES
        lessons = learning.lessons_of(user, [turn], tries=count)[turn.pk]
        context = {"lessons": lessons, "page": page}
        response = render(request, "conversations/includes/lessons.html", context)
    if not lessons.again_url:
        response["HX-Trigger"] = "memories-learned"
    return response
