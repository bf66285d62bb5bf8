"""Pages that clear or delete a conversation, and the texts of all dialogs that confirm a deletion.

The dialogs list the deleted and the kept data. The pages that delete or edit a message use the
texts too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from conversations.chat.chat_messages import EditableMessage
from conversations.forgetting import message_erasure, message_forgets
from conversations.forgetting.message_erasure import Consequences
from conversations.models import Conversation, Message, Role
from conversations.pages import chat_page
from conversations.pages.forget_cards import counts_in_words
from conversations.recording import conversation_names, temporary
from conversations.recording.temporary import TemporaryConversation
from foundation.text.richtext import shorten, with_inner_quotation_marks
from memories.models import Memory
from ops.models import User
from ops.pages.base import own_transaction, person, personal_page, redirect_after_form, target
from ops.pages.operation_rows import forgotten_words

_NAMED = 3  # memories quoted in a sentence
_SHORT = 60  # characters of a quoted text


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def conversation_clear(request: HttpRequest, conversation_id: str) -> HttpResponse:
    """Forget all messages of the conversation, but keep the conversation itself."""
    with own_transaction(request):
        user = person(request)
        kept = conversation_names.resolve(user=user, reference=conversation_id)
        if request.method != "POST":
            found = message_erasure.consequences_of_conversation(kept, user=user)
            return show_dialog(request, clear_dialog(kept, found))
        operation = message_forgets.clear_conversation(
            user=user, conversation=kept, forget_memories=bool(request.POST.get("memories"))
        )
    words = _(
        "Cleared. Nothing said here is shown or used any more. The receipt will appear in this"
        " conversation."
    )
    messages.success(request, words)
    return redirect_after_form(
        request, page_with_receipt(conversation_id, forget=operation.public_id)
    )


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def conversation_delete(request: HttpRequest, conversation_id: str) -> HttpResponse:
    """Forget a conversation, then redirect to the chat.

    With `?from=data`, redirect to the data management page instead.
    """
    is_from_data = request.GET.get("from") == "data"
    with own_transaction(request):
        user = person(request)
        found = chat_page.open_conversation(user, conversation_id).conversation
        assert found is not None
        if request.method != "POST":
            if isinstance(found, TemporaryConversation):
                return show_dialog(request, temporary_dialog(found))
            lost = message_erasure.consequences_of_conversation(found, user=user)
            return show_dialog(request, conversation_dialog(found, lost, is_from_data=is_from_data))
        if isinstance(found, TemporaryConversation):
            temporary.erase(found)
            words = _("The temporary chat is over. Nothing of it is left.")
        else:
            forgets = bool(request.POST.get("memories"))
            message_forgets.forget_conversation(
                user=user, conversation=found, forget_memories=forgets
            )
            words = forgotten_words()
    if is_from_data:
        words = _("Deleted. “Activity” shows what is still being erased, and then the receipt.")
    messages.success(request, words)
    after = reverse("data_management") + "#activity" if is_from_data else reverse("chat_home")
    return redirect_after_form(request, after)


def show_dialog(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    part = "#dialog" if target(request) == "dialogs" else ""
    context |= {"section": "chat"}
    return render(request, f"conversations/forget_confirm.html{part}", context)


def page_with_receipt(public_id: str, *, forget: str) -> str:
    """Return the URL of a conversation page that shows the receipt of the operation `forget`.

    If `forget` is empty, the page shows no receipt.
    """
    page = reverse("conversation", args=[public_id])
    return f"{page}?{urlencode({'forgotten': forget})}#receipt-{forget}" if forget else page


def message_dialog(message: Message, found: Consequences) -> dict[str, Any]:
    page = reverse("conversation", args=[message.conversation.public_id])
    title, words = _("Delete and forget this message?"), _("the message “%(text)s”")
    if found.messages > 1:
        title = _("Delete and forget this exchange?")
        words = _("the message “%(text)s” and its reply")
    turn = getattr(message, "turn_as_reply", None)
    named = turn.user_message if turn else message
    goes = [words % {"text": with_inner_quotation_marks(shorten(named.content, _SHORT))}]
    if found.memories:
        goes.append(memories_only_here(found.memories))
    goes.append(_("everything derived from it: search index, usage records, feedback, exports"))
    is_all = message.conversation.message_count <= found.messages
    stays = [_("the empty conversation") if is_all else _("the rest of this conversation")]
    if found.summaries:
        stays.append(_("the summary, rewritten without this"))
    return _dialog(
        action=reverse("message_forget", args=[message.public_id]),
        title=title,
        goes=goes,
        stays=[*stays, *_memories_that_stay(found)],
        lists=_full_lists(found),
        confirm=_("Delete and forget"),
        cancel_href=page,
        hx_post=True,
        hx_target="#bubbles",
    )


def edit_dialog(edits: EditableMessage, *, user: User) -> dict[str, Any]:
    words = ngettext(
        "%(n)d message after it", "%(n)d messages after it, beginning with its answer", edits.later
    )
    goes = [_("the earlier wording")]
    if edits.later:
        goes.append(words % {"n": edits.later})
    stays = [] if edits.is_first else [_("everything said before it")]
    if not isinstance(edits.question, Message):
        return {"goes": goes, "stays": stays, "learned": ""}
    found = message_erasure.consequences_of_messages(
        edits.pks, user=user, conversation=edits.question.conversation_id
    )
    learned = _memories_of(edits, found.memories)
    goes += [learned] if learned else []
    goes.append(_("everything derived from them: search index, usage records, feedback, exports"))
    if found.summaries:
        stays.append(_("the summary, rewritten without this"))
    stays += _memories_that_stay(found)
    return {"goes": goes, "stays": stays, "learned": learned, "lists": _full_lists(found)}


def conversation_dialog(
    conversation: Conversation, found: Consequences, *, is_from_data: bool = False
) -> dict[str, Any]:
    page = reverse("conversation", args=[conversation.public_id])
    named = _("this conversation")
    if conversation.title:
        title = with_inner_quotation_marks(shorten(conversation.title, _SHORT))
        named = _("the conversation “%(title)s”") % {"title": title}
    return _whole_conversation_dialog(
        conversation,
        found,
        action=reverse("conversation_delete", args=[conversation.public_id])
        + ("?from=data" if is_from_data else ""),
        title=_("Delete this conversation?"),
        goes=[named],
        stays=_("all other conversations"),
        confirm=_("Delete and forget"),
        cancel_href=reverse("data_conversations") if is_from_data else page,
    )


def clear_dialog(conversation: Conversation, found: Consequences) -> dict[str, Any]:
    return _whole_conversation_dialog(
        conversation,
        found,
        action=reverse("conversation_clear", args=[conversation.public_id]),
        title=_("Clear this conversation?"),
        goes=[],
        stays=_("the empty conversation"),
        confirm=_("Clear and forget"),
        cancel_href=reverse("conversation", args=[conversation.public_id]),
    )


def _whole_conversation_dialog(
    conversation: Conversation, found: Consequences, *, goes: list[str], stays: str, **given: str
) -> dict[str, Any]:
    return _dialog(
        **given,
        goes=[*goes, *_deleted_lines(found)],
        stays=[stays, *_memories_that_stay(found)],
        choices=_choice(found.memories),
        lists=_full_lists(found),
        # If the dialog has no checkbox, also forget memories learned after it was shown.
        hidden=[] if found.memories else [{"name": "memories", "value": "on"}],
    )


def temporary_dialog(conversation: TemporaryConversation) -> dict[str, Any]:
    replies = sum(one.role == Role.ASSISTANT for one in temporary.read(conversation))
    words = counts_in_words(said=conversation.message_count - replies, replies=replies)
    return _dialog(
        action=reverse("conversation_delete", args=[conversation.public_id]),
        title=_("End this temporary chat now?"),
        text=_("It is deleted at once, not after a day. This can’t be undone."),
        goes=[_("this chat"), *([words] if words else [])],
        stays=[_("your memories: nothing was learned here")],
        confirm=_("End now"),
        cancel_href=reverse("conversation", args=[conversation.public_id]),
    )


def _dialog(**given: Any) -> dict[str, Any]:
    return {"text": _("This can’t be undone. You will get a receipt.")} | given


def _deleted_lines(found: Consequences) -> list[str]:
    made = _("everything derived from them: search index, usage records, feedback, exports")
    said = found.messages - found.replies
    words = counts_in_words(said=said, replies=found.replies)
    lines = [words] if words else []
    if found.summaries:
        lines.append(_("the summary, with its older versions"))
    if found.episodes:
        words = ngettext("%(n)d earlier moment", "%(n)d earlier moments", found.episodes)
        lines.append(words % {"n": found.episodes})
    return [*lines, made]


def _choice(memories: Sequence[Memory]) -> list[dict[str, Any]]:
    if not memories:
        return []
    words = ngettext(
        "Also forget the %(n)d memory learned only here",
        "Also forget the %(n)d memories learned only here",
        len(memories),
    )
    return [
        {
            "name": "memories",
            "label": words % {"n": len(memories)},
            "help": _("%(memories)s. Untick to keep what was learned.")
            % {"memories": _quoted(memories)},
            "checked": True,
        }
    ]


def memories_only_here(memories: Sequence[Memory]) -> str:
    words = ngettext(
        "%(n)d memory based only on it: %(memories)s",
        "%(n)d memories based only on it: %(memories)s",
        len(memories),
    )
    return words % {"n": len(memories), "memories": _quoted(memories)}


def _memories_of(edits: EditableMessage, memories: Sequence[Memory]) -> str:
    if not memories or edits.is_last:
        return memories_only_here(memories) if memories else ""
    words = ngettext(
        "%(n)d memory based only on them: %(memories)s",
        "%(n)d memories based only on them: %(memories)s",
        len(memories),
    )
    return words % {"n": len(memories), "memories": _quoted(memories)}


def _memories_that_stay(found: Consequences) -> list[str]:
    lines = []
    if found.changed:
        words = ngettext(
            "%(n)d memory, rewritten from what remains: %(memories)s",
            "%(n)d memories, rewritten from what remains: %(memories)s",
            len(found.changed),
        )
        lines.append(words % {"n": len(found.changed), "memories": _quoted(found.changed)})
    if found.kept:
        words = ngettext(
            "%(n)d memory that something else also supports",
            "%(n)d memories that something else also supports",
            found.kept,
        )
        lines.append(words % {"n": found.kept})
    return lines


def _full_lists(found: Consequences) -> list[tuple[str, list[str]]]:
    """Return the lists of forgotten and of rewritten memories, each with its heading.

    A list is left out if the dialog's sentences already quote all its memories in full.
    """
    titles = _("All memories that will be forgotten"), _("All memories that will be rewritten")
    return [
        (title, [one.content for one in memories])
        for title, memories in zip(titles, (found.memories, found.changed), strict=True)
        if len(memories) > _NAMED or any(len(one.content) > _SHORT for one in memories)
    ]


def _quoted(memories: Sequence[Memory]) -> str:
    texts = [
        _("“%(text)s”") % {"text": with_inner_quotation_marks(shorten(one.content, _SHORT))}
        for one in memories[:_NAMED]
    ]
    if len(memories) > _NAMED:
        texts.append(_("%(n)d more") % {"n": len(memories) - _NAMED})
    return _(", ").join(texts)
