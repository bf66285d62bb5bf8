"""The codes of extraction and arbitration as sentences that a person reads.

A memory keeps codes (`Version.reason`, `Arbitration.reasons`) so that they mean the same in every
language and to every program; only pages put them into words.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext_lazy as _

# What was decided about a new statement beside what is known.
_DECIDED = {
    "nothing_like_it": _("I knew nothing like it."),
    "same_text": _("It says the very same as what I knew."),
    "says_nothing_new": _("All of it stood in what I knew."),
    "newer_edition": _("It is a newer edition of the same page."),
    "same_meaning": _("It says the same in other words."),
    "weaker": _("What I knew says more already."),
    "says_more": _("It says more than what I knew."),
    "adds_detail": _("It adds something to what I knew."),
    "no_longer": _("You said that it no longer holds."),
    "newer_value": _("You said something newer about the same thing."),
    "corrected": _("You corrected what I knew."),
    "contradicts": _("It contradicts what I knew, and I can't tell which of the two holds."),
    "both_hold": _("Both can be true side by side."),
    "not_joined": _("Both are true, but one text of both would be too long."),
    "said_earlier": _("It was said before what I knew, so it may be out of date."),
    "disabled": _("What it is like is switched off, so it stays apart from that."),
    "unrelated": _("The language model saw one matter in both, but they share nothing."),
    "read_as_contradiction": _("The two seem to contradict each other, so you decide."),
    "written_by_the_person": _("You wrote the old one yourself, so it isn't changed unasked."),
    "unsure": _("I wasn't sure that I had understood it."),
    "model_unclear": _("The language model gave no clear answer, so the built-in reader decided."),
    "model_overruled": _("You corrected it in so many words; that outweighs the language model."),
    "joined": _("The two texts were put together as they are."),
    "revised": _("A language model looked at it once more afterwards."),
}
# Codes that memories of earlier releases keep.
_FORMERLY = {
    "nothing_similar": "nothing_like_it",
    "same_words": "same_text",
    "judged_same": "same_meaning",
    "judged_more": "adds_detail",
    "judged_newer": "newer_value",
    "holds_again": "newer_value",
    "moved_on": "newer_value",
    "judged_conflict": "contradicts",
    "rules_contradict": "read_as_contradiction",
    "combined_by_rules": "joined",
}
# How a statement was heard.
_HEARD = {
    "explicit": _("You asked me to remember it."),
    "hedged": _("You said it with a “maybe”."),
    "corrects": _("You said it as a correction."),
    "accepted": _("I said it first, and you agreed."),
    "repeated": _("You told of it several times."),
    "over_turns": _("It shows only when several messages are read together."),
    "workflow": _("The same steps worked several times."),
    "model": _("A language model was asked."),
    "bundled_stood_in": _("The language model didn't answer, so the built-in method stood in."),
    "ends": _("You said that something is over."),
}
# Whom the reader took a statement to be about, and how it holds.
_SEEN = {
    "self.lasting": _("You said this about yourself, as something lasting."),
    "self.habit": _("You said this about yourself, as something you do again and again."),
    "self.planned": _("You said this about yourself, as something you plan."),
    "self.past": _("You said this about yourself, as something that was."),
    "self.passing": _("You said this about yourself, as something that holds for now."),
    "related.lasting": _("You said this about somebody close to you, as something lasting."),
    "related.habit": _("You said this about somebody close to you, as a habit of theirs."),
    "related.planned": _("You said this about somebody close to you, as a plan of theirs."),
    "related.past": _("You said this about somebody close to you, as something that was."),
    "related.passing": _("You said this about somebody close to you, as it is for now."),
}
_OF_OTHERS = _("You said this about somebody else.")
_BY_RULE = _("A rule of an earlier release recognised it.")


def in_words(codes: Iterable[str]) -> list[str]:
    """One sentence for each code that has one, each once, in the order given."""
    found = (sentence_for(code) for code in codes)
    return list(dict.fromkeys(sentence for sentence in found if sentence))


def sentence_for(code: str) -> str:
    """Empty for a code that nobody knows any more."""
    code = _FORMERLY.get(code, code)
    if code in _DECIDED or code in _HEARD or code in _SEEN:
        return str(_DECIDED.get(code) or _HEARD.get(code) or _SEEN[code])
    source, dot, _what = code.partition(".")
    if dot and source == "others":
        return str(_OF_OTHERS)
    if dot and source in ("en", "zh", "classifier"):
        return str(_BY_RULE)
    return ""
