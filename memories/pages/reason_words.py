"""Turn the codes of extraction and arbitration into sentences.

Memories store codes (`Version.reason`, `Arbitration.reasons`) because codes mean the same in every
language and to every client; only pages translate them.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext_lazy as _

# Codes of decisions on a new statement compared with known ones.
_DECIDED = {
    "nothing_like_it": _("I didn’t know anything like it."),
    "same_text": _("It says exactly what I already knew."),
    "says_nothing_new": _("I already knew all of it."),
    "newer_edition": _("It is a newer version of the same page."),
    "same_meaning": _("It says the same in different words."),
    "weaker": _("What I knew already says more."),
    "says_more": _("It says more than what I knew."),
    "adds_detail": _("It adds something to what I knew."),
    "no_longer": _("You said that this is no longer true."),
    "newer_value": _("You said something newer about the same subject."),
    "corrected": _("You corrected what I knew."),
    "contradicts": _("It contradicts what I knew, and I can’t tell which is right."),
    "both_hold": _("Both can be true."),
    "not_joined": _("Both are true, but together they would be too long for one memory."),
    "said_earlier": _("It was said before what I knew, so it may be outdated."),
    "disabled": _("A similar memory is disabled, so this one is kept separate."),
    "unrelated": _(
        "The language model thought they were the same, but they have nothing in common."
    ),
    "read_as_contradiction": _("The two seem to contradict each other, so it’s your decision."),
    "written_by_the_person": _(
        "You wrote the old one yourself, so it isn’t changed without asking you."
    ),
    "unsure": _("I wasn’t sure I had understood it."),
    "model_unclear": _("The language model gave no clear answer, so the built-in reader decided."),
    "model_overruled": _("You corrected it explicitly, which outweighs the language model."),
    "joined": _("The two texts were joined unchanged."),
    "revised": _("A language model checked it again afterwards."),
}
# Codes of how a statement was understood.
_HEARD = {
    "explicit": _("You asked me to remember it."),
    "hedged": _("You weren’t sure when you said it."),
    "corrects": _("You said it as a correction."),
    "accepted": _("I said it first, and you agreed."),
    "repeated": _("You mentioned it several times."),
    "over_turns": _("It only becomes clear from several messages together."),
    "workflow": _("The same steps worked several times."),
    "model": _("A language model was asked."),
    "bundled_stood_in": _("The language model didn’t answer, so the built-in method was used."),
    "ends": _("You said that something has ended."),
    "owner_unsure": _("I can't tell whether this is about you or about somebody else."),
}
# Codes of the reader: whose statement it is and how it holds.
_SEEN = {
    "self.lasting": _("You said this about yourself, as something lasting."),
    "self.habit": _("You said this about yourself, as something you do again and again."),
    "self.planned": _("You said this about yourself, as something you plan."),
    "self.past": _("You said this about yourself, as something in the past."),
    "self.passing": _("You said this about yourself, as something true for now."),
    "related.lasting": _("You said this about somebody close to you, as something lasting."),
    "related.habit": _("You said this about somebody close to you, as one of their habits."),
    "related.planned": _("You said this about somebody close to you, as one of their plans."),
    "related.past": _("You said this about somebody close to you, as something in the past."),
    "related.passing": _("You said this about somebody close to you, as something true for now."),
}
_OF_OTHERS = _("You said this about somebody else.")
_BY_RULE = _("An earlier version of Memory Center recognised it.")


def in_words(codes: Iterable[str]) -> list[str]:
    """Return the sentences of known codes, in the given order and without repetition."""
    found = (sentence_for(code) for code in codes)
    return list(dict.fromkeys(sentence for sentence in found if sentence))


def sentence_for(code: str) -> str:
    """Return the sentence, empty for a code that is no longer known."""
    if code in _DECIDED or code in _HEARD or code in _SEEN:
        return str(_DECIDED.get(code) or _HEARD.get(code) or _SEEN[code])
    source, dot, _what = code.partition(".")
    if dot and source == "others":
        return str(_OF_OTHERS)
    if dot and source in ("en", "zh", "classifier"):
        return str(_BY_RULE)
    return ""
