"""Compare a chat model with the bundled reader on the same labelled rows.

    MEMCENTER_BENCH_GGUF=FILE .venv/bin/python bench/model.py [--rows 20] [--threads 4]
    .venv/bin/python bench/model.py --server http://127.0.0.1:8091/v1 --name NAME

llama.cpp serves the weights (`xllamacpp`, in the environment that CONTRIBUTING.md describes). A
model with less than 1.5B parameters says little about the model path. Without weights and without a
server nothing is measured.

The rows are the first `--rows` of the part `report` in each language. Four methods of extraction
are compared:

    reader      the bundled reader alone
    model       the chat model alone, without hints
    hints       the chat model with the reader's candidates as hints (as in the product)
    either      the reader's candidates, plus those of the model that don't overlap with them

Arbitration, a summary and the size of the memory block in tokens follow. The model's tokens and
milliseconds are given per turn. Unusable answers are counted by kind.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import arbitration, extraction
from bench.labelled import LANGUAGES, prepare_django, print_table, share
from bench.product import ROOT, free_port, print_result
from foundation.errors import ProviderError
from foundation.providers.base import ModelUse
from foundation.providers.openai_compatible import Endpoint, OpenAICompatibleModel
from foundation.text import tokens
from memories.extraction.chat_model.arbiter import ModelArbiter
from memories.extraction.chat_model.extractor import ModelExtractor
from memories.extraction.chat_model.model_calls import Asker
from memories.extraction.chat_model.summarizer import ModelSummarizer
from memories.extraction.types import Candidate, Extraction, Extractor, Summarizer, TurnText

WEIGHTS = "MEMCENTER_BENCH_GGUF"
OPEN = f"No weights ({WEIGHTS}) and no --server: nothing is measured, the figures stay open."
SUMMARY_TOKENS = 300
_START_SECONDS = 600


@dataclass
class Account:
    """The calls of the model, and the number of failed calls by step."""

    uses: list[ModelUse] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)

    def figures(self, step: str, *, turns: int) -> dict[str, float | int | None]:
        asked = [use for use in self.uses if use.step == step]
        return {
            "questions": len(asked),
            "tokens_in": sum(use.input_tokens for use in asked) // max(1, turns),
            "tokens_out": sum(use.output_tokens for use in asked) // max(1, turns),
            "ms": sum(use.took_ms for use in asked) // max(1, turns),
            **self._failed(step),
        }

    def _failed(self, step: str) -> Counter[str]:
        outcomes = Counter(use.outcome for use in self.uses if use.step == step)
        dropped = sum(use.dropped for use in self.uses if use.step == step)
        return Counter(
            {name: outcomes[name] for name in ("failed", "unreadable", "truncated")}
            | {"dropped": dropped, "given_up": self.failures[step]}
        )


@dataclass(frozen=True)
class Unhinted:
    """The reader without the candidates that the model would get as hints: only explicit ones."""

    reader: Extractor
    name = "unhinted"

    def extract(self, turn: TurnText) -> Extraction:
        found = self.reader.extract(turn)
        return replace(
            found,
            candidates=tuple(candidate for candidate in found.candidates if candidate.explicit),
        )


@dataclass(frozen=True)
class Surviving:
    """The model's extraction. A failed call is counted and yields no candidates."""

    model: Extractor
    reader: Extractor
    account: Account
    name = "model"

    def extract(self, turn: TurnText) -> Extraction:
        try:
            return self.model.extract(turn)
        except ProviderError:
            self.account.failures["extract"] += 1
            return replace(self.reader.extract(turn), candidates=())


@dataclass(frozen=True)
class Either:
    """The reader's candidates, plus those of the model that don't overlap with them."""

    reader: Extractor
    model: Extractor
    name = "either"

    def extract(self, turn: TurnText) -> Extraction:
        kept, more = self.reader.extract(turn), self.model.extract(turn)
        extra = [
            candidate
            for candidate in more.candidates
            if not any(_touch(candidate, own) for own in kept.candidates)
        ]
        return replace(kept, candidates=(*kept.candidates, *extra))


def _touch(first: Candidate, second: Candidate) -> bool:
    ends = first.quote_start + len(first.quote), second.quote_start + len(second.quote)
    return first.quote_start < ends[1] and second.quote_start < ends[0]


def measure(chat: OpenAICompatibleModel, *, rows: int) -> dict[str, Any]:
    """Return the figures of each step by language, for the reader and the model."""
    return {language: _of_language(chat, language, rows=rows) for language in LANGUAGES}


def _of_language(chat: OpenAICompatibleModel, language: str, *, rows: int) -> dict[str, Any]:
    turns = [one for one in extraction.read_turns(language) if one.part == "report"][:rows]
    return {
        "extraction": _extraction(chat, turns, language),
        "arbitration": _arbitration(chat, language, rows=rows),
        "summary": _summary(chat, turns),
    }


