"""How many slips that a message itself corrects are understood, and how many texts are garbled?

    python bench/self_repairs.py [--show]

Each row of a set has `said`, `meant` (the same without the slip) and `kind`: "repair", or "none" if
the message has the words of corrections but no slip. Spaces and punctuation aren't compared.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from memories.extraction.bundled import BundledExtractor
from memories.extraction.corrections.self_repairs import repaired_text, self_repairs
from memories.reader import reader

SETS = Path(__file__).parent / "data" / "self_repairs"
_SIGNS = re.compile(r"\W+")


def outcome(said: str, meant: str, understood: str) -> str:
    """Return "right", "wrong", or "left" if a slip was left as it is."""
    texts = (_SIGNS.sub("", text).casefold() for text in (said, meant, understood))
    said, meant, understood = texts
    if understood == meant:
        return "right"
    return "left" if understood == said else "wrong"


def main(show: bool) -> None:
    extractor = BundledExtractor(reader())
    for path in sorted(SETS.glob("*.jsonl")):
        counts: Counter[str] = Counter()
        for row in map(json.loads, path.read_text().splitlines()):
            understood = repaired_text(row["said"], self_repairs(row["said"], extractor.conflict))
            found = outcome(row["said"], row["meant"], understood)
            counts[f"{row['kind']}: {found}"] += 1
            if show and found != "right":
                print(found, row["said"], row["meant"], understood, sep="\n    ")
        print(json.dumps({"set": path.stem, **dict(sorted(counts.items()))}))


if __name__ == "__main__":
    main("--show" in sys.argv[1:])
