"""The model card of the judge of pairs: how it does on topics that it never saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memories.extraction.arbitration.pair_features import Vector
from memories.extraction.arbitration.pair_judge import Judged, Weights, judge
from memories.extraction.arbitration.settling import is_open, settled
from memories.extraction.types import Verdict

if TYPE_CHECKING:
    from bench.train_pairs import Seen

_LANGUAGES = {"en": "English", "zh": "Chinese"}
_RELATIONS = ("paraphrase", "update", "contradiction", "refinement", "different", "stranger")
_BOTH = frozenset(["none", Verdict.KEEP_BOTH])
_ACCEPTED = {
    "paraphrase": {Verdict.SKIP},
    "update": {Verdict.REPLACE},
    "contradiction": {Verdict.REVIEW, Verdict.REPLACE},
    "refinement": {Verdict.MERGE, Verdict.REPLACE, Verdict.SKIP},
    "different": _BOTH,
    "stranger": _BOTH,
}


@dataclass(frozen=True)
class Held:
    """A pair judged by a table that never saw its topic; verdicts before and after the judge."""

    language: str
    relation: str
    name: str
    likeliest: str
    before: str
    after: str
    open: bool

    @classmethod
    def of(cls, case: Seen, row: Vector, *, names: tuple[str, ...], table: Vector) -> Held:
        judged = judge(case.pair, case.finding, weights=Weights(names, table))
        after = settled(case.pair, case.finding, judged)
        return cls(
            language=case.example.language,
            relation=case.example.relation,
            name=case.example.name,
            likeliest=_likeliest(judged),
            before=case.finding.verdict or "none",
            after=after.verdict or "none",
            open=is_open(case.finding),
        )


def _likeliest(judged: Judged) -> str:
    return max(judged.shares, key=lambda name: judged.shares[name])


def card(held: Sequence[Held]) -> str:
    lines = [
        "# Judge of pairs",
        "",
        "Written by `bench/train_pairs.py`; don't edit. Multinomial logistic regression over named",
        "features of two statements and hashed words (`arbitration/pair_*.py`).",
        "It says how a new statement stands to a known one where the rules can't.",
        "",
        f"Measured on {len(held)} pairs (`bench/data/pairs/`, by hand; `stranger`: a",
        "statement beside the nearest ones of other topics), by six-fold cross-validation over",
        "whole topics. None comes from the part `report` of the labelled sets.",
    ]
    for language, name in _LANGUAGES.items():
        rows = [one for one in held if one.language == language]
        lines += ["", f"## {name}", "", *_table(rows)]
    lines += [
        "",
        "## Limits",
        "",
        "One hand wrote all pairs, so phrases recur across topics and the figures flatter. It",
        "judges pairs of one language only.",
        "",
    ]
    return "\n".join(lines)


def _table(rows: Sequence[Held]) -> Iterator[str]:
    yield "| relation | pairs | likeliest class right | rules alone | with the judge | verdicts |"
    yield "|---|---|---|---|---|---|"
    for relation in _RELATIONS:
        group = [one for one in rows if one.relation == relation]
        if group:
            right = _share(one.likeliest == one.name for one in group)
            before = _share(one.before in _ACCEPTED[relation] for one in group)
            after = _share(one.after in _ACCEPTED[relation] for one in group)
            counts = Counter(one.after for one in group).most_common()
            said = ", ".join(f"{verdict} {count}" for verdict, count in counts)
            yield f"| {relation} | {len(group)} | {right} | {before} | {after} | {said} |"


def _share(found: Iterator[bool]) -> str:
    values = list(found)
    return f"{sum(values) / len(values):.2f}"
