"""Converts labelled rows to arrays: ids, segments, and the target of each head."""

from dataclasses import dataclass, field

from memories.reader import inputs
from memories.reader.inputs import Input
from memories.reader.statements import FLAGS, PAIRS, SPAN_HEADS
from memories.reader.tokenizer import Token, Tokenizer
from training.labels import Pair, Row


@dataclass
class Example:
    """One sequence. `spans` are token ranges with the index of the right answer of each head."""

    input: Input
    tags: list[int] | None = None  # -100 where there is no label
    secret: list[int] | None = None
    spans: list[tuple[int, int, dict[str, int]]] = field(default_factory=list)
    flags: list[int] | None = None
    relation: int | None = None
    about: int | None = None


def encode_row(tokenizer: Tokenizer, row: Row) -> Example:
    """Encode a message with its context. A message too long for the model is cut at the end."""
    own = tokenizer.tokens(row.text)
    one = inputs.build_message_input(tokenizer, own, before=row.before, assistant=row.assistant)
    example, tokens = Example(one), one.tokens
    spans = [(token_range(tokens, s.start, s.end), s.heads) for s in row.spans]
    for found, heads in spans:
        if found:
            answers = {h: SPAN_HEADS[h].index(heads[h]) for h in heads}
            example.spans.append((*found, answers))
    example.tags = [0 if t else -100 for t in tokens]
    for start, end, _ in example.spans:
        example.tags[start:end] = [1] + [2] * (end - start - 1)
    if not row.tagged:
        example.tags = None
    if row.flags is not None:
        example.flags = [int(flag in row.flags) for flag in FLAGS]
    if row.screened:
        example.secret = [0 if t else -100 for t in tokens]
        for start, end in row.secrets:
            if found := token_range(tokens, start, end):
                example.secret[found[0] : found[1]] = [1] * (found[1] - found[0])
    return example


def encode_pair(tokenizer: Tokenizer, pair: Pair) -> Example:
    """Encode two texts as one sequence."""
    return Example(
        inputs.build_pair_input(tokenizer, pair.first, pair.second),
        relation=None if pair.relation is None else PAIRS.index(pair.relation),
        about=None if pair.about is None else int(pair.about),
    )


def token_range(tokens: list[Token | None], start: int, end: int) -> tuple[int, int] | None:
    """Return the range of the tokens that share characters with a span of the text, or None."""
    touched = [i for i, t in enumerate(tokens) if t and t.end > start and t.start < end]
    return (touched[0], touched[-1] + 1) if touched else None
