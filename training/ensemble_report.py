"""Measure readers during training on held-out rows, in large batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from memories.reader.statements import FLAGS, PAIRS, statements
from training.encoding import Example
from training.evaluation import THRESHOLDS, Score, count_kept
from training.labels import Pair, Row

if TYPE_CHECKING:
    from training.ensemble import Examples, Members

Unseen = tuple[list[tuple[str, Row, Example]], list[tuple[str, Pair, Example]]]


def report(name: str, reader: Members, unseen: Unseen, examples: Examples) -> None:
    """Print figures for each member, and for the mean of their scores."""
    rows, pairs = unseen
    reader.eval()
    scored = _scores(reader, [e for *_, e in rows], examples.device)
    compared = _scores(reader, [e for *_, e in pairs], examples.device)
    members: list[Any] = [*range(reader.count), None] if reader.count > 1 else [0]
    for member in members:
        _print(f"{name} {'mean' if member is None else member}", member, rows, scored)
        right: dict[str, list[bool]] = {}
        for (group, pair, _), (_, texts) in zip(pairs, compared, strict=True):
            scores = _of(texts, member)[len(FLAGS) : len(FLAGS) + len(PAIRS)]
            if pair.relation is not None:
                right.setdefault(group, []).append(PAIRS[int(scores.argmax())] == pair.relation)
        for group, answers in sorted(right.items()):
            print(f"  pairs {group}: {np.mean(answers):.3f} of {len(answers)}", flush=True)


def _of(scores: Any, member: int | None) -> Any:
    return scores.mean(0) if member is None else scores[member]


def _print(title: str, member: int | None, rows: Any, scored: Any) -> None:
    scores: dict[tuple[str, float], Score] = {}
    for (group, row, example), (tokens, _) in zip(rows, scored, strict=True):
        found = statements(_of(tokens, member), example.input.tokens)
        for threshold in THRESHOLDS:
            score = scores.setdefault((group, threshold), Score())
            count_kept(score, row, [s for s in found if s.share("keep", "yes") >= threshold])
    print(title)
    for (group, threshold), score in sorted(scores.items()):
        print(f"  {group} from {threshold}: {score.line()[:70]}")


def _scores(reader: Members, found: Sequence[Example], device: torch.device) -> list[Any]:
    """Return token and text scores of every member, (members, …), for each example."""
    answers: list[Any] = [None] * len(found)
    order = sorted(range(len(found)), key=lambda n: len(found[n].input.ids))
    for at in range(0, len(order), 64):
        numbers = order[at : at + 64]
        length = max(len(found[n].input.ids) for n in numbers)

        def padded(parts: list[list[int]], length: int = length) -> Tensor:
            full = [part + [0] * (length - len(part)) for part in parts]
            return torch.tensor(full, device=device).expand(reader.count, -1, -1).contiguous()

        inputs = [found[n].input for n in numbers]
        with torch.no_grad():
            tokens, texts = reader(
                padded([i.ids for i in inputs]),
                padded([i.segments for i in inputs]),
                padded([[1] * len(i.ids) for i in inputs]).bool(),
                padded([i.pooled for i in inputs]),
            )
        for place, n in enumerate(numbers):
            size = len(found[n].input.ids)
            answers[n] = (
                tokens[:, place, :size].float().cpu().numpy(),
                texts[:, place].float().cpu().numpy(),
            )
    return answers
