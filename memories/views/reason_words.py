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
    "nothing_similar": _("I knew nothing like it."),
    "same_text": _("It says the very same as what I knew."),
    "same_words": _("It says the very same as what I knew."),
    "says_nothing_new": _("All of it stood in what I knew."),
    "newer_edition": _("It is a newer edition of the same page."),
    "same_meaning": _("It says the same in other words."),
    "weaker": _("What I knew says more already."),
    "says_more": _("It says more than what I knew."),
    "adds_detail": _("It adds something to what I knew."),
    "no_longer": _("You said that it no longer holds."),
    "holds_again": _("You said that it holds again."),
    "newer_value": _("You said something newer about the same thing."),
    "corrected": _("You corrected what I knew."),
    "moved_on": _("What you told put an end to what was before."),
    "contradicts": _("It contradicts what I knew, and I can't tell which of the two holds."),
    "both_hold": _("Both can be true side by side."),
    "not_joined": _("Both are true, but one sentence doesn't say both well."),
    "said_earlier": _("It was said before what I knew, so it may be out of date."),
    "judged_same": _("The two read like the same thing said in other words."),
    "judged_newer": _("It reads like a newer state of the same thing."),
    "judged_more": _("It reads like an addition to what I knew."),
    "judged_conflict": _("The two read as if they can't both be true."),
    "disabled": _("What it is like is switched off, so it stays apart from that."),
    "unrelated": _("The language model saw one matter in both, but they share nothing."),
    "rules_contradict": _("By the built-in rules the two contradict each other, so you decide."),
    "written_by_the_person": _("You wrote the old one yourself, so it isn't changed unasked."),
    "unsure": _("I wasn't sure that I had understood it."),
    "model_unclear": _("The language model gave no clear answer, so the built-in rules decided."),
    "model_overruled": _("You corrected it in so many words; that outweighs the language model."),
    "combined_by_rules": _("The two texts were joined by the built-in rules."),
    "revised": _("A language model looked at it once more afterwards."),
}
# How a statement was heard.
_HEARD = {
    "explicit": _("You asked me to remember it."),
    "hedged": _("You said it with a “maybe”."),
    "corrects": _("You said it as a correction."),
    "accepted": _("I said it first, and you agreed."),
    "answer": _("You said it in answer to a question."),
    "answered": _("You said it in answer to a question."),
    "named_earlier": _("Whom it is about, you had said earlier in the conversation."),
    "dated_later": _("You named the day later in the conversation."),
    "repeated": _("You told of it several times."),
    "over_turns": _("It shows only when several messages are read together."),
    "workflow": _("The same steps worked several times."),
    "model": _("A language model was asked."),
    "bundled_stood_in": _("The language model didn't answer, so the built-in method stood in."),
    "open": _("No rule knew this sentence, so it is kept as you said it."),
}
_CLASSIFIER = _("No rule knew this sentence; a small learned model took it for worth keeping.")
# What a rule recognised; the same word in `en.…` and `zh.…` means the same.
_BY_RULE = _("A rule for sentences of this form recognised it.")
_THEMES = (
    (
        _("A rule for what one tells of health and the body recognised it."),
        "aid allergy blood body condition constitution drug ill injury limit measure measured"
        " medicine old_injury prone size sleep surgery tolerates weak phobia",
    ),
    (
        _("A rule for what somebody never does or can't bear recognised it."),
        "avoid cannot_stand must must_not never taboo sober cant doesnt",
    ),
    (
        _("A rule for tastes recognised it."),
        "best dislikes dislikes_when diet drink fan favourite into interest likes likes_at meal"
        " media prefers reads supports sweet_tooth team hobby",
    ),
    (
        _("A rule for names and how to speak to you recognised it."),
        "call name named naming nickname style surname codes",
    ),
    (
        _("A rule for family, partners, friends and pets recognised it."),
        "couple family household kids kin loss married married_into marriage pet relation siblings"
        " only met",
    ),
    (
        _("A rule for age, birthdays and where one comes from recognised it."),
        "age birth birthday born from from_childhood nationality origin",
    ),
    (
        _("A rule for homes and places recognised it."),
        "away home housing in_city live moved moving place",
    ),
    (
        _("A rule for work and study recognised it."),
        "business hours industry job jobless joined grade newjob rota school study teaches veteran"
        " work years",
    ),
    (
        _("A rule for what somebody can do recognised it."),
        "achieved can cando drives learned plays skilled speaks sport",
    ),
    (
        _("A rule for plans, wishes and dates recognised it."),
        "ahead appointment deadline expects goal plan preparing promised proposed their_plan travel"
        " wish dated dated_thing own_date",
    ),
    (
        _("A rule for habits recognised it."),
        "absent amount doing duration gathering habit ongoing smokes undisturbed weekday when_doing"
        " whenever",
    ),
    (
        _("A rule for what used to be and no longer is recognised it."),
        "first had hasnt is_over long_past no_longer over past used_to was",
    ),
)
_THEME_OF = {name: words for words, names in _THEMES for name in names.split()}
# What weighed most where the learned judge compared two statements.
_ALIKE = _("What counted most is how alike the two are.")
_FIGURES = _("What counted most are the numbers and dates in them.")
_NAMES = _("What counted most are the names in them.")
_ABOUT = _("What counted most is whom and what they are about.")
_DENIED = _("What counted most is that one of them denies something.")
_EXCLUDED = _("What counted most is that the one rules the other out.")
_WEIGHED = (
    (("cosine", "jaccard", "shared/", "character_pairs", "same_beginning", "same_end"), _ALIKE),
    (("concepts_shared", "no_word_shared", "rule:", "zh"), _ALIKE),
    (("length", "longer", "goes_on"), _("What counted most is that one is longer than the other.")),
    (("figures_",), _FIGURES),
    (("names_",), _NAMES),
    (("negation:", "holds:", "positive:"), _DENIED),
    (("opposites", "ruled_out"), _EXCLUDED),
    (("same_subject", "user_or_other", "same_attribute", "other_attribute"), _ABOUT),
    (("no_attribute",), _ABOUT),
    (("change:", "time:"), _("What counted most are words of change, such as “now”.")),
    (("absolute:",), _("What counted most are words such as “always” and “never”.")),
    (("plan:",), _("What counted most is that one of them is a plan.")),
    (("rhythm:",), _("What counted most is how often it is said to happen.")),
)


def in_words(codes: Iterable[str]) -> list[str]:
    """One sentence for each code that has one, each once, in the order given."""
    found = (sentence_for(code) for code in codes)
    return list(dict.fromkeys(sentence for sentence in found if sentence))


def sentence_for(code: str) -> str:
    """Empty for a code that nobody knows any more."""
    if code in _DECIDED or code in _HEARD:
        return str(_DECIDED.get(code) or _HEARD[code])
    language, dot, theme = code.partition(".")
    if dot and language == "classifier":
        return str(_CLASSIFIER)
    if dot and language in ("en", "zh"):
        return str(_THEME_OF.get(theme.removeprefix("f."), _BY_RULE))
    return next((str(words) for begins, words in _WEIGHED if code.startswith(begins)), "")
