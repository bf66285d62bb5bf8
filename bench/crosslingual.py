"""Does a question in one language find the right memory in the other language first?

    .venv/bin/python bench/crosslingual.py

The set has 100 rows (`bench/data/retrieval/pairs.tsv`), each with a memory and a question in
Chinese and in English. One user has the 100 Chinese memories, another the 100 English memories. All
questions are asked for both users through `GET /search?types=memory`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import known
from bench.product import Product, print_result, running
from bench.ranking import RankedQuestion, by_group, figures, print_table

PAIRS = Path(__file__).parent / "data" / "retrieval" / "pairs.tsv"
AT = (1, 5)


def main() -> None:
    rows = [line.split("\t") for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    memories = {"zh": [row[0] for row in rows], "en": [row[1] for row in rows]}
    questions = {"zh": [row[2] for row in rows], "en": [row[3] for row in rows]}
    with running() as product:
        for language, texts in memories.items():
            known.fill(product, user=language, memories=texts)
        asked = [
            ask(product, question, memory, group=f"{asks} question, {knows} memory", user=knows)
            for asks in questions
            for knows in memories
            for question, memory in zip(questions[asks], memories[knows], strict=True)
        ]
    groups = {name: figures(rows, at=AT) for name, rows in by_group(asked).items()}
    print_table(groups)
    print_result(groups)


def ask(product: Product, question: str, memory: str, *, group: str, user: str) -> RankedQuestion:
    hits = known.found(product, user=user, query=question)
    return RankedQuestion(group, frozenset([memory]), [hit["text"] for hit in hits])


if __name__ == "__main__":
    main()
