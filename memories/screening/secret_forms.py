"""Find secrets by their form alone: keys of known vendors, checksummed numbers, wallet phrases."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from detect_secrets import plugins
from detect_secrets.plugins.base import RegexBasedDetector
from stdnum import iban, luhn
from stdnum.cn import ric
from stdnum.us import ssn

from memories.screening import safe_patterns
from memories.screening.labelled.tokens import is_key_by_itself, is_password_by_itself
from memories.screening.safe_patterns import Pattern

_P = safe_patterns.compiled("forms")


@dataclass(frozen=True)
class FoundSecret:
    """A secret in the searched text, from `start` to `end`."""

    start: int
    end: int
    category: str


def is_chunked_key(text: str) -> bool:
    """Return whether the text looks like the key of an authenticator app.

    At least a third of its groups, separated by spaces or dashes, contain both letters and digits.
    """
    chunks = text.replace("-", " ").split()
    mixed = sum(any(map(str.isdigit, chunk)) and any(map(str.isalpha, chunk)) for chunk in chunks)
    return 3 * mixed >= len(chunks)


def has_digit(text: str) -> bool:
    return any(sign.isdigit() for sign in text)


def accept_any(text: str) -> bool:
    return True


def ungroup(text: str) -> str:
    """Return a number in upper case, without the characters that group its digits."""
    return "".join(sign for sign in text if sign.isalnum()).upper()


def has_unguessable_part(text: str) -> bool:
    """Return whether a part of a link's path is long and mixes letters with digits."""
    return any(
        sum(map(str.isdigit, part)) >= _FEWEST_OF_EACH
        and sum(map(str.isalpha, part)) >= _FEWEST_OF_EACH
        and len(part) >= _SHORTEST_PART
        for part in _LINK_SIGNS.split(text.partition("/")[2])
    )


def is_licence_key(text: str) -> bool:
    """Return whether a text has at least two letters and a digit, as software licence keys do."""
    return has_digit(text) and sum(map(str.isalpha, text)) >= _FEWEST_OF_EACH


def is_spelled_out_secret(text: str) -> bool:
    """Return whether a text spells out a secret character by character, rather than a name.

    The text must contain a word such as "dash" or "capital", and at least three words that are
    longer than one letter.
    """
    words = text.lower().replace(",", " ").split()
    return not _NAMED_SIGNS.isdisjoint(words) and sum(len(word) > 1 for word in words) >= 3


_FEWEST_OF_EACH = 2  # minimum number of digits, and of letters
_SHORTEST_PART = 8
_LINK_SIGNS = safe_patterns.compile(r"[/?=&.#_]")
_NAMED_SIGNS = frozenset(
    [
        "dash",
        "hyphen",
        "underscore",
        "hash",
        "star",
        "exclamation",
        "dollar",
        "ampersand",
        "capital",
    ]
)

# ISO/IEC 7812: the lengths of card numbers by issuer prefix.
_CARDS: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...] = (
    (("34", "37"), (15,)),
    (("30", "36", "38", "39"), (14, 16)),
    (("62", "81"), (16, 17, 18, 19)),
    (("4",), (13, 16, 19)),
    (("2", "5"), (16,)),
    (("6",), (16, 17, 18, 19)),
    (("3",), (16,)),
)


def is_card(text: str) -> bool:
    digits = ungroup(text)
    lengths = next((found for begins, found in _CARDS if digits.startswith(begins)), ())
    return len(digits) in lengths and len(set(digits)) > 1 and bool(luhn.is_valid(digits))


def is_chinese_identity(text: str) -> bool:
    """Return whether a number is a valid Chinese identity number (GB 11643-1999).

    The checksum and the date of birth are checked, and the region code if its county is known.
    """
    try:
        return bool(ric.is_valid(ungroup(text)))
    except KeyError:  # the table lacks this county; the checksum and birthday are already checked
        return True


def is_iban(text: str) -> bool:
    return bool(iban.is_valid(ungroup(text)))


# Invalid numbers that are well known from advertisements, printed cards and documents.
_SAMPLES = frozenset(["078-05-1120", "219-09-9999", "457-55-5462"])


def is_social_security(text: str) -> bool:
    """Return whether a number is a possible US social security number, or a well-known sample."""
    number = text.replace(" ", "-")
    return bool(ssn.is_valid(number)) or number in _SAMPLES


@dataclass(frozen=True)
class Form:
    """A known form of secrets: `pattern` finds candidates, and `check` confirms each of them.

    If the pattern has a group "s", only that group is the secret.
    """

    category: str
    pattern: Pattern
    check: Callable[[str], bool] = accept_any


_CHECKS: dict[str, Callable[[str], bool]] = {
    "": accept_any,
    "has_digit": has_digit,
    "has_unguessable_part": has_unguessable_part,
    "is_licence_key": is_licence_key,
    "is_spelled_out_secret": is_spelled_out_secret,
    "is_card": is_card,
    "is_chinese_identity": is_chinese_identity,
    "is_chunked_key": is_chunked_key,
    "is_iban": is_iban,
    "is_social_security": is_social_security,
}
_OWN = tuple(
    Form(row["category"], safe_patterns.compile(row["pattern"]), _CHECKS[row.get("check", "")])
    for row in safe_patterns.rows("forms")
)
# Plugins of `detect-secrets` that aren't used. They match users' own numbers or addresses, match
# far too much, or find secrets that our own forms find.
_NOT_SECRETS = (
    *("ip_public", "keyword", "high_entropy_strings", "basic_auth"),
    *("npm", "private_key", "artifactory", "jwt"),
)


@cache
def known_forms() -> tuple[Form, ...]:
    """Return our own forms, and the forms of the library `detect-secrets` that RE2 can run."""
    return (*_OWN, *_detector_forms())


