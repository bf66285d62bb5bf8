"""Trains several readers (teachers) at once, or one reader (the student) that learns from them.

Each teacher begins with its own random heads and sees the examples in its own order. The student
learns from the labels and from the mean answers of the teachers (Hinton et al., 2015, "Distilling
the knowledge in a neural network"). This one reader then answers nearly as well as all teachers
together. Without teachers, the student learns from the labels alone.

The training runs on a graphics card if there is one. It saves a checkpoint after each epoch. A
later run continues from the checkpoint, with the same batches as an uninterrupted run.

    python -m training.ensemble teachers PACK FILE [--count 5] [--epochs 9]
    python -m training.ensemble student PACK FOLDER --teachers FILE [--from-shipped .4]
"""

import argparse
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from training import packing
from training.ensemble_report import report
from training.losses import losses, soft_losses, weighted
from training.members import Members, begin_from, save, save_in_parts, state_of
from training.packing import NONE, Packed
from training.shipped import shipped_state

_LENGTHS = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
_HARD = 0.4  # weight of the labels where the student also learns from the teachers
_INPUTS = ("ids", "segments", "mask", "pooled")
_WAIT = 20  # steps between two waits for the device
_FROM_SHIPPED = "begin from the shipped weights, with this share of the learning rates"


@dataclass(frozen=True)
class Plan:
    """The size of the training, and its learning rates (`body` and `heads`).

    `tokens` is the number of tokens of one reader in one step. The training ends after `epochs` or
    `seconds`, whichever comes first. The learning rates depend on the larger of two shares: the
    finished steps and the used seconds.
    """

    teachers: int = 5
    epochs: int = 9
    seconds: float = 1e6
    tokens: int = 2048
    body: float = 1.5e-4
    heads: float = 2e-3
    decay: float = 0.01
    warm_up: float = 0.06
    early: float = 0.35  # share of the epochs in which the examples marked `early` are used
    drop: float = 0.1


class Examples:
    """All examples as tensors on the device."""

    def __init__(self, packed: Packed, device: torch.device) -> None:
        def put(value: Any, kind: torch.dtype) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(value)).to(device, kind)

        self.device = device
        self.sizes = np.diff(packed.start)
        self.source, self.early = packed.source, packed.early.astype(bool)
        self.unlabelled = packed.unlabelled.astype(bool)
        self.start, self.size = put(packed.start[:-1], torch.long), put(self.sizes, torch.long)
        self.ids, self.segments = put(packed.ids, torch.int32), put(packed.segments, torch.int8)
        self.pooled, self.own = put(packed.pooled, torch.int8), put(packed.own, torch.int8)
        self.tags, self.secret = put(packed.tags, torch.int8), put(packed.secret, torch.int8)
        self.spans, self.flags = put(packed.spans, torch.int16), put(packed.flags, torch.int8)
        self.relation, self.about = put(packed.relation, torch.int8), put(packed.about, torch.int8)
        self.words = put(packed.words, torch.float16)

    def batch(self, numbers: Tensor, length: int) -> dict[str, Tensor]:
        """Return the arrays of the examples `numbers` (of any shape), padded to `length` tokens."""
        at = torch.arange(length, device=self.device)
        inside = at < self.size[numbers][..., None]
        place = (self.start[numbers][..., None] + at).masked_fill(~inside, 0)

        def taken(values: Tensor, fill: int) -> Tensor:
            return values[place].long().masked_fill(~inside, fill)

        return {
            "ids": taken(self.ids, 0),
            "segments": taken(self.segments, 0),
            "mask": inside,
            "pooled": taken(self.pooled, 0),
            "own": taken(self.own, 0),
            "tags": taken(self.tags, NONE),
            "secret": taken(self.secret, NONE),
            "spans": self.spans[numbers].long(),
            "flags": self.flags[numbers].long(),
            "relation": self.relation[numbers].long(),
            "about": self.about[numbers].long(),
        }


