"""Find the secrets in a text by rules: known forms, labels, and words nearby."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memories.screening import safe_patterns
from memories.screening.labelled import vocabulary
from memories.screening.labelled.labelled_secrets import by_label, spelled_codes
from memories.screening.labelled.unlabelled_secrets import COVER, companions, find_near_access_words
from memories.screening.labelled.vocabulary import LabelledText
from memories.screening.safe_patterns import Pattern
from memories.screening.secret_forms import FoundSecret, by_form, by_words, find_by_appearance
from memories.screening.spelling import Folded, close_up, fold, spell_out
from memories.screening.stand_ins import is_in_masked, is_stand_in

_COVERED = safe_patterns.compile(r"\[redacted\]|\[已隐去\]|[\x{e000}\x{e001}]+")
_MOST_TIED = 40  # characters
_TIED_BEFORE = safe_patterns.compile(r"(?:[\x{3400}-\x{9fff}A-Za-z0-9]{1,8}[\-_~·])+$")
_TIED_AFTER = safe_patterns.compile(
    r"^(?:[\-_~·&+]+[\x{3400}-\x{9fff}A-Za-z0-9]{1,8})+|^[》」』][^\s，。！？；,;]{1,20}"
)
_FEWEST_AGAIN = 5  # minimum length of a secret whose repetitions are searched; 4 if only digits


@dataclass(frozen=True)
class Span:
    start: int
    end: int
    category: str


class Intervals:
    """Parts of a text, stored as arrays, so that comparing thousands of parts is fast."""

    def __init__(self, places: Iterable[tuple[int, int]]) -> None:
        self._starts, self._ends = np.array([*places], np.int64).reshape(-1, 2).T

    def meet(self, span: Span) -> bool:
        """Return whether a part overlaps the span."""
        return bool(self.overlapping(span).any())

    def contain(self, span: Span) -> bool:
        """Return whether a part contains the span, ignoring the span's first and last character."""
        inside = (self._starts <= span.start + 1) & (span.end - 1 <= self._ends)
        return bool(inside.any())

    def overlapping(self, span: Span) -> NDArray[np.bool_]:
        """Return for each part whether it overlaps the span."""
        return (self._starts < span.end) & (span.start < self._ends)


class PositionCache:
    """A cache of the positions of secrets, keyed by text hash; it never contains the texts."""

    _MOST = 2_000

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[Span, ...]] = {}

    def of(self, text: str, look: Callable[[str], tuple[Span, ...]]) -> tuple[Span, ...]:
        """Return the cached spans for a text, or call `look` and cache its result."""
        key = (hash(text), len(text))
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= self._MOST:
                self._known.clear()
            found = self._known[key] = look(text)
        return found


_known = PositionCache()
_MOST_LABELS, _LABEL_EVERY = 500, 32


def find(text: str) -> tuple[Span, ...]:
    """Return the spans of all secrets in `text`, in order and without overlap.

    The result is cached, because the same text is searched several times. Only the positions are
    cached, never the text.
    """
    return _known.of(text, _search)


def find_by_form(text: str) -> tuple[Span, ...]:
    """Return the spans of secrets with a known form, such as keys or card numbers."""
    return joined(_original_spans(fold(text), by_form))


