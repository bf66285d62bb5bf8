"""Train the two layers that find which earlier statement a message corrects, and export them.

    .venv-train/bin/python -m training.pair_layers [--epochs 8] [--hold-out 0] [--folder FOLDER]

The encoder of the folder isn't changed. Its states after the ninth layer are computed once for each
pair. Copies of two of its last layers are trained on these states, with a head for the relation,
and a head that marks the wrong words of the statement and the right words of the message. Before, a
small network is fitted that predicts from a message alone whether it corrects anything.

The rows are the conversations of `data/links`, the pairs of `data/pairs` about corrections, and
every eighth of the other pairs. Of the unrelated pairs of long conversations, a third is used, and
only those whose message the small network doubts. With `--hold-out N`, one voice in five is held
out, and figures about these voices are printed. Eight epochs take an hour on two cores.
"""

import argparse
import copy
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper
from torch import Tensor, nn
from torch.nn import functional as f

from memories.reader import inputs
from memories.reader import pair_layers as product
from memories.reader.reading import Encoder
from memories.reader.state_head import MESSAGES, StateHead
from memories.reader.statements import FLAGS, PAIRS
from training import shipped
from training.base import HIDDEN, load
from training.export import Graph, quantized
from training.labels import DATA, conversations, files, fold, is_drawn, read_pairs
from training.layer_fitting import Pace, fit_layers, groups_of_similar_length
from training.model import Layer, Reader

COPIED = (9, 11)  # the encoder's layers, from 0, from which the two layers start
CORRECTIONS = ("en_pairs14", "zh_pairs14")
CHANGES = ("newer", "contradicts", "ended")  # relations of a message that corrects something
CONFLICTS = [PAIRS.index(name) for name in CHANGES]
_WORD = re.compile(r"[A-Za-zÀ-ÿ']+|\d+|[^\s]")
_TOKENS = 1500  # per step
_LONG, _DRAWN = 11, 0.33  # messages of a long conversation; share of its unrelated pairs
_DOUBTED = 0.4  # minimum probability of a correction by the messages of these pairs
_UNITS, _GATE_EPOCHS = 32, 4  # of the network that reads a message alone


@dataclass
class Example:
    """One pair with its states (length, HIDDEN), in 16 bits.

    `edits` is 1 for the wrong tokens of the statement and the right tokens of the message, 0 for
    other tokens, and -1 for all tokens if this isn't labelled.
    """

    group: str
    relation: int
    states: Tensor
    edits: Tensor


class PairLayersModel(nn.Module):
    """Computes the scores of the relations (batch, 6) and of the edits (batch, length)."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.layers = nn.ModuleList(copy.deepcopy(reader.layers[number]) for number in COPIED)
        self.relations, self.edits = nn.Linear(HIDDEN, len(PAIRS)), nn.Linear(HIDDEN, 1)
        first = len(FLAGS)
        with torch.no_grad():
            self.relations.weight.copy_(reader.text_head.weight[first : first + len(PAIRS)])
            self.relations.bias.copy_(reader.text_head.bias[first : first + len(PAIRS)])
            self.edits.weight.normal_(0, 0.02)
            self.edits.bias.fill_(-2)
        self.drop = nn.Dropout(0.1)

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        for layer in self.layers:
            states = layer(states, mask)
        weight = mask[..., None].to(states.dtype)
        mean = (states * weight).sum(1) / weight.sum(1)
        return self.relations(self.drop(mean)), self.edits(self.drop(states))[..., 0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--hold-out", type=int, help="the number of the fifth that is held out")
    parser.add_argument("--folder", type=Path, default=Path(".training/reader"))
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of the rows to use, for a trial"
    )
    wanted = parser.parse_args()
    torch.manual_seed(1)
    encoder = Encoder(wanted.folder)
    gate, doubted, figures = fit_gate(encoder, wanted.share, held_out=wanted.hold_out)
    print(figures)
    rows = [row for row in _rows(doubted) if is_drawn(row[0] + row[1], wanted.share)]
    examples = [_example(encoder, *row) for row in rows]
    held = [one for one in examples if fold(one.group) == wanted.hold_out]
    train = [one for one in examples if fold(one.group) != wanted.hold_out]
    print(f"{len(train)} pairs, {len(held)} held out", flush=True)
    reader = Reader(load())
    shipped.copy_shipped(reader, wanted.folder)
    layers = PairLayersModel(reader)
    checkpoint = wanted.folder.with_name("pair_layers.checkpoint")
    fit(layers, train, wanted.epochs, checkpoint=checkpoint)
    if held:
        print(report(layers, held))
    write(layers, wanted.folder / product.FILE)
    gate.save(wanted.folder / MESSAGES)
    checkpoint.unlink()


def _rows(
    doubted: Mapping[str, float],
) -> Iterator[tuple[str, str, str, str, tuple[tuple[int, int], tuple[int, int]] | None]]:
    """Yield statement, message, relation, group, and the spans of the wrong and right words.

    `doubted` maps a message to the probability that it corrects something.
    """
    for talk in conversations():
        links = {(link["statement"], link["by"]): link for link in talk["links"]}
        for number, statement in enumerate(talk["statements"]):
            for by in range(statement["n"] + 1, len(talk["said"])):
                said, link = talk["said"][by], links.get((number, by))
                if link is None:
                    is_doubted = doubted.get(said, 0.0) >= _DOUBTED
                    if len(talk["said"]) < _LONG or (
                        is_doubted and is_drawn(statement["words"] + said, _DRAWN)
                    ):
                        yield statement["words"], said, "unrelated", talk["voice"], None
                    continue
                for text in (said, link["words"]):
                    edits = edited(statement["words"], link, text)
                    yield statement["words"], text, link["relation"], talk["voice"], edits
    for number, pair in enumerate(read_pairs(files(DATA / "pairs"))):
        if pair.relation and (pair.group.startswith(CORRECTIONS) or number % 8 == 0):
            yield pair.first, pair.second, pair.relation, pair.group, None


def edited(
    statement: str, link: dict[str, Any], said: str
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the span of the wrong words in a statement and of the right words in a message.

    The statement is compared with its corrected form, `link["now"]`. Return None unless the
    difference is a single replacement by words of the message.
    """
    if link["relation"] not in ("contradicts", "newer"):
        return None
    old, new = (
        [(one[0].casefold(), *one.span()) for one in _WORD.finditer(text)]
        for text in (statement, link["now"])
    )
    matcher = SequenceMatcher(None, [w for w, *_ in old], [w for w, *_ in new], autojunk=False)
    found = []
    begin = said.find(link["words"])
    words = link["words"].casefold()
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        right = link["now"][new[j][1] : new[j_end - 1][2]] if kind == "replace" else ""
        at = words.rfind(right.casefold())
        if right and at >= 0:
            span = begin + at, begin + at + len(right)
            found.append(((old[i][1], old[i_end - 1][2]), span))
    return found[0] if len(found) == 1 else None


