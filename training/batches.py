"""Batches of examples of similar length, with a limit on the number of tokens."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from memories.reader.statements import SPAN_HEADS
from memories.reader.tokenizer import PAD
from training.encoding import Example


@dataclass
class Batch:
    """Tensors of one step. `spans` averages token outputs: (number of spans, batch * length)."""

    ids: Tensor
    segments: Tensor
    mask: Tensor
    pooled: Tensor
    tags: Tensor
    secret: Tensor
    spans: Tensor
    heads: dict[str, Tensor]
    flags: Tensor
    relation: Tensor
    about: Tensor


def batches(examples: list[Example], *, tokens: int, seed: int) -> Iterator[Batch]:
    """Yield all examples once, in an order that depends only on `seed`."""
    chance = random.Random(seed)
    groups = grouped(examples, tokens, chance)
    chance.shuffle(groups)
    for group in groups:
        yield collate(group)


def grouped(
    examples: list[Example], tokens: int, chance: random.Random | None = None
) -> list[list[Example]]:
    """Group examples of similar length, with at most `tokens` tokens (padded) in a group."""
    chance = chance or random.Random(0)
    order = sorted(examples, key=lambda e: (len(e.input.ids) // 8, chance.random()))
    groups: list[list[Example]] = []
    for example in order:
        if not groups or len(example.input.ids) * (len(groups[-1]) + 1) > tokens:
            groups.append([])
        groups[-1].append(example)
    return groups


def collate(group: list[Example]) -> Batch:
    """Return a group as one batch. Missing labels are -100."""
    length = max(len(e.input.ids) for e in group)

    def padded(rows: list[list[int] | None], fill: int) -> Tensor:
        return torch.tensor([(r or []) + [fill] * (length - len(r or [])) for r in rows])

    spans = [(i, *span) for i, e in enumerate(group) for span in e.spans]
    matrix = torch.zeros(len(spans), len(group) * length)
    for row, (i, start, end, _) in enumerate(spans):
        matrix[row, i * length + start : i * length + end] = 1 / (end - start)
    none = [-100] * len(next((e.flags for e in group if e.flags), []))
    return Batch(
        ids=padded([e.input.ids for e in group], PAD),
        segments=padded([e.input.segments for e in group], 0),
        mask=padded([[1] * len(e.input.ids) for e in group], 0).bool(),
        pooled=padded([e.input.pooled for e in group], 0),
        tags=padded([e.tags for e in group], -100),
        secret=padded([e.secret for e in group], -100),
        spans=matrix,
        heads={
            head: torch.tensor([answers.get(head, -100) for *_, answers in spans]).long()
            for head in SPAN_HEADS
        },
        flags=torch.tensor([e.flags or none for e in group]),
        relation=torch.tensor([-100 if e.relation is None else e.relation for e in group]),
        about=torch.tensor([-100 if e.about is None else e.about for e in group]),
    )
