"""Do the memories that are relevant to a question pass the relevance floor, and no others?

    .venv/bin/python bench/floor.py

Our questions and chatter (`bench/data/retrieval/floor-*.txt`) are sent to
`GET /search?types=memory` for a user with 20 to 30 memories. A memory that scores under 0.5 counts
as rejected, because a prompt leaves it out too. The list of concepts and the evidence weights were
tuned on the part `learn`; the part `held-out` was written afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import known
from bench.product import print_result, running
from memories.retrieval.weights import RELEVANCE_FLOOR

FOLDER = Path(__file__).parent / "data" / "retrieval"


@dataclass(frozen=True)
class Line:
    """A query with its part (`learn` or `held-out`) and the relevant memories (`wanted`).

    A line without relevant memories is chatter, or (`unknown`) a question about the user that no
    memory answers.
    """

    part: str
    query: str
    wanted: frozenset[str]
    unknown: bool = False


@dataclass(frozen=True)
class Passed:
    wanted: frozenset[str]
    passed: frozenset[str]
    unknown: bool = False

    @property
    def right(self) -> bool:
        """Whether a relevant memory passes or, if no memory is relevant, no memory passes."""
        return bool(self.wanted & self.passed) if self.wanted else not self.passed


def main() -> None:
    rows: dict[str, list[Passed]] = {}
    with running() as product:
        sets = {path: read(path) for path in sorted(FOLDER.glob("floor-*.txt"))}
        for path, (memories, _) in sets.items():
            known.fill(product, user=path.stem, memories=list(memories.values()))
        for path, (_, lines) in sets.items():
            for line in lines:
                hits = known.found(product, user=path.stem, query=line.query, limit=50)
                passed = {hit["text"] for hit in hits if hit["score"] >= RELEVANCE_FLOOR}
                group = rows.setdefault(f"{path.stem} {line.part}", [])
                group.append(Passed(line.wanted, frozenset(passed), line.unknown))
    result = {name: figures(group) for name, group in rows.items()}
    for name, values in result.items():
        print(f"{name:22}" + "".join(f"  {key} {value}" for key, value in values.items()))
    print_result(result)


def read(path: Path) -> tuple[dict[int, str], list[Line]]:
    memories: dict[int, str] = {}
    lines: list[Line] = []
    part = "learn"
    for row in path.read_text(encoding="utf-8").splitlines():
        if row.startswith("?"):
            query, _, marks = row[1:].partition("|")
            known = [] if (unknown := marks.strip() == "none") else marks.split()
            wanted = frozenset(memories[int(mark)] for mark in known)
            lines.append(Line(part, query.strip(), wanted, unknown))
        elif row.startswith("= "):
            part = row[2:].strip()
        elif row and not row.startswith("#"):
            number, _, text = row.partition(" ")
            memories[int(number)] = text
    return memories, lines


def figures(group: Sequence[Passed]) -> dict[str, float | int]:
    """Return recall of the wanted memories, accuracy over all lines, and false positives.

    `others`, `unknown` and `chatter` are the mean numbers of irrelevant memories that pass for a
    question, an unanswerable question and chatter.
    """
    asked = [line for line in group if line.wanted]
    unknown = [line for line in group if line.unknown]
    chatter = [line for line in group if not line.wanted and not line.unknown]
    wanted = sum(len(line.wanted) for line in asked)
    return {
        "recall": round(sum(len(line.wanted & line.passed) for line in asked) / max(1, wanted), 3),
        "others": _others(asked),
        "unknown": _others(unknown),
        "chatter": _others(chatter),
        "accuracy": round(sum(line.right for line in group) / max(1, len(group)), 3),
        "questions": len(asked),
        "unknown_lines": len(unknown),
        "chatter_lines": len(chatter),
    }


def _others(group: Sequence[Passed]) -> float:
    return round(sum(len(line.passed - line.wanted) for line in group) / max(1, len(group)), 2)


if __name__ == "__main__":
    main()