def _detector_forms() -> Iterator[Form]:
    for module in pkgutil.iter_modules(plugins.__path__):
        if module.name in _NOT_SECRETS:
            continue
        loaded = importlib.import_module(f"{plugins.__name__}.{module.name}")
        for value in vars(loaded).values():
            if isinstance(value, type) and issubclass(value, RegexBasedDetector):
                yield from _forms_of(value)


def _forms_of(detector: type[RegexBasedDetector]) -> Iterator[Form]:
    if detector.__module__.endswith(".base"):
        return
    for rule in detector().denylist:
        # Skip the few rules with lookaround, which RE2 doesn't support; our own forms cover them.
        if "(?<" not in rule.pattern and "(?!" not in rule.pattern:
            flags = "(?i)" if rule.flags & 2 else ""
            yield Form("api_key", safe_patterns.compile(flags + rule.pattern))


_MOST_CUTS = 8


def by_form(text: str) -> Iterator[FoundSecret]:
    for form in known_forms():
        group = form.pattern.groupindex.get("s", 0)
        for match in form.pattern.finditer(text):
            start, end = match.span(group)
            end = start + len(_checked_prefix(text[start:end], form.check))
            if end > start:
                yield FoundSecret(
                    start, _whole(text, end) if form.category == "api_key" else end, form.category
                )


def _whole(text: str, end: int) -> int:
    """Return the end of a key that may continue after `end`, so that the whole key is masked."""
    while end < len(text) and text[end].isascii() and (text[end].isalnum() or text[end] in "_-=+/"):
        end += 1
    return end


def _checked_prefix(found: str, check: Callable[[str], bool]) -> str:
    """Return the longest beginning of `found` that passes the check, or an empty string.

    Unrelated digits may follow a number, so `found` is cut at spaces and hyphens, from the end. At
    most `_MOST_CUTS` beginnings are checked.
    """
    for _ in range(_MOST_CUTS):
        if check(found):
            return found
        found = found[: max(found.rfind(" "), found.rfind("-"), 0)]
    return ""


_TOKEN = safe_patterns.compile(r"[!-~]{8,}")
_LOOSE = ".,;:!?)]}\"'`"
_EMAIL = safe_patterns.compile(r"^[\w.\-+]+@[\w.\-]+$")


_HEX = safe_patterns.compile(r"(?:^|[^0-9A-Za-z])(?P<s>[0-9a-f]{32})(?:$|[^0-9A-Za-z])")
_DIGEST = _P["digest"]


def find_by_appearance(text: str) -> Iterator[FoundSecret]:
    """Yield passwords and keys that look unlike any other text, even without a label."""
    if not _DIGEST.search(text):
        for match in _HEX.finditer(text):
            if any(map(str.isdigit, match["s"])) and any(map(str.isalpha, match["s"])):
                yield FoundSecret(match.start(1), match.end(1), "api_key")
    for match in _TOKEN.finditer(text):
        token = match[0].lstrip("(\"'`[{<")
        start = match.end() - len(token)
        stripped = token.rstrip(".,;:)\"'`]}")
        if "://" in token or _EMAIL.search(stripped):
            continue
        if is_password_by_itself(stripped):
            yield FoundSecret(start, start + len(stripped), "password")
        elif is_key_by_itself(stripped.strip(_LOOSE)) and "/" not in stripped.strip("/")[:8]:
            yield FoundSecret(start, start + len(stripped), "api_key")


_FEWEST_WORDS = 12
_SEED = _P["seed"]
_HAN_SEED = safe_patterns.compile(r"(?:[\x{4e00}-\x{9fff}][ ,，、]+){11,}[\x{4e00}-\x{9fff}]")
_WALLET = safe_patterns.compile(r"(?i)助记|钱包|恢复|备份|种子|wallet|token|ledger|seed|mnemonic")
_LETTERS = safe_patterns.compile(r"[A-Za-z]+")
_DATA = Path(__file__).parent / "data" / "bip39.txt"


@cache
def seed_words() -> frozenset[str]:
    """Return the words of wallet phrases (BIP-39): English words and single Chinese characters.

    https://github.com/bitcoin/bips/blob/master/bip-0039/bip-0039-wordlists.md
    """
    words = _DATA.read_text(encoding="utf-8").split()
    return frozenset(word for line in words for word in ([line] if line.isascii() else line))


def by_words(text: str) -> Iterator[FoundSecret]:
    """Yield runs of twelve or more BIP-39 words, which can restore a crypto wallet.

    Chinese characters count only if the text also contains a word such as "wallet" or "backup".
    """
    for match in _SEED.finditer(text):
        begin = match.start()
        places = [(begin + m.start(), begin + m.end()) for m in _LETTERS.finditer(match[0])]
        yield from _seeds(places, text)
    for match in _HAN_SEED.finditer(text) if _WALLET.search(text) else ():
        begin = match.start()
        places = [
            (begin + n, begin + n + 1) for n, sign in enumerate(match[0]) if sign not in " ,，、"
        ]
        yield from _seeds(places, text)


def _seeds(places: list[tuple[int, int]], text: str) -> Iterator[FoundSecret]:
    known = seed_words()
    run: list[tuple[int, int]] = []
    for start, end in [*places, (0, 0)]:
        if end and text[start:end].lower() in known:
            run.append((start, end))
            continue
        # A run that mostly repeats the same words, as in "very very …", isn't a wallet phrase.
        distinct = {text[begin:finish].lower() for begin, finish in run}
        if len(run) >= _FEWEST_WORDS and len(distinct) * 2 > len(run):
            yield FoundSecret(run[0][0], run[-1][1], "api_key")
        run = []
