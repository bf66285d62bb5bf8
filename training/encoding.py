"""From labelled rows to arrays: ids, segments, and what each head should answer."""

from dataclasses import dataclass, field

from training.base import BEGIN, END
from training.labels import FLAGS, PAIRS, SPAN_HEADS, Pair, Row
from training.tokenizer import Token, Tokenizer

LONGEST = 512  # positions of the base model
CONTEXT = 128  # at most so many tokens are left to what stood before the message
PREFIX = "query: "  # e5 was trained with it


@dataclass
class Example:
    """One sequence. `spans` are token ranges with the number of the right answer a head."""

    ids: list[int]
    segments: list[int]
    pooled: list[int]
    tokens: list[Token | None]  # offsets into the message; None outside of it
    tags: list[int] | None = None  # -100 where nothing is learned
    secret: list[int] | None = None
    spans: list[tuple[int, int, dict[str, int]]] = field(default_factory=list)
    flags: list[int] | None = None
    relation: int | None = None
    about: int | None = None


def encode_row(tokenizer: Tokenizer, row: Row) -> Example:
    """A message with its context; a message too long for the model is cut at the end."""
    example = encode_message(tokenizer, row.text, row.assistant, row.before)
    spans = [(_range(example.tokens, s.start, s.end), s.heads) for s in row.spans]
    for found, heads in spans:
        if found:
            answers = {h: SPAN_HEADS[h].index(heads[h]) for h in heads}
            example.spans.append((*found, answers))
    example.tags = [0 if t else -100 for t in example.tokens]
    for start, end, _ in example.spans:
        example.tags[start:end] = [1] + [2] * (end - start - 1)
    if not row.tagged:
        example.tags = None
    if row.flags is not None:
        example.flags = [int(flag in row.flags) for flag in FLAGS]
        example.secret = [0 if t else -100 for t in example.tokens]
        for start, end in row.secrets:
            if found := _range(example.tokens, start, end):
                example.secret[found[0] : found[1]] = [1] * (found[1] - found[0])
    return example


def encode_message(
    tokenizer: Tokenizer, text: str, assistant: str = "", before: tuple[str, ...] = ()
) -> Example:
    """The sequence of a message, without labels."""
    prefix = tokenizer.tokens(PREFIX.strip())
    own = tokenizer.tokens(text)[: LONGEST - len(prefix) - 4]
    ids = [BEGIN, *(t.id for t in prefix), *(t.id for t in own), END]
    tokens: list[Token | None] = [None] * (1 + len(prefix)) + list(own) + [None]
    segments = [0] * len(ids)
    pooled = [0] * (1 + len(prefix)) + [1] * len(own) + [0 if own else 1]
    room = min(CONTEXT, LONGEST - len(ids) - 2)
    for segment, other in ((1, assistant), *((2, earlier) for earlier in before)):
        part = _last(tokenizer, other, min(64, room - 2))
        if part:
            ids += [END, *part, END]
            segments += [segment] * (len(part) + 2)
            room -= len(part) + 2
    rest = len(ids) - len(tokens)
    return Example(ids, segments, pooled + [0] * rest, tokens + [None] * rest)


def encode_pair(tokenizer: Tokenizer, pair: Pair) -> Example:
    """Two texts in one sequence, each cut at 120 tokens."""
    first, second = (
        [t.id for t in tokenizer.tokens(PREFIX + text)][:120] for text in (pair.first, pair.second)
    )
    ids = [BEGIN, *first, END, END, *second, END]
    segments = [0] * (len(first) + 2) + [1] * (len(second) + 2)
    return Example(
        ids=ids,
        segments=segments,
        pooled=[1] * len(ids),
        tokens=[None] * len(ids),
        relation=None if pair.relation is None else PAIRS.index(pair.relation),
        about=None if pair.about is None else int(pair.about),
    )


def _last(tokenizer: Tokenizer, text: str, count: int) -> list[int]:
    return [t.id for t in tokenizer.tokens(text)][-count:] if text and count > 6 else []


def _range(tokens: list[Token | None], start: int, end: int) -> tuple[int, int] | None:
    touched = [i for i, t in enumerate(tokens) if t and t.end > start and t.start < end]
    return (touched[0], touched[-1] + 1) if touched else None
