"""MemoryBank: is the turn that answers a question among the first search results?

    .venv/bin/python bench/memorybank.py FILE…

`manage.py demo` imports each person as one user. Each question that has an answer (marked by hand
in `bench/data/memorybank_marks.json`) is sent to `GET /search?types=episode`. Recall is the share
of a question's marked turns among the first k results.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.product import Product, print_result, running
from bench.ranking import RankedQuestion, by_group, figures, print_table

AT = (1, 5, 10)
MARKS = Path(__file__).parent / "data" / "memorybank_marks.json"
_LANGUAGES = {"cn": "zh", "en": "en"}


def main(paths: list[str]) -> None:
    marks = json.loads(MARKS.read_text(encoding="utf-8"))["files"]
    with running() as product:
        product.manage("demo", *[Path(path).resolve() for path in paths])
        asked = [question for path in paths for question in ask_all(product, Path(path), marks)]
    groups = {name: figures(rows, at=AT) for name, rows in by_group(asked).items()}
    total = figures(asked, at=AT)
    print_table(groups | {"all": total})
    print_result(total | {"languages": groups})


def ask_all(
    product: Product, path: Path, marks: dict[str, dict[str, object]]
) -> Iterator[RankedQuestion]:
    raw = path.read_bytes()
    known = marks.get(path.name)
    if known is None or known["sha256"] != hashlib.sha256(raw).hexdigest():
        raise SystemExit(f"{path.name} isn't the file that {MARKS.name} was made for.")
    answers = known["users"]
    assert isinstance(answers, list)
    for person, turns_of_questions in zip(json.loads(raw), answers, strict=True):
        names = message_names(product, person["user"])
        questions = zip(person["probing_questions"], turns_of_questions, strict=True)
        for question, turns in questions:
            if turns is None:
                continue
            found = product.get(
                "/search", user_id=person["user"], query=question, types="episode", limit=10
            )
            yield RankedQuestion(
                group=_LANGUAGES.get(path.stem, path.stem),
                wanted=frozenset(f"{day}:{index}:query" for day, index in turns),
                found=[names[hit["turn"]["user_message_id"]] for hit in found["results"]],
            )


def message_names(product: Product, user: str) -> dict[str, str]:
    """Return the name of each message id, such as `2023-04-27:3:query`."""
    return {
        message["id"]: message["external_id"]
        for conversation in product.all("/conversations", user_id=user)
        for message in product.all(f"/conversations/{conversation['id']}/messages", user_id=user)
    }


if __name__ == "__main__":
    if not sys.argv[1:]:
        raise SystemExit(__doc__)
    main(sys.argv[1:])
