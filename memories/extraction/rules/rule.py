"""What one rule is. The tables in en.py and zh.py are rows of this, and nothing else."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any


@dataclass(frozen=True)
class Rule:
    """A shape of statement and what it is worth.

    `pattern` is matched at the start of a predicate (or of a whole clause, as the table says).
    `say` words the memory from the named groups; empty keeps the predicate as it was said.
    `who`: "self" holds only for the speaker, "other" only for other people, "any" for both.
    `dated` rules hold only when the statement names a day, month or year that could be computed.
    `inherits=False` rules need their subject said, not carried over from the clause before.
    `timeless` rules keep dates as said: a birthday comes every year.
    """

    code: str
    kind: str
    importance: float
    confidence: float
    pattern: re.Pattern[str]
    say: str = ""
    who: str = "any"
    dated: bool = False
    timeless: bool = False
    inherits: bool = True
    data: Mapping[str, Any] = field(default_factory=dict)


# Words a clause that no rule takes. Guards hold it to what they ask of an event, the strictest.
OPEN = Rule("open", "fact", 0.5, 0.0, re.compile(r".+", re.DOTALL))


def guarded_as(rule: Rule) -> str:
    """The kind whose guards a statement of this rule must pass."""
    return "event" if rule is OPEN else rule.kind


@dataclass(frozen=True)
class Found:
    """A statement that a rule took: its wording, and the span of the message that says it."""

    rule: Rule
    content: str
    start: int
    end: int
    language: str
    when: date | None = None
    hedged: bool = False
    corrects: bool = False

    @property
    def is_open(self) -> bool:
        """No rule took it: it is only worded, and somebody else must judge whether it is kept."""
        return self.rule is OPEN


@dataclass(frozen=True)
class Table:
    """Rules of one language, in the order in which they are tried."""

    rules: tuple[Rule, ...]

    def matching(self, text: str, *, who: str) -> Iterator[tuple[Rule, re.Match[str]]]:
        for rule in self.rules:
            if rule.who in ("any", who) and (match := rule.pattern.match(text)):
                yield rule, match


_UNBOUNDED = re.compile(r"(?<!\\)\)([*+])(?!\+)")
_MOST_TIMES = 6


def bounded(pattern: str) -> str:
    """`pattern` whose groups repeat at most a few times.

    A group such as `(?:just|just now|also)*` that repeats without a bound may take exponential
    time, and nobody says more adverbs in a row.
    """
    return _UNBOUNDED.sub(
        lambda match: f"){{{0 if match[1] == '*' else 1},{_MOST_TIMES}}}", pattern
    )


def compile_pattern(pattern: str, pieces: Mapping[str, str]) -> re.Pattern[str]:
    """`<name>` in a pattern stands for a piece of grammar, so that rows stay readable."""

    def piece(match: re.Match[str]) -> str:
        return pieces.get(match[1], match[0])

    expanded = re.sub(r"(?<!\?P)<([a-z_]+)>", piece, pattern)
    return re.compile(bounded(expanded), re.IGNORECASE)
