"""From what a model proposes to a candidate: what can't be traced to the person's words is left."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from memcenter.lib import segment
from memories.extraction import answers, prompts, sensitive
from memories.extraction.quoting import Quotable, Quotation
from memories.extraction.rules import accepted, en_dates, repeated, zh_dates
from memories.extraction.rules.reading import language_of
from memories.extraction.types import Candidate, TurnText

_ACCEPTED = 0.1  # taken off what the assistant said and the person agreed to
_UNPROVEN = ("unproven_figures",)
_DOUBTFUL = 0.4  # what isn't plainly what they said waits for them
_HAN = re.compile(r"[\u4e00-\u9fff]")
_FIGURES = re.compile(r"\d+")
_YEARS = range(1900, 2200)
_NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_NUMERALS = "一二三四五六七八九十"
_AS_SAID = {"zh": 4, "en": 10}  # letters a quotation needs to be remembered as it stands


@dataclass(frozen=True)
class Spoken:
    """One person's message, and what of the assistant's message before it they accepted."""

    own: Quotable
    accepted: Quotation | None
    said: str  # all that figures and words may come from
    today: date

    @classmethod
    def of(cls, turn: TurnText, own: Quotable) -> Spoken:
        claim = accepted.accepted_claim(own.said.text, turn.before_assistant)
        taken = None
        if claim is not None and not sensitive.find(claim.quote):
            taken = Quotation(claim.quote, claim.start)
        earlier = [sensitive.cover(said.text) for said in turn.before]
        texts = [own.mask, turn.user.speaker, taken.text if taken else "", *earlier]
        return cls(own, taken, "\n".join(texts), turn.user.spoken_at.date())

    @property
    def language(self) -> str:
        accepted_only = self.accepted is not None and not _HAN.search(self.own.mask)
        text = self.accepted.text if self.accepted and accepted_only else self.own.readable
        return language_of(text)


def proven(item: Mapping[str, Any], spoken: Spoken) -> Candidate | None:
    """The candidate, with every value in its range, or None."""
    content = answers.cleaned(item.get("content"))[: prompts.LONGEST_CONTENT]
    traced = _traced(answers.cleaned(item.get("quote")), content, spoken)
    if traced is None:
        return None
    quotation, role = traced
    content = _in_their_language(content, quotation, spoken)
    screened = sensitive.screen(content)
    if not content or screened.drop or sensitive.says_nothing_but_secrets(screened.text):
        return None
    kind = answers.one_of(item.get("kind"), among=prompts.KINDS, default="fact")
    day = _day(item.get("date"), quotation, kind=kind, spoken=spoken)
    doubts = _doubts(screened.text, day, spoken)
    return Candidate(
        kind=kind,
        content=screened.text,
        importance=answers.share(item.get("importance"), default=0.5),
        confidence=_confidence(item, role=role, doubted=bool(doubts)),
        quote=quotation.text,
        quote_start=quotation.start,
        quoted_role=role,
        tags=_tags(item.get("tags")),
        data={"date": day.isoformat()} if day else {},
        occurred_at=_moment(day, kind=kind, spoken=spoken),
        corrects=item.get("corrects") is True,
        language=spoken.language,
        reasons=("model", *(("accepted",) if role != spoken.own.role else ()), *doubts),
    )


def _traced(quote: str, content: str, spoken: Spoken) -> tuple[Quotation, str] | None:
    """Where it was said and by whom: as quoted, in what was accepted, or where the words stand."""
    own = spoken.own
    if found := own.find(quote):
        return found, own.role
    claim = spoken.accepted
    if claim and repeated.folded(quote) and repeated.folded(quote) in repeated.folded(claim.text):
        return claim, "assistant"
    nearest = own.nearest(content)
    return (nearest, own.role) if nearest else None


def _in_their_language(content: str, quotation: Quotation, spoken: Spoken) -> str:
    """The statement, or their own words where it is in another language than theirs; or nothing."""
    language = spoken.language
    fits = bool(_HAN.search(content)) if language == "zh" else language_of(content) == "en"
    if fits:
        return content
    letters = len(repeated.folded(quotation.text))
    return quotation.text.strip() if letters >= _AS_SAID[language] else ""


def _day(value: object, quotation: Quotation, *, kind: str, spoken: Spoken) -> date | None:
    """The day that the rules read in the quotation, or the model's if its year was said."""
    resolve = zh_dates.resolve if language_of(quotation.text) == "zh" else en_dates.resolve
    _, day = resolve(quotation.text, today=spoken.today, past=kind == "event")
    if day is not None:
        return day
    try:
        claimed = date.fromisoformat(answers.cleaned(value)[:10])
    except ValueError:
        return None
    return claimed if claimed.year in _YEARS and str(claimed.year) in spoken.said else None


def _doubts(content: str, day: date | None, spoken: Spoken) -> tuple[str, ...]:
    """Codes for what isn't in anything they said: a figure, or every single word."""
    known = f"{spoken.said}\n{day.isoformat() if day else ''}\n{spoken.today.year}"
    doubts = () if _figures(content) <= _figures(known) | _spelled(known) else _UNPROVEN
    shared = set(segment.terms(content)) & set(segment.terms(spoken.said))
    return doubts if shared else (*doubts, "unproven_words")


def _figures(text: str) -> set[int]:
    return {int(one) for one in _FIGURES.findall(text) if len(one) < 20}


def _spelled(text: str) -> set[int]:
    """What stands there in words: "two" and 两 for a 2."""
    words = set(text.casefold().replace("两", "二").split())
    signs = set(text.replace("两", "二"))
    english = {value for value, word in enumerate(_NUMBERS, start=1) if word in words}
    return english | {value for value, sign in enumerate(_NUMERALS, start=1) if sign in signs}


def _confidence(item: Mapping[str, Any], *, role: str, doubted: bool) -> float:
    confidence = answers.share(item.get("confidence"), default=0.7)
    if role == "assistant":
        confidence -= _ACCEPTED
    return round(max(0.0, min(confidence, _DOUBTFUL) if doubted else confidence), 2)


def _tags(value: object) -> tuple[str, ...]:
    tags = answers.words(value, most=prompts.MOST_TAGS, longest=prompts.LONGEST_TAG)
    return tuple(tag for tag in tags if not sensitive.find(tag))


def _moment(day: date | None, *, kind: str, spoken: Spoken) -> datetime | None:
    if day is None or kind != "event":
        return None
    return datetime.combine(day, time(), tzinfo=spoken.own.said.spoken_at.tzinfo)