def _example(
    encoder: Encoder,
    first: str,
    second: str,
    relation: str,
    group: str,
    spans: tuple[tuple[int, int], tuple[int, int]] | None,
) -> Example:
    window = inputs.build_pair_input(encoder.tokenizer, first, second)
    edits = torch.full((len(window.ids),), -1.0)
    if spans:
        for place, (token, text) in enumerate(zip(window.tokens, window.segments, strict=True)):
            start, end = spans[text]
            edits[place] = float(token is not None and token.start < end and start < token.end)
    states = torch.from_numpy(encoder.token_states(window)).half()
    return Example(group, PAIRS.index(relation), states, edits)


def _batches(examples: list[Example], seed: int) -> Iterator[tuple[list[Example], Tensor, Tensor]]:
    """Yield examples of similar length with their states and mask, padded."""
    draw = random.Random(seed)
    for group in groups_of_similar_length(examples, draw, bucket=8, most=_TOKENS):
        longest = max(len(one.states) for one in group)
        states = torch.zeros(len(group), longest, HIDDEN)
        mask = torch.zeros(len(group), longest, dtype=torch.bool)
        for number, one in enumerate(group):
            states[number, : len(one.states)] = one.states.float()
            mask[number, : len(one.states)] = True
        yield group, states, mask


