"""Cut the subject out of a request to forget: "drop the bit about the bike, ok?" -> "the bike".

The words around the subject ("please delete") are the same in many requests. If these words were
kept, a memory that contains them would look similar to every request.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foundation.text import segment
from memories.extraction.pattern_tables import table
from memories.extraction.types import ForgetRequest

_CLAUSE = re.compile(r"[^,.!?;:\n，。！？；：、…—]+")
_LONGEST = 600  # characters of a request that are read
_WORDS = table("request_subjects")


def _any_of(name: str) -> str:
    """Return a pattern that matches any word of the list `name`, trying longer words first."""
    words = sorted(_WORDS[name].split("|"), key=len, reverse=True)
    latin = "|".join(re.escape(word) for word in words if word.isascii())
    other = "|".join(word for word in words if not word.isascii())
    return rf"(?<![\w'])(?:{latin})(?![\w'])|{other}"


_NAMES = ("extent", "acts", "first_acts", "polite", "around", "pointing")
_KINDS = {name: rf"(?P<{name}>{_any_of(name).rstrip('|')})" for name in _NAMES}
_TOKEN = re.compile(
    "|".join([*_KINDS.values(), r"(?P<own>[^\W\u3040-\u9fff]+(?:['-][^\W\u3040-\u9fff]+)*|\w)"]),
    re.IGNORECASE,
)
_LEADING = re.compile(
    rf"\s{{0,8}}+(?:{_any_of('leading')}|{_any_of('extent')})(?=[\s\u3400-\u9fff])", re.IGNORECASE
)
_MOST_LEADING = 4


@dataclass(frozen=True)
class _Token:
    kind: str
    start: int
    end: int


def clauses_of(request: str, *, whole: bool = True) -> list[str]:
    """Return the parts of a request that name what to forget, without the command around them.

    The result is empty for a request such as "please delete that". If `whole` is False, the request
    is only a subject ("my job thing, please"): polite words and vague words ("thing") are removed
    from the end of each clause, and clauses that contain no other words are left out.
    """
    text = request[:_LONGEST].replace("’", "'")
    found = (clause[0].strip() for clause in _CLAUSE.finditer(text))
    subjects = (_subject(clause) if whole else _without_pointing(clause) for clause in found)
    return [subject for subject in subjects if subject]


def begins_with_stop_clause(request: ForgetRequest) -> bool:
    """Return whether the subject consists only of stop words up to its first comma.

    In "the will, solicitor's orders", "the will" consists of stop words, but the words after the
    comma may only be the reason for the request. Return False if the subject is the whole message,
    since it may begin with "right, …".
    """
    first = re.split("[,，]", request.about, maxsplit=1)[0]
    return request.about != request.quote and not segment.content_terms(first)


def _without_pointing(clause: str) -> str:
    tokens = list(_tokens(clause))
    if not any(token.kind == "own" for token in tokens):
        return ""
    return clause[: tokens[_before_pointing(tokens) - 1].end]


def _subject(clause: str) -> str:
    tokens = list(_tokens(clause))
    if not any(token.kind == "own" for token in tokens):
        return ""
    first = _after_first_act(tokens)
    last = _before_last_words(tokens, is_order=first > 0)
    start = tokens[first].start
    if first or tokens[0].kind != "own":
        start = _after_leading_words(clause, start)
    return clause[start : tokens[last - 1].end].strip()


def _tokens(clause: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(clause):
        yield _Token(match.lastgroup or "", match.start(), match.end())


def _after_first_act(tokens: Sequence[_Token]) -> int:
    """Return the number of tokens up to the last command word ("delete") before the subject."""
    place = 0
    for number, token in enumerate(tokens):
        if token.kind == "own":
            break
        if token.kind in ("acts", "first_acts"):
            place = number + 1
    return place


def _before_last_words(tokens: Sequence[_Token], *, is_order: bool) -> int:
    """Return the number of tokens that remain without the command words at the end of a clause.

    If there are no command words at the end, but the clause begins with one (`is_order`), leave out
    final words such as "thing", "completely" and "please": return 3 for "forget the bike thing
    completely please". In all other cases, return the number of all tokens.
    """
    place = len(tokens)
    while tokens[place - 1].kind != "own":
        place -= 1
    if any(token.kind == "acts" for token in tokens[place:]):
        return place
    return _before_pointing(tokens) if is_order else len(tokens)


def _before_pointing(tokens: Sequence[_Token]) -> int:
    """Return the number of tokens before words such as "thing" and "please" at the end."""
    place = len(tokens)
    while tokens[place - 1].kind in ("polite", "pointing", "extent"):
        place -= 1
    return place


def _after_leading_words(clause: str, start: int) -> int:
    for _ in range(_MOST_LEADING):
        if match := _LEADING.match(clause, start):
            start = match.end()
    return start
