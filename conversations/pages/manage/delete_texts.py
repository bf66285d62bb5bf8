"""Confirmation texts of deletions: what is deleted with it, and what stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations.forgetting.forget_preview import Consequences
from conversations.models import Conversation, Message
from conversations.recording.temporary import TemporaryConversation
from memcenter.lib.text.richtext import inner
from memories.models import Memory
from ops.pages.base import target

_NAMED = 3
_SHORT = 60


def ask(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    part = "#dialog" if target(request) == "dialogs" else ""
    context |= {"section": "chat"}
    return render(request, f"conversations/forget_confirm.html{part}", context)


def page_after(public_id: str, *, forget: str) -> str:
    """Return the URL of a conversation with the receipt of what was forgotten in it."""
    page = reverse("conversation", args=[public_id])
    return f"{page}?{urlencode({'forgotten': forget})}#receipt-{forget}" if forget else page


def cleared() -> str:
    return _("Cleared. Nothing said here is shown or used any more. The receipt will appear below.")


def of_message(message: Message, found: Consequences) -> dict[str, Any]:
    page = reverse("conversation", args=[message.conversation.public_id])
    title = _("Delete and forget this exchange?") if found.messages > 1 else None
    goes = [_("the message and its reply") if found.messages > 1 else _("the message")]
    if found.memories:
        goes.append(memories_only_here(found.memories))
    goes.append(_("everything derived from it: search index, usage records, feedback"))
    is_all = message.conversation.message_count <= found.messages
    stays = [_("the empty conversation") if is_all else _("the rest of this conversation")]
    if found.summaries:
        stays.append(_("the summary, rewritten without this"))
    return _asked(
        action=reverse("message_forget", args=[message.public_id]),
        title=title or _("Delete and forget this message?"),
        goes=goes,
        stays=[*stays, *_memories_that_stay(found)],
        confirm=_("Delete and forget"),
        cancel_href=page,
        hx_post=True,
        hx_target="#bubbles",
    )


def of_deleting(conversation: Conversation, found: Consequences) -> dict[str, Any]:
    goes = [_named(conversation), *_said(found)]
    return _asked(
        action=reverse("conversation_delete", args=[conversation.public_id]),
        title=_("Delete this conversation?"),
        goes=goes,
        stays=[_("all other conversations"), *_memories_that_stay(found)],
        choices=_choice(found.memories),
        hidden=_without_choice(found.memories),
        confirm=_("Delete and forget"),
        cancel_href=reverse("conversation", args=[conversation.public_id]),
    )


def of_clearing(conversation: Conversation, found: Consequences) -> dict[str, Any]:
    return _asked(
        action=reverse("conversation_clear", args=[conversation.public_id]),
        title=_("Clear this conversation?"),
        goes=_said(found),
        stays=[_("the empty conversation"), *_memories_that_stay(found)],
        choices=_choice(found.memories),
        hidden=_without_choice(found.memories),
        confirm=_("Clear and forget"),
        cancel_href=reverse("conversation", args=[conversation.public_id]),
    )


def of_temporary(conversation: TemporaryConversation) -> dict[str, Any]:
    count = conversation.message_count
    words = ngettext("%(n)d message of this chat", "%(n)d messages of this chat", count)
    return _asked(
        action=reverse("conversation_delete", args=[conversation.public_id]),
        title=_("Delete this temporary chat now?"),
        text=_("It would disappear by itself within a day. This can’t be undone."),
        goes=[words % {"n": count}],
        stays=[_("your memories: nothing was learned here")],
        confirm=_("Delete now"),
        cancel_href=reverse("conversation", args=[conversation.public_id]),
    )


def _asked(**given: Any) -> dict[str, Any]:
    return {"text": _("This can’t be undone. You will get a receipt.")} | given


def _named(conversation: Conversation) -> str:
    if not conversation.title:
        return _("this conversation")
    return _("the conversation “%(title)s”") % {"title": inner(_short(conversation.title))}


def _said(found: Consequences) -> list[str]:
    messages = ngettext("%(n)d message", "%(n)d messages", found.messages)
    made = _("everything derived from them: search index, usage records, feedback")
    lines = [messages % {"n": found.messages}]
    if found.summaries:
        lines.append(_("the summary, with its older versions"))
    if found.episodes:
        words = ngettext("%(n)d earlier moment", "%(n)d earlier moments", found.episodes)
        lines.append(words % {"n": found.episodes})
    return [*lines, made]


def _choice(memories: Sequence[Memory]) -> list[dict[str, Any]]:
    """Offer the choice only if there is something to decide."""
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
            "help": _("%(memories)s. Uncheck to keep what was learned.")
            % {"memories": _quoted(memories)},
            "checked": True,
        }
    ]


def _without_choice(memories: Sequence[Memory]) -> list[dict[str, str]]:
    """Without a choice, also forget memories learned after the page was shown."""
    return [] if memories else [{"name": "memories", "value": "on"}]


def memories_only_here(memories: Sequence[Memory]) -> str:
    words = ngettext(
        "%(n)d memory based only on it: %(memories)s",
        "%(n)d memories based only on it: %(memories)s",
        len(memories),
    )
    return words % {"n": len(memories), "memories": _quoted(memories)}


def _memories_that_stay(found: Consequences) -> list[str]:
    lines = []
    if found.changed:
        words = ngettext(
            "%(n)d memory, rewritten from what remains",
            "%(n)d memories, rewritten from what remains",
            found.changed,
        )
        lines.append(words % {"n": found.changed})
    if found.kept:
        words = ngettext(
            "%(n)d memory that something else also supports",
            "%(n)d memories that something else also supports",
            found.kept,
        )
        lines.append(words % {"n": found.kept})
    return lines


def _quoted(memories: Sequence[Memory]) -> str:
    texts = [_("“%(text)s”") % {"text": inner(_short(one.content))} for one in memories[:_NAMED]]
    if len(memories) > _NAMED:
        texts.append(_("%(n)d more") % {"n": len(memories) - _NAMED})
    return _(", ").join(texts)


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else text[: _SHORT - 1].rstrip() + "…"
