"""The labels: words that announce a secret, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from memories.screening import linear
from memories.screening.linear import Pattern


class Cue(Enum):
    """What a label announces, which decides what counts as the secret near it."""

    PASSWORD = "password"  # words, numbers and codes
    CODE = "code"  # numbers and codes of doors and devices; words only after "is"
    KEY = "key"  # long strings of letters and digits
    PHRASE = "phrase"  # many words
    PATTERN = "pattern"  # a swipe over a grid, or turns of a dial
    LOGIN = "login"  # a name and a password
    SERVICE = "service"  # a site or an app: a password only if one clearly follows
    LOOSE_CODE = "loose_code"  # "code" alone
    ANSWER = "answer"  # of a security question
    SENT = "sent"  # a code received in a message
    PLACE = "place"  # only a place: a door, a device
    ACT = "act"  # something is typed, pressed or opened
    EVERYWHERE = "everywhere"  # the same for everything
    CARD_CODE = "card_code"  # three or four digits
    NUMBER = "number"  # of an identity paper
    ACCOUNT = "account"  # of a bank


@dataclass(frozen=True)
class Label:
    cue: Cue
    category: str
    pattern: Pattern


LABELS: tuple[Label, ...] = tuple(
    Label(Cue(row["cue"]), row["category"], linear.compile(f"(?i)(?:{row['pattern']})"))
    for row in linear.rows("labels")
)