def batches(
    examples: Examples, plan: Plan, *, members: int, seed: int, early: bool, unlabelled: bool
) -> Iterator[tuple[Tensor, int]]:
    """Yield (members, batch) example numbers with a common padded length.

    Each member gets one variant of every row, in an order of its own. Examples marked `early` or
    `unlabelled` are left out unless the argument of this name is true.
    """
    chance = np.random.default_rng(seed)
    ready: dict[int, list[Any]] = {length: [] for length in _LENGTHS}
    for _ in range(members):
        chosen = _variants(examples, chance, early=early, unlabelled=unlabelled)
        places = np.searchsorted(_LENGTHS, examples.sizes[chosen])
        for bucket, length in enumerate(_LENGTHS):
            ready[length].append(chance.permutation(chosen[places == bucket]))
    steps = []
    for length, orders in ready.items():
        each = max(1, plan.tokens // length)
        least = min(len(order) for order in orders)
        if not least:
            continue
        # On a card, the last batch is filled up with repeated examples, so that all batches have
        # the same shape.
        whole = -(-least // each) * each if examples.device.type == "cuda" else least
        full = [np.resize(order, whole) for order in orders]
        steps += [
            (np.stack([order[n : n + each] for order in full]), length)
            for n in range(0, len(full[0]), each)
        ]
    for number in chance.permutation(len(steps)):
        numbers, length = steps[number]
        yield torch.from_numpy(numbers).to(examples.device, non_blocking=True), length


def _variants(
    examples: Examples, chance: np.random.Generator, *, early: bool, unlabelled: bool
) -> Any:
    """Return one example per row: in half of the cases the row itself, otherwise a variant."""
    allowed = np.ones(len(examples.source), bool)
    if not early:
        allowed &= ~examples.early
    if not unlabelled:
        allowed &= ~examples.unlabelled
    first = np.r_[True, examples.source[1:] != examples.source[:-1]]
    drawn = chance.random(len(first))
    weight = np.where(first, np.where(drawn < 0.5, 1.0, 0.0), drawn)
    order = np.lexsort((-weight, examples.source))
    best = order[np.r_[True, np.diff(examples.source[order]) != 0]]
    return best[allowed[best]]


class _Rule:
    """AdamW with a warm-up and a cosine decay. Gradients are clipped separately for each member.

    All weights are in two flat tensors, (members, weights), so that a step takes few operations.
    """

    def __init__(self, reader: Members, plan: Plan, *, steps: int) -> None:
        heads = ("token_head", "text_head", "segments")
        named = list(reader.w.items())
        self.flat = [
            _flat([p for n, p in named if not n.startswith(heads)]),
            _flat([p for n, p in named if n.startswith(heads)]),
        ]
        self.steps, self.done, self.plan = steps, 0, plan
        self.began = time.monotonic()
        on_card = self.flat[0].is_cuda
        groups = [
            {"params": [flat], "lr": torch.zeros((), device=flat.device)} for flat in self.flat
        ]
        self.rule = torch.optim.AdamW(
            groups,
            betas=(0.9, 0.98),
            weight_decay=plan.decay,
            fused=on_card,
            capturable=on_card,
        )

    def progress(self) -> float:
        """Return the finished share of the training, by steps or by time, from 0 to 1."""
        spent = (time.monotonic() - self.began) / self.plan.seconds
        return min(1.0, max(self.done / self.steps, spent))

    def pace(self) -> None:
        """Set the learning rates of the next step."""
        share = rate_share(self.progress(), self.plan.warm_up)
        for group, rate in zip(
            self.rule.param_groups, (self.plan.body, self.plan.heads), strict=True
        ):
            group["lr"].fill_(share * rate)
        self.done += 1

    def step(self, loss: Tensor) -> None:
        """Change the weights by one step. The gradients are zero before and after it."""
        loss.backward()
        grads = [flat.grad for flat in self.flat if flat.grad is not None]
        norm = torch.stack([grad.norm(dim=1) for grad in grads]).norm(dim=0)
        scale = (1.0 / (norm + 1e-6)).clamp(max=1.0)[:, None]
        for grad in grads:
            grad.mul_(scale)
        self.rule.step()
        for grad in grads:
            grad.zero_()

    def save(self, path: Path, epoch: int) -> None:
        """Write a checkpoint; `epoch` is the number of finished epochs."""
        state = {"epoch": epoch, "done": self.done, "spent": time.monotonic() - self.began}
        flat = [flat.detach() for flat in self.flat]
        save(state | {"flat": flat, "rule": self.rule.state_dict()}, path)

    def resume(self, path: Path) -> int:
        """Continue from a checkpoint, if there is one; return the number of finished epochs."""
        if not path.exists():
            return 0
        state = torch.load(path, weights_only=True, map_location=self.flat[0].device)
        for flat, value in zip(self.flat, state["flat"], strict=True):
            flat.data.copy_(value)
        self.rule.load_state_dict(state["rule"])
        self.done, self.began = state["done"], time.monotonic() - state["spent"]
        return int(state["epoch"])


def rate_share(done: float, warm_up: float) -> float:
    """Return the factor of the learning rate: it rises during the warm-up, then falls as a cosine.

    `done` is the finished share of the training, and `warm_up` the share that the warm-up takes.
    """
    if done < warm_up:
        return done / warm_up
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (done - warm_up) / (1 - warm_up))))


