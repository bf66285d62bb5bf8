"""Measure the reader on labelled messages and pairs: kept and harmful memories, right relations.

    .venv/bin/python bench/reader.py [FILE ...] [--show] [--voices] [--classes]

Rows have the format of `training/data/README.md`. Each message goes through the bundled extractor
with the earlier messages of its conversation. A memory is right if its quotation overlaps a wanted
statement by at least half the length of both. Precision and recall count memories that are kept
without a review. "matter P" and "matter R" accept a looser overlap: half the length of either.
"matter P" also accepts unsure statements. "harmful" counts memories of statements that must not be
kept: about other people, quoted, role-played, joked and so on. A candidate that only ends an
earlier statement is counted as "ending" and in no other figure. A pair is right if its most likely
relation is the labelled one. `--classes` prints other tables instead. Those of a language have,
for each label of each head, the share of the found statements with this label to which the head
gives it. The last table has, for each language and range of confidence, the share of the candidates
that overlap a wanted or unsure statement.

Rows may have a field `second` with the statements that a second person would keep, who didn't see
the labels. Then there are two more tables. "second person" measures that person in the same way as
the reader. "agreed" measures the reader by what both agree on: statements that only one of them
would keep count as unsure.
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
from memories.extraction.types import Candidate, Extractor, TurnText, Utterance

_SPOKEN_AT = datetime(2026, 11, 21, 10, tzinfo=timezone(timedelta(hours=8)))
BLIND = Path(__file__).parent / "data" / "reader"
_KEPT_FROM = 0.5  # MEMCENTER_CONFIDENCE_FLOOR: below it a memory waits for review
_SURE = (0.85, 0.6, 0.5)  # from which pages say "sure" and "fairly sure", and what is kept
_BY_ONE = "by one of two"  # the label of a statement that only one of two persons would keep
# A row, and the candidates that an extractor finds in its message.
_Extracted = tuple[dict[str, Any], Sequence[Candidate]]
_HARMFUL = {"joked", "quoted", "role", "transform", "supposed", "asked"}


@dataclass
class Tally:
    """The counts of one language (or voice) from which the table's figures are computed."""

    messages: int = 0
    wanted: int = 0
    kept: int = 0
    right: int = 0
    on_matter: int = 0  # kept memories that overlap a wanted or unsure statement
    found: int = 0  # wanted statements that overlap a kept memory
    doubted: int = 0
    ending: int = 0
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
            "ending": self.ending,
            "harmful": self.harmful,
            "nothing wanted": self.silent,
            "of these noisy": self.noisy,
            "secrets": self.secrets,
            "leaked": self.leaked,
        }


def turns(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], TurnText]]:
    """Yield each message with up to three earlier messages of its conversation."""
    threads: dict[tuple[str, str], list[Utterance]] = defaultdict(list)
    for row in rows:
        thread = threads[row["voice"], str(row["conversation"])]
        said = Utterance(row["text"], _SPOKEN_AT)
        yield (
            row,
            TurnText(
                user=said,
                assistant=Utterance("", _SPOKEN_AT),
                before=tuple(thread[-3:]),
                before_assistant=row["assistant"],
            ),
        )
        thread.append(said)


