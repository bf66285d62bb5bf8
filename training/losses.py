"""The loss of one batch: the weighted sum of the losses of all heads."""

import torch
from torch import Tensor
from torch.nn import functional as f

from memories.reader.statements import FLAGS, PAIRS, SECRET, TAGS, head_slices
from training.batches import Batch

WEIGHTS = {
    "tags": 1.0,
    "secret": 0.5,
    "keep": 1.0,
    "kind": 0.3,
    "topic": 0.2,
    "whose": 0.5,
    "holds": 0.3,
    "said": 0.5,
    "change": 0.3,
    "flags": 1.0,
    "relation": 1.0,
    "about": 0.5,
}
SMOOTHING = 0.05
RARE = 4.0  # weight of a positive flag or secret, since most messages have none


def losses(batch: Batch, tokens: Tensor, texts: Tensor) -> dict[str, Tensor]:
    """Return the mean loss of each head that has a label in the batch."""
    tokens, texts = tokens.float(), texts.float()
    found = {}
    if (batch.tags >= 0).any():
        found["tags"] = _choice(tokens[..., : len(TAGS)].flatten(0, 1), batch.tags.flatten())
    if (batch.secret >= 0).any():
        found["secret"] = _yes_or_no(tokens[..., SECRET], batch.secret, rare=RARE)
    if len(batch.spans):
        means = batch.spans @ tokens.flatten(0, 1)
        for head, place in head_slices().items():
            if (batch.heads[head] >= 0).any():
                found[head] = _choice(means[:, place], batch.heads[head])
    flags, pairs = texts[:, : len(FLAGS)], texts[:, len(FLAGS) :]
    if batch.flags.numel() and (batch.flags >= 0).any():
        found["flags"] = _yes_or_no(flags, batch.flags, rare=RARE) * 3
    if (batch.relation >= 0).any():
        found["relation"] = _choice(pairs[:, : len(PAIRS)], batch.relation)
    if (batch.about >= 0).any():
        found["about"] = _yes_or_no(pairs[:, len(PAIRS)], batch.about)
    return found


def total(found: dict[str, Tensor]) -> Tensor:
    """Return the weighted sum of the losses."""
    return torch.stack([WEIGHTS[name] * value for name, value in found.items()]).sum()


def _choice(scores: Tensor, answers: Tensor) -> Tensor:
    return f.cross_entropy(scores, answers, ignore_index=-100, label_smoothing=SMOOTHING)


def _yes_or_no(scores: Tensor, answers: Tensor, *, rare: float = 1.0) -> Tensor:
    known = answers >= 0
    weight = torch.tensor(rare)
    return f.binary_cross_entropy_with_logits(
        scores[known], answers[known].float(), pos_weight=weight
    )
