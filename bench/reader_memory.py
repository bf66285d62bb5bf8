"""Memory: how much does the whole product take, and what does the learned reader add to it?

    .venv/bin/python bench/reader_memory.py [--turns 20] [--profile default]

The product is started twice and given the same turns, memories and contexts: once as it is, once
with a model in place of the reader's that loads nothing and finds nothing. Printed is the
proportional memory (PSS) of all its processes, PostgreSQL and Redis included, in which a page that
several processes share counts in parts that add up to one.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.extraction import read_turns
from bench.labelled import LANGUAGES
from bench.product import Product, print_result, running

# `site` imports it when a Python process starts: then the reader's session is one of no weights.
_NOTHING = """
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder

class Without(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name != "memories.reader.reading":
            return None
        found = PathFinder.find_spec(name, path)
        run = found.loader.exec_module
        found.loader.exec_module = lambda module: (run(module), emptied(module))[0]
        return found

def emptied(module):
    import numpy
    from memories.reader import statements
    from memories.reader.tokenizer import Tokenizer

    class Model:
        def __init__(self):
            signs = [chr(code) for code in range(32, 127)]
            pieces = ["<s>", "<pad>", "</s>", "<unk>", *signs]
            self.tokenizer = Tokenizer.of(pieces, [0.0] * len(pieces), {})

        def scores(self, one):
            tokens = numpy.zeros((len(one.ids), statements.TOKEN_OUTPUTS), numpy.float32)
            tokens[:, 0] = 9
            return tokens, numpy.full(statements.TEXT_OUTPUTS, -9, numpy.float32)

    module.Model = Model

sys.meta_path.insert(0, Without())
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--profile", default="default")
    wanted = parser.parse_args()
    turns, profile = wanted.turns, wanted.profile
    with running(MEMCENTER_PROFILE=profile) as product:
        used = measure(product, turns)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sitecustomize.py").write_text(_NOTHING)
        with running(PYTHONPATH=folder, MEMCENTER_PROFILE=profile) as product:
            without = measure(product, turns)
    for name, each in (("with", used), ("without", without)):
        for program, sizes in sorted(each.items()):
            print(f"{name} {program:12}{sum(sizes):>6} MB in {len(sizes)} processes: {sizes}")
    with_mb, without_mb = (sum(map(sum, each.values())) for each in (used, without))
    print_result(
        {
            "profile": profile,
            "added_mb": with_mb - without_mb,
            "with_mb": with_mb,
            "without_mb": without_mb,
            "python_mb": sum(used["python"]),
        }
    )


def measure(product: Product, turns: int) -> dict[str, list[int]]:
    """MB of each process, by program, after the product has learned, written and recalled."""
    said = [one.turn.user.text for language in LANGUAGES for one in read_turns(language)]
    for number, text in enumerate(said[::7][:turns]):
        user = f"memory-{number % 4}"
        product.post(
            "/turns",
            {
                "user_id": user,
                "conversation_id": "c",
                "user_message": text,
                "assistant_message": "I see.",
            },
        )
        product.post("/memory/context", {"user_id": user, "message": text[:200]})
        written = {"user_id": user, "content": f"I keep bees near Lund, in hive {number}."}
        product.post("/memory/long_term", written)
    for number in range(4):
        for status in ("pending", "running"):
            while product.get("/memory/ops", user_id=f"memory-{number}", status=status)["results"]:
                pass
    found: dict[str, list[int]] = defaultdict(list)
    for one in _children(os.getpid()):
        with suppress(OSError):  # it has ended
            found[_program(one)].append(_megabytes(one))
    return {program: sorted(sizes) for program, sizes in found.items()}


def _children(process: int) -> list[int]:
    """All processes that this one started, and those that they started."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    direct = [int(one) for each in lists for one in each.read_text().split()]
    return [*direct, *(one for child in direct for one in _children(child))]


def _program(process: int) -> str:
    name = Path(os.readlink(f"/proc/{process}/exe")).name
    return "python" if name.startswith("python") else name


def _megabytes(process: int) -> int:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return next(int(one.split()[1]) // 1024 for one in lines if one.startswith("Pss:"))


if __name__ == "__main__":
    main()
