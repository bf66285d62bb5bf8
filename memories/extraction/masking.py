"""Find secrets in people's texts, mask them, and report them without repeating them.

Every text that becomes a memory is screened here, whether it was extracted or written by a client.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foundation.text.shingles import has_han
from memories.extraction.pattern_tables import compiled
from memories.extraction.types import Candidate, RefusedSecret
from memories.screening import learned_secrets
from memories.screening.secret_search import Span, find, joined, occurrences

SECRET = "\ue000"  # replaces a character of a secret; a private-use character
COVER = "\ue001"  # replaces a character of code, a quoted line or a URL

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]{41,}`")
_QUOTED_LINE = re.compile(r"(?m)^[ \t]{0,4}(?:>|\|).*$")
_URL = re.compile(r"\b(?:https?://|www\.)[^\s<>，。；、）]+")
_TAGS = re.compile(r"<[a-zA-Z/!][^<>\n]{0,200}>")

# Maps full-width characters and typographic quotes to plain ones, one character each.
_PLAIN = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF10, 0xFF5B) if chr(code).isalnum()}
    | {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'", "\u00a0": " ", "\u3000": " "}
)


MARK_EN = "[redacted]"
MARK_ZH = "[已隐去]"

_COVERED = re.compile(rf"{SECRET}+")
_P = compiled("secret_masking")
_FEWEST_LEFT = 4  # minimum number of characters besides the mask and words such as "password"


@dataclass(frozen=True)
class ScreenedText:
    """A text whose secrets are masked; `drop` means that nothing else in it is worth keeping."""

    text: str
    refused: tuple[RefusedSecret, ...]
    drop: bool


def cover_secrets(text: str) -> str:
    """Replace each character of a secret by a cover character, so that offsets stay valid."""
    return cover_spans(text, find(text))


def cover_spans(text: str, spans: Sequence[Span]) -> str:
    return replace_spans(text, ((span.start, span.end) for span in spans), sign=SECRET)


def mark_covered_secrets(text: str) -> str:
    """Replace covered secrets by a readable mark in the language of the text."""
    if SECRET not in text:
        return text
    return _COVERED.sub(MARK_ZH if has_han(text) else MARK_EN, text)


def masked(text: str) -> str:
    """Replace each secret by a readable mark, even if little else is left."""
    return mark_covered_secrets(cover_secrets(text))


def masked_by_reading(text: str) -> str:
    """Mask secrets, including those that only the reader model recognises.

    The model is slow, so don't call this function while somebody waits for a page.
    """
    return mark_covered_secrets(cover_spans(text, learned_secrets.find(text)))


def masked_together(
    texts: Sequence[str], *, places: Sequence[Sequence[int]] = (), read: bool = False
) -> list[str]:
    """Mask secrets in several texts; a secret found in one text is masked in all of them.

    `places` holds the stored positions of the secrets in each text (`Message.secrets`). With
    `read`, the reader model is used as well.
    """
    found = [learned_secrets.find(text) if read else find(text) for text in texts]
    if places:
        known = [
            learned_secrets.spans_at(each, text) for each, text in zip(places, texts, strict=True)
        ]
        found = [joined([*spans, *more]) for spans, more in zip(found, known, strict=True)]
    secrets = {
        text[span.start : span.end]: span.category
        for text, spans in zip(texts, found, strict=True)
        for span in spans
    }
    if not secrets:
        return list(texts)
    return [
        mark_covered_secrets(cover_spans(text, (*spans, *_repeated(secrets, text))))
        for text, spans in zip(texts, found, strict=True)
    ]


def _repeated(secrets: Mapping[str, str], text: str) -> Iterator[Span]:
    for secret, category in secrets.items():
        yield from occurrences(secret, text, category)


def masked_values(value: Any) -> Any:
    """Mask secrets in the strings and keys of a JSON value, and values under a key like "pin"."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        return {masked(str(key)): _masked_value(str(key), item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked_values(item) for item in value]
    return value


