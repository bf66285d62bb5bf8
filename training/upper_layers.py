"""Train the last three layers of the encoder with whole conversations, and export the reader.

    .venv-train/bin/python -m training.upper_layers FOLDER [--source FOLDER] [--epochs 2]

The nine layers below stay as they are, and so does everything that reads only their states: the
pair layers and the head for pronouns. The states are computed once, with the reader in `--source`.

The rows are messages, the conversations of `data/links`, and a sample of the texts with secrets and
of the pairs. Of a conversation, only the statements that a friend would remember are labelled. What
else the reader takes for a statement in such a message counts as not worth keeping, unless it
changes an earlier statement. Whatever a row doesn't label is learned from the reader's own scores
(Hinton et al., 2015, "Distilling the knowledge in a neural network"), so that it stays as it is:
how pairs are judged, secrets, and the attributes of statements.

The messages of `labels.HELD_OUT` and one voice in eight of the conversations are left out. Two
epochs take a quarter of an hour on two cores, after twenty minutes for the states.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as f

from memories.reader.inputs import Input
from memories.reader.reading import MEANT_SCORE, RELATION_SCORES, Encoder
from memories.reader.statements import FLAGS, SECRET, SPAN_HEADS, TAGS, head_slices, softmax, spans
from training import base, export, shipped
from training.encoding import encode_pair, encode_row, token_range
from training.labels import (
    BENCH,
    DATA,
    Pair,
    Row,
    Span,
    conversations,
    files,
    is_drawn,
    read_messages,
    read_pairs,
    read_requests,
    read_secrets,
)
from training.layer_fitting import Pace, fit_layers, groups_of_similar_length
from training.losses import RARE, SMOOTHING, WEIGHTS, choice, yes_or_no
from training.model import Reader

FIRST = 9  # the first layer, from 0, that is trained
_RATE, _HEAD_RATE = 6e-5, 2.4e-4
_TOKENS = 3000  # per step
_NO = 0.6  # weight of a statement that a friend wouldn't remember, since it may be forgotten
_STATE, _PAIR_STATE = 5.0, 10.0  # weights of the change of the mean state
_SCORES = 0.1  # weight of the change of the scores of single tokens
_NONE = -100  # label that is not trained on
_HELD_OUT = 8  # one voice in so many of the conversations
# Share of the rows of each kind that are used at all, and share of these that an epoch uses.
_SHARES = {
    "new": (1.0, 1.0),  # messages that the layers below were not trained on
    "old": (0.28, 0.7),  # other messages
    "told": (1.0, 0.7),  # messages of conversations with something that a friend would remember
    "nothing": (1.0, 0.5),  # the other messages of conversations
    "secret": (0.12, 0.6),
    "pair": (0.25, 0.5),
}
_NEW = ("_m15", "_vows", "_messages10", "_messages11")
_Bounds = tuple[int, int, dict[str, int]]


@dataclass
class Example:
    """A text with its states, and with the scores of the reader before the training.

    `kind` is a key of `_SHARES`. `said` holds the labelled statements, and `unsaid` those of a
    conversation that a friend wouldn't remember: the range of tokens, and the answer of each head.
    """

    kind: str
    states: NDArray[np.float16]
    scores: NDArray[np.float16]
    texts: NDArray[np.float32]
    mean: NDArray[np.float16]
    input: Input
    tags: list[int] | None = None
    secret: list[int] | None = None
    flags: list[int] | None = None
    said: list[_Bounds] = field(default_factory=list)
    unsaid: list[_Bounds] = field(default_factory=list)


class UpperLayers(nn.Module):
    """The trained layers and the encoder's heads, of a reader that they share weights with."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.layers = nn.ModuleList(list(reader.layers)[FIRST:])
        self.token_head, self.text_head = reader.token_head, reader.text_head

    def forward(
        self, states: Tensor, mask: Tensor, pooled: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the scores of the tokens and of the texts, and the mean states."""
        for layer in self.layers:
            states = layer(states, mask)
        weight = pooled[..., None]
        mean = (states * weight).sum(1) / weight.sum(1).clamp(min=1)
        return self.token_head(states), self.text_head(mean), mean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the trained reader is written")
    parser.add_argument("--source", type=Path, default=Path(".training/mean"))
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of the rows to use, for a trial"
    )
    given = parser.parse_args()
    torch.manual_seed(1)
    examples = list(_examples(Encoder(given.source), given.share))
    print(f"{len(examples)} texts, {sum(len(e.states) for e in examples)} tokens", flush=True)
    pretrained = base.load()
    reader = Reader(pretrained)
    shipped.copy_shipped(reader, given.source)
    checkpoint = given.folder.with_name("upper_layers.checkpoint")
    fit(UpperLayers(reader), examples, given.epochs, checkpoint=checkpoint)
    export.write(reader, pretrained, given.folder)
    checkpoint.unlink()


def _examples(encoder: Encoder, share: float) -> Iterator[Example]:
    for kind, row, changing in _rows():
        text = row.first + row.second if isinstance(row, Pair) else row.text
        if is_drawn(text, share * _SHARES[kind][0]):
            yield _example(encoder, kind, row, changing)


def _rows() -> Iterator[tuple[str, Row | Pair, list[tuple[int, int]] | None]]:
    """Yield the kind of each row, the row, and for a conversation the words that change something.

    The words are the spans of the message that change an earlier statement.
    """
    messages = files(DATA / "messages")
    messages += files(BENCH / "reader", "*_messages*", held_out=False)
    for row in read_messages(messages):
        yield "new" if any(name in row.voice for name in _NEW) else "old", row, None
    for row, changing in conversation_rows():
        yield "told" if row.spans else "nothing", row, changing
    for row in read_secrets(files(BENCH / "secrets", held_out=False)):
        yield "secret", row, None
    pairs = read_pairs(files(DATA / "pairs"))
    pairs += read_requests(files(BENCH / "forget_requests", held_out=False))
    for pair in pairs:
        yield "pair", pair, None


def conversation_rows() -> Iterator[tuple[Row, list[tuple[int, int]]]]:
    """Yield each message of the conversations that aren't held out.

    The second part holds the spans of its words that change an earlier statement.
    """
    for talk in conversations():
        if crc32(talk["voice"].encode()) % _HELD_OUT == 0:
            continue
        for number, said in enumerate(talk["said"]):
            told = [one["words"] for one in talk["statements"] if one["n"] == number]
            changing = [link["words"] for link in talk["links"] if link["by"] == number]
            placed = [
                [(said.find(words), said.find(words) + len(words)) for words in each]
                for each in (told, changing)
            ]
            found = [Span(start, end, {"keep": "yes"}) for start, end in sorted(placed[0])]
            before = tuple(reversed(talk["said"][max(0, number - 3) : number]))
            row = Row(
                talk["voice"],
                talk["lang"],
                said,
                before=before,
                spans=tuple(found),
                screened=False,
            )
            yield row, placed[1]


def _example(
    encoder: Encoder, kind: str, row: Row | Pair, changing: list[tuple[int, int]] | None
) -> Example:
    """Compute the states and scores. A pair has no labels: its scores are only to stay the same."""
    if isinstance(row, Pair):
        coded = encode_pair(encoder.tokenizer, row)
    else:
        coded = encode_row(encoder.tokenizer, row)
    states, scores, texts, mean = encoder.outputs(coded.input)
    half = np.float16
    example = Example(
        kind, states.astype(half), scores.astype(half), texts, mean.astype(half), coded.input
    )
    if kind != "pair":
        example.tags, example.secret, example.flags = coded.tags, coded.secret, coded.flags
        example.said = coded.spans
    if changing is not None:
        _label_conversation(example, changing)
    return example


def _label_conversation(example: Example, changing: list[tuple[int, int]]) -> None:
    """Leave the tags outside the statements without a label, and find what is not worth keeping."""
    tokens = example.input.tokens
    example.tags = [_NONE] * len(tokens)
    taken: set[int] = set()
    for start, end, _ in example.said:
        example.tags[start:end] = [1] + [2] * (end - start - 1)
        taken |= set(range(start, end))
    for words in changing:
        taken |= set(range(*(token_range(tokens, *words) or (0, 0))))
    answer = {"keep": SPAN_HEADS["keep"].index("no")}
    tags = softmax(example.scores[:, : len(TAGS)].astype(np.float32))
    example.unsaid = [
        (start, end, answer)
        for start, end in spans(tags, tokens)
        if taken.isdisjoint(range(start, end))
    ]


def _batches(examples: Sequence[Example], seed: int) -> list[list[Example]]:
    """Return the examples that an epoch uses, in groups of similar length."""
    draw = random.Random(seed)
    used = [e for e in examples if draw.random() < _SHARES[e.kind][1]]
    return groups_of_similar_length(used, draw, bucket=12, most=_TOKENS)


def fit(layers: UpperLayers, examples: Sequence[Example], epochs: int, *, checkpoint: Path) -> None:
    """Train the layers in place, and write a checkpoint after each epoch."""
    steps = sum(len(_batches(examples, epoch)) for epoch in range(epochs))
    warm = max(1, min(100, steps // 16))
    fit_layers(
        layers,
        layers.layers,
        [layers.token_head, layers.text_head],
        batches=lambda epoch: _batches(examples, epoch),
        loss_of=lambda group: _loss(layers, group),
        pace=Pace(layers=_RATE, heads=_HEAD_RATE, steps=steps, warm=warm),
        epochs=epochs,
        checkpoint=checkpoint,
    )


def _loss(layers: UpperLayers, group: Sequence[Example]) -> Tensor:
    length = max(len(e.states) for e in group)

    def joined(arrays: Sequence[NDArray[np.float16] | NDArray[np.bool_]]) -> Tensor:
        """Return the arrays as one tensor, padded with zeros to the same length."""
        found = np.zeros((len(group), length, *arrays[0].shape[1:]), np.float32)
        for row, array in zip(found, arrays, strict=True):
            row[: len(array)] = array
        return torch.from_numpy(found)

    mask = joined([np.ones(len(e.states), np.bool_) for e in group]) > 0
    pooled = joined([np.array(e.input.pooled, np.bool_) for e in group])
    tokens, texts, mean = layers(joined([e.states for e in group]), mask, pooled)
    before = joined([e.scores for e in group])
    texts_before = torch.from_numpy(np.stack([e.texts for e in group]))
    change = mean - torch.from_numpy(np.stack([e.mean for e in group]).astype(np.float32))
    is_pair = torch.tensor([e.kind == "pair" for e in group])
    loss = _PAIR_STATE * _mean((change**2)[is_pair]) + _STATE * _mean((change**2)[~is_pair])
    loss = loss + _pair_loss(texts[is_pair], texts_before[is_pair])
    own = joined(
        [
            np.array([t is not None and e.kind != "pair" for t in e.input.tokens], np.bool_)
            for e in group
        ]
    )
    loss = loss + _message_loss(texts[~is_pair], texts_before[~is_pair], group)
    loss = loss + _span_loss(tokens, group)
    return loss + _token_loss(tokens, before, own > 0, group)


def _pair_loss(texts: Tensor, before: Tensor) -> Tensor:
    """Return the loss of the pairs' scores, against those before the training."""
    goal = before[:, RELATION_SCORES].softmax(-1)
    relation = -(goal * texts[:, RELATION_SCORES].log_softmax(-1)).sum(-1)
    return 2 * _mean(relation) + _mean(
        _binary(texts[:, MEANT_SCORE], before[:, MEANT_SCORE].sigmoid())
    )


def _message_loss(texts: Tensor, before: Tensor, group: Sequence[Example]) -> Tensor:
    """Return the loss of the flags, against the labels and against those before the training."""
    flags = texts[:, : len(FLAGS)]
    labels = torch.tensor(
        [e.flags or [_NONE] * len(FLAGS) for e in group if e.kind != "pair"]
    ).reshape(flags.shape)
    soft = _mean(_binary(flags, before[:, : len(FLAGS)].sigmoid()))
    return WEIGHTS["flags"] * 3 * (soft + yes_or_no(flags, labels, RARE))


def _span_loss(tokens: Tensor, group: Sequence[Example]) -> Tensor:
    """Return the loss of the attributes of the labelled statements."""
    found = [
        (number, start, end, answers, weight)
        for number, e in enumerate(group)
        for bounds, weight in ((e.said, 1.0), (e.unsaid, _NO))
        for start, end, answers in bounds
    ]
    if not found:
        return tokens.sum() * 0
    rows, starts, ends = (torch.tensor([one[n] for one in found]) for n in range(3))
    total = f.pad(tokens.cumsum(1), (0, 0, 1, 0))
    means = (total[rows, ends] - total[rows, starts]) / (ends - starts)[:, None]
    weights = torch.tensor([one[4] for one in found])
    loss = tokens.sum() * 0
    for head, place in head_slices().items():
        right = torch.tensor([one[3].get(head, _NONE) for one in found])
        known = right >= 0
        if known.any():
            lost = f.cross_entropy(
                means[known][:, place],
                right[known],
                label_smoothing=SMOOTHING,
                reduction="none",
            )
            loss = loss + WEIGHTS[head] * (lost * weights[known]).mean()
    return loss


def _token_loss(tokens: Tensor, before: Tensor, own: Tensor, group: Sequence[Example]) -> Tensor:
    """Return the loss of tags and secrets, and of the change of the attributes' scores.

    Tags without a label are to stay as before. "Worth keeping" may change, except in old rows.
    """

    def labels(of: Sequence[list[int] | None]) -> Tensor:
        found = torch.full(own.shape, _NONE)
        for row, given in zip(found, of, strict=True):
            row[: len(given or [])] = torch.tensor(given or [], dtype=torch.long)
        return found

    tags, secret = labels([e.tags for e in group]), labels([e.secret for e in group])
    ours, theirs = tokens[..., : len(TAGS)], before[..., : len(TAGS)]
    free = own & (tags < 0)
    loss = choice(ours, tags)
    loss = loss - _mean((theirs[free].softmax(-1) * ours[free].log_softmax(-1)).sum(-1))
    secrets = tokens[..., SECRET]
    soft = _mean(_binary(secrets[own], before[..., SECRET][own].sigmoid()))
    loss = loss + WEIGHTS["secret"] * (soft + yes_or_no(secrets, secret, RARE))
    is_old = torch.tensor([e.kind in ("old", "secret") for e in group])[:, None].expand_as(own)
    for head, place in head_slices().items():
        change = tokens[..., place] - before[..., place]
        change = ((change - change.mean(-1, keepdim=True)) ** 2).mean(-1)
        loss = loss + _SCORES * _mean(change[own & is_old] if head == "keep" else change[own])
    return loss


def _binary(scores: Tensor, shares: Tensor) -> Tensor:
    return f.binary_cross_entropy_with_logits(scores, shares, reduction="none")


def _mean(values: Tensor) -> Tensor:
    """Return the mean, or 0 if there are no values."""
    return values.sum() / max(1, values.numel())


if __name__ == "__main__":
    main()
