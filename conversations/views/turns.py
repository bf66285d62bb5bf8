"""What can be done to one turn: forget it, rate it, see what came of it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from conversations import selectors
from conversations.forms import RatingForm
from conversations.models import Role, Turn
from conversations.services import consequences, feedback, forgetting
from conversations.views import bubbles, going, learning, showing
from conversations.views.showing import Opened
from memcenter.lib.errors import NotFound
from memcenter.lib.pages import is_htmx, own_transaction, person, personal_page


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
    messages.success(request, going.forgotten())
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
        rating = form.cleaned_data["rating"] or None
        feedback.rate_message(user=person(request), message=message, rating=rating)
        if not is_htmx(request):
            page = reverse("conversation", args=[message.conversation.public_id])
            return redirect(f"{page}#{message_id}")
        message = selectors.message_of(person(request), message_id)
        context = {"bubble": bubbles.made(person(request), [message])[0]}
        return render(request, "conversations/includes/thumbs.html", context)


@require_safe
@personal_page
def turn_lessons(request: HttpRequest, turn_id: str) -> HttpResponse:
    """The chips under an answer; asked for again while the turn is being learned from."""
    tries = request.GET.get("try", "")
    with own_transaction(request):
        user = person(request)
        turn = (
            Turn.objects.filter(user=user, public_id=turn_id)
            .select_related("conversation", "assistant_message")
            .first()
        )
        if turn is None:
            raise NotFound("There is no such turn.")
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
