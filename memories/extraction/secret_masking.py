"""Find secrets in people's texts, blank them, and report them without repeating them.

Everything that becomes a memory is screened here, whether extracted or written by a client.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories.extraction.masking import SECRET, hide
from memories.extraction.types import Refused
from memories.extraction.word_tables import compiled
from memories.screening import learned_secrets
from memories.screening.secret_search import Span, find, joined, occurrences

MARK_EN = "[redacted]"
MARK_ZH = "[已隐去]"

_HAN = re.compile(r"[\u4e00-\u9fff]")
_COVERED = re.compile(rf"{SECRET}+")
_P = compiled("secret_masking")
_FEWEST_LEFT = 4  # signs of meaning left beside a blank, in either script


@dataclass(frozen=True)
class Screened:
    """`text` holds no secret. `drop` means that nothing worth keeping is left besides the
    secret.
    """

    text: str
    refused: tuple[Refused, ...]
    drop: bool


def cover(text: str) -> str:
    """Return `text` with every character of secrets covered, so that offsets stay valid."""
    return covered(text, find(text))


def covered(text: str, spans: Sequence[Span]) -> str:
    return hide(text, ((span.start, span.end) for span in spans), sign=SECRET)


def blanked(text: str) -> str:
    """Replace covered secrets by a word that people understand, in the language of the text."""
    if SECRET not in text:
        return text
    return _COVERED.sub(MARK_ZH if _HAN.search(text) else MARK_EN, text)


def masked(text: str) -> str:
    """Return `text` with a mark in place of each secret, even if little else is left."""
    return blanked(cover(text))


def masked_by_reading(text: str) -> str:
    """Like `masked`, including secrets that only the reader recognises; for derived texts."""
    return blanked(covered(text, learned_secrets.find(text)))


def masked_together(
    texts: Sequence[str], *, places: Sequence[Sequence[int]] = (), read: bool = False
) -> list[str]:
    """Like `masked` for each text; a secret in one of them is masked in all that repeat it.

    `places` are the known ones of each text (`Message.secrets`); with `read` the reader is used.
    """
    found = [learned_secrets.find(text) if read else find(text) for text in texts]
    if places:
        known = [
            learned_secrets.spans_at(each, text) for each, text in zip(places, texts, strict=True)
        ]
        found = [joined([*one, *more]) for one, more in zip(found, known, strict=True)]
    told = {
        text[span.start : span.end]: span.category
        for text, spans in zip(texts, found, strict=True)
        for span in spans
    }
    if not told:
        return list(texts)
    return [
        blanked(covered(text, (*spans, *_repeated(told, text))))
        for text, spans in zip(texts, found, strict=True)
    ]


def _repeated(told: Mapping[str, str], text: str) -> Iterator[Span]:
    for said, category in told.items():
        yield from occurrences(said, text, category)


def masked_values(value: Any) -> Any:
    """Return JSON with secrets in its texts masked; a key may reveal that its value is a secret."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        return {masked(str(key)): _masked_under(str(key), one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [masked_values(one) for one in value]
    return value


def _masked_under(name: str, value: Any) -> Any:
    """Mask values with a telling key, as in {"password": "hunter2"}."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        lead = f"{name}: "
        spans = find(f"{lead}{value}")
        if any(span.end > len(lead) for span in spans):
            return masked(f"{lead}{value}").removeprefix(lead)
    return masked_values(value)


def says_nothing(text: str) -> bool:
    """Tell whether a blanked text only mentions a secret: "my password is [redacted]"."""
    told = _P["gives_purpose"].sub("", text)
    if not is_redacted(told):
        told = text
    return len(_P["labels"].sub("", told)) < _FEWEST_LEFT or bool(_P["only_names_it"].match(told))


def says_nothing_but_secrets(text: str) -> bool:
    """Like `says_nothing`, for any text; a text without a secret always says something."""
    return is_redacted(text) and says_nothing(text)


def is_redacted(text: str) -> bool:
    """Tell whether a secret was blanked."""
    return MARK_EN in text or MARK_ZH in text


def screen(text: str) -> Screened:
    """Return what may be kept of `text`; the result never contains a secret."""
    spans = learned_secrets.find(text)
    if not spans:
        return Screened(text=text, refused=(), drop=False)
    kept = blanked(covered(text, spans))
    drop = says_nothing(kept)
    return Screened(text=kept, refused=refusals(spans, kept=not drop), drop=drop)


def refusals_of(text: str) -> tuple[Refused, ...]:
    """Return the reports on a text that is stored with its secrets masked."""
    return refusals(find(text), kept=True)


def refusals(spans: tuple[Span, ...], *, kept: bool) -> tuple[Refused, ...]:
    """Return one report for each category of secrets."""
    categories = dict.fromkeys(span.category for span in spans)
    return tuple(Refused(category=category, redacted=kept) for category in categories)
