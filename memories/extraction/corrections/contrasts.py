"""Recognise sentences that correct known memories, such as "Zuri is 10, not 9"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from foundation.text import segment
from memories.extraction.corrections.corrected_messages import (
    EDGE,
    bare_contrast,
    in_place_of,
    sentences,
    strip_particles,
    without_overlap,
)
from memories.extraction.corrections.values import NUMBERS, PATTERNS, SORTS
from memories.extraction.wording.chinese_subjects import leading_name

_DATE_ADDED = re.compile(r"^\s?\[\d{4}[^\]]*\]")  # a date added after the wrong words


@dataclass(frozen=True)
class Contrast:
    """A span of a sentence that corrects a wrong person or value, such as "it's Eva, not Anna".

    It corrects statements that match the pattern `form` and contain at least one term of `anchors`.
    `about` is the name with which the sentence begins, if any; a statement that begins with another
    person's name isn't corrected.
    """

    right: str
    wrong: str
    form: re.Pattern[str]
    anchors: frozenset[str]
    start: int
    end: int
    about: str = ""

    def corrected(self, text: str) -> str:
        """Return the text with the right words, or "" if the sentence doesn't apply to the text."""
        found = self.form.search(text)
        if found is None or self.anchors.isdisjoint(segment.terms(text)):
            return ""
        name = leading_name(text) if self.about else ""
        if name and name != self.about and self.wrong not in name:
            return ""  # a correction about 小芳 doesn't apply to 乐乐
        start, end = found.span("old")
        right = without_overlap(self.right, text[:start], text[end:])
        new = text[:start] + right + _DATE_ADDED.sub("", text[end:])
        return new if right and new != text else ""


@dataclass(frozen=True)
class Renaming:
    """A correction of a name, such as "called Martha, not Marta".

    It applies to every statement that contains the wrong name. `start` and `end` delimit the
    sentence that makes the correction.
    """

    wrong: str
    right: str
    start: int
    end: int

    def corrected(self, text: str) -> str:
        """Return the text with the right name, or "" if it doesn't contain the wrong one."""
        new = re.sub(_as_words(self.wrong), lambda _: self.right, text)
        return new if new != text else ""


def exchange(said: str, text: str) -> str:
    """Return the text with the correction `said` applied, or "" if it can't be applied.

    For example, "not gary, garry" changes "my cat gary" to "my cat garry". `said` must contain only
    the correction, and the text must contain the wrong words exactly once.
    """
    found = PATTERNS["exchange"].search(said.strip())
    if found is None:
        return ""
    wrong, right = _wrong_and_right(found)
    parts = re.split(f"(?i){_as_words(wrong)}", text)
    return right.join(parts) if len(parts) == 2 else ""


def renaming(said: str) -> Renaming | None:
    """Return the first correction of a name in a text, or None."""
    for start, sentence in sentences(said):
        if found := PATTERNS["renamed"].search(sentence.strip(EDGE)):
            return Renaming(*_wrong_and_right(found), start, start + len(sentence))
    return None


def _wrong_and_right(found: re.Match[str]) -> tuple[str, str]:
    """Return the wrong and the right words in a match of the pattern "exchange" or "renamed"."""
    words = {name: text for name, text in found.groupdict().items() if text}
    wrong = next(words[name] for name in ("wrong", "zh_wrong", "zh_first") if name in words)
    return wrong, next(words[name] for name in ("right", "zh_right", "zh_then") if name in words)


def _as_words(words: str) -> str:
    """Return a pattern for these words that doesn't match inside an English word."""
    edge = r"\b" if words.isascii() else ""
    return edge + re.escape(words) + edge


