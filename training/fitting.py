"""Fine-tuning with a checkpoint after each epoch, so that a stopped run can be resumed."""

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from training.batches import batches
from training.encoding import Example
from training.losses import losses, total
from training.model import Reader


@dataclass(frozen=True)
class Plan:
    """Number of epochs, tokens per step, and learning rates."""

    epochs: int
    tokens: int = 1024
    body: float = 1e-4
    heads: float = 2e-3
    decay: float = 0.01
    warm_up: float = 0.06  # share of all steps
    name: str = "fit"  # of its checkpoint


# Without bfloat16 instructions a processor emulates them, which takes ten times as long.
_HALVES = torch.ops.mkldnn._is_mkldnn_bf16_supported()

FIT = Plan(epochs=5)
FINISH = Plan(epochs=6, body=5e-5, heads=1e-3, name="finish")
REFRESH = Plan(epochs=3, body=4e-5, heads=5e-4, name="refresh")  # after rows were added


def fit(
    reader: Reader,
    examples: list[Example],
    plan: Plan,
    *,
    folder: Path,
    after_epoch: Any = lambda epoch: None,
) -> None:
    """Train in place. A later run resumes from the plan's last checkpoint in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    steps = sum(1 for _ in batches(examples, tokens=plan.tokens, seed=0)) * plan.epochs
    rule = torch.optim.AdamW(_groups(reader, plan), betas=(0.9, 0.98), weight_decay=plan.decay)
    pace = torch.optim.lr_scheduler.LambdaLR(
        rule, lambda step: rate_share(step / steps, plan.warm_up)
    )
    first = _resume(folder / f"{plan.name}.pt", reader, rule, pace)
    for epoch in range(first, plan.epochs):
        torch.manual_seed(epoch)
        _pass(reader, examples, plan, rule, pace, epoch)
        state = {"epoch": epoch + 1, "model": reader.state_dict()}
        state |= {"rule": rule.state_dict(), "pace": pace.state_dict()}
        torch.save(state, folder / f"{plan.name}.new")
        (folder / f"{plan.name}.new").replace(folder / f"{plan.name}.pt")
        after_epoch(epoch)


def _pass(
    reader: Reader, examples: list[Example], plan: Plan, rule: Any, pace: Any, epoch: int
) -> None:
    reader.train()
    began, means = time.monotonic(), {}
    for number, batch in enumerate(batches(examples, tokens=plan.tokens, seed=epoch + 1), 1):
        with torch.autocast("cpu", torch.bfloat16, enabled=_HALVES):
            outputs = reader(batch.ids, batch.segments, batch.mask, batch.pooled)
        found = losses(batch, *outputs[:2])
        total(found).backward()
        nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        rule.step()
        pace.step()
        rule.zero_grad(set_to_none=True)
        for name, value in found.items():
            means[name] = 0.97 * means.get(name, value.item()) + 0.03 * value.item()
        if number % 25 == 0:
            shown = " ".join(f"{name} {value:.2f}" for name, value in means.items())
            print(
                f"epoch {epoch + 1}, step {number}, {time.monotonic() - began:.0f} s: {shown}",
                flush=True,
            )


def _groups(reader: Reader, plan: Plan) -> list[dict[str, Any]]:
    heads = ("token_head", "text_head", "segments")
    named = [(n, p) for n, p in reader.named_parameters() if p.requires_grad]
    return [
        {"params": [p for n, p in named if not n.startswith(heads)], "lr": plan.body},
        {"params": [p for n, p in named if n.startswith(heads)], "lr": plan.heads},
    ]


def rate_share(done: float, warm_up: float) -> float:
    """Return the share of the learning rate: it rises during the warm-up, then falls as a cosine.

    `done` is how much of the training is done, and `warm_up` how much of it is the warm-up.
    """
    if done < warm_up:
        return done / warm_up
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (done - warm_up) / (1 - warm_up))))


def _resume(path: Path, reader: Reader, rule: Any, pace: Any) -> int:
    if not path.exists():
        return 0
    state = torch.load(path, weights_only=True)
    reader.load_state_dict(state["model"])
    rule.load_state_dict(state["rule"])
    pace.load_state_dict(state["pace"])
    return int(state["epoch"])