def _extraction(
    chat: OpenAICompatibleModel, turns: Sequence[extraction.LabelledTurn], language: str
) -> dict[str, Any]:
    from memories import language_steps

    reader = language_steps.bundled_extractor()
    table = {}
    for way in ("reader", "model", "hints", "either"):
        account = Account()
        asker = Asker(chat, account=account.uses.append)
        rules = Unhinted(reader) if way == "model" else reader
        model = Surviving(ModelExtractor(asker, rules=rules), reader, account)
        ways: dict[str, Extractor] = {"reader": reader, "either": Either(reader, model)}
        used = ways.get(way, model)
        outcomes = [extraction.outcome(one, extractor=used, language=language) for one in turns]
        figures = extraction.figures(outcomes)
        block = "\n".join(memory.content for one in outcomes for memory in one.found)
        table[way] = {
            **{name: figures[name] for name in ("labels", "precision", "recall", "kind")},
            "block_tokens": tokens.count(block),
            **account.figures("extract", turns=len(turns)),
        }
    print(f"\nextraction and memory block, {language}")
    print_table(table)
    return table


def _arbitration(chat: OpenAICompatibleModel, language: str, *, rows: int) -> dict[str, Any]:
    from foundation.providers.embedders import BundledEmbedder
    from memories import language_steps

    pairs = [one for one in arbitration.read_pairs(language) if one.part == "report"][:rows]
    bundled, account = language_steps.bundled_arbiter(), Account()
    model = ModelArbiter(Asker(chat, account=account.uses.append), bundled=bundled)
    table = {}
    for name, arbiter in (("reader", bundled), ("model", model)):
        judged = []
        for pair in pairs:
            try:
                judged += arbitration.judge([pair], arbiter=arbiter, embedder=BundledEmbedder())
            except ProviderError:
                account.failures["arbitrate"] += 1
        right = sum(one.right for one in judged)
        table[name] = {
            "pairs": len(pairs),
            "accuracy": share(right, len(pairs)),
            **(account if name == "model" else Account()).figures("arbitrate", turns=len(pairs)),
        }
    print(f"\narbitration, {language}")
    print_table(table)
    return table


def _summary(
    chat: OpenAICompatibleModel, turns: Sequence[extraction.LabelledTurn]
) -> dict[str, Any]:
    """Measure the share of labels that a summary of all turns covers."""
    from memories import language_steps

    account = Account()
    lines = [
        line
        for one in turns
        for line in (("user", one.turn.user.text), ("assistant", one.turn.assistant.text))
    ]
    labels = [label for one in turns for label in one.labels if not label.optional]
    summarizers: dict[str, Summarizer] = {
        "reader": language_steps.bundled_summarizer(),
        "model": ModelSummarizer(Asker(chat, account=account.uses.append)),
    }
    table = {}
    for name, one in summarizers.items():
        text = ""
        try:
            text = one.summarize("", lines, max_tokens=SUMMARY_TOKENS)
        except ProviderError:
            account.failures["summarize"] += 1
        kept = sum(label.fits(text) for label in labels)
        table[name] = {
            "labels": len(labels),
            "kept": share(kept, len(labels)),
            "tokens": tokens.count(text),
            **(account if name == "model" else Account()).figures("summarize", turns=len(turns)),
        }
    print("\nsummary")
    print_table(table)
    return table


@contextmanager
def served(weights: str, *, threads: int) -> Iterator[str]:
    """Serve the weights with llama.cpp, in its own Python environment."""
    port = free_port()
    named = os.environ.get("MEMCENTER_PEER_PYTHON") or str(ROOT / ".venv-peer/bin/python")
    python = named if Path(named).exists() else sys.executable
    command = [python, str(ROOT / "tests/peer/serve.py"), str(port), weights, str(threads)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(process, f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def _wait(process: subprocess.Popen[bytes], address: str) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(address):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise SystemExit("llama.cpp did not start: is xllamacpp installed, and is the file a GGUF?")


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=20, help="of each language and step")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--server", help="URL of a running server, usually ending in /v1")
    parser.add_argument("--name", default="model", help="the model's name on the server")
    parser.add_argument("--timeout", type=float, default=600.0)
    options = parser.parse_args(arguments)
    weights = os.environ.get(WEIGHTS, "")
    if not weights and not options.server:
        print(OPEN)
        print_result({"measured": False})
        return
    prepare_django()
    if options.server:
        found = _measured(options.server, options)
    else:
        with served(weights, threads=options.threads) as address:
            found = _measured(address, options)
    print_result({"measured": True, "model": Path(weights).name or options.name, **found})


def _measured(address: str, options: argparse.Namespace) -> dict[str, Any]:
    endpoint = Endpoint(address, options.name, timeout=options.timeout, retries=0)
    return measure(OpenAICompatibleModel(endpoint), rows=options.rows)


if __name__ == "__main__":
    main(sys.argv[1:])
