"""Classify the look of a token: a word, a number, a code, or nothing that a secret can be."""

from __future__ import annotations

import math
from collections import Counter
from enum import IntEnum
from itertools import pairwise

from memories.screening import linear

_P = linear.compiled("values")


class Look(IntEnum):
    """How much a token looks like a secret; the higher, the weaker the evidence it needs."""

    NOTHING = 0  # an address, a date, a measure, a product
    WORD = 1
    DIGITS = 2
    MIXED = 3  # letters with digits or signs, as in hunter2
    RANDOM = 4  # unlike any word: Tr0ub4dor&3, qwzt5813ab


TRAILING = ".,;:)]}>\"'”’」』`…"
_URL = _P["url"]
_EMAIL = linear.compile(r"^[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+$")
_HANDLE = linear.compile(r"^[@#][A-Za-z_][\w\-]*$|^~?/[\w./\-]+$|^[A-Za-z]:\\")
_DATE = _P["date"]
_MEASURE = _P["measure"]
_VERSION = linear.compile(r"(?i)^v?\d+(?:\.\d+){1,4}(?:[-+][a-z0-9.]+)?$|^v\d+$")
_PRODUCT = _P["product"]
_PHONE = _P["phone"]
_DIGITS = linear.compile(r"^[#*]?\d(?:[-./ ]?\d){2,18}[#*]{0,2}$|^[#*]?\d{3,19}[#*]{0,2}$")
_UUID = linear.compile(r"(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_SHORT = linear.compile(r"(?i)^[a-z]{0,3}\d{1,2}[a-z]{0,2}$")
_PROSE = linear.compile(r"^[A-Za-z]+(?:['’\-/&][A-Za-z]+)*$")
_STRONG_SIGNS = frozenset("!#$%^&*?~@+=")
_PROGRAM = _P["program"]
_CONTROL = ("\ue000", "\ue001")


def look(token: str) -> Look:
    """Return the look of a token without surrounding punctuation."""
    if len(token) < 3 or any(sign in token for sign in _CONTROL) or _is_something_else(token):
        return Look.NOTHING
    if _DIGITS.search(token):
        return Look.DIGITS
    letters = sum(sign.isalpha() for sign in token)
    digits = sum(sign.isdigit() for sign in token)
    if _PROSE.search(token) or not digits + letters:
        return Look.WORD if letters else Look.NOTHING
    if not digits:
        return Look.MIXED if _has_a_sign_inside(token) and letters >= 3 else Look.WORD
    if _SHORT.search(token) or len(token) < 4:
        return Look.NOTHING
    return Look.RANDOM if is_random(token) else Look.MIXED


def _is_something_else(token: str) -> bool:
    return any(
        pattern.search(token)
        for pattern in (
            _PROGRAM,
            _URL,
            _EMAIL,
            _HANDLE,
            _DATE,
            _MEASURE,
            _VERSION,
            _PRODUCT,
            _PHONE,
        )
    )


def _has_a_sign_inside(token: str) -> bool:
    return any(sign in _STRONG_SIGNS for sign in token.strip("!?*~#@+=$%&^"))


def is_random(token: str) -> bool:
    """Whether letters, digits and signs are mixed as in no word."""
    kinds = _kinds(token)
    signs = any(sign in _STRONG_SIGNS for sign in token[1:])
    if len(token) >= 6 and signs and kinds >= 3:
        return True
    return len(token) >= 10 and kinds >= 2 and _changes(token) >= 3


def is_password_by_itself(token: str) -> bool:
    """Whether upper and lower case, digits and an inner sign make it a password without a label."""
    if not 8 <= len(token) <= 64 or _is_something_else(token) or _UUID.search(token):
        return False
    inside = token[1:-1]
    signs = sum(sign in "!#$%^&*?~@" for sign in token)
    has_sign = signs and (any(sign in "!#$%^&*?~@" for sign in inside) or signs >= 2)
    return bool(
        has_sign
        and any(sign.isupper() for sign in token)
        and any(sign.islower() for sign in token)
        and any(sign.isdigit() for sign in token)
        and not any(sign in "()/\\<>[]{}=|" for sign in token)
        and not token.startswith(("@", "#", "http"))
    )


def is_key_by_itself(token: str) -> bool:
    """Whether it is a long string of mixed case and digits that looks random."""
    if not 28 <= len(token) <= 512 or _UUID.search(token):
        return False
    kinds = (str.isupper, str.islower, str.isdigit)
    if not all(any(kind(sign) for sign in token) for kind in kinds):
        return False
    return entropy(token) >= 4.0 and _changes(token) >= 6


def entropy(token: str) -> float:
    """Return the Shannon entropy in bits per character."""
    counts = Counter(token).values()
    return -sum(count / len(token) * math.log2(count / len(token)) for count in counts)


def _kinds(token: str) -> int:
    return sum(
        (
            any(sign.isupper() for sign in token),
            any(sign.islower() for sign in token),
            any(sign.isdigit() for sign in token),
            any(not sign.isalnum() for sign in token),
        )
    )


def _changes(token: str) -> int:
    """Return how often the type of character changes: letters, digits and signs."""
    kinds = ["d" if sign.isdigit() else "a" if sign.isalpha() else "s" for sign in token]
    return sum(one != other for one, other in pairwise(kinds))


def is_program(core: str) -> bool:
    """Whether it is a piece of code that reads a secret from elsewhere."""
    return _PROGRAM.search(core) is not None


def is_odd(core: str) -> bool:
    """Whether it is a secret right after "password:", whatever it may be elsewhere."""
    if len(core) < 4 or _MEASURE.search(core) or _PRODUCT.search(core) or "://" in core:
        return False
    if any(sign in core for sign in _CONTROL):
        return False
    letters, digits = any(map(str.isalpha, core)), any(map(str.isdigit, core))
    inside = any(not sign.isalnum() and sign not in "-'/" for sign in core[1:-1])
    return letters and (digits or inside)


def is_made_up(token: str) -> bool:
    """Whether it is long and mixed enough to be a password if only a service is named."""
    if len(token) < 7 or not any(map(str.isdigit, token)):
        return any(sign in _STRONG_SIGNS for sign in token[1:-1]) and len(token) >= 7
    signs = any(not sign.isalnum() for sign in token)
    cases = any(map(str.isupper, token)) and any(map(str.islower, token))
    return signs or cases or is_random(token)


_CONSONANTS = linear.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{5,}")


def is_gibberish(word: str) -> bool:
    """Whether the letters make no word: hardly a vowel, or too many consonants in a row."""
    letters = [sign for sign in word.lower() if "a" <= sign <= "z"]
    if len(letters) < 8:
        return False
    vowels = sum(sign in "aeiouy" for sign in letters)
    return vowels < 0.2 * len(letters) or _CONSONANTS.search(word) is not None
