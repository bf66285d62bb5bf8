"""Figures on rows that the model has not seen: statements found and kept, flags, pairs."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch

from training.batches import batches, collate
from training.encoding import Example, encode_pair, encode_row
from training.labels import FLAGS, PAIRS, SPAN_HEADS, Pair, Row
from training.model import Reader, head_slices
from training.tokenizer import Tokenizer


@dataclass(frozen=True)
class Read:
    """A statement that the model found: where it stands, and each head's shares."""

    start: int
    end: int
    shares: dict[str, dict[str, float]]

    def best(self, head: str) -> str:
        shares = self.shares[head]
        return max(shares, key=shares.__getitem__)


def read(
    reader: Reader, example: Example, *, begin: float = 0.35
) -> tuple[list[Read], dict[str, float]]:
    """The statements of one message in order, and the share of each flag.

    A statement begins where "begin" has at least the share `begin`, and goes on while "outside"
    is not the likeliest tag.
    """
    one = collate([example])
    with torch.no_grad():
        tokens, texts = reader(one.ids, one.segments, one.mask, one.pooled)
    tags = tokens[0, :, :3].softmax(-1)
    found = [
        _read(tokens[0, start:end].mean(0), example, start, end)
        for start, end in spans(tags, example, begin)
    ]
    shares = texts[0, : len(FLAGS)].sigmoid().tolist()
    return found, dict(zip(FLAGS, shares, strict=True))


def spans(tags: torch.Tensor, example: Example, begin: float) -> Iterator[tuple[int, int]]:
    """Token ranges of statements, from the shares of outside, begin and inside."""
    start = None
    for at, token in enumerate(example.tokens):
        outside, first, _inside = tags[at].tolist() if token else (1.0, 0.0, 0.0)
        starts = first >= begin and first >= _inside
        if start is not None and (starts or outside > 0.5 or not token):
            yield start, at
            start = None
        if (starts and token) or (start is None and token and outside < 0.3):
            start = at
    if start is not None:
        yield start, len(example.tokens)


def _read(scores: torch.Tensor, example: Example, start: int, end: int) -> Read:
    first, last = example.tokens[start], example.tokens[end - 1]
    assert first
    assert last
    shares = {
        head: dict(zip(SPAN_HEADS[head], scores[place].softmax(-1).tolist(), strict=True))
        for head, place in head_slices().items()
    }
    return Read(first.start, last.end, shares)


@dataclass
class Score:
    """Counts of one language."""

    wanted: int = 0
    kept: int = 0
    right: int = 0
    silent: int = 0  # messages with nothing to keep
    noisy: int = 0  # of those, messages that left something
    heads: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))

    def line(self) -> str:
        shares = " ".join(f"{h} {sum(v) / len(v):.2f}" for h, v in self.heads.items())
        return (
            f"P {self.right / max(1, self.kept):.3f} R {self.right / max(1, self.wanted):.3f}"
            f" ({self.wanted} wanted), noisy {self.noisy}/{self.silent}, {shares}"
        )


def report_messages(
    reader: Reader, tokenizer: Tokenizer, rows: list[Row], *, threshold: float = 0.5
) -> dict[str, Score]:
    """Precision and recall of statements kept, by language.

    A kept statement is right if it shares at least half of its own and of a wanted span's
    letters; each wanted span counts once.
    """
    scores: dict[str, Score] = defaultdict(Score)
    reader.eval()
    for row in rows:
        score = scores[row.language]
        found, flags = read(reader, encode_row(tokenizer, row))
        _count(score, row, [f for f in found if f.shares["keep"]["yes"] >= threshold])
        for flag in FLAGS:
            if row.flags is not None and (flag in row.flags or flags[flag] > 0.5):
                score.heads["flags"].append((flag in row.flags) == (flags[flag] > 0.5))
    return scores


def _count(score: Score, row: Row, kept: list[Read]) -> None:
    wanted = [s for s in row.spans if s.heads["keep"] == "yes"]
    open_spans = list(wanted)
    score.wanted += len(wanted)
    score.kept += len(kept)
    for one in kept:
        match = next((s for s in open_spans if _overlap(one.start, one.end, s.start, s.end)), None)
        if match is None:
            continue
        open_spans.remove(match)
        score.right += 1
        for head in SPAN_HEADS:
            if head in match.heads and head != "keep":
                score.heads[head].append(one.best(head) == match.heads[head])
    if not wanted:
        score.silent += 1
        score.noisy += bool(kept)


def _overlap(start: int, end: int, other_start: int, other_end: int) -> bool:
    shared = min(end, other_end) - max(start, other_start)
    return shared * 2 >= end - start and shared * 2 >= other_end - other_start


def report_pairs(reader: Reader, tokenizer: Tokenizer, pairs: list[Pair]) -> dict[str, str]:
    """The share of right relations by language, and of right answers to "is it about"."""
    reader.eval()
    right: dict[str, list[bool]] = defaultdict(list)
    for pair in pairs:
        one = next(batches([encode_pair(tokenizer, pair)], tokens=512, seed=0))
        with torch.no_grad():
            _, texts = reader(one.ids, one.segments, one.mask, one.pooled)
        scores = texts[0, len(FLAGS) :]
        if pair.relation is not None:
            said = PAIRS[int(scores[: len(PAIRS)].argmax())]
            right[f"{pair.language} relation"].append(said == pair.relation)
            right[f"{pair.language} {pair.relation}"].append(said == pair.relation)
        if pair.about is not None:
            right[f"{pair.language} about"].append((scores[len(PAIRS)].item() > 0) == pair.about)
    return {name: f"{sum(v) / len(v):.3f} of {len(v)}" for name, v in sorted(right.items())}
