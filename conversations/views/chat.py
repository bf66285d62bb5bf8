"""The chat: reading a conversation and saying something in it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from conversations import selectors
from conversations.forms import MessageForm
from conversations.services import beginning, chat, temporary, temporary_chat
from conversations.services.turns import RecordedTurn
from conversations.views import bubbles, going, listing, showing
from conversations.views.showing import Opened
from memcenter.lib.errors import ApplicationError, Invalid, NotFound, ProviderError
from memcenter.lib.pages import is_htmx, own_transaction, person, personal_page
from ops.models import User


@require_safe
@personal_page
def chat_home(request: HttpRequest) -> HttpResponse:
    """The newest conversation, or an invitation to begin one."""
    with own_transaction(request):
        return showing.show(request, Opened(kept=listing.newest(person(request))))


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def conversation_new(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        return _say(request, Opened())
    return showing.show_own(request, Opened())


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def temporary_new(request: HttpRequest) -> HttpResponse:
    """A chat that is gone after a day, and that nothing is learned from."""
    if request.method == "POST":
        return _say(request, Opened(is_temporary=True))
    return showing.show_own(request, Opened(is_temporary=True))


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def conversation_page(request: HttpRequest, conversation_id: str) -> HttpResponse:
    with own_transaction(request):
        found = showing.opened(person(request), conversation_id)
        if request.method != "POST":
            return showing.show(request, found)
    return _say(request, found)


def _say(request: HttpRequest, found: Opened) -> HttpResponse:
    form = MessageForm(request.POST)
    if not form.is_valid():
        return _refused(request, found, form)
    was_untitled = found.row is not None and not found.row.title
    try:
        address, turn = _exchange(form.cleaned_data["text"], user=person(request), found=found)
    except NotFound:
        raise
    except ApplicationError as error:
        form.refuse(error)
        return _refused(request, found, form)
    except ProviderError:
        form.refuse(Invalid(_("No answer came. Nothing was saved; your text is still here.")))
        return _refused(request, found, form)
    if found.row is None:  # the page of the new conversation takes the place of this one
        return going.leave(request, address)
    if not is_htmx(request):
        return redirect(f"{address}#end")
    response = _answered(request, found, turn)
    changed = "conversation-changed, title-changed" if was_untitled else "conversation-changed"
    response["HX-Trigger"] = changed
    return response


def _exchange(text: str, *, user: User, found: Opened) -> tuple[str, RecordedTurn | None]:
    """Say it where it belongs; gives the page of the conversation, and the turn if it is kept."""
    if found.is_temporary:
        passing = found.passing or temporary.create(user=user, external_id=None)
        temporary_chat.exchange(text, user=user, conversation=passing)
        return listing.temporary_row_of(passing).url, None
    if found.kept is None:
        begun = beginning.begin(text, user=user).turn
        return listing.row_of(begun.conversation).url, begun
    turn = chat.exchange(text, user=user, conversation=found.kept).turn
    return listing.row_of(turn.conversation).url, turn


def _refused(request: HttpRequest, found: Opened, form: MessageForm) -> HttpResponse:
    """The text is kept: in the composer alone for htmx, else in the page."""
    if not is_htmx(request):
        return showing.show_own(request, found, form=form)
    response = showing.show_own(request, found, form=form, part="#composer")
    response["HX-Retarget"], response["HX-Reswap"] = "#composer", "outerHTML"
    return response


def _answered(request: HttpRequest, found: Opened, turn: RecordedTurn | None) -> HttpResponse:
    """The two new bubbles, and the panel about the answer."""
    with own_transaction(request):
        user = person(request)
        context: dict[str, Any] = {"row": found.row, "opened": found}
        if turn is None:
            assert found.passing is not None
            said = bubbles.temporary_ones(temporary.read(found.passing)[-2:])
        else:
            before = selectors.messages_of(user, turn.conversation).filter(
                number__lt=turn.user_message.number
            )
            pair = [turn.user_message, turn.assistant_message]
            said = bubbles.made(user, pair, after=before.order_by("-number").first())
            context |= showing.beside(user, turn.assistant_message)
        context["said"] = said
        return render(request, f"{showing.TEMPLATE}#sent", context)
