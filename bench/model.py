"""A chat model beside the bundled reader, on the same labelled rows.

    MEMCENTER_BENCH_GGUF=FILE .venv/bin/python bench/model.py [--rows 20] [--threads 4]
    .venv/bin/python bench/model.py --server http://127.0.0.1:8091/v1 --name NAME

The weights are served by llama.cpp (`xllamacpp`, in the environment that CONTRIBUTING.md names). A
model of less than 1.5B parameters says little about the model path. Without weights and without a
server nothing is measured, and the figures stay open.

Rows are the first ones of the part `report` in each language. Four ways of work are compared:

    reader      the bundled reader alone
    model       the chat model alone: no hints
    hints       the chat model, shown what the reader would keep (what the product does)
    either      what the reader keeps, and what the model finds beside it

Then arbitration, a summary, and how many tokens the memory block would hold. The model's tokens and
milliseconds are those of a turn; a failure is an answer that couldn't be used, by its kind.
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
from memcenter.lib.errors import ProviderError
from memcenter.lib.text import tokens
from memcenter.providers.base import ModelUse
from memcenter.providers.openai_compatible import Endpoint, OpenAICompatibleModel
from memories.extraction.chat_model.arbiter import ModelArbiter
from memories.extraction.chat_model.extractor import ModelExtractor
from memories.extraction.chat_model.questions import Asker
from memories.extraction.chat_model.summarizer import ModelSummarizer
from memories.extraction.types import Candidate, Extraction, Extractor, Summarizer, TurnText

WEIGHTS = "MEMCENTER_BENCH_GGUF"
OPEN = f"No weights ({WEIGHTS}) and no --server: nothing is measured, the figures stay open."
SUMMARY_TOKENS = 300
_START_SECONDS = 600


@dataclass
class Account:
    """What the model was asked, and which questions failed."""

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
        told = Counter(use.outcome for use in self.uses if use.step == step)
        dropped = sum(use.dropped for use in self.uses if use.step == step)
        return Counter(
            {name: told[name] for name in ("failed", "unreadable", "truncated")}
            | {"dropped": dropped, "given_up": self.failures[step]}
        )


@dataclass(frozen=True)
class Unhinted:
    """The reader without what it would keep, so that the model is given no hints."""

    reader: Extractor
    name = "unhinted"

    def extract(self, turn: TurnText) -> Extraction:
        found = self.reader.extract(turn)
        return replace(found, candidates=tuple(one for one in found.candidates if one.explicit))


@dataclass(frozen=True)
class Surviving:
    """The model's extraction; a question that fails for good counts, and finds nothing."""

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
    """What the reader keeps, and what the model finds where the reader keeps nothing."""

    reader: Extractor
    model: Extractor
    name = "either"

    def extract(self, turn: TurnText) -> Extraction:
        kept, more = self.reader.extract(turn), self.model.extract(turn)
        beside = [
            one for one in more.candidates if not any(_touch(one, own) for own in kept.candidates)
        ]
        return replace(kept, candidates=(*kept.candidates, *beside))


def _touch(one: Candidate, other: Candidate) -> bool:
    ends = one.quote_start + len(one.quote), other.quote_start + len(other.quote)
    return one.quote_start < ends[1] and other.quote_start < ends[0]


def measure(chat: OpenAICompatibleModel, *, rows: int) -> dict[str, Any]:
    """The figures of each step by language, reader and model beside each other."""
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
    told = {}
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
        told[way] = {
            **{name: figures[name] for name in ("labels", "precision", "recall", "kind")},
            "block_tokens": tokens.count(block),
            **account.figures("extract", turns=len(turns)),
        }
    print(f"\nextraction and memory block, {language}")
    print_table(told)
    return told


def _arbitration(chat: OpenAICompatibleModel, language: str, *, rows: int) -> dict[str, Any]:
    from memcenter.providers.embedders import BundledEmbedder
    from memories import language_steps

    pairs = [one for one in arbitration.read_pairs(language) if one.part == "report"][:rows]
    bundled, account = language_steps.bundled_arbiter(), Account()
    model = ModelArbiter(Asker(chat, account=account.uses.append), bundled=bundled)
    told = {}
    for name, arbiter in (("reader", bundled), ("model", model)):
        judged = []
        for pair in pairs:
            try:
                judged += arbitration.judge([pair], arbiter=arbiter, embedder=BundledEmbedder())
            except ProviderError:
                account.failures["arbitrate"] += 1
        right = sum(one.right for one in judged)
        told[name] = {
            "pairs": len(pairs),
            "accuracy": share(right, len(pairs)),
            **(account if name == "model" else Account()).figures("arbitrate", turns=len(pairs)),
        }
    print(f"\narbitration, {language}")
    print_table(told)
    return told


def _summary(
    chat: OpenAICompatibleModel, turns: Sequence[extraction.LabelledTurn]
) -> dict[str, Any]:
    """How much of what the labels want a summary of all turns says."""
    from memories import language_steps

    account = Account()
    said = [
        line
        for one in turns
        for line in (("user", one.turn.user.text), ("assistant", one.turn.assistant.text))
    ]
    labels = [label for one in turns for label in one.labels if not label.optional]
    summarizers: dict[str, Summarizer] = {
        "reader": language_steps.bundled_summarizer(),
        "model": ModelSummarizer(Asker(chat, account=account.uses.append)),
    }
    told = {}
    for name, one in summarizers.items():
        text = ""
        try:
            text = one.summarize("", said, max_tokens=SUMMARY_TOKENS)
        except ProviderError:
            account.failures["summarize"] += 1
        kept = sum(label.fits(text) for label in labels)
        told[name] = {
            "labels": len(labels),
            "kept": share(kept, len(labels)),
            "tokens": tokens.count(text),
            **(account if name == "model" else Account()).figures("summarize", turns=len(turns)),
        }
    print("\nsummary")
    print_table(told)
    return told


@contextmanager
def served(weights: str, *, threads: int) -> Iterator[str]:
    """The weights behind llama.cpp's server, in the peer's own environment."""
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
    parser.add_argument("--server", help="one that runs already, as a rule with /v1 at its end")
    parser.add_argument("--name", default="model", help="the model's name there")
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
