"""Derive a candidate's kind, importance, confidence and reasons from the reader model's labels."""

import re

from memories.extraction.corrections.values import PATTERNS
from memories.extraction.message_reading.heard_message import LIKELY, LIVED
from memories.extraction.types import DOUBTFUL, OWNER_UNSURE
from memories.reader import Statement

KEEP = 0.75  # minimum probability of "worth keeping" to keep a statement without a review
TASK = 0.5  # the minimum for reviewing constraints and the person's own plans
DOUBTED = 0.35  # minimum probability of "perhaps worth keeping" for a review
ASKED_TO_KEEP = 0.15  # replaces these minimums if the person asked to remember the statement
_SURE = 0.5  # minimum probability of the kind "skill"
MAY_END = 0.15  # minimum probability that a statement that isn't kept ends a memory
ENDS = 0.5  # the confidence of such a statement
ACCEPTED = 0.8  # confidence of a claim by the assistant that the person agreed with
_OWNER = 0.6  # a constraint is reviewed if its most probable owner is less probable than this
_HEDGED = 0.15  # subtracted from the confidence for words such as "I think" and "maybe"
IMPORTANCE = {
    "constraint": 0.85,
    **dict.fromkeys(("preference", "fact", "task"), 0.6),
    "event": 0.5,
    "pattern": 0.5,
    "skill": 0.55,
}
_CHANGES = 0.4  # minimum probability that a statement corrects or ends another
_OWN_LIFE = ("self", "related")
_USUALLY = re.compile(
    r"\bI (?:usually|normally|generally|mostly) (?!(?:prefer|like|love|enjoy)\b)"
    r"|我(?:一般|通常|平时)(?!(?:都|就|比较|更|最)?(?:喜欢|爱|偏|想))",
    re.IGNORECASE,
)
_NO_ALLERGY = re.compile(
    r"(?i)\b(?:not|n['’]?t|no longer|never) (?:\w+ )?allergic\b|不再(?:对.{1,8})?过敏"
)

# A phone number. The reader model is unsure about phone numbers, so the person is asked.
_PHONE = re.compile(
    r"(?i)\b(?:phone|mobile|cell|number)\b[^.!?\d\n]{0,20}\d[\d ()-]{6,20}\d"
    r"|(?:电话|手机)[^。！？\d\n]{0,6}\d[\d -]{6,20}\d"
)


def kind_of(statement: Statement, words: str) -> str:
    """Return the most probable kind of a statement; a skill needs a minimum probability.

    If the person usually does something, this is a pattern, not a preference. A past pattern and a
    denied allergy are facts.
    """
    kinds = statement.shares["kind"]
    unsure = {"skill"} if kinds["skill"] < _SURE else set()
    kind = max(kinds.keys() - unsure, key=kinds.__getitem__)
    if kind == "preference" and _USUALLY.search(words):
        kind = "pattern"
    if kind == "constraint" and _NO_ALLERGY.search(words):
        return "fact"
    return "fact" if kind == "pattern" and statement.best("holds") == "past" else kind


def may_be_kept(statement: Statement, *, asked: bool) -> bool:
    """Return whether a statement is worth keeping, either at once or after a review.

    `asked` means that the person asked to remember something.
    """
    if statement.best("whose") not in _OWN_LIFE or statement.best("said") not in LIVED:
        return asked and statement.share("keep", "yes") >= LIKELY
    keep, perhaps = statement.share("keep", "yes"), statement.share("keep", "unsure")
    least = _kept_from(statement) if statement.best("topic") == "answers" else LIKELY
    kind = statement.best("kind")
    if kind == "constraint" or (kind == "task" and statement.best("whose") == "self"):
        least = TASK
    least = ASKED_TO_KEEP if asked else least
    return keep >= least or (perhaps >= DOUBTED and keep + perhaps >= 2 * DOUBTED)


def _kept_from(statement: Statement) -> float:
    """Return the minimum probability of "worth keeping" to keep a statement without a review.

    It is lower for lasting wishes on how to answer. Most other wishes concern only one answer.
    """
    is_lasting = statement.best("holds") in ("lasting", "habit")
    return LIKELY if is_lasting and statement.best("topic") == "answers" else KEEP


def may_end(statement: Statement, words: str) -> bool:
    """Return whether a statement isn't worth keeping but may end a memory ("the test is off").

    `words` is the text of the statement.
    """
    is_own = statement.best("whose") in _OWN_LIFE and statement.best("said") == "asserted"
    is_kept = may_be_kept(statement, asked=False)
    ends = statement.share("change", "ends") >= MAY_END or PATTERNS["group_ended"].match(words)
    return is_own and not is_kept and bool(ends)


def change(statement: Statement) -> str:
    """Return whether a statement probably "corrects" or "ends" an earlier statement, else ""."""
    shares = statement.shares["change"]
    likelier = max(("corrects", "ends"), key=shares.__getitem__)
    return likelier if shares[likelier] >= _CHANGES else ""


def importance(statement: Statement, kind: str) -> float:
    passed = 0.1 if statement.best("holds") in ("past", "passing") else 0.0
    return round(IMPORTANCE[kind] - passed, 2)


def is_of_unsure_owner(statement: Statement) -> bool:
    """Return whether a statement is a constraint, and the model is unsure whom it is about."""
    shares = statement.shares["whose"]
    return statement.best("kind") == "constraint" and max(shares.values()) < _OWNER


def has_phone(statement: Statement, text: str) -> bool:
    return _PHONE.search(text[statement.start : statement.end]) is not None


def confidence(statement: Statement, *, unsure: bool) -> float:
    keep = statement.share("keep", "yes")
    if keep < _kept_from(statement) or unsure:
        return DOUBTFUL
    hedged = _HEDGED if statement.best("said") == "hedged" else 0.0
    return round(min(0.95, keep) - hedged, 2)


def reasons(statement: Statement, *, explicit: bool, unsure: bool) -> tuple[str, ...]:
    """Return the reason codes of a candidate, such as `self.lasting` and `hedged`."""
    hedged = statement.best("said") == "hedged"
    heard = OWNER_UNSURE if unsure else f"{statement.best('whose')}.{statement.best('holds')}"
    codes = (heard, "explicit" * explicit, "hedged" * hedged, change(statement))
    return tuple(filter(None, codes))