def judge(row: dict[str, Any], found: Sequence[Candidate], tally: Tally, *, show: bool) -> None:
    """Add the result of one message to the tally."""
    tally.ending += sum(map(_only_ends, found))
    found = [memory for memory in found if not _only_ends(memory)]
    spans = list(_placed(row))
    wanted = [span for span in spans if span[2]["keep"] == "yes"]
    free = list(wanted)
    tally.messages += 1
    tally.wanted += len(wanted)
    kept = [memory for memory in found if memory.confidence >= _KEPT_FROM]
    tally.kept += len(kept)
    tally.doubted += len(found) - len(kept)
    tolerated = [span for span in spans if span[2]["keep"] != "no"]
    tally.on_matter += sum(any(_is_on(memory, span) for span in tolerated) for memory in kept)
    tally.found += sum(any(_is_on(memory, span) for memory in kept) for span in wanted)
    wrong = []
    for memory in kept:
        match = next((span for span in free if _meets(memory, span)), None)
        if match:
            free.remove(match)
            tally.right += 1
            continue
        wrong.append(memory)
        overlapped = [span for span in spans if _meets(memory, span)]
        tally.harmful += any(_does_harm(span[2]) for span in overlapped)
    has_nothing = not any(span[2]["keep"] in ("yes", _BY_ONE) for span in spans)
    tally.silent += has_nothing
    tally.noisy += has_nothing and bool(kept)
    text = "\n".join(memory.content for memory in found)
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


def _only_ends(memory: Candidate) -> bool:
    """Return whether a candidate only ends an earlier statement (`cancellations.ending`)."""
    ends = memory.overrules and "ends" in memory.reasons
    return bool(ends) and memory.content.endswith(f"] {memory.quote}")


def _is_on(memory: Candidate, span: tuple[int, int, dict[str, Any]]) -> bool:
    return _is_near(_quoted(memory), span[:2])