def fit(
    layers: PairLayersModel, examples: list[Example], epochs: int, *, checkpoint: Path | None
) -> None:
    """Train the layers in place, and write a checkpoint after each epoch."""
    steps = epochs * sum(1 for _ in _batches(examples, 0))
    fit_layers(
        layers,
        layers.layers,
        [layers.relations, layers.edits],
        batches=lambda epoch: _batches(examples, epoch),
        loss_of=lambda batch: _loss(layers, *batch),
        pace=Pace(layers=1e-4, heads=1e-3, steps=steps, warm=max(1, steps // 16)),
        epochs=epochs,
        checkpoint=checkpoint,
    )


def _loss(layers: PairLayersModel, group: list[Example], states: Tensor, mask: Tensor) -> Tensor:
    relations, edits = layers(states, mask)
    answers = torch.tensor([one.relation for one in group])
    loss = f.cross_entropy(relations, answers, label_smoothing=0.05)
    given = torch.full(mask.shape, -1.0)
    for number, one in enumerate(group):
        given[number, : len(one.edits)] = one.edits
    if (known := given >= 0).any():
        loss = loss + f.binary_cross_entropy_with_logits(
            edits[known], given[known], pos_weight=torch.tensor(3.0)
        )
    return loss


def report(layers: PairLayersModel, held: list[Example]) -> str:
    """Return figures about held-out examples, as text."""
    right = conflicts = said = found = edits = exact = 0
    with torch.no_grad():
        for group, states, mask in _batches(held, 0):
            relations, scores = layers(states, mask)
            for number, one in enumerate(group):
                shares = relations[number].softmax(-1)
                right += int(shares.argmax()) == one.relation
                says, is_conflict = shares[CONFLICTS].sum() >= 0.8, one.relation in CONFLICTS
                conflicts, said = conflicts + is_conflict, said + int(says)
                found += int(is_conflict and says)
                if (one.edits > 0).any():
                    edits += 1
                    marked = scores[number, : len(one.edits)] > 0
                    exact += int((marked == (one.edits == 1)).all())
    return (
        f"relation right {right / len(held):.3f} of {len(held)}; conflicts from .8: precision "
        f"{found / max(1, said):.3f}, recall {found / conflicts:.3f} of {conflicts}; wrong and "
        f"right words exactly found in {exact} of {edits}"
    )


def fit_gate(
    encoder: Encoder, share: float, *, held_out: int | None
) -> tuple[StateHead, dict[str, float], str]:
    """Fit the network that predicts from a message alone whether it corrects anything.

    The inputs are the mean states of the ninth and of the last layer. Return the network, its
    answer to each message, and its figures as text.
    """
    texts, features, answers, held = [], [], [], []
    for talk in conversations():
        puts_right = {link["by"] for link in talk["links"] if link["relation"] in CHANGES}
        for number, said in enumerate(talk["said"]):
            if not is_drawn(said, share):
                continue
            before = list(reversed(talk["said"][:number]))
            window = next(inputs.windows(encoder.tokenizer, said, before=before))
            texts.append(said)
            features.append(np.concatenate(encoder.message_states(window)))
            answers.append(float(number in puts_right))
            held.append(fold(talk["voice"]) == held_out)
    x, y, out = torch.tensor(np.stack(features)), torch.tensor(answers), torch.tensor(held)
    network = nn.Sequential(
        nn.Dropout(0.1),
        nn.Linear(2 * HIDDEN, _UNITS),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(_UNITS, 1),
    )
    rule = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=0.05)
    given = torch.nonzero(~out)[:, 0]
    for _ in range(_GATE_EPOCHS):
        for part in given[torch.randperm(len(given))].split(64):
            scores = network(x[part])[:, 0]
            loss = f.binary_cross_entropy_with_logits(scores, y[part], pos_weight=torch.tensor(4.0))
            rule.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            rule.step()
    network.eval()
    shown = ""
    with torch.no_grad():
        tested = out if out.any() else ~out
        shares = torch.sigmoid(network(x[tested])[:, 0])
        for least in (0.2, 0.3, 0.5):
            says, is_right = shares >= least, y[tested] > 0
            shown += (
                f"messages from {least}: {float((says & is_right).sum() / is_right.sum()):.3f} of "
                f"those that put right, {float(says.float().mean()):.3f} of all\n"
            )
        every = torch.sigmoid(network(x)[:, 0]).tolist()
    first, second = network[1], network[4]
    with torch.no_grad():
        head = StateHead(
            first.weight.numpy().T,
            first.bias.numpy(),
            second.weight.numpy()[0],
            second.bias.numpy()[0],
        )
    return head, dict(zip(texts, every, strict=True)), shown


def write(layers: PairLayersModel, path: Path) -> None:
    """Write the layers as an ONNX graph with weights in 8 bits."""
    graph = Graph()
    attend = graph.add("Cast", ["mask"], to=TensorProto.INT32)
    states = "states"
    for number, layer in enumerate(layers.layers):
        assert isinstance(layer, Layer)
        states = graph.layer(states, attend, layer, f"l{number}")
    mean = graph.add("ReduceMean", [states, graph.whole("one", [1])], keepdims=0)
    graph.head(mean, layers.relations, "relation_head", "relations")
    graph.head(states, layers.edits, "edit_head", "edits_of_tokens")
    graph.nodes.append(
        helper.make_node("Squeeze", ["edits_of_tokens", graph.whole("two", [2])], ["edits"])
    )
    given = [
        helper.make_tensor_value_info("states", TensorProto.FLOAT, ["batch", "length", HIDDEN]),
        helper.make_tensor_value_info("mask", TensorProto.INT64, ["batch", "length"]),
    ]
    shapes: dict[str, list[Any]] = {"relations": ["batch", None], "edits": ["batch", "length"]}
    model = quantized(graph.model(given, shapes), ["relation_head", "edit_head"])
    helper.set_model_props(model, {"pairs": " ".join(PAIRS)})
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
