"""What one memory says, taken apart so that two of them can be compared."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from memories.extraction.arbitration.counting import Counted, count
from memories.extraction.arbitration.exclusive import Attribute, told
from memories.extraction.arbitration.wordlists import words


class Time(StrEnum):
    """When a statement holds, by its own words."""

    PLAIN = ""  # no time word
    NOW = "now"  # "now", "moved to", 「现在」「换成」: it differs from before
    PAST = "past"  # "used to", 「以前」
    ENDED = "ended"  # "no longer", "quit", 「不再」「戒了」


# Of these a person has one at a time, so a later one takes the place of the earlier.
CHANGING = words(
    """
    home job employer name nickname age phone laptop car email number deadline marital diet
    favorite height weight timezone reply_language school major count meeting bedtime thing
    role wake grade
    """
)
# These don't change: two of them mean that one is wrong.
FIXED = frozenset(["birthday", "origin", "blood", "native", "zodiac", "birth_year_animal", "eyes"])
# Of these one mostly has one at a time; without a word of change nobody can tell.
LIKELY_ONE = frozenset(["commute"])
# Of these people one has at most one.
SINGLE_ROLES = words(
    """
    boss landlord wife husband girlfriend boyfriend fiance partner mentor supervisor dentist tutor
    landladi doctor therapist coach teacher mother father spouse
    """
)
# Two sides of one matter: each adds to the other.
FAMILIES = (frozenset(["job", "employer"]), frozenset(["school", "major"]))


@dataclass(frozen=True)
class Statement:
    """One memory, read by the rules of its language.

    `subject` is whom it is about ("user", "sister", "caroline"), `slot` which attribute it gives
    ("home", "like"; empty when no rule knows it), `topic` what the slot belongs to (the deadline
    of what). `main` are the concepts of the value, `detail` those of what follows it (where, with
    whom, since when), `denied` what it takes back ("…, not Hangzhou"). `figures` holds
    numbers, dates and hours as "class:value".
    """

    language: str
    plain: str
    subject: str = "user"
    slot: str = ""
    topic: frozenset[str] = frozenset()
    main: frozenset[str] = frozenset()
    detail: frozenset[str] = frozenset()
    figures: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    against: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    positive: bool = True
    time: Time = Time.PLAIN
    corrects: bool = False
    relation: str = ""  # of a thing: by which verb the value is its own ("stored in")
    text: str = ""  # the whole, lower-case and without contractions, before any rewording

    @property
    def words(self) -> frozenset[str]:
        return self.main | self.detail | self.topic

    @cached_property
    def counted(self) -> Counted:
        return count(self.plain, language=self.language, words=self.words)

    @cached_property
    def told(self) -> tuple[tuple[Attribute, frozenset[str]], ...]:
        """What it tells of attributes that have one value; one side of many pairs is read once."""
        return told(self.text, language=self.language)

    @property
    def holds(self) -> bool:
        """Whether it holds at the time it was said."""
        return self.positive and self.time not in (Time.PAST, Time.ENDED)

    @property
    def is_change(self) -> bool:
        return self.corrects or self.time in (Time.NOW, Time.ENDED, Time.PAST)
