"""LoCoMo: are the turns that answer a question among the first search results?

    .venv/bin/python bench/locomo.py FILE…

`manage.py demo` imports each dialogue as one user. Each question with evidence is sent to
`GET /search?types=message`. Recall is the share of a question's evidence turns among the first k
results, averaged over the questions of categories 1-4 (category 5 has no answer in the dialogue).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.product import Product, print_result, running
from bench.ranking import RankedQuestion, by_group, figures, print_table

AT = (5, 10, 25, 50)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
_TURN = re.compile(r"D(\d+):0*(\d+)")


def main(paths: list[str]) -> None:
    with running() as product:
        product.manage("demo", *[Path(path).resolve() for path in paths])
        asked = [question for path in paths for question in ask_all(product, Path(path))]
    answerable = [question for question in asked if question.group != CATEGORIES[5]]
    total = figures(answerable, at=AT)
    groups = {name: figures(rows, at=AT) for name, rows in by_group(asked).items()}
    print_table(groups | {"categories 1-4": total})
    print_result(total | {"categories": groups})


def ask_all(product: Product, path: Path) -> Iterator[RankedQuestion]:
    dialogue = json.loads(path.read_text(encoding="utf-8"))
    user = f"{dialogue['speaker_a']}-{dialogue['speaker_b']}"
    names = turn_names(product, user)
    for question in dialogue["qa"]:
        wanted = evidence(question) & set(names.values())
        if not wanted:
            continue
        found = product.get(
            "/search", user_id=user, query=question["question"], types="message", limit=50
        )
        yield RankedQuestion(
            group=CATEGORIES[question["category"]],
            wanted=frozenset(wanted),
            found=[names[hit["id"]] for hit in found["results"]],
        )


def turn_names(product: Product, user: str) -> dict[str, str]:
    """Return the turn id of the file for each message id."""
    return {
        message["id"]: message["external_id"].removeprefix("locomo:")
        for conversation in product.all("/conversations", user_id=user)
        for message in product.all(f"/conversations/{conversation['id']}/messages", user_id=user)
    }


def evidence(question: dict[str, Any]) -> set[str]:
    """Return the turn ids of the evidence. Accept forms such as "D8:6; D9:17" and "D30:05"."""
    return {
        f"D{session}:{turn}"
        for entry in question.get("evidence", [])
        for session, turn in _TURN.findall(str(entry))
    }


if __name__ == "__main__":
    if not sys.argv[1:]:
        raise SystemExit(__doc__)
    main(sys.argv[1:])
