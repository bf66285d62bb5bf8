"""The labelled rows that the reader learns from (`training/data/README.md`)."""

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

from memories.reader.statements import SPAN_HEADS

DATA = Path(__file__).parent / "data"
BENCH = Path(__file__).parents[1] / "bench" / "data"
# Files that the encoder isn't trained on. The encoder is measured with the files of `reader`; the
# small heads learn from the other files, because the encoder is too certain about rows that it was
# trained on.
_LATER_SECRETS = (
    *("eighteenth_*", "nineteenth_*", "twent*_*"),
    *("forms_*", "hard_*", "names_*", "near*_*", "pairs_*"),
)
_FOLDS = 5
_LATER_REQUESTS = ("fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh")
HELD_OUT = (
    *("reader/??_messages1[2-9].jsonl", "reader/??_pairs1[0-9].jsonl", "reader/??_pairs1.jsonl"),
    *(f"reader/{language}_messages[78].jsonl" for language in ("es", "de", "fr", "ja")),
    "pairs/??_pairs1[4-7].jsonl",
    *(f"secrets/{name}.jsonl" for name in _LATER_SECRETS),
    *(f"forget_requests/{name}_*.jsonl" for name in (*_LATER_REQUESTS, "twelfth", "thirteenth")),
)


@dataclass(frozen=True)
class Span:
    """A statement in a message, `text[start:end]`. Heads without a label are not trained on.

    `memory` is the memory that the statement should become, or empty if this isn't labelled.
    """

    start: int
    end: int
    heads: dict[str, str]
    memory: str = ""


@dataclass(frozen=True)
class Row:
    """A message with its context. `flags` is None if the flags are not labelled."""

    voice: str
    language: str
    text: str
    assistant: str = ""
    before: tuple[str, ...] = ()  # up to three earlier messages of the user, latest first
    spans: tuple[Span, ...] = ()
    secrets: tuple[tuple[int, int], ...] = ()
    flags: frozenset[str] | None = None
    tagged: bool = True  # False: the borders of the spans are not trained on
    screened: bool = True  # False: secrets are not labelled


@dataclass(frozen=True)
class Pair:
    """Two texts with the relation of the second to the first, or with an "about" label."""

    group: str  # topic and language; whole groups are held out
    language: str
    first: str
    second: str
    relation: str | None = None  # one of `memories.reader.statements.PAIRS`
    about: bool | None = None  # whether the request `first` refers to the memory `second`


@dataclass
class _Thread:
    texts: list[str] = field(default_factory=list)


def is_held_out(file: Path) -> bool:
    """Return whether the encoder isn't trained on a file."""
    return any(file.match(pattern) for pattern in HELD_OUT)


def files(folder: Path, names: str = "*", *, held_out: bool | None = None) -> list[Path]:
    """Return the files whose name without `.jsonl` matches a pattern, sorted.

    With `held_out`, return only those that are, or aren't, held out of the encoder's training.
    """
    found = sorted(folder.glob(f"{names}.jsonl"))
    return [file for file in found if held_out in (None, is_held_out(file))]


def is_drawn(text: str, share: float) -> bool:
    """Return whether a text belongs to the sample. The result depends only on text and share."""
    return crc32(text.encode()) % 10_000 < share * 10_000


def read_messages(paths: Iterable[Path]) -> list[Row]:
    """Read messages. Raise `ValueError` if a quotation is not in its text."""
    threads: dict[tuple[str, str, str], _Thread] = {}
    rows = []
    for name, row in _lines(paths):
        thread = threads.setdefault((name, row["voice"], str(row["conversation"])), _Thread())
        before = tuple(reversed(thread.texts[-3:]))
        rows.append(_message(name, row, before))
        thread.texts.append(row["text"])
    return rows


def _message(name: str, row: dict[str, Any], before: tuple[str, ...]) -> Row:
    text, at, spans = row["text"], 0, []
    for span in row["spans"]:
        start = text.find(span["quote"], at)
        if start < 0:
            raise ValueError(f"{name}: {span['quote']!r} is not in {text!r}")
        at = start + len(span["quote"])
        heads = {head: span[head] for head in SPAN_HEADS}
        spans.append(Span(start, at, heads, span.get("memory") or ""))
    secrets = tuple((text.index(s), text.index(s) + len(s)) for s in row["secrets"])
    return Row(
        voice=f"{name}:{row['voice']}",
        language=row["lang"],
        text=text,
        assistant=row["assistant"],
        before=before,
        spans=tuple(spans),
        secrets=secrets,
        flags=frozenset(row["flags"]),
    )