def contrasts(said: str) -> list[Contrast]:
    """Return the corrections in a text, such as "Zuri is 10, not 9"."""
    found = []
    for start, sentence in sentences(said):
        plain = sentence.replace("’", "'")
        for right, wrong, form in _replacements(plain.strip(EDGE)):
            named = set(segment.terms(sentence)) - set(segment.terms(wrong))
            new = named - set(segment.terms(right))
            if bare_contrast(sentence) and not _is_value(wrong):
                new = set(segment.terms(wrong))
            anchors = frozenset(new or named)
            # The clauses after the one with these words are separate statements.
            last = max(plain.rfind(words) for words in (right, wrong) if words)
            rest = PATTERNS["clause_end"].search(plain, last)
            end = start + (rest.start() if rest else len(plain))
            about = leading_name(sentence)
            about = "" if about in (right, wrong) else about
            found.append(Contrast(right, wrong, form, anchors, start, end, about))
    return found


def _is_value(words: str) -> bool:
    return any(sort.fullmatch(words) for sort in (*SORTS, PATTERNS["day_of_month"], NUMBERS))


def _replacements(sentence: str) -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Yield the right words, the wrong words and a pattern for each correction in a sentence.

    The pattern finds the words to replace in a memory. The wrong words are empty if the sentence
    doesn't state them.
    """
    if age := PATTERNS["age_now"].search(sentence):
        kind = "age_before" if age["subject"] else "zh_age_before"
        subject = age["subject"] or age["zh_subject"]
        form = re.compile(rf"(?i)(?<![^\W\d_]){re.escape(subject)}" + PATTERNS[kind].pattern)
        if kind == "zh_age_before":
            form = re.compile(re.escape(subject) + PATTERNS[kind].pattern)
        yield age["value"] or age["zh_value"], "", form
    if cleft := PATTERNS["it_is_right_who"].match(_without_it_is(sentence)):
        rest = re.sub(r"n'?t\b", "n['’]?t", re.escape(strip_particles(cleft["rest"])))
        yield cleft["value"], "", re.compile(rf"(?i)^(?P<old>[^,.;]{{1,40}}?)(?=\s{rest})")
    if cleft := PATTERNS["zh_it_is_right_who"].match(sentence):
        rest = re.escape(cleft["rest"] or cleft["what"])
        form = re.compile(rf"^(?P<old>[^，,。]{{1,12}}?)(?={rest})")
        yield cleft["value"] or cleft["then"], "", form
    if who := PATTERNS["zh_who_is_not"].match(sentence):
        yield from _of_person(
            who["subject"], right=strip_particles(who["right"]), wrong=strip_particles(who["wrong"])
        )
        return
    names = ("it_was_wrong_who", "not_one_but_other", "right_not_wrong")
    for name in (*names, "zh_not_wrong_but_right", "zh_right_not_wrong"):
        for found in PATTERNS[name].finditer(sentence):
            right, wrong = strip_particles(found["right"]), strip_particles(found["wrong"])
            value = in_place_of(wrong, right) if wrong else ""
            if value and value.casefold() != wrong.casefold():
                edge = r"\b" if wrong[0].isascii() and wrong[-1].isascii() else ""
                yield value, wrong, re.compile(rf"(?i){edge}(?P<old>{re.escape(wrong)}){edge}")


def _of_person(
    subject: str, *, right: str, wrong: str
) -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Yield tuples as `_replacements` does, for wrong words next to the person's name `subject`.

    For example, 「小雅不是我老公 是我闺蜜」 ("Xiaoya isn't my husband but my best friend") replaces
    「老公」 ("husband") in the memory 「[老公]小雅不吃牛肉」 ("[my husband] Xiaoya eats no beef").
    """
    if right and wrong:
        name, old = re.escape(subject), re.escape(wrong)
        yield right, wrong, re.compile(rf"(?P<old>{old})(?=\]?{name})")
        yield right, wrong, re.compile(rf"{name}(?:是?我?的?|\[)(?P<old>{old})")


def _without_it_is(sentence: str) -> str:
    found = PATTERNS["it_is"].match(sentence)
    return sentence[found.end() :] if found else ""
