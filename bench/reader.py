"""The reader on labelled messages and pairs: what is kept, what does harm, which verdicts hold.

    .venv/bin/python bench/reader.py [FILE ...] [--show] [--voices]

Rows have the form of `training/data/README.md`. Messages go through the bundled extractor with
those before them in their conversation; a memory is right where its quotation shares at least half
of its own and of a wanted statement's letters. Precision and recall count what is kept without a
review. "matter" is the same where borders don't count: what is kept lies mostly in a wanted or
doubtful statement, or holds most of it. "harmful" are memories of statements that must not be kept:
somebody else's, quoted, played, joked, asked not to be kept. Pairs are right where the likeliest
relation is the labelled one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.labelled import prepare_django, print_table, share
from bench.product import print_result
from memories.extraction.types import Candidate, Extractor, Said, TurnText

_SPOKEN_AT = datetime(2026, 11, 21, 10, tzinfo=timezone(timedelta(hours=8)))
BLIND = Path(__file__).parent / "data" / "reader"
_KEPT_FROM = 0.5  # MEMCENTER_CONFIDENCE_FLOOR: below it a memory waits for the review
_HARMFUL = {"joked", "quoted", "role", "transform", "supposed", "asked"}


@dataclass
class Tally:
    """Counts of one language."""

    messages: int = 0
    wanted: int = 0
    kept: int = 0
    right: int = 0
    on_matter: int = 0  # kept, and about something wanted, whatever its borders
    found: int = 0  # wanted, and kept in some cut
    doubted: int = 0
    harmful: int = 0
    silent: int = 0
    noisy: int = 0
    secrets: int = 0
    leaked: int = 0

    def row(self) -> dict[str, float | int | None]:
        return {
            "messages": self.messages,
            "wanted": self.wanted,
            "precision": share(self.right, self.kept),
            "recall": share(self.right, self.wanted),
            "matter P": share(self.on_matter, self.kept),
            "matter R": share(self.found, self.wanted),
            "to review": self.doubted,
            "harmful": self.harmful,
            "nothing wanted": self.silent,
            "of these noisy": self.noisy,
            "secrets": self.secrets,
            "leaked": self.leaked,
        }


def turns(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], TurnText]]:
    """Each message with up to three of the person's messages before it."""
    threads: dict[tuple[str, str], list[Said]] = defaultdict(list)
    for row in rows:
        thread = threads[row["voice"], str(row["conversation"])]
        said = Said(row["text"], _SPOKEN_AT)
        yield (
            row,
            TurnText(
                user=said,
                assistant=Said("", _SPOKEN_AT),
                before=tuple(thread[-3:]),
                before_assistant=row["assistant"],
            ),
        )
        thread.append(said)


def judge(row: dict[str, Any], found: Sequence[Candidate], tally: Tally, *, show: bool) -> None:
    """Add what came of one message to the tally."""
    spans = list(_placed(row))
    wanted = [span for span in spans if span[2]["keep"] == "yes"]
    free = list(wanted)
    tally.messages += 1
    tally.wanted += len(wanted)
    kept = [one for one in found if one.confidence >= _KEPT_FROM]
    tally.kept += len(kept)
    tally.doubted += len(found) - len(kept)
    tolerated = [*wanted, *(span for span in spans if span[2]["keep"] == "unsure")]
    tally.on_matter += sum(any(_is_on(one, span) for span in tolerated) for one in kept)
    tally.found += sum(any(_is_on(one, span) for one in kept) for span in wanted)
    wrong = []
    for one in kept:
        match = next((span for span in free if _meets(one, span)), None)
        if match:
            free.remove(match)
            tally.right += 1
            continue
        wrong.append(one)
        over = [span for span in spans if _meets(one, span)]
        tally.harmful += any(_does_harm(span[2]) for span in over)
    tally.silent += not wanted
    tally.noisy += not wanted and bool(kept)
    text = "\n".join(one.content for one in found)
    tally.secrets += len(row["secrets"])
    tally.leaked += sum(secret in text for secret in row["secrets"])
    if show and (wrong or free):
        print(f"\n{row['voice']} {row['conversation']}.{row['n']} {row['text']!r}")
        print("".join(f"    wrong   {m.kind} {m.confidence}: {m.content}\n" for m in wrong), end="")
        print("".join(f"    missed  {span[2]['quote']}\n" for span in free), end="")


