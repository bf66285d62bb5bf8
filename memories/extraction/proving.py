"""From what a model proposes to a candidate: what can't be traced to the person's words is left."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from memories.extraction import accepted, answers, prompts, repeated, sensitive
from memories.extraction.dates import dates_in
from memories.extraction.languages import language_of
from memories.extraction.quoting import Quotable, Quotation
from memories.extraction.supporting import is_supported
from memories.extraction.types import Candidate, TurnText
from memories.screening import finding

_ACCEPTED = 0.1  # taken off what the assistant said and the person agreed to
_HAN = re.compile(r"[\u4e00-\u9fff]")
_YEARS = range(1900, 2200)
_AS_SAID = {"zh": 4, "en": 10}  # letters a quotation needs to be remembered as it stands


@dataclass(frozen=True)
class Spoken:
    """One person's message, and what of the assistant's message before it they accepted."""

    own: Quotable
    accepted: Quotation | None
    said: str  # all that figures and words may come from
    at: datetime

    @classmethod
    def of(cls, turn: TurnText, own: Quotable) -> Spoken:
        claim = accepted.accepted_claim(own.said.text, turn.before_assistant)
        taken = None
        if claim is not None and not finding.find(claim.quote):
            taken = Quotation(claim.quote, claim.start)
        earlier = [sensitive.cover(said.text) for said in turn.before]
        texts = [own.mask, turn.user.speaker, taken.text if taken else "", *earlier]
        return cls(own, taken, "\n".join(texts), turn.user.spoken_at)

    @property
    def language(self) -> str:
        accepted_only = self.accepted is not None and not _HAN.search(self.own.mask)
        text = self.accepted.text if self.accepted and accepted_only else self.own.readable
        return language_of(text)


def proven(item: Mapping[str, Any], spoken: Spoken) -> Candidate | None:
    """The candidate, with every value in its range, or None: where its quotation was not said, or
    a figure or a name of it stands in nothing that was.
    """
    content = answers.cleaned(item.get("content"))[: prompts.LONGEST_CONTENT]
    traced = _traced(answers.cleaned(item.get("quote")), spoken)
    if traced is None:
        return None
    quotation, role = traced
    content = _in_their_language(content, quotation, spoken)
    screened = sensitive.screen(content)
    if not content or screened.drop or sensitive.says_nothing_but_secrets(screened.text):
        return None
    kind = answers.one_of(item.get("kind"), among=prompts.KINDS, default="fact")
    day = _day(item.get("date"), quotation, spoken=spoken)
    if not is_supported(screened.text, known=_known(quotation, day, spoken)):
        return None
    return Candidate(
        kind=kind,
        content=screened.text,
        importance=answers.share(item.get("importance"), default=0.5),
        confidence=_confidence(item, role=role),
        quote=quotation.text,
        quote_start=quotation.start,
        quoted_role=role,
        tags=_tags(item.get("tags")),
        data={"date": day.isoformat()} if day else {},
        occurred_at=_moment(day, kind=kind, spoken=spoken),
        corrects=item.get("corrects") is True,
        language=spoken.language,
        reasons=("model", *(("accepted",) if role != spoken.own.role else ())),
    )


def _traced(quote: str, spoken: Spoken) -> tuple[Quotation, str] | None:
    """Where it was said and by whom: in their own words, or in what they accepted."""
    own = spoken.own
    if found := own.find(quote):
        return found, own.role
    claim = spoken.accepted
    if claim and repeated.folded(quote) and repeated.folded(quote) in repeated.folded(claim.text):
        return claim, "assistant"
    return None


def _known(quotation: Quotation, day: date | None, spoken: Spoken) -> str:
    """All that a statement's figures and names may come from."""
    days = [*_days(quotation, spoken), *([day] if day else [])]
    told = "\n".join(f"{one.isoformat()} {one.month} {one.day}" for one in days)
    return f"{spoken.said}\n{told}\n{spoken.at.year}"


def _days(quotation: Quotation, spoken: Spoken) -> list[date]:
    """The days that a quotation names, in figures."""
    language = language_of(quotation.text)
    found = dates_in(quotation.text, spoken_at=spoken.at, language=language)
    return [day for one in found for day in (one.first, one.last)]


def _in_their_language(content: str, quotation: Quotation, spoken: Spoken) -> str:
    """The statement, or their own words where it is in another language than theirs; or nothing."""
    language = spoken.language
    fits = bool(_HAN.search(content)) if language == "zh" else not _HAN.search(content)
    if fits:
        return content
    letters = len(repeated.folded(quotation.text))
    return quotation.text.strip() if letters >= _AS_SAID.get(language, _AS_SAID["en"]) else ""


def _day(value: object, quotation: Quotation, *, spoken: Spoken) -> date | None:
    """The day that the quotation names, or the model's if its year was said."""
    if named := _days(quotation, spoken):
        return named[0]
    try:
        claimed = date.fromisoformat(answers.cleaned(value)[:10])
    except ValueError:
        return None
    return claimed if claimed.year in _YEARS and str(claimed.year) in spoken.said else None


def _confidence(item: Mapping[str, Any], *, role: str) -> float:
    confidence = answers.share(item.get("confidence"), default=0.7)
    if role == "assistant":
        confidence -= _ACCEPTED
    return round(max(0.0, confidence), 2)


def _tags(value: object) -> tuple[str, ...]:
    tags = answers.words(value, most=prompts.MOST_TAGS, longest=prompts.LONGEST_TAG)
    return tuple(tag for tag in tags if not finding.find(tag))


def _moment(day: date | None, *, kind: str, spoken: Spoken) -> datetime | None:
    if day is None or kind != "event":
        return None
    return datetime.combine(day, time(), tzinfo=spoken.own.said.spoken_at.tzinfo)
