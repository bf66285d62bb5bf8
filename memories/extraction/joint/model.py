"""The joint reader by a chat model: one question for a stretch of the conversation.

Each statement must name at least two turns and say nothing that the person didn't say in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from memcenter.lib import segment, tokens
from memcenter.providers.base import TooLong
from memories.extraction import answers, prompts, repeated, sensitive
from memories.extraction.asking import Asker
from memories.extraction.dates import dates_in
from memories.extraction.joint.types import Gathered, Heard
from memories.extraction.languages import language_of
from memories.extraction.quoting import Quotable
from memories.extraction.types import Candidate
from memories.screening import finding

_STRETCH = 3_000  # tokens of one question
_LONGEST = 400  # tokens of one message
_SAID = 0.6  # of a statement's words must be the person's
_DOUBTFUL = 0.6  # what was put together is never quite certain
_FIGURES = re.compile(r"\d+")


class ModelJointReader:
    """Turns are shown by numbers that hold for one question (1, 2 …)."""

    name = "model"

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def read(self, turns: Sequence[Heard]) -> list[Gathered]:
        spoken = [one for one in turns if _own(one).says_something]
        found = [one for stretch in _stretches(spoken) for one in self._stretch(stretch)]
        known = repeated.folded(turns[0].text.known_block) if turns else ""
        kept: dict[str, Gathered] = {}
        for one in found:
            if not repeated.repeats(one.candidate.content, one.candidate.quote, known=known):
                kept.setdefault(repeated.folded(one.candidate.content), one)
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
    reply = sensitive.blanked(sensitive.cover(heard.text.assistant.text))
    return {
        "turn": number,
        "day": f"{heard.text.user.spoken_at:%Y-%m-%d, %A}",
        "user": tokens.truncate(_own(heard).readable, limit=_LONGEST),
        "assistant": tokens.truncate(reply, limit=_LONGEST // 4),
    }


def _stretches(turns: Sequence[Heard]) -> Iterator[Sequence[Heard]]:
    stretch: list[Heard] = []
    spent = 0
    for one in turns:
        cost = min(_LONGEST, tokens.count(one.text.user.text[:4_000])) + _LONGEST // 4
        if stretch and spent + cost > _STRETCH:
            yield stretch
            stretch, spent = stretch[-1:], 0
        stretch.append(one)
        spent += cost
    if stretch:
        yield stretch


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
        language=language_of(content),
        reasons=("model", "over_turns"),
    )
    return Gathered(candidate, last.turn, needs=tuple(one.turn for one in meant[:-1]))


def _holds(content: str, meant: Sequence[Heard]) -> bool:
    """Whether it is in their language, in their words, and gives no figure that they didn't."""
    said = "\n".join(_own(one).readable for one in meant)
    if not content or finding.find(content) or language_of(content) != language_of(said):
        return False
    words, theirs = _words(content), _words(said)
    if not words or len(words & theirs) < _SAID * len(words):
        return False
    known = {int(one) for one in _FIGURES.findall(f"{said}\n{_days(meant)}") if len(one) < 20}
    return all(int(one) in known for one in _FIGURES.findall(content) if len(one) < 20)


def _words(text: str) -> set[str]:
    return {one for one in segment.terms(text) if not any(map(str.isdigit, one))}


def _days(meant: Sequence[Heard]) -> str:
    """The dates that they named, and the years in which they spoke, in figures."""
    found = []
    for one in meant:
        own = _own(one).readable
        for dated in dates_in(own, spoken_at=one.text.user.spoken_at, language=language_of(own)):
            found += [dated.first.isoformat(), dated.last.isoformat()]
        found.append(str(one.text.user.spoken_at.year))
    return "\n".join(found)


def _said_alone(content: str, meant: Sequence[Heard]) -> bool:
    """Whether one of the turns says all of it: that was found when it was recorded."""
    words = set(segment.terms(content))
    return any(words <= set(segment.terms(_own(one).readable)) for one in meant)
