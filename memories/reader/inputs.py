"""Build the encoder's inputs: a message with its context, or two texts to compare."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from memories.reader.tokenizer import BEGIN, END, Token, Tokenizer

LONGEST = 512  # positions of the encoder
READ = 2048  # maximum number of tokens read of a message
CONTEXT = 128  # maximum total tokens of the assistant's message and the earlier messages
_WINDOW = LONGEST - CONTEXT - 8
_LAST = 512  # tokens that are read at the end of a message longer than READ
_LONG = 16_000  # characters; of a longer text, only the first 8,000 and last 4,000 are tokenized
_EARLIER = 64  # maximum number of tokens read at the end of each context message
_BEFORE_PRONOUN, _AFTER_PRONOUN = 256, 64  # tokens read of a message around a pronoun
_COMPARED = 120  # maximum number of tokens read of each text of a pair
PREFIX = "query: "  # multilingual-e5 was trained with this prefix
_STOPS = frozenset("\n.!?。！？;；")


@dataclass
class Input:
    """One input of the encoder.

    `tokens` holds the tokens of the message, or of both texts of a pair (each with its own
    offsets), and None at all other positions. `pooled` is 1 at the positions from which the scores
    of the whole text are computed. `segments` is 0 for the message, 1 for the assistant's message
    and 2 for earlier messages; for a pair, it is 0 for the first text and 1 for the second.
    At the positions of context messages, `context` holds the number of the message (1 for the
    assistant's, 2 to 4 for the earlier messages, latest first) and the token; elsewhere None.
    """

    ids: list[int]
    segments: list[int]
    pooled: list[int]
    tokens: list[Token | None]
    context: list[tuple[int, Token] | None] = field(default_factory=list)


@dataclass(frozen=True)
class ReadTokens:
    """The tokens of a message that are given to the encoder.

    If the middle of a long message is skipped, `last` holds the tokens after the gap.
    """

    first: list[Token]
    last: list[Token]

    @classmethod
    def of(cls, tokenizer: Tokenizer, text: str) -> Self:
        """Return all tokens of a message; of more than 2,048, only the first 1,536 and last 512."""
        if len(text) <= _LONG:
            tokens = tokenizer.tokens(text)
            if len(tokens) <= READ:
                return cls(tokens, [])
            return cls(tokens[: READ - _LAST], tokens[-_LAST:])
        cut = len(text) - _LONG // 4
        first = tokenizer.tokens(text[: _LONG // 2], most=READ - _LAST)
        last = tokenizer.tokens(text[cut:])[-_LAST:]
        return cls(first, [Token(token.id, token.start + cut, token.end + cut) for token in last])

    @property
    def unread(self) -> tuple[int, int]:
        """Return the start and end of the skipped part of the message, or (0, 0)."""
        if self.first and self.last:
            return self.first[-1].end, self.last[0].start
        return 0, 0


def windows(
    tokenizer: Tokenizer,
    text: str,
    *,
    before: Sequence[str] = (),
    assistant: str = "",
    tokens: ReadTokens | None = None,
) -> Iterator[Input]:
    """Yield the encoder inputs for one message.

    `before` holds the earlier messages, latest first. Pass `ReadTokens.of(tokenizer, text)` as
    `tokens` if it is already computed. A message that doesn't fit into one input is split, at
    sentence ends if possible.
    """
    own = tokens or ReadTokens.of(tokenizer, text)
    for part in _parts(own.first + own.last, text):
        yield build_message_input(tokenizer, part, before=before, assistant=assistant)


def _parts(tokens: list[Token], text: str) -> Iterator[list[Token]]:
    while len(tokens) > _WINDOW:
        ends = [n for n in range(_WINDOW // 2, _WINDOW) if _STOPS & set(_text(tokens[n], text))]
        cut = ends[-1] + 1 if ends else _WINDOW
        yield tokens[:cut]
        tokens = tokens[cut:]
    yield tokens


def _text(token: Token, text: str) -> str:
    return text[token.start : token.end]


def build_message_input(
    tokenizer: Tokenizer, own: Sequence[Token], *, before: Sequence[str] = (), assistant: str = ""
) -> Input:
    """Build one input: `<s> query: message </s></s> assistant </s></s> earlier … </s>`."""
    prefix = tokenizer.tokens(PREFIX.strip())
    own = own[: LONGEST - len(prefix) - 4]
    ids = [BEGIN, *(t.id for t in prefix), *(t.id for t in own), END]
    tokens: list[Token | None] = [*[None] * (1 + len(prefix)), *own, None]
    segments = [0] * len(ids)
    pooled = [0] * (1 + len(prefix)) + [1] * len(own) + [0 if own else 1]
    room = min(CONTEXT, LONGEST - len(ids) - 2)
    context: list[tuple[int, Token] | None] = [None] * len(ids)
    for number, other in enumerate((assistant, *before), 1):
        part = _last_tokens(tokenizer, other, min(_EARLIER, room - 2))
        if part:
            ids += [END, *(t.id for t in part), END]
            segments += [min(number, 2)] * (len(part) + 2)
            context += [None, *((number, token) for token in part), None]
            room -= len(part) + 2
    rest = len(ids) - len(tokens)
    return Input(ids, segments, pooled + [0] * rest, tokens + [None] * rest, context)


def build_referent_input(
    tokenizer: Tokenizer, text: str, end: int, *, before: Sequence[str], assistant: str
) -> Input:
    """Build the input for a pronoun that ends at `end`: the 256 tokens before, and the next 64."""
    own = ReadTokens.of(tokenizer, text)
    tokens = own.first + own.last
    at = next((number for number, token in enumerate(tokens) if token.end >= end), len(tokens))
    part = tokens[max(0, at - _BEFORE_PRONOUN) : at + _AFTER_PRONOUN]
    return build_message_input(tokenizer, part, before=before, assistant=assistant)


def build_pair_input(tokenizer: Tokenizer, first: str, second: str) -> Input:
    """Build the input for comparing two texts; each text, with its prefix, is cut to 120 tokens."""
    ours, theirs = (_compared(tokenizer, text) for text in (first, second))
    ids = [BEGIN, *(t.id for t in ours), END, END, *(t.id for t in theirs), END]
    segments = [0] * (len(ours) + 2) + [1] * (len(theirs) + 2)
    offsets = [[token if token.end > 0 else None for token in text] for text in (ours, theirs)]
    return Input(ids, segments, [1] * len(ids), [None, *offsets[0], None, None, *offsets[1], None])


def _compared(tokenizer: Tokenizer, text: str) -> list[Token]:
    """Return the tokens of the prefix and the first tokens of the text, with offsets into the text.

    The `end` of a prefix token is 0 or negative.
    """
    skipped = len(PREFIX)
    return [
        Token(token.id, max(0, token.start - skipped), token.end - skipped)
        for token in tokenizer.tokens(PREFIX + text, most=_COMPARED)
    ]


def _last_tokens(tokenizer: Tokenizer, text: str, count: int) -> list[Token]:
    if not text or count <= 6:
        return []
    cut = max(0, len(text) - 8 * count)
    tokens = tokenizer.tokens(text[cut:])[-count:]
    return [Token(token.id, token.start + cut, token.end + cut) for token in tokens]