def _placed(row: dict[str, Any]) -> Iterator[tuple[int, int, dict[str, Any]]]:
    at = 0
    for span in row["spans"]:
        start = row["text"].index(span["quote"], at)
        at = start + len(span["quote"])
        yield start, at, span


def _is_on(one: Candidate, span: tuple[int, int, dict[str, Any]]) -> bool:
    shared = _shared(one, span)
    return shared > 0 and (shared * 2 >= len(one.quote) or shared * 2 >= span[1] - span[0])


def _meets(one: Candidate, span: tuple[int, int, dict[str, Any]]) -> bool:
    shared = _shared(one, span)
    return shared * 2 >= len(one.quote) and shared * 2 >= span[1] - span[0]


def _shared(one: Candidate, span: tuple[int, int, dict[str, Any]]) -> int:
    """The signs that a memory's quotation and a labelled statement have in common."""
    return min(one.quote_start + len(one.quote), span[1]) - max(one.quote_start, span[0])


def _does_harm(span: dict[str, Any]) -> bool:
    return span["keep"] == "no" and (span["said"] in _HARMFUL or span["whose"] == "others")


def read_rows(paths: Sequence[Path]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The messages and the pairs of all files."""
    rows = [
        json.loads(line)
        for path in paths
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]
    return [row for row in rows if "text" in row], [row for row in rows if "text" not in row]


def messages(
    rows: Sequence[dict[str, Any]], extractor: Extractor, *, show: bool, by: str = "lang"
) -> dict[str, Any]:
    """A row of figures for each language, or for each voice."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for row, turn in turns(rows):
        judge(row, extractor.extract(turn).candidates, tallies[row[by]], show=show)
    return {language: tally.row() for language, tally in sorted(tallies.items())}


def pairs(rows: Sequence[dict[str, Any]], *, show: bool) -> dict[str, Any]:
    """The share of right relations and of right answers to "is it about", by language."""
    from memories.reader import reader

    right: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if "request" in row:
            said, wanted = reader().about(row["request"], row["memory"]) >= 0.5, bool(row["about"])
            right[row["lang"]]["about"].append(said == wanted)
            continue
        (shares,) = reader().relations([(row["old"], row["new"])])
        best = max(shares, key=shares.__getitem__)
        right[row["lang"]]["relation"].append(best == row["relation"])
        right[row["lang"]][row["relation"]].append(best == row["relation"])
        if show and best != row["relation"]:
            print(f"{row['relation']} read as {best}: {row['old']!r} / {row['new']!r}")
    return {
        language: {name: share(sum(of), len(of)) for name, of in sorted(named.items())}
        for language, named in sorted(right.items())
    }


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(BLIND.glob("*.jsonl")))
    parser.add_argument("--show", action="store_true", help="list what went wrong")
    parser.add_argument("--voices", action="store_true", help="a row for each voice")
    options = parser.parse_args(arguments)
    if not options.files:
        parser.error("name files of labelled rows: no set lies in bench/data/reader")
    prepare_django()
    from memories import language_steps

    said, compared = read_rows(options.files)
    extractor, by = language_steps.bundled_extractor(), "voice" if options.voices else "lang"
    kept = messages(said, extractor, show=options.show, by=by)
    judged = pairs(compared, show=options.show)
    if kept:
        print_table(kept)
    if judged:
        print_table(judged)
    print_result({"messages": kept, "pairs": judged})


if __name__ == "__main__":
    main(sys.argv[1:])
