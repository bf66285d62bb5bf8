"""How often does an agent on a changing project find the current state of a matter?

    .venv/bin/python bench/agents.py [first|second]

Two invented projects, each in its own instance of the product. The first set (50 matters) was used
while the product was tuned. The second set (25 matters) was written before the tuning and has other
forms: headings, several lines, editions in other words, two matters of a series.

The agent writes through MCP as `docs/agents.md` describes: one page per matter, and the whole page
again when it changes. Decisions, plans, test results and findings change, so each matter has two or
three editions, written with other pages in between. Then the agent asks for each matter in other
words (`mem.search`, then `mem.get` with the first id). An answer is

    current     the page states the current value and no earlier one
    mixed       the page states both
    outdated    the page states an earlier value only
    other       the page is about something else, or nothing was found
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.product import ROOT, Product, print_result, running

# Set name -> its file and the name of its project.
SETS = {"first": ("agents.jsonl", "Harbour"), "second": ("agents-second.jsonl", "Glasshouse")}
FIRST_HITS = 5


@dataclass(frozen=True)
class Matter:
    """The pages about one matter, in the order in which they are written.

    Page n contains `values[n]` and no other value. The pages are `editions`, or `template` filled
    with each value.
    """

    kind: str
    template: str
    values: tuple[str, ...]
    question: str
    editions: tuple[str, ...] = ()

    def pages(self) -> list[str]:
        return list(self.editions) or [self.template.format(value) for value in self.values]

    def judged(self, text: str) -> str:
        now = self.values[-1] in text
        before = any(value in text for value in self.values[:-1])
        return {(True, False): "current", (True, True): "mixed", (False, True): "outdated"}.get(
            (now, before), "other"
        )


def matters(name: str = "first") -> list[Matter]:
    """Read the matters of a set: five types of pages, in English and Chinese."""
    text = (ROOT / "bench/data" / SETS[name][0]).read_text(encoding="utf-8")
    return [_matter(**json.loads(line)) for line in text.splitlines()]


def _matter(
    kind: str,
    values: list[str],
    question: str,
    template: str = "",
    editions: Sequence[str] = (),
) -> Matter:
    return Matter(kind, template, tuple(values), question, tuple(editions))


class Agent:
    """Calls tools over MCP: JSON-RPC on one connection."""

    def __init__(self, product: Product, *, project: str) -> None:
        self._product, self._project = product, project

    def use(self, tool: str, **arguments: Any) -> Any:
        params = {"name": tool, "arguments": arguments}
        answer = self._product.call_mcp("tools/call", params)
        assert not answer.get("isError"), answer
        return answer["structuredContent"]

    def write(self, matter: Matter, page: str) -> str:
        answer = self.use(
            "mem.ingest_memory", content_type=matter.kind, content=page, project_name=self._project
        )
        return str(answer["status"])

    def answer(self, matter: Matter) -> tuple[str, str]:
        """Return the verdict on the first page found, and on the first five pages together."""
        found = self.use("mem.search", query=matter.question, project_name=self._project)["results"]
        if not found:
            return "other", "other"
        ids = [hit["id"] for hit in found[:FIRST_HITS]]
        pages = self.use("mem.get", ids=ids)["results"]
        texts = [page["content"] for page in pages]
        return matter.judged(texts[0]), matter.judged("\n".join(texts))


def writings(rows: Sequence[Matter]) -> Iterator[tuple[Matter, str, bool]]:
    """Yield all first editions, then all second editions, then all third editions.

    The boolean says whether the page replaces an earlier edition.
    """
    for number in range(max(len(matter.values) for matter in rows)):
        for matter in rows:
            if number < len(matter.values):
                yield matter, matter.pages()[number], number > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="*", choices=[*SETS, []], default=[])
    parser.add_argument("--product", type=Path, default=ROOT, help="another checkout to measure")
    options = parser.parse_args()
    print_result({name: measure(name, root=options.product) for name in options.sets or SETS})


def measure(name: str, *, root: Path) -> dict[str, dict[str, int]]:
    rows = matters(name)
    first: dict[str, Counter[str]] = defaultdict(Counter)
    five: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    print(f"{name} set, {len(rows)} matters")
    with running(root=root) as product:
        agent = Agent(product, project=SETS[name][1])
        for matter, page, is_later in writings(rows):
            status = agent.write(matter, page)
            if is_later:
                statuses[status] += 1
        for matter in rows:
            verdict, together = agent.answer(matter)
            first[matter.kind][verdict] += 1
            five[together] += 1
            if verdict != "current":
                print(f"  {verdict:9} {matter.question}")
    show(first, five, statuses)
    total = sum(first.values(), Counter())
    return {"first": dict(total), "five": dict(five), "later_editions": dict(statuses)}


def show(first: dict[str, Counter[str]], five: Counter[str], statuses: Counter[str]) -> None:
    names = ("current", "mixed", "outdated", "other")
    print(f"{'first answer':16}" + "".join(f"{name:>10}" for name in names))
    for kind, counts in first.items():
        print(f"{kind:16}" + "".join(f"{counts[name]:>10}" for name in names))
    total = sum(first.values(), Counter())
    print(f"{'all':16}" + "".join(f"{total[name]:>10}" for name in names))
    print(f"{'first five':16}" + "".join(f"{five[name]:>10}" for name in names))
    print("later editions: " + ", ".join(f"{many} {name}" for name, many in statuses.items()))


if __name__ == "__main__":
    main()