def _flat(parameters: list[nn.Parameter]) -> nn.Parameter:
    """Move parameters and their gradients into one tensor, (members, weights), and return it."""
    flat = nn.Parameter(torch.cat([p.detach().flatten(1) for p in parameters], 1))
    flat.grad = torch.zeros_like(flat)
    at = 0
    for p in parameters:
        size = p[0].numel()
        p.data = flat.data[:, at : at + size].view(p.shape)
        p.grad = flat.grad[:, at : at + size].view(p.shape)
        at += size
    return flat


class _Steps:
    """Runs training steps; on a card, each shape of batch is recorded once and then replayed.

    A recorded step (a CUDA graph) saves the launching of some two thousand operations.
    """

    def __init__(
        self,
        device: torch.device,
        rule: _Rule,
        work: Callable[[Tensor, int], Tensor],
    ) -> None:
        self.rule, self.work = rule, work
        self.is_recorded = device.type == "cuda"
        self.recorded: dict[int, tuple[Any, Tensor, Tensor]] = {}
        self.pool: Any = None

    def step(self, numbers: Tensor, length: int) -> Tensor:
        """Take one step and return its loss."""
        self.rule.pace()
        if not self.is_recorded:
            return self._whole(numbers, length)
        if length not in self.recorded:
            return self._record(numbers, length)
        graph, given, loss = self.recorded[length]
        given.copy_(numbers)
        graph.replay()
        return loss

    def _whole(self, numbers: Tensor, length: int) -> Tensor:
        loss = self.work(numbers, length)
        self.rule.step(loss)
        return loss.detach()

    def _record(self, numbers: Tensor, length: int) -> Tensor:
        given = numbers.clone()
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            loss = self._whole(given, length)
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool):
            kept = self._whole(given, length)
        self.pool = self.pool or graph.pool()
        self.recorded[length] = (graph, given, kept)
        return loss


def train_teachers(examples: Examples, reader: Members, plan: Plan, checkpoint: Path) -> None:
    """Train all teachers."""
    epochs = [
        list(
            batches(
                examples,
                plan,
                members=reader.count,
                seed=1000 + epoch,
                early=epoch < plan.epochs * plan.early,
                unlabelled=False,
            )
        )
        for epoch in range(plan.epochs)
    ]
    rule = _Rule(reader, plan, steps=sum(map(len, epochs)))

    def work(numbers: Tensor, length: int) -> Tensor:
        batch = examples.batch(numbers, length)
        inputs = [batch[name] for name in _INPUTS]
        with _halves(examples.device):
            outputs = reader(*inputs, plan.drop)
        return weighted(losses(batch, *outputs)) * reader.count

    reader.train()
    _run("epoch", epochs, _Steps(examples.device, rule, work), checkpoint)