_WHY_SAID = {
    "joke": "joked",
    "quote": "quoted",
    "hypothetical": "supposed",
    "question": "asked",
    "roleplay": "role",
}


def read_clauses(paths: Iterable[Path]) -> list[Row]:
    """Read clauses labelled with a kind, or with `none` and a reason. Each is one span."""
    rows = []
    for name, row in _lines(paths):
        heads = {"keep": "no" if row["label"] == "none" else "yes"}
        if row["label"] != "none":
            heads |= {"kind": row["label"], "said": "asserted"}
        elif row["why"] in _WHY_SAID:
            heads["said"] = _WHY_SAID[row["why"]]
        if row.get("who") == "self":
            heads["whose"] = "self"
        text = row["text"]
        before = (row["before"],) if row.get("before") else ()
        span = Span(0, len(text), heads)
        kept = row["label"] != "none"
        rows.append(Row(name, name[:2], text, "", before, (span,), tagged=kept, screened=False))
    return rows


def read_secrets(paths: Iterable[Path]) -> list[Row]:
    """Read texts with secrets and harmless look-alikes. They have no other labels."""
    rows = []
    for name, row in _lines(paths):
        text = row["text"]
        places = tuple(
            (text.index(secret), text.index(secret) + len(secret)) for secret in row["secrets"]
        )
        rows.append(Row(f"secrets:{name}", name[-2:], text, secrets=places, tagged=False))
    return rows


_RELATIONS = {
    "paraphrase": "same",
    "same": "same",
    "update": "newer",
    "correction": "newer",
    "contradiction": "contradicts",
    "refinement": "refines",
    "different": "unrelated",
}


def read_pairs(paths: Iterable[Path]) -> list[Pair]:
    """Read rows of `{"old", "new", "relation"}` or `{"request", "memory", "about"}`."""
    found = []
    for name, row in _lines(paths):
        group, language = f"{name}:{row.get('topic', '')}", row.get("lang", name[:2])
        if "request" in row:
            found.append(
                Pair(group, language, row["request"], row["memory"], about=bool(row["about"]))
            )
        else:
            relation = _RELATIONS.get(row["relation"], row["relation"])
            found.append(Pair(group, language, row["old"], row["new"], relation))
    return found


_OTHERS = 4  # memories that a request doesn't mean, for each request


def read_requests(paths: Iterable[Path]) -> list[Pair]:
    """Read requests to forget: a pair for each wanted memory, and for at most `_OTHERS` others.

    The other memories are drawn at random, but the same for each run.
    """
    found = []
    for name, row in _lines(paths):
        chance = random.Random(row["request"])
        others = [n for n in range(len(row["memories"])) if n not in row["wanted"]]
        for number in [*row["wanted"], *chance.sample(others, min(_OTHERS, len(others)))]:
            memory, about = row["memories"][number], number in row["wanted"]
            group = f"requests_{name}:{row['memories'][0]}"
            found.append(Pair(group, name[-2:], row["request"], memory, about=about))
    return found


def held_out_messages(share: float = 1.0) -> list[Row]:
    """Return the messages with which a finished reader is measured."""
    rows = read_messages(files(BENCH / "reader", "*_messages*", held_out=True))
    return [row for row in rows if is_drawn(row.text, share)]


def held_out_pairs(share: float = 1.0) -> list[Pair]:
    """Return the pairs with which a finished reader is measured."""
    pairs = read_pairs(files(BENCH / "reader", "*_pairs*", held_out=True))
    return [pair for pair in pairs if is_drawn(pair.first + pair.second, share)]


def _lines(paths: Iterable[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield path.stem, json.loads(line)


def conversations() -> Iterator[dict[str, Any]]:
    """Yield the conversations of `data/links`."""
    for file in files(DATA / "links"):
        yield from map(json.loads, file.read_text().splitlines())


def fold(group: str) -> int:
    """Return the number, from 0 to 4, of the fifth of all voices to which a group belongs.

    The voices are those of `data/links` and of the pairs. A group is a voice, or a voice and a
    topic with "|" between them.
    """
    return crc32(group.split("|")[0].encode()) % _FOLDS
