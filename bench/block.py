"""Does the prompt's memory block hold the wanted memories, and none that are out of place?

    .venv/bin/python bench/block.py [FILE...] [--show]

Each row is one person with ten to fifteen memories and several prompts, which are sent to
`POST /memory/context`. `must` lists the memories that a good friend would have in mind, `must_not`
those that would be out of place. Without FILE the blind sets of `bench/data/block` are measured.
Constraints, pinned memories and wishes about the manner of answers belong in every prompt, so their
recall is reported separately from that of ordinary memories, which have to be found by relevance.
"must not" is the share of the shown memories that is out of place, and "must not ordinary" the same
without constraints and pinned memories, which some writers call out of place.
`--show` prints the misses; otherwise no text is printed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.labelled import share
from bench.product import ROOT, Product, print_result, running

DATA = ROOT / "bench" / "data" / "block"
GROUPS = ("constraint", "pinned", "standing", "ordinary")
_FILL = """
import json
from memories.models import Memory, Origin
from memories.indexing import search_index
from memories.writing import memory_writes
from memories.writing.memory_writes import Draft, SourceInput
from ops.access import as_user
from ops.accounts import users
made = {{}}
for name, given in json.load(open({path!r}, encoding="utf-8")).items():
    user = users.find_or_create(name)
    vectors = search_index.embed([one["content"] for one in given])
    with as_user(user):
        made[name] = []
        for place, one in enumerate(given):
            draft = Draft(
                one["content"], one["kind"], vectors[place : place + 1], origin=Origin.API
            )
            source = SourceInput(Origin.API)
            memory = memory_writes.create(
                draft, user=user, source=source, status=one.get("status", "active")
            )
            if one.get("pinned"):
                Memory.objects.filter(pk=memory.pk).update(pinned=True)
            made[name].append(memory.public_id)
print("\\n" + json.dumps(made))
"""


@dataclass(frozen=True)
class Person:
    """One row. Prompts refer to `memories` by their index."""

    name: str
    language: str
    memories: Sequence[dict[str, Any]]
    prompts: Sequence[dict[str, Any]]

    def group_of(self, place: int) -> str:
        """Return the group of a memory, one of `GROUPS`.

        A memory that is neither a constraint nor pinned is standing if every prompt wants it.
        """
        memory = self.memories[place]
        if memory["kind"] == "constraint":
            return "constraint"
        if memory.get("pinned"):
            return "pinned"
        wanted = all(place in prompt["must"] for prompt in self.prompts)
        return "standing" if wanted else "ordinary"


def read(path: Path) -> list[Person]:
    """Read the people of a file. Exit with a message if it doesn't exist or holds no people."""
    if not path.is_file():
        raise SystemExit(f"{path} does not exist.")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    if not rows:
        raise SystemExit(f"{path} holds no people.")
    return [
        Person(f"{path.stem}-{place}", row["lang"], row["memories"], row["prompts"])
        for place, row in enumerate(rows)
    ]


def read_all(paths: Sequence[Path]) -> list[Person]:
    """Read the people of several files. Exit with a message if there is no file."""
    if not paths:
        raise SystemExit(f"Name a file of people: there is none in {DATA}.")
    return [person for path in paths for person in read(path)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(DATA.glob("*.jsonl")))
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    people = read_all(arguments.files)
    counts: dict[str, Counter[str]] = {}
    with running(MEMCENTER_RATE_LIMIT="100000000") as product:
        ids = _filled(product, people)
        for person in people:
            counted = counts.setdefault(person.language, Counter())
            for prompt in person.prompts:
                counted.update(_asked(product, person, prompt, ids[person.name], arguments.show))
    figures = {language: _figures(one) for language, one in sorted(counts.items())}
    for language, one in figures.items():
        print(language, *(f"{name} {value}" for name, value in one.items()), sep="  ")
    print_result(figures)


def _filled(product: Product, people: Sequence[Person]) -> dict[str, list[str]]:
    """Write the memories through the service, because `POST /memory/long_term` merges some."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump({person.name: list(person.memories) for person in people}, file)
        file.flush()
        code = _FILL.format(path=file.name)
        output = product.manage("shell", "--no-imports", "--command", code)
    made: dict[str, list[str]] = json.loads(output.strip().splitlines()[-1])
    return made


def _asked(
    product: Product, person: Person, prompt: dict[str, Any], ids: Sequence[str], show: bool
) -> Counter[str]:
    body = {"user_id": person.name, "message": prompt["prompt"]}
    answer = product.post("/memory/context", body)
    places = [ids.index(one["id"]) for one in answer["items"] if one["id"] in ids]
    must, must_not = set(prompt["must"]), set(prompt["must_not"])
    missed, wrong = must - set(places), must_not & set(places)
    if show and (missed or wrong):
        print(f"\n{person.language} {prompt['prompt']}")
        print("".join(f"    missed {person.memories[one]}\n" for one in sorted(missed)), end="")
        print("".join(f"    wrong  {person.memories[one]}\n" for one in sorted(wrong)), end="")
    kinds = Counter(
        f"{word} {person.group_of(one)}"
        for word, places in (("must", must), ("missed", missed))
        for one in places
    )
    return kinds + Counter(
        prompts=1,
        must=len(must),
        shown_must=len(must - missed),
        shown=len(places),
        shown_wrong=len(wrong),
        wrong_by_relevance=sum(person.group_of(one) == "ordinary" for one in wrong),
    )


def _found(counted: Counter[str], group: str) -> int:
    return counted[f"must {group}"] - counted[f"missed {group}"]


def _figures(counted: Counter[str]) -> dict[str, Any]:
    return {
        "prompts": counted["prompts"],
        "must": share(counted["shown_must"], counted["must"]),
        "must not": share(counted["shown_wrong"], counted["shown"]),
        "must not ordinary": share(counted["wrong_by_relevance"], counted["shown"]),
        **{
            f"must {name}": share(_found(counted, name), counted[f"must {name}"]) for name in GROUPS
        },
        "points a prompt": round(counted["shown"] / counted["prompts"], 2),
    }


if __name__ == "__main__":
    main()
