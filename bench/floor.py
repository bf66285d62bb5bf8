"""Which memories pass the relevance floor: those that bear on what is asked, and no others?

    .venv/bin/python bench/floor.py

Questions and chatter of our own (`bench/data/retrieval/floor-*.txt`; the list of concepts and the
evidence weights were made with `learn` in view, `held-out` was written afterwards). Each is asked
of a person with 20 to 30 memories through `GET /search?types=memory`; what scores under 0.5 counts
as left out, as it is left out of a prompt.
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
    """`part` is learn or held-out; `wanted` are the memories that bear on it.

    Where there are none it is chatter, or `unknown`: asked of oneself, but nobody ever told.
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
        """Something that bears on it passes; where nothing does, nothing passes."""
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
    """Recall over what is wanted; how many others a question, one without an answer and chatter
    bring on average; the share of questions, answered or not, that were judged rightly."""
    asked = [one for one in group if one.wanted]
    unknown = [one for one in group if one.unknown]
    chatter = [one for one in group if not one.wanted and not one.unknown]
    wanted = sum(len(one.wanted) for one in asked)
    return {
        "recall": round(sum(len(one.wanted & one.passed) for one in asked) / max(1, wanted), 3),
        "others": _others(asked),
        "unknown": _others(unknown),
        "chatter": _others(chatter),
        "accuracy": round(sum(one.right for one in group) / max(1, len(group)), 3),
        "questions": len(asked),
        "unknown_lines": len(unknown),
        "chatter_lines": len(chatter),
    }


def _others(group: Sequence[Passed]) -> float:
    return round(sum(len(one.passed - one.wanted) for one in group) / max(1, len(group)), 2)


if __name__ == "__main__":
    main()
