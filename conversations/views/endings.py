"""What stands under the last message where it has no whole answer, and what can be done then."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from conversations.models import Role
from conversations.services import under_way
from conversations.services.answering import End
from conversations.views.bubbles import Bubble


@dataclass(frozen=True)
class Ending:
    """`again` are the words of the button that asks for an answer; empty: there is none."""

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
    """As the conversation of this id stands; None where its last message is a whole answer."""
    if last is None:
        return None
    if last.role == Role.USER and under_way.is_answering(name):
        return Ending(_("An answer is being written…"), name, is_answering=True)
    if last.role == Role.USER:
        return Ending(_("This message has no answer yet."), name, again=_("Answer it"))
    if last.role == Role.ASSISTANT and not last.is_completed:
        return Ending(_("This answer broke off."), name, again=_("Try again"))
    return None


def after(end: End, name: str, *, had_answer: bool) -> Ending | None:
    """Right after it was tried."""
    again = _("Try again")
    if end in (End.WHOLE, End.STOPPED) or (had_answer and end is End.UNSAID):
        return None  # under a stopped one its bubble says so, and still does tomorrow
    if end is End.GONE:
        words = _("This was changed elsewhere meanwhile. Reload the page to see it as it is.")
        return Ending(words, name)
    if had_answer:
        return Ending(_("No new answer came. The earlier one is still here."), name, again)
    if end is End.BROKEN:
        return Ending(_("The answer broke off. What had come is kept."), name, again)
    if end is End.UNSAID:
        return Ending(_("Stopped before the first word."), name, _("Answer it"))
    words = _("No answer came: the model can’t be reached just now. Your message is kept.")
    return Ending(words, name, again)
