"""Figures on held-out rows: statements found and kept, flags, pairs."""

from collections import defaultdict
from dataclasses import dataclass, field

import torch

from memories.reader.statements import FLAGS, PAIRS, SPAN_HEADS, Statement, statements
from memories.reader.tokenizer import Tokenizer
from training.batches import collate
from training.encoding import Example, encode_pair, encode_row
from training.labels import Pair, Row
from training.model import Reader


def read(reader: Reader, example: Example) -> tuple[list[Statement], dict[str, float]]:
    """Return the statements of one message in order, and the probability of each flag."""
    batch = collate([example])
    with torch.no_grad():
        tokens, texts, _ = reader(batch.ids, batch.segments, batch.mask, batch.pooled)
    shares = texts[0, : len(FLAGS)].sigmoid().tolist()
    found = statements(tokens[0].numpy(), example.input.tokens)
    return found, dict(zip(FLAGS, shares, strict=True))


THRESHOLDS = (0.3, 0.5, 0.7)


@dataclass
class Score:
    """Counts of one language."""

    wanted: int = 0
    kept: int = 0
    right: int = 0
    silent: int = 0  # messages with nothing to keep
    noisy: int = 0  # silent messages from which a statement was kept
    heads: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))

    def line(self) -> str:
        shares = " ".join(f"{h} {sum(v) / len(v):.2f}" for h, v in self.heads.items())
        return (
            f"P {self.right / max(1, self.kept):.3f} R {self.right / max(1, self.wanted):.3f}"
            f" ({self.wanted} wanted), noisy {self.noisy}/{self.silent}, {shares}"
        )


def report_messages(
    reader: Reader, tokenizer: Tokenizer, rows: list[Row]
) -> dict[float, dict[str, Score]]:
    """Return precision and recall of the kept statements, by threshold and language.

    A kept statement is right if it overlaps a wanted span by at least half the length of both. Each
    wanted span counts once.
    """
    scores: dict[float, dict[str, Score]] = {t: defaultdict(Score) for t in THRESHOLDS}
    reader.eval()
    for row in rows:
        found, flags = read(reader, encode_row(tokenizer, row))
        for threshold in THRESHOLDS:
            score = scores[threshold][row.language]
            count_kept(score, row, [f for f in found if f.share("keep", "yes") >= threshold])
            for flag in FLAGS:
                if row.flags is not None and (flag in row.flags or flags[flag] > 0.5):
                    score.heads[flag].append((flag in row.flags) == (flags[flag] > 0.5))
    return scores


def count_kept(score: Score, row: Row, kept: list[Statement]) -> None:
    wanted = [s for s in row.spans if s.heads["keep"] == "yes"]
    open_spans = list(wanted)
    score.wanted += len(wanted)
    score.kept += len(kept)
    for statement in kept:
        match = next(
            (s for s in open_spans if _overlap(statement.start, statement.end, s.start, s.end)),
            None,
        )
        if match is None:
            continue
        open_spans.remove(match)
        score.right += 1
        for head in SPAN_HEADS:
            if head in match.heads and head != "keep":
                score.heads[head].append(statement.best(head) == match.heads[head])
    if not wanted:
        score.silent += 1
        score.noisy += bool(kept)


def _overlap(start: int, end: int, other_start: int, other_end: int) -> bool:
    shared = min(end, other_end) - max(start, other_start)
    return shared * 2 >= end - start and shared * 2 >= other_end - other_start


def report_pairs(reader: Reader, tokenizer: Tokenizer, pairs: list[Pair]) -> dict[str, str]:
    """Return the share of right relations and of right "about" answers, by language."""
    reader.eval()
    right: dict[str, list[bool]] = defaultdict(list)
    for pair in pairs:
        batch = collate([encode_pair(tokenizer, pair)])
        with torch.no_grad():
            _, texts, _ = reader(batch.ids, batch.segments, batch.mask, batch.pooled)
        scores = texts[0, len(FLAGS) :]
        if pair.relation is not None:
            answer = PAIRS[int(scores[: len(PAIRS)].argmax())]
            right[f"{pair.language} relation"].append(answer == pair.relation)
            right[f"{pair.language} {pair.relation}"].append(answer == pair.relation)
        if pair.about is not None:
            right[f"{pair.language} about"].append((scores[len(PAIRS)].item() > 0) == pair.about)
    return {name: f"{sum(v) / len(v):.3f} of {len(v)}" for name, v in sorted(right.items())}
