"""Validate a model's proposals: a candidate must be traceable to the person's words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from memories.extraction import accepted_claims, own_prompts, secret_masking
from memories.extraction.chat_model import answers, prompts
from memories.extraction.chat_model.quotations import Quotable, Quotation
from memories.extraction.chat_model.support import days_named, is_supported
from memories.extraction.types import Candidate, TurnText
from memories.extraction.wording.languages import language_of
from memories.extraction.wording.own_words import data_of
from memories.extraction.wording.topics import tag_of, topic_named

_ACCEPTED = 0.1  # taken off what the assistant said and the person agreed to
_HAN = re.compile(r"[\u4e00-\u9fff]")
_YEARS = range(1900, 2200)
_AS_SAID = {"zh": 4, "en": 10}  # letters a quotation needs to be remembered as it stands


@dataclass(frozen=True)
class Spoken:
    """One person's message, and the part of the assistant's message before it that they
    accepted.
    """

    own: Quotable
    accepted: Quotation | None
    said: str  # all that figures and words may come from
    at: datetime

    @classmethod
    def of(cls, turn: TurnText, own: Quotable) -> Spoken:
        taken = accepted_claims.accepted_claim(own.said.text, turn.before_assistant)
        earlier = [secret_masking.cover(said.text) for said in turn.before]
        texts = [own.mask, turn.user.speaker, taken.text if taken else "", *earlier]
        return cls(own, taken, "\n".join(texts), turn.user.spoken_at)

    @property
    def language(self) -> str:
        accepted_only = self.accepted is not None and not _HAN.search(self.own.mask)
        text = self.accepted.text if self.accepted and accepted_only else self.own.readable
        return language_of(text)


def proven(item: Mapping[str, Any], spoken: Spoken) -> Candidate | None:
    """Return the candidate with all values in range.

    Returns None if its quotation wasn't said, or one of its numbers or names was mentioned nowhere.
    """
    content = answers.cleaned(item.get("content"))[: prompts.LONGEST_CONTENT]
    traced = _traced(answers.cleaned(item.get("quote")), spoken)
    if traced is None:
        return None
    quotation, role = traced
    content = _in_their_language(content, quotation, spoken)
    screened = secret_masking.screen(content)
    if not content or screened.drop or secret_masking.says_nothing_but_secrets(screened.text):
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
        tags=_tags(item.get("tags"), language=spoken.language),
        data=_data(quotation, day, spoken),
        occurred_at=spoken.own.said.start_of(day) if kind == "event" else None,
        corrects=item.get("corrects") is True,
        reasons=("model", *(("accepted",) if role != spoken.own.role else ())),
    )


def _traced(quote: str, spoken: Spoken) -> tuple[Quotation, str] | None:
    """Return the place of the quotation and its speaker: their own words, or an accepted claim."""
    own = spoken.own
    if found := own.find(quote):
        return found, own.role
    claim = spoken.accepted
    if (
        claim
        and own_prompts.folded(quote)
        and own_prompts.folded(quote) in own_prompts.folded(claim.text)
    ):
        return claim, "assistant"
    return None


def _known(quotation: Quotation, day: date | None, spoken: Spoken) -> str:
    """Return all texts from which a statement's numbers and names may come."""
    days = [*days_named(quotation.text, spoken_at=spoken.at), *([day] if day else [])]
    told = "\n".join(f"{one.isoformat()} {one.month} {one.day}" for one in days)
    return f"{spoken.said}\n{told}\n{spoken.at.year}"


def _in_their_language(content: str, quotation: Quotation, spoken: Spoken) -> str:
    """Return the statement, their own words if it is in another language, or nothing."""
    language = spoken.language
    fits = bool(_HAN.search(content)) if language == "zh" else not _HAN.search(content)
    if fits:
        return content
    letters = len(own_prompts.folded(quotation.text))
    return quotation.text.strip() if letters >= _AS_SAID.get(language, _AS_SAID["en"]) else ""


def _day(value: object, quotation: Quotation, *, spoken: Spoken) -> date | None:
    """Return the date in the quotation, or the model's date if its year was mentioned."""
    if named := days_named(quotation.text, spoken_at=spoken.at):
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


def _tags(value: object, *, language: str) -> tuple[str, ...]:
    """Return the topics among the model's tags."""
    words = answers.words(value, most=prompts.MOST_TAGS, longest=prompts.LONGEST_TAG)
    topics = dict.fromkeys(topic for word in words if (topic := topic_named(word)))
    return tuple(tag_of(topic, language=language) for topic in topics)


def _data(quotation: Quotation, day: date | None, spoken: Spoken) -> dict[str, Any]:
    """Return what the quotation names; the model's day only if that has none."""
    language = language_of(quotation.text)
    data = data_of(quotation.text, spoken_at=spoken.at, language=language)
    dated = not data.keys().isdisjoint(("date", "since", "until"))
    return data if dated or day is None else {**data, "date": day.isoformat()}
