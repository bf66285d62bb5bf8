"""Trains several readers at once on one device, and one reader that learns from all of them.

The weights of the members have one more dimension, so that one step trains all of them. Each member
begins with other heads and sees the examples in another order. The last reader (the student) learns
from the labels and from the mean answers of the members (Hinton et al., 2015, "Distilling the
knowledge in a neural network"): one small encoder then answers nearly as well as all of them.

Run as `python -m training.ensemble PACK OUT`, on a graphics card if there is one.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as f

from memories.reader.statements import FLAGS, PAIRS, SECRET, TAGS, head_slices
from training import packing
from training.base import HEADS, HIDDEN, LAYERS, Base
from training.ensemble_report import report
from training.fitting import rate_share
from training.losses import RARE, SMOOTHING, WEIGHTS
from training.model import Reader
from training.packing import NONE, Packed
from training.shipped import copy_shipped

_LENGTHS = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
_HARD = 0.4  # weight of the labels where the student also learns from the members
_INPUTS = ("ids", "segments", "mask", "pooled")
_WAIT = 20  # steps
_STATES = 0.1  # weight of the squared difference of the scores of single tokens


@dataclass(frozen=True)
class Plan:
    """Members, passes, tokens per member and step, and learning rates."""

    members: int = 6
    epochs: int = 8
    student_epochs: int = 10
    tokens: int = 2048
    body: float = 1.5e-4
    heads: float = 2e-3
    decay: float = 0.01
    warm_up: float = 0.06
    early: float = 0.35  # share of the epochs in which the examples marked `early` are used
    drop: float = 0.1
    recorded: bool = True  # CUDA graphs


class Members(nn.Module):
    """`count` readers; see `training.model.Reader` for the architecture of each."""

    def __init__(
        self,
        weights: dict[str, Any],
        words: Tensor,
        sizes: tuple[int, int],
        *,
        count: int,
        seed: int,
    ) -> None:
        super().__init__()
        self.count = count
        self.register_buffer("words", words, persistent=False)
        chance = torch.Generator().manual_seed(seed)
        self.w = nn.ParameterDict()
        t = {name: torch.from_numpy(np.ascontiguousarray(v)) for name, v in weights.items()}
        self._add("places", t["emb.pos"] + t["emb.type"][0])
        self._add("segments", torch.zeros(3, HIDDEN))
        self._add("eln_w", t["emb.ln.w"])
        self._add("eln_b", t["emb.ln.b"])
        for n in range(LAYERS):
            self._add(f"l{n}_qkv_w", torch.cat([t[f"l{n}.{s}.w"] for s in "qkv"]))
            self._add(f"l{n}_qkv_b", torch.cat([t[f"l{n}.{s}.b"] for s in "qkv"]))
            for part in ("ao", "fi", "fo", "aln", "oln"):
                self._add(f"l{n}_{part}_w", t[f"l{n}.{part}.w"])
                self._add(f"l{n}_{part}_b", t[f"l{n}.{part}.b"])
        for name, size in zip(("token_head", "text_head"), sizes, strict=True):
            head = torch.randn(count, size, HIDDEN, generator=chance) * 0.02
            self.w[f"{name}_w"] = nn.Parameter(head)
            self._add(f"{name}_b", torch.zeros(size))

    def _add(self, name: str, value: Tensor) -> None:
        self.w[name] = nn.Parameter(value.float().expand(self.count, *value.shape).clone())

    def forward(
        self, ids: Tensor, segments: Tensor, mask: Tensor, pooled: Tensor, drop: float = 0.0
    ) -> tuple[Tensor, Tensor]:
        """Take (members, batch, length); return token scores and text scores of each member."""
        e, b, length = ids.shape
        w = self.w
        x = self.words[ids].float() + w["places"][:, None, :length]  # type: ignore[index]
        kinds = segments[..., None] == torch.arange(3, device=segments.device)
        kinds = kinds.to(x.dtype).view(e, b * length, 3)
        x = x + torch.bmm(kinds, w["segments"]).view(e, b, length, HIDDEN)
        x = f.dropout(self._norm(x, "eln"), drop)
        attend = mask.view(e * b, 1, 1, length)
        for n in range(LAYERS):
            qkv = self._linear(x, f"l{n}_qkv").view(e * b, length, 3, HEADS, -1)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            mixed = f.scaled_dot_product_attention(q, k, v, attn_mask=attend)
            mixed = mixed.transpose(1, 2).reshape(e, b, length, HIDDEN)
            x = self._norm(x + f.dropout(self._linear(mixed, f"l{n}_ao"), drop), f"l{n}_aln")
            inner = self._linear(f.gelu(self._linear(x, f"l{n}_fi")), f"l{n}_fo")
            x = self._norm(x + f.dropout(inner, drop), f"l{n}_oln")
        weight = pooled[..., None].to(x.dtype)
        mean = (x * weight).sum(2) / weight.sum(2).clamp(min=1)
        texts = torch.baddbmm(w["text_head_b"][:, None], mean, w["text_head_w"].transpose(1, 2))
        return self._linear(x, "token_head").float(), texts.float()

    def _linear(self, x: Tensor, name: str) -> Tensor:
        e, b, length, _ = x.shape
        weight, bias = self.w[f"{name}_w"], self.w[f"{name}_b"]
        flat = torch.baddbmm(bias[:, None], x.view(e, b * length, -1), weight.transpose(1, 2))
        return flat.view(e, b, length, -1)

    def _norm(self, x: Tensor, name: str) -> Tensor:
        scaled = f.layer_norm(x, (HIDDEN,), eps=1e-12)
        return scaled * self.w[f"{name}_w"][:, None, None] + self.w[f"{name}_b"][:, None, None]


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
        """Return the padded arrays of the examples `numbers`, of any shape."""
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

    Each member meets one variant of every row once, in an order of its own.
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
        # The last batch is filled up with further examples, so that all have the same shape.
        full = [np.resize(order, max(each, -(-least // each) * each)) for order in orders]
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
    """Return one example per row: the row as it was written in half of the cases."""
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


def losses(batch: dict[str, Tensor], tokens: Tensor, texts: Tensor) -> dict[str, Tensor]:
    """Return the mean loss of each head over all members; heads without a label give 0."""
    found = {
        "tags": _choice(tokens[..., : len(TAGS)], batch["tags"]),
        "secret": _yes_or_no(tokens[..., SECRET], batch["secret"], RARE),
        "flags": _yes_or_no(texts[..., : len(FLAGS)], batch["flags"], RARE) * 3,
        "relation": _choice(texts[..., len(FLAGS) : len(FLAGS) + len(PAIRS)], batch["relation"]),
        "about": _yes_or_no(texts[..., len(FLAGS) + len(PAIRS)], batch["about"], 1.0),
    }
    means = span_means(tokens, batch["spans"])
    for number, (head, place) in enumerate(head_slices().items()):
        found[head] = _choice(means[..., place], batch["spans"][..., 2 + number])
    return found


def span_means(tokens: Tensor, spans: Tensor) -> Tensor:
    """Return the mean of the token scores over each span."""
    total = f.pad(tokens.float().cumsum(-2), (0, 0, 1, 0))
    start, end = spans[..., 0], spans[..., 1]

    def at(place: Tensor) -> Tensor:
        return total.gather(-2, place[..., None].expand(*place.shape, total.shape[-1]))

    return (at(end) - at(start)) / (end - start).clamp(min=1)[..., None]


def _choice(scores: Tensor, answers: Tensor) -> Tensor:
    flat, right = scores.flatten(0, -2), answers.flatten()
    known = right >= 0
    lost = f.cross_entropy(flat, right.clamp(min=0), label_smoothing=SMOOTHING, reduction="none")
    return (lost * known).sum() / known.sum().clamp(min=1)


def _yes_or_no(scores: Tensor, answers: Tensor, rare: float) -> Tensor:
    known = answers >= 0
    lost = f.binary_cross_entropy_with_logits(
        scores, answers.clamp(min=0).float(), pos_weight=scores.new_full((), rare), reduction="none"
    )
    return (lost * known).sum() / known.sum().clamp(min=1)


def weighted(found: dict[str, Tensor]) -> Tensor:
    return torch.stack([WEIGHTS[name] * value for name, value in found.items()]).sum()


def soft_losses(
    batch: dict[str, Tensor], own: tuple[Tensor, Tensor], theirs: tuple[Tensor, Tensor]
) -> dict[str, Tensor]:
    """Return how far the student's answers are from the members' mean probabilities.

    `theirs` has the scores of each member, (members, batch, …); `own` those of the student, with
    one member.
    """
    (tokens, texts), (their_tokens, their_texts) = own, theirs
    ours = batch["own"].bool()
    flags, pairs = len(FLAGS), len(PAIRS)
    is_message = ours.any(-1)
    found = {
        "tags": _near(tokens[..., : len(TAGS)], their_tokens[..., : len(TAGS)], ours),
        "secret": _near_yes(tokens[..., SECRET], their_tokens[..., SECRET], ours),
        "flags": _near_yes(texts[..., :flags], their_texts[..., :flags], is_message[..., None]) * 3,
        "relation": _near(
            texts[..., flags : flags + pairs], their_texts[..., flags : flags + pairs], ~is_message
        ),
        "about": _near_yes(texts[..., flags + pairs], their_texts[..., flags + pairs], ~is_message),
    }
    spans = batch["spans"]
    means = span_means(tokens, spans)
    their_means = span_means(their_tokens, spans.expand(len(their_tokens), *spans.shape[1:]))
    for number, (head, place) in enumerate(head_slices().items()):
        known = spans[..., 2 + number] >= 0
        found[head] = _near(means[..., place], their_means[..., place], known)
        centred = tokens[..., place] - tokens[..., place].mean(-1, keepdim=True)
        goal = their_tokens[..., place].mean(0, keepdim=True)
        goal = goal - goal.mean(-1, keepdim=True)
        apart = ((centred - goal) ** 2).mean(-1)
        found[head] = found[head] + _STATES * (apart * ours).sum() / ours.sum().clamp(min=1)
    return found


def _near(scores: Tensor, theirs: Tensor, known: Tensor) -> Tensor:
    goal = theirs.softmax(-1).mean(0, keepdim=True)
    lost = -(goal * scores.log_softmax(-1)).sum(-1)
    return (lost * known).sum() / known.sum().clamp(min=1)


def _near_yes(scores: Tensor, theirs: Tensor, known: Tensor) -> Tensor:
    goal = theirs.sigmoid().mean(0, keepdim=True)
    lost = f.binary_cross_entropy_with_logits(scores, goal, reduction="none")
    known = known.expand_as(lost)
    return (lost * known).sum() / known.sum().clamp(min=1)


class _Rule:
    """AdamW with a warm-up and a cosine, and gradients clipped for each member by itself.

    All weights lie in two flat tensors, (members, weights): a step then takes a few operations.
    """

    def __init__(self, reader: Members, plan: Plan, *, steps: int, seconds: float) -> None:
        heads = ("token_head", "text_head", "segments")
        named = list(reader.w.items())
        self.flat = [
            _flat([p for n, p in named if not n.startswith(heads)]),
            _flat([p for n, p in named if n.startswith(heads)]),
        ]
        self.steps, self.seconds, self.done, self.plan = steps, seconds, 0, plan
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
        """Return how much of the training is done, by steps or by time, from 0 to 1."""
        spent = (time.monotonic() - self.began) / self.seconds
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
        recorded: bool,
    ) -> None:
        self.rule, self.work = rule, work
        self.is_recorded = recorded and device.type == "cuda"
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


def train_members(examples: Examples, reader: Members, plan: Plan, *, seconds: float) -> None:
    """Train all members, in at most so many seconds: the learning rates then fall faster."""
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
    rule = _Rule(reader, plan, steps=sum(map(len, epochs)), seconds=seconds)

    def work(numbers: Tensor, length: int) -> Tensor:
        batch = examples.batch(numbers, length)
        inputs = [batch[name] for name in _INPUTS]
        with torch.autocast(examples.device.type, torch.bfloat16):
            outputs = reader(*inputs, plan.drop)
        return weighted(losses(batch, *outputs)) * reader.count

    reader.train()
    _run("epoch", epochs, _Steps(examples.device, rule, work, plan.recorded))


def train_student(
    examples: Examples,
    student: Members,
    teachers: Members,
    plan: Plan,
    *,
    folder: Path,
    seconds: float,
) -> None:
    """Train the student on the labels and on the members' answers, in at most so many seconds.

    It is saved after each epoch.
    """
    epochs = [
        list(batches(examples, plan, members=1, seed=5000 + n, early=False, unlabelled=True))
        for n in range(plan.student_epochs)
    ]
    rule = _Rule(student, plan, steps=sum(map(len, epochs)), seconds=seconds)

    def work(numbers: Tensor, length: int) -> Tensor:
        batch = examples.batch(numbers, length)
        inputs = [batch[name] for name in _INPUTS]
        with torch.autocast(examples.device.type, torch.bfloat16):
            with torch.no_grad():
                wide = [i.expand(teachers.count, *i.shape[1:]).contiguous() for i in inputs]
                theirs = teachers(*wide)
            own = student(*inputs, plan.drop)
        hard = weighted(losses(batch, *own))
        soft = weighted(soft_losses(batch, own, theirs))
        return _HARD * hard + (1 - _HARD) * soft

    student.train()
    _run(
        "student epoch",
        epochs,
        _Steps(examples.device, rule, work, plan.recorded),
        after=lambda: save_in_parts(state_of(student), folder),
    )


def _run(
    title: str,
    epochs: list[list[tuple[Tensor, int]]],
    steps: _Steps,
    *,
    after: Callable[[], None] = lambda: None,
) -> None:
    for epoch, batches_of_epoch in enumerate(epochs):
        lost = []
        for numbers, length in batches_of_epoch:
            lost.append(steps.step(numbers, length).clone())
            if len(lost) % _WAIT == 0:
                lost[-1].item()  # waits for the device, so that the time is true
            if steps.rule.progress() >= 1:
                break
        mean, spent = torch.stack(lost).mean().item(), time.monotonic() - steps.rule.began
        print(f"{title} {epoch + 1}, {spent:.0f} s: loss {mean:.3f}", flush=True)
        after()
        if steps.rule.progress() >= 1:
            break


def state_of(reader: Members, member: int = 0) -> dict[str, Tensor]:
    """Return the weights of one member under the names of `training.model.Reader`."""
    return {
        _name_in_reader(name): value[member].detach().float().cpu()
        for name, value in reader.w.items()
    }


def begin_from(reader: Members, state: dict[str, Tensor]) -> None:
    """Give every member the weights of a `training.model.Reader`."""
    with torch.no_grad():
        for name, value in reader.w.items():
            value.copy_(state[_name_in_reader(name)])


def _name_in_reader(name: str) -> str:
    stem, _, kind = name.rpartition("_")
    if name in ("places", "segments"):
        return name
    if stem.startswith("l") and stem[1].isdigit():
        layer, part = stem.split("_")
        stem = f"layers.{layer[1:]}.{part}"
    return f"{stem}.{ {'w': 'weight', 'b': 'bias'}[kind] }"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--members", type=int, default=Plan.members)
    parser.add_argument("--epochs", type=int, default=Plan.epochs)
    parser.add_argument("--student-epochs", type=int, default=Plan.student_epochs)
    parser.add_argument("--tokens", type=int, default=Plan.tokens)
    parser.add_argument("--seconds", type=float, default=3e4, help="for the members")
    parser.add_argument("--student-seconds", type=float, default=3e4)
    parser.add_argument("--plain", action="store_true", help="without CUDA graphs")
    parser.add_argument(
        "--from-shipped",
        type=float,
        metavar="RATE",
        help="begin the student from the shipped weights, with this share of the learning rates",
    )
    parser.add_argument("--keep", type=Path, help="where the members are kept, or taken from")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    plan = Plan(
        given.members,
        given.epochs,
        given.student_epochs,
        given.tokens,
        recorded=not given.plain,
    )
    found = packing.load(given.pack)
    examples = Examples(found["packed"], device)
    make = {"weights": found["weights"], "words": examples.words, "sizes": found["sizes"]}
    print(f"{len(examples.sizes)} examples on {device}", flush=True)
    given.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    members = Members(**make, count=plan.members, seed=1).to(device)
    if given.keep and given.keep.exists():
        members.load_state_dict(torch.load(given.keep, weights_only=True))
    else:
        train_members(examples, members, plan, seconds=given.seconds)
        if given.keep:
            torch.save(members.state_dict(), given.keep)
        _show("members", found.get("unseen"), members, examples)
    student = Members(**make, count=1, seed=2).to(device)
    if given.from_shipped:
        begin_from(student, _shipped(found["weights"]))
        _show("shipped", found.get("unseen"), student, examples)
        plan = replace(
            plan, body=plan.body * given.from_shipped, heads=plan.heads * given.from_shipped
        )
    members.eval()
    train_student(examples, student, members, plan, folder=given.out, seconds=given.student_seconds)
    _show("student", found.get("unseen"), student, examples)


def _shipped(weights: dict[str, Any]) -> dict[str, Tensor]:
    """Return the shipped weights; the base has no word vectors here."""
    base = Base(weights | {"emb.word": np.zeros((1, HIDDEN), np.float32)}, [], np.zeros(0), {})
    reader = Reader(base)
    copy_shipped(reader)
    return reader.state_dict()


def save_in_parts(state: dict[str, Tensor], folder: Path, *, parts: int = 4) -> None:
    """Write the weights in halves as `student-1.pt` …, each small enough to be copied back."""
    folder.mkdir(parents=True, exist_ok=True)
    names = sorted(state, key=lambda name: -state[name].numel())
    for part in range(parts):
        torch.save(
            {n: state[n].half() for n in names[part::parts]}, folder / f"student-{part + 1}.pt"
        )


def saved_in_parts(folder: Path) -> dict[str, Tensor]:
    """Return the weights that `save_in_parts` wrote."""
    found = {}
    for path in sorted(folder.glob("student-*.pt")):
        found |= torch.load(path, weights_only=True)
    return {name: value.float() for name, value in found.items()}


def _show(name: str, unseen: Any, reader: Members, examples: Examples) -> None:
    if unseen:
        report(name, reader, unseen, examples)


if __name__ == "__main__":
    main()
