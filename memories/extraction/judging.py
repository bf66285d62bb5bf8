"""The classifier's part in extraction: clauses that no rule took, and rules that are often wrong.

Rules come first. A clause that no rule took and no guard refused is kept if the classifier is sure
enough of it; a statement of a weak rule is dropped if the classifier is sure that it is nothing.
What was asked for in so many words ("remember the following") is only given its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memories.extraction.classifier.features import Clause
from memories.extraction.classifier.model import Judge, Judgement
from memories.extraction.rules.rule import OPEN, Found, Rule

# Chosen on the dev halves of the labelled sets and on unheard voices (docs/extraction.md).
KEEP_FROM = {"en": 0.85, "zh": 0.985}
VETO_BELOW = 0.04
WEAK = 0.85  # rules at or under this confidence may be overruled
IMPORTANCE_OF = {
    "constraint": 0.75,
    "fact": 0.6,
    "preference": 0.55,
    "task": 0.6,
    "pattern": 0.5,
    "event": 0.5,
}
# What is told as past is nothing that is still to be done.
_OVER = re.compile(
    r"(?:i|we|my [\w ]{2,20}?) (?:got|went|had|did|made|took|\w{3,}ed)\b", re.IGNORECASE
)
_SURE_AT_MOST = 0.85  # it reads less exactly than a rule does


@dataclass(frozen=True)
class Heard:
    """A statement, the words that said it, and whether it was asked to be kept."""

    found: Found
    words: str
    explicit: bool = False

    @property
    def in_question(self) -> bool:
        return self.found.is_open or (not self.explicit and self.found.rule.confidence <= WEAK)

    @property
    def clause(self) -> Clause:
        return Clause(self.words, self.found.language)


def settled(heard: Sequence[Heard], judge: Judge | None) -> Iterator[Heard]:
    """What stays, in the order given. Without a judge: what the rules took."""
    if judge is None:
        yield from (one for one in heard if not one.found.is_open)
        return
    asked = [one for one in heard if one.in_question]
    answers = dict(zip(map(id, asked), judge.judge([one.clause for one in asked]), strict=True))
    for one in heard:
        if found := _after(one, answers.get(id(one))):
            yield replace(one, found=found)


def _after(one: Heard, judged: Judgement | None) -> Found | None:
    if judged is None:
        return one.found
    if not one.found.is_open:
        return one.found if judged.keep >= VETO_BELOW else None
    if one.explicit or judged.keep >= KEEP_FROM[one.found.language]:
        over = judged.kind == "task" and _OVER.match(one.words)
        return replace(one.found, rule=_rule("event" if over else judged.kind, judged.keep))
    return None


def _rule(kind: str, keep: float) -> Rule:
    """Reasons of a memory name it like any rule."""
    return Rule(
        code=f"classifier.{kind}",
        kind=kind,
        importance=IMPORTANCE_OF[kind],
        confidence=round(min(_SURE_AT_MOST, keep), 2),
        pattern=OPEN.pattern,
    )
