"""How much memory does the whole product use, and how much of it is the learned reader?

    .venv/bin/python bench/reader_memory.py [--turns 20] [--profile default]

The product is started twice and gets the same turns, memories and contexts: once unchanged, and
once with a stub model for the reader that loads no weights and finds nothing. The figure is the
proportional memory (PSS) of all its processes, including PostgreSQL and Redis. PSS divides a shared
page among the processes that share it.
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

# `site` imports this as `sitecustomize` in every Python process. It replaces the reader's model.
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
            self.folder = module.DATA
            signs = [chr(code) for code in range(32, 127)]
            pieces = ["<s>", "<pad>", "</s>", "<unk>", *signs]
            self.tokenizer = Tokenizer.of(pieces, [0.0] * len(pieces), {})

        def scores(self, one):
            tokens = numpy.zeros((len(one.ids), statements.TOKEN_OUTPUTS), numpy.float32)
            tokens[:, 0] = 9
            texts = numpy.full(statements.TEXT_OUTPUTS, -9, numpy.float32)
            return tokens, texts, numpy.full(1, -9, numpy.float32)

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
    """Use the product, then return the MB of each process, by program."""
    texts = [row.turn.user.text for language in LANGUAGES for row in read_turns(language)]
    for number, text in enumerate(texts[::7][:turns]):
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
    for process in _children(os.getpid()):
        with suppress(OSError):  # the process has ended
            found[_program(process)].append(_megabytes(process))
    return {program: sorted(sizes) for program, sizes in found.items()}


def _children(process: int) -> list[int]:
    """Return all descendants of a process."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    direct = [int(pid) for path in lists for pid in path.read_text().split()]
    return [*direct, *(pid for child in direct for pid in _children(child))]


def _program(process: int) -> str:
    name = Path(os.readlink(f"/proc/{process}/exe")).name
    return "python" if name.startswith("python") else name


def _megabytes(process: int) -> int:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("Pss:"))


if __name__ == "__main__":
    main()
