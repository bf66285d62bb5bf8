"""The joint reader by a chat model: one question for a section of the conversation.

Each statement must name at least two turns and say only what the person said in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from memcenter.lib.text import segment, tokens
from memcenter.providers.base import TooLong
from memories.extraction import own_prompts, secret_masking
from memories.extraction.chat_model import answers, prompts
from memories.extraction.chat_model.questions import Asker, pieces
from memories.extraction.chat_model.quotations import Quotable
from memories.extraction.chat_model.support import days_named, figures
from memories.extraction.joint_types import Gathered, Heard
from memories.extraction.types import Candidate
from memories.extraction.wording.languages import language_of
from memories.screening import secret_search

_STRETCH = 3_000  # tokens of one question
_LONGEST = 400  # tokens of one message
_SAID = 0.6  # of a statement's words must be the person's
_DOUBTFUL = 0.6  # what was put together is never quite certain


class ModelJointReader:
    """Turns get temporary numbers for each question (1, 2 …)."""

    name = "model"

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def read(self, turns: Sequence[Heard]) -> list[Gathered]:
        spoken = [one for one in turns if _own(one).says_something]
        found = [
            one
            for stretch in pieces(spoken, cost=_cost, most=_STRETCH, shared=1)
            for one in self._stretch(stretch)
        ]
        known = own_prompts.folded(turns[0].text.known_block) if turns else ""
        kept: dict[str, Gathered] = {}
        for one in found:
            if not own_prompts.repeats(one.candidate.content, one.candidate.quote, known=known):
                kept.setdefault(own_prompts.folded(one.candidate.content), one)
        return list(kept.values())[: prompts.MOST_CANDIDATES]

    def _stretch(self, turns: Sequence[Heard]) -> list[Gathered]:
        if len(turns) < 2 or not any(one.fresh for one in turns):
            return []
        shown = [_shown(number, one) for number, one in enumerate(turns, start=1)]
        language = segment.language(" ".join(one.text.user.text[:200] for one in turns))
        prompt = prompts.joint_reading({"turns": shown}, language=language)
        try:
            return list(self._asker.ask(prompt, read=partial(_read, turns)).items)
        except TooLong:
            if len(turns) == 2:
                raise
            half = len(turns) // 2
            return self._stretch(turns[:half]) + self._stretch(turns[half:])


def _read(turns: Sequence[Heard], answer: str) -> answers.Kept[Gathered]:
    read = answers.items(
        answer,
        name="over_turns",
        most=prompts.MOST_CANDIDATES,
        shape={"content": str, "turns": list},
    )
    found = [one for item in read.items if (one := _gathered(item, turns)) is not None]
    return answers.Kept(found, read.dropped + len(read.items) - len(found))


def _own(heard: Heard) -> Quotable:
    return Quotable.own_words(heard.text.user, role="user")


def _shown(number: int, heard: Heard) -> dict[str, Any]:
    reply = secret_masking.blanked(secret_masking.cover(heard.text.assistant.text))
    return {
        "turn": number,
        "day": f"{heard.text.user.spoken_at:%Y-%m-%d, %A}",
        "user": tokens.truncate(_own(heard).readable, limit=_LONGEST),
        "assistant": tokens.truncate(reply, limit=_LONGEST // 4),
    }


def _cost(heard: Heard) -> int:
    return min(_LONGEST, tokens.count(heard.text.user.text[:4_000])) + _LONGEST // 4


def _gathered(item: Mapping[str, Any], turns: Sequence[Heard]) -> Gathered | None:
    given = item.get("turns")
    numbers = {one for one in given if isinstance(one, int)} if isinstance(given, list) else set()
    meant = [turns[one - 1] for one in sorted(numbers) if 0 < one <= len(turns)]
    if len(meant) < 2 or not any(one.fresh for one in meant):
        return None
    content = answers.cleaned(item.get("content"))[: prompts.LONGEST_CONTENT]
    if not _holds(content, meant) or _said_alone(content, meant):
        return None
    last = meant[-1]
    own = _own(last)
    quotation = own.nearest(content) or own.find(own.said.text.strip()[:200])
    kind = answers.one_of(item.get("kind"), among=prompts.KINDS, default="fact")
    candidate = Candidate(
        kind=kind,
        content=content,
        importance=answers.share(item.get("importance"), default=0.5),
        confidence=min(_DOUBTFUL, answers.share(item.get("confidence"), default=_DOUBTFUL)),
        quote=quotation.text if quotation else "",
        quote_start=quotation.start if quotation else 0,
        reasons=("model", "over_turns"),
    )
    return Gathered(candidate, last.turn, needs=tuple(one.turn for one in meant[:-1]))


def _holds(content: str, meant: Sequence[Heard]) -> bool:
    """Tell whether it is in their language and words, without numbers that they didn't mention."""
    said = "\n".join(_own(one).readable for one in meant)
    if not content or secret_search.find(content) or language_of(content) != language_of(said):
        return False
    words, theirs = _words(content), _words(said)
    if not words or len(words & theirs) < _SAID * len(words):
        return False
    return figures(content) <= figures(f"{said}\n{_days(meant)}")


def _words(text: str) -> set[str]:
    return {one for one in segment.terms(text) if not any(map(str.isdigit, one))}


def _days(meant: Sequence[Heard]) -> str:
    """Return the dates that they named, and the years in which they spoke, as numbers."""
    days = [
        day
        for one in meant
        for day in days_named(_own(one).readable, spoken_at=one.text.user.spoken_at)
    ]
    years = [one.text.user.spoken_at.year for one in meant]
    return "\n".join(map(str, [*days, *years]))


def _said_alone(content: str, meant: Sequence[Heard]) -> bool:
    """Tell whether a single turn says all of it; then it was found when the turn was recorded."""
    words = set(segment.terms(content))
    return any(words <= set(segment.terms(_own(one).readable)) for one in meant)