def _search(text: str) -> tuple[Span, ...]:
    """Return the secrets of a text.

    At most 500 labels (words such as "password:") are searched or, in a long text, one label per 32
    characters. A text with more labels is a list of passwords or an attack, so the text after the
    last of these labels counts as one secret.
    """
    folded = fold(text)
    labelled = LabelledText(folded)
    end = labelled.end_of_labels(max(_MOST_LABELS, len(folded.text) // _LABEL_EVERY))
    if end == len(folded.text):
        return _in_folded(text, labelled)
    end, _ = folded.original(end, end + 1)
    rest = Span(end, len(text), "password")
    return joined([*_in_folded(text[:end], LabelledText(fold(text[:end]))), rest])


def _in_folded(text: str, labelled: LabelledText) -> tuple[Span, ...]:
    folded = labelled.folded
    plain = spell_out(close_up(folded))
    spelled = labelled if plain is folded else LabelledText(plain)
    found = [
        *_original_spans(folded, by_form, find_by_appearance, by_words, find_home_addresses),
        *_original_spans(
            plain, lambda _: by_label(spelled), lambda _: find_near_access_words(spelled), clauses
        ),
    ]
    if plain.text != folded.text:
        found += _original_spans(plain, by_form)
    found += _original_spans(plain, lambda _: spelled_codes(spelled, text))
    masked = masked_parts(text)
    spans = joined(
        span
        for span in found
        if not masked.meet(span)
        and not is_stand_in(text[span.start : span.end])
        and not is_in_masked(text, span.start, span.end)
    )
    if not spans:
        return ()
    spans = joined(_with_tied_parts(text, span) for span in spans)
    spans = joined([*spans, *find_repeated_secrets(text, spans)])
    return with_account_numbers(text, joined([*spans, *_companions_of(text, spans)]))


def _with_tied_parts(text: str, span: Span) -> Span:
    """Extend a password span by the parts that are joined to it.

    Parts are joined by a dash or a similar sign, or by a closing bracket. For example,
    月落-乌啼-霜满天 (words of a poem) is one password.
    """
    if span.category != "password":
        return span
    before = _TIED_BEFORE.search(text[max(0, span.start - _MOST_TIED) : span.start])
    after = _TIED_AFTER.search(text[span.end : span.end + _MOST_TIED])
    start = span.start - (len(before[0]) if before else 0)
    return Span(start, span.end + (len(after[0]) if after else 0), span.category)


# Matches a sort code (with or without an account number), an account number alone, or an IBAN.
_ACCOUNT_NUMBER = safe_patterns.compile(
    r"^(?:\d{2}[- ]\d{2}[- ]\d{2}(?:\D{1,12}\d{6,10})?|\d{6,12}"
    r"|(?i:iban[ :]*)?[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8})$"
)
_OF_ACCOUNTS = safe_patterns.compile(
    r"(?i)\baccounts?\b|\bsort ?code|\biban\b|\bbank\b|\btransfer\b|[账帐][号户]|银行|转账"
)
_SORT_CODE = safe_patterns.compile(r"(?i)\bsort ?code")
_OF_PASSWORDS = safe_patterns.compile(
    r"(?i)\b(?:pass|pin|password|passcode|passwd|code|log ?in|sign ?in)\b|密码|密碼|口令|登[录陆入]"
)
_NEAR = 40  # characters before a number that are searched for words such as "account" or "PIN"


def with_account_numbers(text: str, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """Return the spans, with the category of bank account numbers set to `bank_account`."""
    return tuple(
        Span(span.start, span.end, "bank_account") if _is_account_number(text, span) else span
        for span in spans
    )


def _is_account_number(text: str, span: Span) -> bool:
    if span.category not in ("password", "api_key"):
        return False
    value = text[span.start : span.end].strip()
    near = text[max(0, span.start - _NEAR) : span.end]
    if not (_ACCOUNT_NUMBER.search(value) and _OF_ACCOUNTS.search(near)):
        return False
    return _OF_PASSWORDS.search(_SORT_CODE.sub("", near)) is None


def _companions_of(text: str, spans: tuple[Span, ...]) -> Iterator[Span]:
    if all(span.category == "address" for span in spans):
        return
    covered = text
    for span in spans:
        covered = covered[: span.start] + COVER * (span.end - span.start) + covered[span.end :]
    with_card = any(span.category == "card" for span in spans)
    plain = spell_out(close_up(fold(covered)))
    yield from _original_spans(plain, lambda text: companions(text, with_card=with_card))


def _original_spans(folded: Folded, *detectors: object) -> Iterator[Span]:
    for detect in detectors:
        for found in detect(folded.text):  # type: ignore[operator]
            start, end = folded.original(found.start, found.end)
            yield Span(start, end, found.category)


def masked_parts(text: str) -> Intervals:
    """Return the parts where a secret was already masked."""
    return Intervals(match.span() for match in _COVERED.finditer(text))


def joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the spans in order, with overlapping spans joined."""
    joined: list[Span] = []
    for span in sorted(spans, key=lambda each: (each.start, -each.end)):
        if joined and span.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = Span(last.start, max(last.end, span.end), last.category)
        else:
            joined.append(span)
    return tuple(joined)


def find_repeated_secrets(text: str, spans: tuple[Span, ...]) -> Iterator[Span]:
    """Yield every occurrence of the given secrets in the text, except for very short secrets."""
    categories = {text[span.start : span.end].strip(): span.category for span in spans}
    for secret, category in categories.items():
        yield from occurrences(secret, text, category)


def occurrences(secret: str, text: str, category: str) -> Iterator[Span]:
    if len(secret) < _FEWEST_AGAIN and not (len(secret) >= 4 and secret.isdigit()):
        return
    start = text.find(secret)
    while start >= 0:
        yield Span(start, start + len(secret), category)
        start = text.find(secret, start + len(secret))


_P = safe_patterns.compiled("clauses")


@dataclass(frozen=True)
class Clause:
    """A rule that applies only to texts in which `about` matches.

    `pattern` finds the secrets; its group "s" is the secret itself.
    """

    category: str
    about: Pattern
    pattern: Pattern


_CLAUSES = tuple(
    Clause(
        row["category"],
        safe_patterns.compile(f"(?i){row['about']}"),
        safe_patterns.compile(f"(?i){row['pattern']}"),
    )
    for row in safe_patterns.rows("clauses")
)

_LABEL = _P["label"]
_SPELLING = _P["spelling"]
_RULES = _P["rules"]
_LINE = safe_patterns.compile(r"[^\n]+")
_LONGEST = 160


def clauses(text: str) -> Iterator[FoundSecret]:
    for clause in _CLAUSES:
        if not clause.about.search(text):
            continue
        for match in clause.pattern.finditer(text):
            value = match["s"]
            if clause.category == "card" or value.isdigit() or _may_be_secret(value):
                yield FoundSecret(match.start(1), match.end(1), clause.category)
    yield from _described_secrets(text)


def _may_be_secret(value: str) -> bool:
    if "\u3400" <= value[0] <= "\u9fff":
        return vocabulary.NO_VALUE_ZH.search(value) is None
    first = value.split()[0].lower() if value.split() else ""
    return first not in vocabulary.NO_VALUE and first not in vocabulary.FUNCTION_WORDS


def _described_secrets(text: str) -> Iterator[FoundSecret]:
    for line in _LINE.finditer(text):
        words = line[0].rstrip()
        spelling = _SPELLING.search(words) if len(words) <= _LONGEST else None
        # A line with a rule for secrets, such as a minimum length, describes no actual secret.
        if spelling is None or _RULES.search(words[: spelling.end()]):
            continue
        if label := _LABEL.search(words):
            start = label.end()
            while start < len(words) and words[start] in " :：=是为,，?？":
                start += 1
            if len(words) - start >= 4:
                yield FoundSecret(line.start() + start, line.start() + len(words), "password")


_NUMBERED = r"(?:\d{1,5}|[一二三四五六七八九十百]{1,4})"
_HOME = safe_patterns.compile(
    rf"[路街道巷弄里园苑村庭城府院区寓厦同镇湾](?P<s>{_NUMBERED}(?:号院|号楼|号|弄|栋|幢|座|期)"
    rf"(?:[^，。；！？\s\d]{{0,6}}?{_NUMBERED}[A-Z]?(?:号楼|号院|栋|幢|座|单元|楼|层|门|号|室|房|"
    rf"户)?){{1,4}})"
)


# The address of a shop or an office is allowed; a user's home address isn't.
_OWN = safe_patterns.compile(r"住|家|地址|收货|寄到|送到我")


def find_home_addresses(text: str) -> Iterator[FoundSecret]:
    if not _OWN.search(text):
        return
    for match in _HOME.finditer(text):
        address = match["s"]
        if any(word in address for word in "室房户元栋幢") or "号楼" in address:
            yield FoundSecret(match.start(1), match.end(1), "address")
