"""The bundled joint reader: an activity that a person mentions in several turns is a habit."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memcenter.lib.text import segment
from memories.extraction import masking, own_prompts, secret_masking
from memories.extraction.joint_types import Gathered, Heard
from memories.extraction.types import Candidate
from memories.extraction.word_tables import compiled, table

FEWEST = 3  # turns that tell of it
_IMPORTANCE, _CONFIDENCE = 0.4, 0.6
_DONE: dict[str, str] = table("habits")["done"]
_P = compiled("habits", verbs="|".join(_DONE))


class BundledJointReader:
    """Return only statements that no single turn makes."""

    name = "bundled"

    def read(self, turns: Sequence[Heard]) -> list[Gathered]:
        block = own_prompts.folded(turns[0].text.known_block) if turns else ""
        return [
            one
            for one in habits(turns)
            if not own_prompts.repeats(one.candidate.content, one.candidate.quote, known=block)
        ]


@dataclass(frozen=True)
class _Doing:
    key: frozenset[str]
    content: str
    quote: str
    start: int


def habits(turns: Sequence[Heard]) -> Iterator[Gathered]:
    """Return one statement for each turn that mentions the habit, if at least `FEWEST` do.

    At least one of the turns must be fresh; otherwise it was found before.
    """
    told: dict[frozenset[str], dict[int, _Doing]] = defaultdict(dict)
    for heard in turns:
        for doing in _doings(heard):
            told[doing.key].setdefault(heard.turn, doing)
    fresh = {heard.turn for heard in turns if heard.fresh}
    for by_turn in told.values():
        if len(by_turn) >= FEWEST and fresh & by_turn.keys():
            first = next(iter(by_turn.values()))
            yield from (
                Gathered(_candidate(first.content, doing), turn) for turn, doing in by_turn.items()
            )


def _doings(heard: Heard) -> Iterator[_Doing]:
    said = heard.text.user.text
    covered = masking.covered(secret_masking.cover(said))
    own = _P["speech"].sub(lambda quoted: masking.COVER * len(quoted[0]), covered)
    for match in _P["en"].finditer(own):
        rest = " ".join(_P["joins"].sub("", _P["at_times"].sub("", match["rest"])).split())
        yield from _doing(f"Often {_DONE[match['verb']]} {rest}".strip(), match, own)
    for match in _P["zh"].finditer(own):
        what = _P["done_in_zh"].sub("", match["what"]).strip()
        yield from _doing(f"经常{what}", match, own)


def _doing(content: str, match: re.Match[str], own: str) -> Iterator[_Doing]:
    sentence = own[match.start() : match.end()]
    covered = masking.COVER in sentence or masking.SECRET in sentence
    says = frozenset(segment.terms(content)) - {"often", "经常"}
    if says and not covered and not _P["pronoun"].search(content):
        lead = len(sentence) - len(sentence.lstrip())
        yield _Doing(says, content, sentence.strip(), match.start() + lead)


def _candidate(content: str, doing: _Doing) -> Candidate:
    return Candidate(
        kind="pattern",
        content=content,
        importance=_IMPORTANCE,
        confidence=_CONFIDENCE,
        quote=doing.quote,
        quote_start=doing.start,
        reasons=("repeated",),
    )
