"""Validate the candidates that a chat model proposes.

Each proposal must be based on the person's own words, or on a claim that the person agreed with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import rjieba

from foundation.text import segment
from foundation.text.shingles import has_han
from memories.extraction import masking
from memories.extraction.chat_model import model_calls, prompts
from memories.extraction.pattern_tables import compiled
from memories.extraction.requests import commands
from memories.extraction.types import Candidate, Quotation, TurnText, Utterance
from memories.extraction.wording.dates import dates_in
from memories.extraction.wording.languages import language_of, tag_of, topic_named
from memories.extraction.wording.own_words import data_of

_ACCEPTED = 0.1  # subtracted from the confidence if the person only agreed with a claim
_YEARS = range(1900, 2200)
_AS_SAID = {"zh": 4, "en": 10}  # minimum letters of a quotation that replaces the statement


@dataclass(frozen=True)
class ProofTexts:
    """A person's message, and the assistant's claim that the message agrees with (`accepted`)."""

    own: Quotable
    accepted: Quotation | None
    said: str  # all texts from which a statement may take numbers and names
    at: datetime

    @classmethod
    def of(cls, turn: TurnText, own: Quotable) -> ProofTexts:
        taken = commands.accepted_claim(own.said.text, turn.before_assistant)
        earlier = [masking.cover_secrets(said.text) for said in turn.before]
        texts = [own.mask, turn.user.speaker, taken.text if taken else "", *earlier]
        return cls(own, taken, "\n".join(texts), turn.user.spoken_at)

    @property
    def language(self) -> str:
        accepted_only = self.accepted is not None and not has_han(self.own.mask)
        text = self.accepted.text if self.accepted and accepted_only else self.own.readable
        return language_of(text)


def prove_candidate(item: Mapping[str, Any], spoken: ProofTexts) -> Candidate | None:
    """Return the candidate for a proposal of the model, with invalid values replaced.

    Return None if the quotation isn't in the messages, if the statement contains a number or name
    that they don't mention, or if the statement is empty or only a secret.
    """
    content = model_calls.clean_text(item.get("content"))[: prompts.LONGEST_CONTENT]
    traced = _traced(model_calls.clean_text(item.get("quote")), spoken)
    if traced is None:
        return None
    quotation, role = traced
    content = _in_their_language(content, quotation, spoken)
    screened = masking.screen(content)
    if not content or screened.drop or masking.says_nothing_but_secrets(screened.text):
        return None
    kind = model_calls.one_of(item.get("kind"), among=prompts.KINDS, default="fact")
    day = _day(item.get("date"), quotation, spoken=spoken)
    days = [*days_named(quotation.text, spoken_at=spoken.at), *([day] if day else [])]
    dates = "\n".join(f"{named.isoformat()} {named.month} {named.day}" for named in days)
    if not is_supported(screened.text, known=f"{spoken.said}\n{dates}\n{spoken.at.year}"):
        return None
    confidence = model_calls.share(item.get("confidence"), default=0.7)
    if role == "assistant":
        confidence -= _ACCEPTED
    words = model_calls.words(item.get("tags"), most=prompts.MOST_TAGS, longest=prompts.LONGEST_TAG)
    topics = dict.fromkeys(topic for word in words if (topic := topic_named(word)))
    data = data_of(quotation.text, spoken_at=spoken.at, language=language_of(quotation.text))
    if day and data.keys().isdisjoint(("date", "since", "until")):
        data["date"] = day.isoformat()
    return Candidate(
        kind=kind,
        content=screened.text,
        importance=model_calls.share(item.get("importance"), default=0.5),
        confidence=round(max(0.0, confidence), 2),
        quote=quotation.text,
        quote_start=quotation.start,
        quoted_role=role,
        tags=tuple(tag_of(topic, language=spoken.language) for topic in topics),
        data=data,
        occurred_at=spoken.own.said.start_of(day) if kind == "event" else None,
        corrects=item.get("corrects") is True,
        reasons=("model", *(("accepted",) if role != spoken.own.role else ())),
    )


def _traced(quote: str, spoken: ProofTexts) -> tuple[Quotation, str] | None:
    """Return the quoted passage and the role of its speaker, or None if it isn't found.

    The passage must be in the person's message, or in a claim by the assistant that the person
    agreed with.
    """
    own = spoken.own
    if found := own.find(quote):
        return found, own.role
    claim = spoken.accepted
    if (
        claim
        and masking.letters_and_digits(quote)
        and masking.letters_and_digits(quote) in masking.letters_and_digits(claim.text)
    ):
        return claim, "assistant"
    return None


def _in_their_language(content: str, quotation: Quotation, spoken: ProofTexts) -> str:
    """Return the statement if it is in the person's language, otherwise the quotation.

    If the quotation is too short to be understood by itself, return an empty string instead.
    """
    language = spoken.language
    fits = has_han(content) is (language == "zh")
    if fits:
        return content
    letters = len(masking.letters_and_digits(quotation.text))
    return quotation.text.strip() if letters >= _AS_SAID.get(language, _AS_SAID["en"]) else ""


def _day(value: object, quotation: Quotation, *, spoken: ProofTexts) -> date | None:
    """Return the first date in the quotation, or else the model's date `value`.

    Return None if `value` isn't a valid date either, or if the messages don't mention its year.
    """
    if named := days_named(quotation.text, spoken_at=spoken.at):
        return named[0]
    try:
        claimed = date.fromisoformat(model_calls.clean_text(value)[:10])
    except ValueError:
        return None
    return claimed if claimed.year in _YEARS and str(claimed.year) in spoken.said else None


_OMITTED = " […] "
_COVERED = re.compile(f"{masking.COVER}+")
_NOT_QUOTED = re.compile(
    f"[{masking.SECRET}{masking.COVER}]+|{re.escape(masking.MARK_EN)}"
    f"|{re.escape(masking.MARK_ZH)}|\\[?…\\]?|\\.\\.\\."
)
_CLAUSE = re.compile(rf"[^.!?。！？；;\n{masking.SECRET}{masking.COVER}]+")
_FEWEST = 2  # minimum number of letters and digits in a quotation
_ALIKE = 0.5  # minimum share of a statement's words that the nearest clause contains


@dataclass(frozen=True)
class Quotable:
    """A person's message, with a mask that hides secrets and other people's text from models.

    `mask` is the message with each hidden character replaced, so positions are unchanged.
    """

    said: Utterance
    role: str
    mask: str

    @classmethod
    def own_words(
        cls,
        said: Utterance,
        *,
        role: str,
        without: tuple[str, ...] = (),
        outside_real_life: tuple[tuple[int, int], ...] = (),
        secrets: tuple[tuple[int, int], ...] = (),
    ) -> Quotable:
        """Return the message with everything covered except the person's own words.

        `without` holds sentences that are requests rather than statements, `outside_real_life` the
        spans of pasted texts, role play and the like, and `secrets` the spans of secrets that the
        reader model found.
        """
        text = masking.replace_spans(masking.cover_secrets(said.text), secrets, sign=masking.SECRET)
        places = [(said.text.find(sentence), len(sentence)) for sentence in without if sentence]
        orders = [(at, at + size) for at, size in places if at >= 0]
        mask = masking.replace_spans(
            masking.cover_foreign(text), [*outside_real_life, *orders], sign=masking.COVER
        )
        return cls(said, role, mask)

    @property
    def readable(self) -> str:
        return _COVERED.sub(_OMITTED, masking.mark_covered_secrets(self.mask)).strip()

    @property
    def says_something(self) -> bool:
        return any(sign.isalnum() for sign in self.mask)

    def find(self, quote: str) -> Quotation | None:
        """Return the passage of the message that matches a quotation, or None.

        Only the longest part of the quotation between omissions ("…") and masks is searched for. If
        there is no exact match, case, spaces and punctuation are ignored.
        """
        parts = sorted(_NOT_QUOTED.split(masking.plain(quote)), key=len, reverse=True)
        wanted = parts[0].strip()
        if sum(sign.isalnum() for sign in wanted) < _FEWEST:
            return None
        at = self.mask.find(wanted)
        return self._at(at, at + len(wanted)) if at >= 0 else self._find_loosely(wanted)

    def nearest(self, content: str) -> Quotation | None:
        """Return the clause that shares most words with `content`, or None if it shares too few."""
        wanted = set(segment.terms(content))
        scored = [
            (len(wanted.intersection(segment.terms(clause[0]))), -clause.start(), clause)
            for clause in _CLAUSE.finditer(self.mask)
        ]
        if not wanted or not scored:
            return None
        shared, _, clause = max(scored, key=lambda candidate: candidate[:2])
        if shared < _ALIKE * len(wanted):
            return None
        lead = len(clause[0]) - len(clause[0].lstrip())
        return self._at(clause.start() + lead, clause.start() + len(clause[0].rstrip()))

    def _find_loosely(self, wanted: str) -> Quotation | None:
        letters = list(_letters(self.mask))
        text = "".join(letter for letter, _ in letters)
        folded = "".join(letter for letter, _ in _letters(wanted))
        at = text.find(folded)
        return self._at(letters[at][1], letters[at + len(folded) - 1][1] + 1) if at >= 0 else None

    def _at(self, start: int, end: int) -> Quotation:
        return Quotation(self.said.text[start:end], start)


def _letters(text: str) -> Iterator[tuple[str, int]]:
    """Yield each letter, digit and cover character with its position; letters are case-folded.

    Cover characters are included, so that no match extends across covered text.
    """
    for place, sign in enumerate(text):
        if sign.isalnum() or sign in (masking.SECRET, masking.COVER):
            yield from ((letter, place) for letter in sign.casefold())


_FIGURE = re.compile(r"\d+")
_NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_NUMERALS = "一二三四五六七八九十"
_CAPITAL = re.compile(r"(?<![\w.'’-])[A-Z][\w-]*")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9-]+")
_NAMES = ("nr", "ns", "nt")
_P = compiled("support")


def is_supported(content: str, *, known: str) -> bool:
    """Return whether all numbers and names, and at least one word, of `content` are in `known`."""
    said = segment.normalise(known).casefold()
    names = _chinese_names if language_of(content) == "zh" else _english_names
    return (
        figures(content) <= figures(known) | _spelled(known)
        and not set(segment.terms(content)).isdisjoint(segment.terms(known))
        and all(segment.normalise(name).casefold() in said for name in names(content))
    )


def _english_names(content: str) -> Iterator[str]:
    for found in _CAPITAL.finditer(content):
        begins = found.start() == 0 or content[: found.start()].rstrip()[-1:] in ".!?:"
        if begins and not _P["of_whom"].match(content, found.end()):
            continue
        if not _P["calendar"].fullmatch(found[0]):
            yield found[0]


def _chinese_names(content: str) -> Iterator[str]:
    yield from _LATIN.findall(content)
    for word, tag in rjieba.tag(content):
        if tag in _NAMES and len(word) > 1 and not word.isascii():
            yield word


def days_named(text: str, *, spoken_at: datetime) -> list[date]:
    """Return the first and the last day of each date that a text mentions."""
    found = dates_in(text, spoken_at=spoken_at, language=language_of(text))
    return [day for dated in found for day in (dated.first, dated.last)]


def figures(text: str) -> set[int]:
    """Return each run of digits in a text as a number, except runs of 20 digits or more."""
    return {int(number) for number in _FIGURE.findall(text) if len(number) < 20}


def _spelled(text: str) -> set[int]:
    """Return the numbers from 1 to 10 that a text spells out, such as "two", 二 or 两."""
    words = set(text.casefold().replace("两", "二").split())
    signs = set(text.replace("两", "二"))
    english = {value for value, word in enumerate(_NUMBERS, start=1) if word in words}
    return english | {value for value, sign in enumerate(_NUMERALS, start=1) if sign in signs}