def train_student(
    examples: Examples,
    student: Members,
    teachers: Members | None,
    plan: Plan,
    checkpoint: Path,
) -> None:
    """Train the student on the labels and on the teachers' answers."""
    has_teachers = teachers is not None
    epochs = [
        list(
            batches(examples, plan, members=1, seed=5000 + n, early=False, unlabelled=has_teachers)
        )
        for n in range(plan.epochs)
    ]
    rule = _Rule(student, plan, steps=sum(map(len, epochs)))

    def work(numbers: Tensor, length: int) -> Tensor:
        batch = examples.batch(numbers, length)
        inputs = [batch[name] for name in _INPUTS]
        with _halves(examples.device):
            own = student(*inputs, plan.drop)
            if teachers is not None:
                with torch.no_grad():
                    wide = [i.expand(teachers.count, *i.shape[1:]).contiguous() for i in inputs]
                    theirs = teachers(*wide)
        hard = weighted(losses(batch, *own))
        if teachers is None:
            return hard
        soft = weighted(soft_losses(batch, own, theirs))
        return _HARD * hard + (1 - _HARD) * soft

    student.train()
    _run(
        "student epoch",
        epochs,
        _Steps(examples.device, rule, work),
        checkpoint,
    )


def _halves(device: torch.device) -> torch.autocast:
    """Return a context that computes in 16 bits, unless the processor would only emulate this."""
    is_fast = device.type == "cuda" or torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return torch.autocast(device.type, torch.bfloat16, enabled=is_fast)


def _run(
    title: str, epochs: list[list[tuple[Tensor, int]]], steps: _Steps, checkpoint: Path
) -> None:
    for epoch in range(steps.rule.resume(checkpoint), len(epochs)):
        if steps.rule.progress() >= 1:
            break
        torch.manual_seed(1000 + epoch)
        lost = []
        for numbers, length in epochs[epoch]:
            lost.append(steps.step(numbers, length).clone())
            if len(lost) % _WAIT == 0:
                lost[-1].item()  # waits for the device, so that the printed time is right
            if steps.rule.progress() >= 1:
                break
        mean, spent = torch.stack(lost).mean().item(), time.monotonic() - steps.rule.began
        print(f"{title} {epoch + 1}, {spent:.0f} s: loss {mean:.3f}", flush=True)
        steps.rule.save(checkpoint, epoch + 1)


def main() -> None:
    given = _arguments()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    plan = Plan(given.count, given.epochs, seconds=given.seconds)
    found = packing.load(given.pack)
    examples = Examples(found["packed"], device)
    print(f"{len(examples.sizes)} examples on {device}", flush=True)
    torch.manual_seed(1)

    def members(count: int) -> Members:
        made = Members(found["weights"], examples.words, found["sizes"], count=count)
        return made.to(device)

    checkpoint = given.out.with_suffix(".checkpoint")
    if given.step == "teachers":
        reader = members(plan.teachers)
        train_teachers(examples, reader, plan, checkpoint)
        save(reader.state_dict(), given.out)
    else:
        teachers = None
        if given.teachers:
            state = torch.load(given.teachers, weights_only=True, map_location=device)
            teachers = members(len(state["w.places"])).eval()
            teachers.load_state_dict(state)
        reader = members(1)
        if given.from_shipped:
            begin_from(reader, shipped_state(found["weights"]))
            report("shipped", reader, found["unseen"], examples)
            rate = given.from_shipped
            plan = replace(plan, body=plan.body * rate, heads=plan.heads * rate)
        train_student(examples, reader, teachers, plan, checkpoint)
        save_in_parts(state_of(reader), given.out)
    report(given.step, reader, found["unseen"], examples)
    checkpoint.unlink()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("teachers", "student"))
    parser.add_argument("pack", type=Path)
    parser.add_argument("out", type=Path, help="the teachers' file, or the student's folder")
    parser.add_argument("--count", type=int, default=Plan.teachers, help="number of teachers")
    parser.add_argument("--teachers", type=Path, help="the teachers' file, for a student")
    parser.add_argument("--epochs", type=int, default=Plan.epochs)
    parser.add_argument("--seconds", type=float, default=1e6)
    parser.add_argument("--from-shipped", type=float, metavar="RATE", help=_FROM_SHIPPED)
    return parser.parse_args()


if __name__ == "__main__":
    main()
