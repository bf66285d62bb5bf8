"""Find the secrets of a text; the single entry point for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from memories.screening import linear
from memories.screening.clause_secrets import clauses
from memories.screening.home_addresses import homes
from memories.screening.labelled.companions import COVER, companions
from memories.screening.labelled.labelled_secrets import spelled_codes, told
from memories.screening.labelled.unlabelled_secrets import nearby
from memories.screening.numerals import spell_out
from memories.screening.secret_forms import by_form, by_looks, by_words
from memories.screening.spelling import Folded, close_up, fold

_COVERED = linear.compile(r"\[redacted\]|\[已隐去\]|[\x{e000}\x{e001}]+")
_MOST_TIED = 40  # characters
_TIED_BEFORE = linear.compile(r"(?:[\x{3400}-\x{9fff}A-Za-z0-9]{1,8}[\-_~·])+$")
_TIED_AFTER = linear.compile(
    r"^(?:[\-_~·&+]+[\x{3400}-\x{9fff}A-Za-z0-9]{1,8})+|^[》」』][^\s，。！？；,;]{1,20}"
)
_FEWEST_AGAIN = 5  # characters of a secret whose repetitions are searched


@dataclass(frozen=True)
class Span:
    start: int
    end: int
    category: str


class Places:
    """A cache of the places of secrets by text hash; it never holds the texts."""

    _MOST = 2_000

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[Span, ...]] = {}

    def of(self, text: str, look: Callable[[str], tuple[Span, ...]]) -> tuple[Span, ...]:
        """Return the cached spans of the text, or call `look` once."""
        key = (hash(text), len(text))
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= self._MOST:
                self._known.clear()
            found = self._known[key] = look(text)
        return found


_known = Places()


def find(text: str) -> tuple[Span, ...]:
    """Return the secrets of `text`, in order and without overlap, each to its last character.

    The result is cached, since the same text is asked about several times. Only the places are
    cached, never the text.
    """
    return _known.of(text, _search)


def find_by_form(text: str) -> tuple[Span, ...]:
    """Return the secrets that their form alone gives away: keys, cards, connection strings …"""
    return joined(_in(fold(text), by_form))


def _search(text: str) -> tuple[Span, ...]:
    seen = fold(text)
    plain = spell_out(close_up(seen))
    found = [
        *_in(seen, by_form, by_looks, by_words, homes),
        *_in(plain, lambda text: told(text, plain), nearby, clauses),
    ]
    if plain.text != seen.text:
        found += _in(plain, by_form)
    found += _in(plain, lambda _: spelled_codes(plain, text))
    covered = marks(text)
    spans = joined(span for span in found if not is_covered(span, covered))
    if not spans:
        return ()
    spans = joined(_to_its_end(text, span) for span in spans)
    spans = joined([*spans, *_again(text, spans)])
    return joined([*spans, *_beside(text, spans)])


def _to_its_end(text: str, span: Span) -> Span:
    """Extend a span by parts tied by a dash or closing mark: 月落-乌啼-霜满天 is one password."""
    if span.category != "password":
        return span
    before = _TIED_BEFORE.search(text[max(0, span.start - _MOST_TIED) : span.start])
    after = _TIED_AFTER.search(text[span.end : span.end + _MOST_TIED])
    start = span.start - (len(before[0]) if before else 0)
    return Span(start, span.end + (len(after[0]) if after else 0), span.category)


def _beside(text: str, spans: tuple[Span, ...]) -> Iterator[Span]:
    if all(span.category == "address" for span in spans):
        return
    covered = text
    for span in spans:
        covered = covered[: span.start] + COVER * (span.end - span.start) + covered[span.end :]
    with_card = any(span.category == "card" for span in spans)
    plain = spell_out(close_up(fold(covered)))
    yield from _in(plain, lambda text: companions(text, with_card=with_card))


def _in(folded: Folded, *detectors: object) -> Iterator[Span]:
    for detect in detectors:
        for one in detect(folded.text):  # type: ignore[operator]
            start, end = folded.original(one.start, one.end)
            yield Span(start, end, one.category)


def marks(text: str) -> list[tuple[int, int]]:
    """Return the spans of secrets that were already blanked."""
    return [match.span() for match in _COVERED.finditer(text)]


def is_covered(span: Span, marks: list[tuple[int, int]]) -> bool:
    """Whether the span overlaps a blanked secret, and so isn't a secret any more."""
    return any(start < span.end and span.start < end for start, end in marks)


def joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the spans in order; overlapping spans become one."""
    joined: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if joined and span.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = Span(last.start, max(last.end, span.end), last.category)
        else:
            joined.append(span)
    return tuple(joined)


def _again(text: str, spans: tuple[Span, ...]) -> Iterator[Span]:
    """Yield further occurrences of the same secrets, even without a label."""
    categories = {text[span.start : span.end].strip(): span.category for span in spans}
    for said, category in categories.items():
        yield from occurrences(said, text, category)


def occurrences(said: str, text: str, category: str) -> Iterator[Span]:
    if len(said) < _FEWEST_AGAIN and not (len(said) >= 4 and said.isdigit()):
        return
    start = text.find(said)
    while start >= 0:
        yield Span(start, start + len(said), category)
        start = text.find(said, start + len(said))
