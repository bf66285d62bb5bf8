"""Robustness: does any sentence raise an exception in a step of learning?

    .venv/bin/python bench/robustness.py [--sentences 20000] [--seed 1] [FILE…]

Every message of the given dialogue files (LoCoMo, MemoryBank) and generated sentences of both
languages (`bench/sentences.py`) go through the steps that process a message: screening, extraction,
arbitration, summaries, files, import (`bench/language_steps.py`). The output lists each kind of
exception with the place that raised it, but no text of a dialogue.

A sentence takes about 0.15 seconds of one core. Runs with different seeds add up.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.labelled import prepare_django
from bench.product import ROOT, print_result

SENTENCES = 20_000
_PAIRS = 1_000  # number of pairs that the encoder reads; several steps read the same pairs


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sentences", type=int, default=SENTENCES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    prepare_django()
    from bench.language_steps import read_only_first_pairs
    from bench.sentences import Sentences

    read_only_first_pairs(_PAIRS)
    said = [text for path in options.files for text in messages(path)]
    of_dialogues, learned = broken(said)
    generated = list(islice(Sentences(seed=options.seed), options.sentences))
    of_sentences, more = broken(generated, show=True)
    for place, count in (of_dialogues + of_sentences).most_common():
        print(f"{count:6} {place}")
    print_result(
        {
            "messages": len(said),
            "sentences": len(generated),
            "candidates": learned + more,
            "broken_by_messages": of_dialogues.total(),
            "broken_by_sentences": of_sentences.total(),
        }
    )


def messages(path: Path) -> Iterator[str]:
    """Yield every message of a dialogue file, of both speakers."""
    from bench.compaction import read

    for talk in read(path):
        yield from (message.content for message in talk.messages)


def broken(texts: Iterable[str], *, show: bool = False) -> tuple[Counter[str], int]:
    """Run all steps on all texts. Return the exceptions by place, and the number of candidates.

    With `show`, print one example of each exception.
    """
    from bench.language_steps import LanguageSteps

    path = LanguageSteps()
    found: Counter[str] = Counter()
    for text in texts:
        for name, step in path.steps.items():
            try:
                step(text)
            except Exception as error:  # any exception counts
                place = f"{name}: {type(error).__name__} {_place(error)}"
                if show and not found[place]:
                    print(f"{place}\n       {text[:200]!r}")
                found[place] += 1
        path.remember(text)
    return found, path.candidates


def _place(error: Exception) -> str:
    ours = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "site-pack" not in frame.filename
    ]
    return f"{Path(ours[-1].filename).relative_to(ROOT)}:{ours[-1].lineno}"


if __name__ == "__main__":
    main(sys.argv[1:])
