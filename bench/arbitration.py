"""Arbitration: which verdict does a candidate get against one known memory?

    .venv/bin/python bench/arbitration.py [--arbiter bundled|configured] [--show dev]

Each pair of `bench/data/arbitration` is embedded with the bundled embedder and given to the
arbiter. Retrieval isn't measured: the only memory is always among the nearest. A pair may have
several acceptable verdicts. The part `report` is for reporting only; its texts are never printed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.labelled import (
    LANGUAGES,
    PARTS,
    grouped,
    prepare_django,
    print_table,
    read_rows,
    share,
)
from bench.product import print_result
from foundation.providers.embedders import BundledEmbedder
from memories.extraction.types import Arbiter, Candidate, Decision, KnownMemory, Verdict

NOW = datetime(2025, 10, 1, 12, tzinfo=UTC)
_BOTH = (Verdict.ADD, Verdict.KEEP_BOTH)


@dataclass(frozen=True)
class LabelledPair:
    id: str
    part: str
    relation: str
    known: str
    known_kind: str
    candidate: Candidate
    expected: frozenset[Verdict]


@dataclass(frozen=True)
class Judged:
    of: LabelledPair
    similarity: float
    decision: Decision

    @property
    def relation(self) -> str:
        return self.of.relation

    @property
    def right(self) -> bool:
        return self.decision.verdict in self.of.expected

    @property
    def kept_silently(self) -> bool:
        """Whether a contradiction was stored without asking the user."""
        return self._is_wrongly(_BOTH) and self.relation == "contradiction"

    @property
    def replaced_unrelated(self) -> bool:
        return self._is_wrongly([Verdict.REPLACE]) and self.relation == "different"

    def _is_wrongly(self, verdicts: Collection[Verdict]) -> bool:
        return self.decision.verdict in verdicts and not self.right


def read_pairs(language: str) -> list[LabelledPair]:
    return [
        LabelledPair(
            id=row["id"],
            part=row["part"],
            relation=row["class"],
            known=row["known"]["text"],
            known_kind=row["known"]["kind"],
            candidate=_candidate(row["candidate"]),
            expected=frozenset(map(Verdict, row["expected"])),
        )
        for row in read_rows("arbitration", language)
    ]


def _candidate(row: dict[str, str | bool]) -> Candidate:
    text = str(row["text"])
    return Candidate(
        kind=str(row["kind"]),
        content=text,
        importance=0.7,
        confidence=0.8,
        quote=text,
        explicit=bool(row.get("explicit")),
        corrects=bool(row.get("corrects")),
    )


def judge(
    pairs: Sequence[LabelledPair], *, arbiter: Arbiter, embedder: BundledEmbedder
) -> list[Judged]:
    known = embedder.embed([pair.known for pair in pairs])
    new = embedder.embed([pair.candidate.content for pair in pairs])
    similarities = (known * new).sum(axis=1).tolist()  # unit vectors: the cosine of each pair
    return [
        Judged(pair, similarity, _decide(pair, similarity=similarity, arbiter=arbiter))
        for pair, similarity in zip(pairs, similarities, strict=True)
    ]


def _decide(pair: LabelledPair, *, similarity: float, arbiter: Arbiter) -> Decision:
    known = KnownMemory(
        id="mem_known",
        kind=pair.known_kind,
        content=pair.known,
        similarity=min(1.0, max(0.0, similarity)),
        said_at=NOW - timedelta(days=90),
    )
    return arbiter.arbitrate(pair.candidate, [known], now=NOW)


def figures(judged: Sequence[Judged]) -> dict[str, float | int | None]:
    return {
        "pairs": len(judged),
        "accuracy": share(sum(row.right for row in judged), len(judged)),
        **{verdict.value: _count(judged, verdict) for verdict in Verdict},
    }


def _count(judged: Sequence[Judged], verdict: Verdict) -> int:
    return sum(row.decision.verdict is verdict for row in judged)


def print_judged(judged: Sequence[Judged], *, title: str) -> dict[str, object]:
    rows = {name: figures(group) for name, group in grouped(judged, by="relation").items()}
    total = figures(judged)
    kept = sum(row.kept_silently for row in judged)
    replaced = sum(row.replaced_unrelated for row in judged)
    print(f"\n{title}")
    print_table({**rows, "all": total})
    print(f"contradictions silently kept as both: {kept}; unrelated memories replaced: {replaced}")
    return {
        "accuracy": total["accuracy"],
        "by_class": {name: row["accuracy"] for name, row in rows.items()},
        "contradictions_kept_both": kept,
        "unrelated_replaced": replaced,
        "pairs": total["pairs"],
    }


def print_failures(judged: Sequence[Judged]) -> None:
    for row in judged:
        if not row.right:
            new, decision = row.of.candidate, row.decision
            flags = "".join(f" {name}" for name in ("corrects", "explicit") if getattr(new, name))
            print(
                f"{row.of.id} [{row.relation}] {row.of.known!r} <- {new.content!r}{flags}: "
                f"{decision.verdict} ({', '.join(decision.reasons)}, {row.similarity:.2f}), "
                f"not {'/'.join(sorted(row.of.expected))}"
            )


def chosen(name: str) -> Arbiter:
    if name == "configured":
        prepare_django()
        from memories import language_steps

        return language_steps.arbiter()
    from memories.extraction.arbitration.verdicts import BundledArbiter
    from memories.reader import reader

    return BundledArbiter(reader())


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--arbiter", choices=["bundled", "configured"], default="bundled")
    parser.add_argument("--show", choices=["dev"], help="list what went wrong in this part")
    options = parser.parse_args(arguments)
    arbiter, embedder = chosen(options.arbiter), BundledEmbedder()
    reported = {}
    for language in LANGUAGES:
        judged = judge(read_pairs(language), arbiter=arbiter, embedder=embedder)
        for part in PARTS:
            of_part = [row for row in judged if row.of.part == part]
            if options.show == part:
                print_failures(of_part)
            reported[language, part] = print_judged(
                of_part, title=f"{language}, {part}, {arbiter.name}"
            )
    print_result({language: reported[language, "report"] for language in LANGUAGES})


if __name__ == "__main__":
    main(sys.argv[1:])
