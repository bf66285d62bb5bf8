"""What the reader would say of a message, for tests of what is made of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from memories.reader import Reading, Secret, Statement
from memories.reader.pair_layers import PairComparison
from memories.reader.referents import Referent
from memories.reader.statements import FLAGS, PAIRS, SPAN_HEADS

USUAL = {
    "keep": "yes",
    "kind": "fact",
    "topic": "self",
    "whose": "self",
    "holds": "lasting",
    "said": "asserted",
    "change": "none",
}


def statement(text: str, quote: str, *, share: float = 0.9, **answers: str) -> Statement:
    """A statement at the quotation; each head gives `share` to its answer, `USUAL` unless given."""
    start = text.index(quote)
    given = {**USUAL, **answers}
    shares = {}
    for head, among in SPAN_HEADS.items():
        rest = (1 - share) / (len(among) - 1)
        shares[head] = {one: share if one == given[head] else rest for one in among}
    return Statement(start, start + len(quote), shares)


@dataclass
class FakeReader:
    """Gives what it was told for a text, and nothing for any other."""

    readings: dict[str, Reading] = field(default_factory=dict)
    conflict: float = 0.9
    compared: dict[tuple[str, str], PairComparison] = field(default_factory=dict)

    def hears(
        self,
        text: str,
        *statements: Statement,
        flags: Sequence[str] = (),
        secrets: Sequence[Secret] = (),
        puts_right: float = 0.0,
    ) -> None:
        shares = {name: 0.9 if name in flags else 0.0 for name in FLAGS}
        self.readings[text] = Reading(statements, tuple(secrets), shares, puts_right=puts_right)

    def read(self, text: str, *, before: Sequence[str] = (), assistant: str = "") -> Reading:
        return self.readings.get(text, Reading((), (), dict.fromkeys(FLAGS, 0.0)))

    def unread(self, text: str) -> tuple[int, int]:
        return 0, 0

    def relations(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float]]:
        """Each two texts contradict each other, unless the test says otherwise."""
        given = {"contradicts": self.conflict, "unrelated": 1 - self.conflict}
        return [{**dict.fromkeys(PAIRS, 0.0), **given} for _ in pairs]

    def referents(
        self, text: str, start: int, end: int, *, before: Sequence[str] = (), assistant: str = ""
    ) -> Sequence[Referent]:
        return ()

    def compare(self, known: str, message: str) -> PairComparison:
        """A message puts nothing right, unless the test says otherwise."""
        return self.compared.get(
            (known, message), PairComparison({**dict.fromkeys(PAIRS, 0.0), "unrelated": 1})
        )

    def probability_request_means(self, request: str, memory: str) -> float:
        return 0.0
