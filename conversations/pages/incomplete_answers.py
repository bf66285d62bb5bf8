"""The note and the actions under a last message without a complete answer."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from conversations.chat import running_answers
from conversations.chat.answer_stream import End
from conversations.models import Role
from conversations.pages.bubbles import Bubble


@dataclass(frozen=True)
class Ending:
    """`again` is the label of the button that asks for an answer; empty for no button."""

    words: str
    conversation: str
    again: str = ""
    is_answering: bool = False

    @property
    def answer_url(self) -> str:
        return reverse("conversation_answer", args=[self.conversation])

    @property
    def stop_url(self) -> str:
        return reverse("conversation_stop", args=[self.conversation])


def of_page(name: str, last: Bubble | None) -> Ending | None:
    """Return the note for the conversation's state; None after a complete answer."""
    if last is None:
        return None
    if last.role == Role.USER and running_answers.is_answering(name):
        return Ending(_("An answer is being written…"), name, is_answering=True)
    if last.role == Role.USER:
        return Ending(_("This message has no answer yet."), name, again=_("Answer it"))
    if last.role == Role.ASSISTANT and not last.is_completed:
        return Ending(_("This answer was cut off."), name, again=_("Try again"))
    return None


def after(end: End, name: str, *, had_answer: bool) -> Ending | None:
    """Return the note right after an attempt."""
    again = _("Try again")
    if end in (End.WHOLE, End.STOPPED) or (had_answer and end is End.UNSAID):
        return None  # under a stopped one its bubble says so, and still does tomorrow
    if end is End.GONE:
        words = _("This was changed somewhere else. Reload the page to see the latest version.")
        return Ending(words, name)
    if had_answer:
        return Ending(_("There is no new answer. The earlier one is still here."), name, again)
    if end is End.BROKEN:
        return Ending(
            _("The answer was cut off. Everything up to that point was saved."), name, again
        )
    if end is End.UNSAID:
        return Ending(_("Stopped before the first word."), name, _("Answer it"))
    words = _("No answer: the model can’t be reached right now. Your message was saved.")
    return Ending(words, name, again)
