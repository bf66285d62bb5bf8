"""Render the chat page: the conversation list, one conversation, its forms and the side panel.

The side panel shows the memories that an answer used and those learned from its turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import Any, cast

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conversations import selectors
from conversations.chat import answer_text
from conversations.models import Conversation, Message, Rating, Role
from conversations.pages import bubbles, conversation_list, forget_receipts, turn_memories
from conversations.pages.bubbles import Bubbles, EndNote
from conversations.pages.conversation_list import Row
from conversations.pages.forget_receipts import ForgetLine
from conversations.pages.turn_memories import Lessons
from conversations.recording import conversation_names, temporary
from conversations.recording.temporary import TemporaryConversation
from foundation.errors import ApplicationError, NotFound
from ops.accounts import users
from ops.models import User
from ops.pages.base import View, ViewArgs, is_htmx, number_of, own_transaction, person, target
from ops.pages.forms import ServiceForm

TEMPLATE = "conversations/conversation_detail.html"
# The template part to render for each htmx target; the data of other parts isn't loaded.
_PARTS = {
    "conversation-list": "#list",
    "used-here": "#used",
    "chat-title": "#title",
    "bubbles": "#bubbles",
    "memory-off": "#off",
}
_WITHOUT_MESSAGES = ("#list", "#title", "#off")


def keeps_text(view: View[ViewArgs]) -> View[ViewArgs]:
    """Decorate a view so that typed text isn't lost if the person's session has expired.

    The page that asks the person to sign in shows the text again. Place this decorator above
    `personal_page`.
    """

    @wraps(view)
    def keeping(
        request: HttpRequest, *args: ViewArgs.args, **kwargs: ViewArgs.kwargs
    ) -> HttpResponseBase:
        text = request.POST.get("text", "")
        if request.user.is_authenticated or not text or is_htmx(request):
            return view(request, *args, **kwargs)
        context = {"text": text, "next": request.path}
        response = render(request, "conversations/signed_out.html", context, status=401)
        response["Cache-Control"] = "private, no-store"
        return response

    return cast("View[ViewArgs]", keeping)


@dataclass(frozen=True)
class OpenedConversation:
    """The conversation that the page shows. `conversation` is None for a new chat."""

    conversation: Conversation | TemporaryConversation | None = None
    is_temporary: bool = False

    @property
    def row(self) -> Row | None:
        return conversation_list.row_of(self.conversation) if self.conversation else None

    @property
    def url(self) -> str:
        """Return the URL of the page, to which the message form is submitted too."""
        if self.row is not None:
            return self.row.url
        return reverse("temporary_new" if self.is_temporary else "conversation_new")


def open_conversation(user: User, public_id: str) -> OpenedConversation:
    """Return the person's stored or temporary conversation with this id.

    Raise `NotFound` if there is no such conversation.
    """
    try:
        return OpenedConversation(conversation_names.resolve(user=user, reference=public_id))
    except NotFound:
        found = temporary.find(user=user, reference=public_id)
        if found is None:
            raise
        return OpenedConversation(found, is_temporary=True)


def show(
    request: HttpRequest,
    found: OpenedConversation,
    *,
    form: MessageForm | None = None,
    part: str = "",
    forget: str = "",
) -> HttpResponse:
    """Render the page, or only the part that htmx replaces. Call it inside a transaction.

    `forget` is the id of a forget operation whose receipt is shown in full below the messages,
    unless a message already shows it.
    """
    part = part or _part(request)
    context = _common_context(request, found, part) | _messages_context(request, found, part)
    if part not in _WITHOUT_MESSAGES:
        context["unfolding"] = _forget_line_below_messages(
            request, found, context["bubbles"], forget
        )
    context["form"] = form or MessageForm(initial={"text": request.GET.get("text", "")})
    return render(request, f"{TEMPLATE}{part}", context, status=context["form"].status)


def _part(request: HttpRequest) -> str:
    if not is_htmx(request):
        return ""
    if "before" in request.GET:
        return "#earlier"
    return "#list" if "after" in request.GET else _PARTS.get(target(request), "")


def _common_context(request: HttpRequest, found: OpenedConversation, part: str) -> dict[str, Any]:
    user = person(request)
    context: dict[str, Any] = {"opened": found, "row": found.row, "section": "chat"}
    context["chat_model"] = answer_text.model_name()
    own = users.settings_of(user)
    context["is_off"] = not own.longterm_enabled
    context["keeps_moments"] = own.episodic_enabled and not found.is_temporary
    if part in ("", "#list"):
        query = request.GET.get("q", "").strip()[:200]
        after = request.GET.get("after", "")
        context["listing"] = conversation_list.listing(user, query=query, after=after)
        context["is_more"] = bool(after) and is_htmx(request)
    return context


def _messages_context(request: HttpRequest, found: OpenedConversation, part: str) -> dict[str, Any]:
    user, conversation = person(request), found.conversation
    if isinstance(conversation, TemporaryConversation):
        said = Bubbles(bubbles.build_temporary_bubbles(temporary.read(conversation)), ())
        return {"bubbles": said, "ending": _ending(conversation.public_id, said)}
    if conversation is None or part in _WITHOUT_MESSAGES:
        return {"bubbles": Bubbles((), ())}
    before, at = number_of(request.GET.get("before")), request.GET.get("at", "")
    said = bubbles.bubbles_of(user, conversation, before=before, at=at)
    context: dict[str, Any] = {"bubbles": said, "ending": _ending(conversation.public_id, said)}
    edge = context["edge"] = first_unsummarized_id(user, conversation)
    context["has_edge"] = any(one.public_id == edge for one in said.shown)
    answer = _answer(request, user, said)
    known = next(
        (b.lessons for b in said.shown if answer and b.public_id == answer.public_id), None
    )
    return context | side_panel_context(user, answer, lessons=known)


def _forget_line_below_messages(
    request: HttpRequest, found: OpenedConversation, said: Bubbles, forget: str
) -> ForgetLine | None:
    """Return the forget operation whose state the page shows below the messages, or None.

    `forget` is the id of the operation, or "" to use the id in the URL (`forgotten`), if any.

    If there is no such operation, or a message already shows its receipt, return the result of
    `forget_receipts.forget_below_messages` for the page with the latest messages of a stored
    conversation, and None for any other page.
    """
    user, op_id = person(request), forget or request.GET.get("forgotten", "")
    shown = {one.operation.public_id for bubble in said.shown for one in bubble.receipts}
    asked = forget_receipts.open_receipt(user, op_id) if op_id and op_id not in shown else None
    if asked is not None or not said.is_latest or not isinstance(found.conversation, Conversation):
        return asked
    return forget_receipts.forget_below_messages(user, found.conversation, without=shown)


def first_unsummarized_id(user: User, conversation: Conversation) -> str:
    """Return the id of the first message that the summary doesn't cover; "" if no summary is used.

    The page shows a note about the summary above this message.
    """
    if not users.settings_of(user).summary_enabled:
        return ""
    return selectors.first_message_after_summary(user, conversation)


def _ending(public_id: str, said: Bubbles) -> EndNote | None:
    if not said.shown or not said.is_latest:
        return None
    return bubbles.end_note_of_page(public_id, said.shown[-1])


def side_panel_context(
    user: User, answer: Message | None, *, lessons: Lessons | None = None
) -> dict[str, Any]:
    """Return the content of the side panel about an answer.

    The panel shows the memories that the answer used and those learned from its turn. Pass
    `lessons` if the learned memories are already loaded.
    """
    if lessons is None and answer is not None:
        turn = selectors.turn_of(user, answer)
        lessons = turn_memories.lessons_of(user, [turn])[turn.pk] if turn is not None else None
    return {"panel": turn_memories.panel_of(user, answer), "lessons": lessons}


def _answer(request: HttpRequest, user: User, said: Bubbles) -> Message | None:
    wanted = request.GET.get("answer", "")
    if wanted:
        return selectors.message_of(user, wanted)
    return next((one for one in reversed(said.messages) if one.role == Role.ASSISTANT), None)


def show_in_transaction(
    request: HttpRequest, found: OpenedConversation, **rest: Any
) -> HttpResponse:
    with own_transaction(request):
        return show(request, found, **rest)


class MessageForm(ServiceForm):
    text = forms.CharField(
        strip=False, error_messages={"required": _("Write something first.")}, widget=forms.Textarea
    )

    def clean_text(self) -> str:
        # Browsers send CRLF for each line break of a text field.
        text: str = self.cleaned_data["text"].replace("\r\n", "\n").strip()
        if not text:
            raise forms.ValidationError(_("Write something first."))
        if len(text) > settings.MAX_MESSAGE_CHARS:
            words = _("A message has at most %(most)s characters; this one has %(long)s.")
            params = {"most": f"{settings.MAX_MESSAGE_CHARS:,}", "long": f"{len(text):,}"}
            raise forms.ValidationError(words, params=params)
        return text

    def refuse(self, error: ApplicationError) -> None:
        """Add the error of a service, in the language of the page, to the field `text`."""
        texts = [text for several in error.fields.values() for text in several] or [error.message]
        self.add_error("text", [gettext(text) for text in texts])


class TitleForm(ServiceForm):
    title = forms.CharField(
        label=_("Name"),
        max_length=Conversation._meta.get_field("title").max_length,
        error_messages={"required": _("Give it a name.")},
        widget=forms.TextInput(attrs={"class": "input", "autocomplete": "off", "dir": "auto"}),
    )


class RatingForm(forms.Form):
    comment = forms.CharField(required=False, max_length=2_000)

    rating = forms.ChoiceField(
        required=False,
        choices=[("", ""), *((one, "") for one in Rating.values)],
    )
