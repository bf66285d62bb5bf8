"""Build the encoder's inputs: a message with its context, or two texts to compare."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memories.reader.tokenizer import BEGIN, END, Token, Tokenizer

LONGEST = 512  # positions of the encoder
READ = 2048  # most tokens of a message that are read
CONTEXT = 128  # most tokens of the assistant's message and the earlier messages together
_WINDOW = LONGEST - CONTEXT - 8
_LAST = 512  # tokens that are read at the end of a message longer than READ
_LONG = 16_000  # characters; of a longer text, only the first 8,000 and last 4,000 are tokenized
_EARLIER = 64  # most tokens that are read at the end of each context message
_COMPARED = 120  # tokens that are read of each text of a pair
PREFIX = "query: "  # multilingual-e5 was trained with this prefix
_STOPS = frozenset("\n.!?。！？;；")


@dataclass
class Input:
    """One input of the encoder.

    `tokens` holds the tokens of the message, and None at all other positions. `pooled` is 1 at the
    positions from which the scores of the whole text are computed. `segments` is 0 at the positions
    of the message, 1 at those of the assistant's message and 2 at those of earlier messages. For a
    pair, `segments` is 0 for the first text and 1 for the second.
    """

    ids: list[int]
    segments: list[int]
    pooled: list[int]
    tokens: list[Token | None]


def windows(
    tokenizer: Tokenizer, text: str, *, before: Sequence[str] = (), assistant: str = ""
) -> Iterator[Input]:
    """Yield the encoder inputs for one message.

    `before` holds the earlier messages, latest first. At most `READ` tokens are used: of a longer
    message, the first 1,536 and the last 512. A message that doesn't fit into one input is split at
    sentence ends.
    """
    first, last = _read(tokenizer, text)
    for part in _parts(first + last, text):
        yield message(tokenizer, part, before=before, assistant=assistant)


def unread(tokenizer: Tokenizer, text: str) -> tuple[int, int]:
    """Return the start and end of the part of a message that isn't read; both 0 if all is read."""
    first, last = _read(tokenizer, text)
    return (first[-1].end, last[0].start) if first and last else (0, 0)


def _read(tokenizer: Tokenizer, text: str) -> tuple[list[Token], list[Token]]:
    """Return the tokens that are read; the second list holds those after a part left out."""
    if len(text) <= _LONG:
        tokens = tokenizer.tokens(text)
        return (tokens, []) if len(tokens) <= READ else (tokens[: READ - _LAST], tokens[-_LAST:])
    cut = len(text) - _LONG // 4
    first = tokenizer.tokens(text[: _LONG // 2])[: READ - _LAST]
    last = tokenizer.tokens(text[cut:])[-_LAST:]
    return first, [Token(token.id, token.start + cut, token.end + cut) for token in last]


def _parts(tokens: list[Token], text: str) -> Iterator[list[Token]]:
    while len(tokens) > _WINDOW:
        ends = [n for n in range(_WINDOW // 2, _WINDOW) if _STOPS & set(_text(tokens[n], text))]
        cut = ends[-1] + 1 if ends else _WINDOW
        yield tokens[:cut]
        tokens = tokens[cut:]
    yield tokens


def _text(token: Token, text: str) -> str:
    return text[token.start : token.end]


def message(
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
    for segment, other in ((1, assistant), *((2, earlier) for earlier in before)):
        part = _last_tokens(tokenizer, other, min(_EARLIER, room - 2))
        if part:
            ids += [END, *part, END]
            segments += [segment] * (len(part) + 2)
            room -= len(part) + 2
    rest = len(ids) - len(tokens)
    return Input(ids, segments, pooled + [0] * rest, tokens + [None] * rest)


def pair(tokenizer: Tokenizer, first: str, second: str) -> Input:
    """Build the input for comparing two texts; each text is cut to 120 tokens."""
    ours, theirs = (
        [t.id for t in tokenizer.tokens(PREFIX + text)][:_COMPARED] for text in (first, second)
    )
    ids = [BEGIN, *ours, END, END, *theirs, END]
    segments = [0] * (len(ours) + 2) + [1] * (len(theirs) + 2)
    return Input(ids, segments, [1] * len(ids), [None] * len(ids))


def _last_tokens(tokenizer: Tokenizer, text: str, count: int) -> list[int]:
    if not text or count <= 6:
        return []
    return [t.id for t in tokenizer.tokens(text[-8 * count :])][-count:]
