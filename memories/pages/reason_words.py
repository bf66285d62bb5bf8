"""Translate the reason codes of extraction and arbitration into sentences.

The database stores codes (`MemoryVersion.reason`, `Arbitration.reasons`), because codes mean the
same in every language and to every client. Only pages translate them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from foundation.text import segment

# Codes for what was decided about a new statement, compared with known memories.
_DECIDED = {
    "nothing_like_it": gettext_lazy("I didn’t know anything like it."),
    "same_text": gettext_lazy("It says exactly what I already knew."),
    "says_nothing_new": gettext_lazy("I already knew all of it."),
    "newer_edition": gettext_lazy("It is a newer version of the same page."),
    "same_meaning": gettext_lazy("It says the same in different words."),
    "weaker": gettext_lazy("What I already knew says more."),
    "says_more": gettext_lazy("It says more than what I knew."),
    "adds_detail": gettext_lazy("It adds something to what I knew."),
    "no_longer": gettext_lazy("You said that this is no longer true."),
    "newer_value": gettext_lazy("You said something newer about the same subject."),
    "corrected": gettext_lazy("You corrected what I knew."),
    "contradicts": gettext_lazy("It may contradict what I knew, and I can’t tell which is right."),
    "both_hold": gettext_lazy("Both can be true."),
    "not_joined": gettext_lazy(
        "Both are true, but together they would be too long for one memory."
    ),
    "said_earlier": gettext_lazy("It’s older than what I knew, so it may be outdated."),
    "disabled": gettext_lazy("A similar memory is disabled, so this one is kept separate."),
    "unrelated": gettext_lazy(
        "The language model thought they were the same, but they have nothing in common."
    ),
    "read_as_contradiction": gettext_lazy(
        "The two seem to contradict each other, so it’s your decision."
    ),
    "written_by_the_person": gettext_lazy(
        "You wrote the old one yourself, so it isn’t changed without asking you."
    ),
    "unsure": gettext_lazy("I wasn’t sure I had understood it."),
    "model_unclear": gettext_lazy(
        "The language model gave no clear answer, so I decided without it."
    ),
    "model_overruled": gettext_lazy(
        "You corrected this yourself, and your word counts more than the language model’s."
    ),
    "joined": gettext_lazy("The two texts were joined unchanged."),
    "revised": gettext_lazy("The language model checked it again afterwards."),
}
# Codes for how a statement was understood.
_HEARD = {
    "explicit": gettext_lazy("You asked me to remember it."),
    "hedged": gettext_lazy("You weren’t sure when you said it."),
    "corrects": gettext_lazy("You said it as a correction."),
    "accepted": gettext_lazy("I said it first, and you agreed."),
    "repeated": gettext_lazy("You mentioned it several times."),
    "over_turns": gettext_lazy("I put this together from several of your messages."),
    "workflow": gettext_lazy("The same steps worked several times."),
    "model": gettext_lazy("The language model helped with this."),
    "bundled_stood_in": gettext_lazy("The language model didn’t answer, so I did without it."),
    "ends": gettext_lazy("You said that something has ended."),
    "owner_unsure": gettext_lazy("I can’t tell whether this is about you or about someone else."),
}
_DOUBTS = frozenset(("unsure", "hedged", "accepted", "over_turns", "owner_unsure"))
# Codes of the reader model: whom a statement is about, and for how long it is true.
_SEEN = {
    "self.lasting": gettext_lazy("You told me this about yourself."),
    "self.habit": gettext_lazy("One of your habits."),
    "self.planned": gettext_lazy("One of your plans."),
    "self.past": gettext_lazy("Something from your past."),
    "self.passing": gettext_lazy("How things are for you right now."),
    "related.lasting": gettext_lazy("You told me this about someone close to you."),
    "related.habit": gettext_lazy("A habit of someone close to you."),
    "related.planned": gettext_lazy("A plan of someone close to you."),
    "related.past": gettext_lazy("Something from the past of someone close to you."),
    "related.passing": gettext_lazy("How things are right now for someone close to you."),
}
_OF_OTHERS = gettext_lazy("You told me this about someone else.")
_BY_RULE = gettext_lazy("Learned by an earlier version of Memory Center.")


def in_words(codes: Iterable[str]) -> list[str]:
    """Return the sentences for the known codes, in the given order and without repetition."""
    found = (sentence_for(code) for code in codes)
    return list(dict.fromkeys(sentence for sentence in found if sentence))


def doubts_in_words(codes: Iterable[str]) -> list[str]:
    """Return the sentences for the codes that say why a statement may have been misunderstood."""
    return in_words(code for code in codes if code in _DOUBTS)


def sentence_for(code: str) -> str:
    """Return the sentence for a code, or "" if the code is unknown."""
    if code in _DECIDED or code in _HEARD or code in _SEEN:
        return str(_DECIDED.get(code) or _HEARD.get(code) or _SEEN[code])
    source, dot, _what = code.partition(".")
    if dot and source == "others":
        return str(_OF_OTHERS)
    if dot and source in ("en", "zh", "classifier"):
        return str(_BY_RULE)
    return ""


_MOST = 3  # words shown
# A text is close in meaning if the vector part of its score exceeds this share of the score's bias.
_CLOSE = 0.6


def why(
    components: Mapping[str, float], *, asked: str = "", text: str = "", always: bool = False
) -> str:
    """Return words that explain why a memory was recalled, based on the components of its score.

    `asked` is the question, or "" if the question was forgotten. `always` is True if the memory is
    in every prompt, so that it may be included without being relevant.
    """
    if always and not is_relevant(components):
        return _("always included")
    found = [_("always included")] if always else []
    found += _word_reasons(components, asked=asked, text=text)
    if components.get("concept", 0.0) > 0:
        found.append(_("about the same subject"))
    if components.get("on_date", 0.0) > 0:
        found.append(_("from the time you mention"))
    if components.get("part_dense", 0.0) > _CLOSE * abs(components.get("part_bias", 1.0)):
        found.append(_("close in meaning"))
    return " · ".join(found) or _fallback(components.get("raw_relevance", 0.0))


def is_relevant(components: Mapping[str, float]) -> bool:
    """Return True if the memory's relevance to the question reaches the relevance floor."""
    return components.get("raw_relevance", 0.0) >= settings.RELEVANCE_FLOOR