def _is_near(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether two spans share at least half the length of either."""
    shared = _common(one, other)
    return shared > 0 and shared * 2 >= min(one[1] - one[0], other[1] - other[0])


def _meets(memory: Candidate, span: tuple[int, int, dict[str, Any]]) -> bool:
    return _overlap(_quoted(memory), span[:2])


def _quoted(memory: Candidate) -> tuple[int, int]:
    return memory.quote_start, memory.quote_start + len(memory.quote)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether two spans share at least half the length of both."""
    return _common(one, other) * 2 >= max(one[1] - one[0], other[1] - other[0])


def _common(one: tuple[int, int], other: tuple[int, int]) -> int:
    return min(one[1], other[1]) - max(one[0], other[0])


def _does_harm(span: dict[str, Any]) -> bool:
    return span["keep"] == "no" and (span["said"] in _HARMFUL or span["whose"] == "others")


def _second(row: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the spans of the statements that a second person would keep."""
    starts = [(row["text"].index(quote), quote) for quote in row["second"]]
    return [(start, start + len(quote)) for start, quote in starts]


def agreed(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row in which a statement is wanted if two persons would keep it.

    What only one would keep counts as unsure, and its message as one with something to keep.
    """
    others, own = _second(row), list(_placed(row))
    spans = []
    for start, end, span in own:
        also = any(_is_near(other, (start, end)) for other in others)
        by_one = also != (span["keep"] == "yes")
        spans.append((start, span | {"keep": _BY_ONE} if by_one else span))
    for start, end in others:
        if all(_common((start, end), place[:2]) <= 0 for place in own):
            spans.append((start, {"keep": _BY_ONE, "quote": row["text"][start:end]}))
    spans.sort(key=lambda one: one[0])
    return row | {"spans": [span for _, span in spans]}


def second_person(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of the second person, measured like those of the reader, by language."""
    return _figures([(row, _kept_by_second(row)) for row in rows])


def _kept_by_second(row: dict[str, Any]) -> list[Candidate]:
    """Return what the second person would keep, as if an extractor had found it."""
    return [
        Candidate(
            kind="fact",
            content=row["text"][start:end],
            importance=0.5,
            confidence=1.0,
            quote=row["text"][start:end],
            quote_start=start,
        )
        for start, end in _second(row)
    ]


def read_rows(paths: Sequence[Path]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the messages and the pairs of all files."""
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
    """Return a row of figures for each language or, with `by="voice"`, for each voice."""
    return _figures(_extracted(rows, extractor), show=show, by=by)


def _extracted(rows: Sequence[dict[str, Any]], extractor: Extractor) -> list[_Extracted]:
    return [(row, extractor.extract(turn).candidates) for row, turn in turns(rows)]


def _figures(
    found: Sequence[_Extracted], *, show: bool = False, by: str = "lang"
) -> dict[str, Any]:
    tallies: dict[str, Tally] = defaultdict(Tally)
    for row, candidates in found:
        judge(row, candidates, tallies[row[by]], show=show)
    return {name: tally.row() for name, tally in sorted(tallies.items())}


def classes(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, dict[str, float | int | None]]]:
    """Return the share of right answers by language, and by head and labelled class."""
    from memories.reader import reader
    from memories.reader.statements import SPAN_HEADS

    right: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row, turn in turns(rows):
        before = tuple(reversed([one.text for one in turn.before]))
        found = reader().read(row["text"], before=before, assistant=turn.before_assistant)
        for start, end, span in _placed(row):
            own = (one for one in found.statements if _overlap((one.start, one.end), (start, end)))
            if one := next(own, None):
                for head in SPAN_HEADS:
                    is_right = one.best(head) == span[head]
                    right[row["lang"]][f"{head} {span[head]}"].append(is_right)
    return {
        language: {
            name: {"statements": len(of), "right": share(sum(of), len(of))}
            for name, of in sorted(named.items())
        }
        for language, named in sorted(right.items())
    }


def sureness(
    rows: Sequence[dict[str, Any]], extractor: Extractor
) -> dict[str, dict[str, float | int | None]]:
    """Return the share of candidates on wanted or unsure statements, by language and confidence."""
    right: dict[str, list[bool]] = defaultdict(list)
    for row, turn in turns(rows):
        wanted = [span for span in _placed(row) if span[2]["keep"] != "no"]
        for memory in extractor.extract(turn).candidates:
            sure = next((f"from {least}" for least in _SURE if memory.confidence >= least), "below")
            is_right = any(_is_on(memory, span) for span in wanted)
            right[f"{row['lang']} {sure}"].append(is_right)
    return {
        name: {"memories": len(of), "on matter": share(sum(of), len(of))}
        for name, of in sorted(right.items())
    }


def pairs(rows: Sequence[dict[str, Any]], *, show: bool) -> dict[str, Any]:
    """Return the share of right relations and of right "about" answers, by language."""
    from memories.reader import reader
    from memories.reader.statements import PAIRS

    right: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if "request" in row:
            answer, wanted = (
                reader().probability_request_means(row["request"], row["memory"]) >= 0.5,
                bool(row["about"]),
            )
            right[row["lang"]]["about"].append(answer == wanted)
            continue
        (shares,) = reader().relations([(row["old"], row["new"])])
        best = max(PAIRS, key=shares.__getitem__)
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
    parser.add_argument("--classes", action="store_true", help="tables by class and confidence")
    options = parser.parse_args(arguments)
    if not options.files:
        parser.error("name files of labelled rows: no set lies in bench/data/reader")
    prepare_django()
    from memories import language_steps

    said, compared = read_rows(options.files)
    extractor, by = language_steps.bundled_extractor(), "voice" if options.voices else "lang"
    if options.classes:
        by_class, sure = classes(said), sureness(said, extractor)
        for table in (*by_class.values(), sure):
            print_table(table)
        print_result({"classes": by_class, "sureness": sure})
        return
    found = _extracted(said, extractor)
    kept = _figures(found, show=options.show, by=by)
    twice = [(row, candidates) for row, candidates in found if "second" in row]
    by_second = second_person([row for row, _ in twice])
    on_agreed = _figures([(agreed(row), candidates) for row, candidates in twice], by=by)
    judged = pairs(compared, show=options.show)
    if kept:
        print_table(kept)
    if twice:
        print("second person")
        print_table(by_second)
        print("agreed")
        print_table(on_agreed)
    if judged:
        print_table(judged)
    print_result(
        {"messages": kept, "second person": by_second, "agreed": on_agreed, "pairs": judged}
    )


if __name__ == "__main__":
    main(sys.argv[1:])