def _masked_value(name: str, value: Any) -> Any:
    """Mask a value whose key reveals that it is a secret, as in {"password": "hunter2"}."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        lead = f"{name}: "
        spans = find(f"{lead}{value}")
        if any(span.end > len(lead) for span in spans):
            return masked(f"{lead}{value}").removeprefix(lead)
    return masked_values(value)


def says_nothing(text: str) -> bool:
    """Return whether a masked text only states that there is a secret.

    An example is "my password is [redacted]".
    """
    rest = _P["gives_purpose"].sub("", text)
    if not is_redacted(rest):
        rest = text
    return len(_P["labels"].sub("", rest)) < _FEWEST_LEFT or bool(_P["only_names_it"].match(rest))


def says_nothing_but_secrets(text: str) -> bool:
    """Return whether a text contains a masked secret, and nothing else that is worth keeping."""
    return is_redacted(text) and says_nothing(text)


def is_redacted(text: str) -> bool:
    """Return whether a text contains the mark of a masked secret."""
    return MARK_EN in text or MARK_ZH in text


def screen(text: str) -> ScreenedText:
    """Mask secrets, including those that only the reader model recognises, and report them."""
    spans = learned_secrets.find(text)
    if not spans:
        return ScreenedText(text=text, refused=(), drop=False)
    kept = mark_covered_secrets(cover_spans(text, spans))
    drop = says_nothing(kept)
    return ScreenedText(text=kept, refused=refusals(spans, kept=not drop), drop=drop)


def refusals_of(text: str) -> tuple[RefusedSecret, ...]:
    """Return one report for each category of secrets in a text that is stored masked."""
    return refusals(find(text), kept=True)


def refusals(spans: tuple[Span, ...], *, kept: bool) -> tuple[RefusedSecret, ...]:
    """Return one report for each category of secrets among the spans.

    `kept` means that the rest of the text is stored, with the secrets masked.
    """
    categories = dict.fromkeys(span.category for span in spans)
    return tuple(RefusedSecret(category=category, redacted=kept) for category in categories)


def plain(text: str) -> str:
    """Replace full-width letters, digits and spaces, and curly apostrophes, by ASCII characters.

    The length stays the same.
    """
    return text.translate(_PLAIN)


def replace_spans(text: str, places: Iterable[tuple[int, int]], *, sign: str) -> str:
    """Replace each character in these spans by `sign`; the length stays the same."""
    for start, end in places:
        text = text[:start] + sign * (end - start) + text[end:]
    return text


def cover_foreign(text: str, *, with_urls: bool = True) -> str:
    """Cover code, quoted lines, HTML tags and, by default, URLs; the length stays the same."""
    for pattern in (_FENCE, _INLINE, _QUOTED_LINE, *([_URL] if with_urls else []), _TAGS):
        text = pattern.sub(lambda match: COVER * len(match[0]), text)
    return text


_SIGNS = re.compile(r"[\W_]+")
_SIGN = re.compile(r"[^\n]")
ADDED = re.compile(r"\[[^\[\]]*\]")
ADDED_DATE = re.compile(r"\[\d{4}[^\[\]]*\]")
_SHORTEST = 3


# The last alternative matches an addition that was cut off. "[words](address)" isn't matched,
# because it is a link.
ADDITION = re.compile(r"\[(?=\S)([^\[\]\n]+)(?:\](?!\()|(?=…$))")
_INSIDE = re.compile(r"[\w)）’'”\"][ \u3000]*$")
_AFTER_HAN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]$")
_CHECKBOX = ("x", "X")


def additions_in_words(text: str) -> str:
    """Return the text as people read it, without square brackets around the additions.

    An addition is context that was added to the person's own words. Brackets at the start of a
    clause are removed; inside a clause, they become parentheses.
    """
    return ADDITION.sub(addition_in_words, text)


def addition_in_words(found: re.Match[str]) -> str:
    if found[0] in (MARK_EN, MARK_ZH) or found[1] in _CHECKBOX:
        return found[0]
    before = found.string[: found.start()]
    if not _INSIDE.search(before):
        return found[1]
    return f"（{found[1]}）" if _AFTER_HAN.search(before) else f"({found[1]})"


def without_additions(text: str) -> str:
    """Return the text without the additions in square brackets."""
    return ADDED.sub("", text)


def letters_and_digits(text: str) -> str:
    """Return only the letters and digits of a text, in one case, to compare it with others."""
    return _SIGNS.sub("", text).casefold()


def repeats(content: str, quote: str, *, known: str) -> bool:
    """Return whether `known` contains the content or the quote.

    `known` is a result of `letters_and_digits`. Very short contents and quotes don't count.
    """
    if not known:
        return False
    ours, theirs = letters_and_digits(without_additions(content)), letters_and_digits(quote)
    if len(ours) >= _SHORTEST and ours in known:
        return True
    return len(theirs) >= 8 and theirs in known


def without_repeats(found: Iterable[Candidate], *, block: str, most: int) -> list[Candidate]:
    """Return up to `most` candidates that repeat neither the memory block nor each other.

    If the person explicitly asked for a candidate to be remembered, it may repeat the block.
    """
    known = letters_and_digits(block)
    kept: dict[str, Candidate] = {}
    for candidate in found:
        if candidate.explicit or not repeats(candidate.content, candidate.quote, known=known):
            kept.setdefault(letters_and_digits(candidate.content), candidate)
    return list(kept.values())[:most]


def without_block(
    text: str, *, frame: Collection[str], openings: Collection[str], headings: Collection[str]
) -> str:
    """Blank the memory blocks that were pasted into `text`; offsets stay valid.

    A block begins with one of the `openings` and includes the list items, headings and empty lines
    after it; the text that follows is the person's own. The sentences in `frame` are blanked
    wherever they occur.
    """
    if any(opening in text for opening in openings):
        text = _without_lists(text, openings=openings, headings=headings)
    for line in frame:
        text = text.replace(line, " " * len(line))
    return text


def _without_lists(text: str, *, openings: Collection[str], headings: Collection[str]) -> str:
    inside = False
    kept = []
    for line in text.splitlines(keepends=True):
        bare = line.strip().lstrip("#* ")
        inside = any(opening in line for opening in openings) or (
            inside and (not bare or bare.startswith("- ") or bare.rstrip(":：*") in headings)
        )
        kept.append(_SIGN.sub(" ", line) if inside else line)
    return "".join(kept)