def why_alike(similarity: float, *, asked: str, text: str) -> str:
    """Return words that explain why an earlier turn was recalled: shared words or similarity."""
    words = shared_words(asked, text)
    return same_words(words) if words else _fallback(similarity)


def strength(share: float) -> str:
    """Return words for how strongly two memories are related (`share` from 0 to 1)."""
    if share >= 0.7:
        return _("strongly linked")
    return _("linked") if share >= 0.4 else _("loosely linked")


def shared_words(asked: str, text: str) -> list[str]:
    """Return up to three words of the question that also occur in the text, as they were typed."""
    said = set(segment.terms(text))
    found: dict[str, str] = {}
    for word in segment.words(asked):
        plain = word.strip()
        if plain and not said.isdisjoint(segment.terms(plain)):
            found.setdefault(plain.casefold(), plain)
    return list(found.values())[:_MOST]


_WRITTEN = re.compile(r"[^\W_]+")
_FROM_BEGINNING = 3  # minimum number of typed letters to match the beginning of a word
_WITH_ONE_ERROR = 5  # minimum number of typed letters to match despite one typing error
_WITH_TWO_MISSING = 7  # minimum number of typed letters to match despite two missing letters
_ENDING = 2  # maximum number of letters after the misspelled part, for example a plural ending


def spelled_alike(asked: str, text: str) -> list[str]:
    """Return the words of the text that begin with a word of the question or are spelled similarly.

    The list is empty unless every word of the question, except stop words, resembles a word of the
    text.
    """
    words = list(dict.fromkeys(_WRITTEN.findall(text.casefold())))
    found: list[str] = []
    sought = _WRITTEN.findall(asked.casefold())
    telling = [one for one in sought if one not in segment.ENGLISH_STOP_WORDS]
    for typed in telling or sought:
        alike = next((word for word in words if _is_alike(typed, word)), None)
        if alike is None:
            return []
        found.append(alike)
    return found


def _is_alike(typed: str, word: str) -> bool:
    """Return True if `word` begins with `typed` or is spelled almost the same.

    If `typed` has at least five letters and no digits, one error is allowed: an extra, missing or
    wrong letter, or two swapped letters. If it has at least seven, two letters may be missing
    ("wensday" for "wednesday"). In both cases, `word` may have up to two more letters at the end.
    """
    if word == typed or (len(typed) >= _FROM_BEGINNING and word.startswith(typed)):
        return True
    if len(typed) < _WITH_ONE_ERROR or any(one.isdigit() for one in typed):
        return False
    shortest = max(len(typed) - 1, len(word) - _ENDING)
    if any(_differ_by_one_error(typed, word[:n]) for n in range(shortest, len(typed) + 2)):
        return True
    full = len(typed) + 2
    is_long = len(typed) >= _WITH_TWO_MISSING and full <= len(word) <= full + _ENDING
    return is_long and typed[:2] == word[:2] and _is_subsequence(typed, word[:full])


def _is_subsequence(typed: str, word: str) -> bool:
    letters = iter(word)
    return all(letter in letters for letter in typed)


def _differ_by_one_error(typed: str, word: str) -> bool:
    same = len([*takewhile(lambda pair: pair[0] == pair[1], zip(typed, word, strict=False))])
    typed, word = typed[same:], word[same:]
    swapped = typed[:2] == word[1::-1] and typed[2:] == word[2:]
    return swapped or typed[1:] in (word, word[1:]) or typed == word[1:]


def _word_reasons(components: Mapping[str, float], *, asked: str, text: str) -> list[str]:
    if words := shared_words(asked, text):
        return [same_words(words)]
    typed = asked.strip()
    if typed and typed.casefold() in text.casefold():
        return [same_words([typed])]
    if not components.get("matched", 0.0):
        return []
    return [_("linked to what you said before") if typed else _("same words")]


def same_words(words: Sequence[str]) -> str:
    return _("same words: %(words)s") % {"words": ", ".join(words)}


def _fallback(relevance: float) -> str:
    near = relevance >= settings.RELEVANCE_FLOOR
    return _("close in meaning") if near else _("little in common")
