"""Find the earlier statement that a message corrects, by comparing both with the reader model.

The patterns in `corrected_messages` are tried first. The model also recognises corrections that
match no pattern, such as "24 nov. fat thumbs" after a message that says "14 nov".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter

from foundation.text import segment
from foundation.text.shingles import has_han
from foundation.text.word_edges import is_letter_of_spaced_script, whole_words
from memories.extraction.corrections.cancellations import ending
from memories.extraction.corrections.corrected_messages import (
    Correction,
    correctable_messages,
    denies,
)
from memories.extraction.corrections.values import SORTS, only_value
from memories.extraction.masking import COVER, SECRET
from memories.extraction.types import Candidate
from memories.reader.pair_layers import PairComparison

COMPARED = 0.5  # a message is compared if it is a correction with at least this probability
_MOST_PAIRS = 16  # each takes about 15 ms
SURE = 0.7  # minimum probability of a conflict at which an earlier statement is changed
OF_VALUES = 0.76  # the minimum if a day, month or number is changed
ALONE = 0.9  # the minimum if the replaced words aren't found
ENDED = 0.8  # minimum probability that an earlier statement, likely ended, no longer holds
_MOST_ENDED = 3  # statements that one message ends
_PART = 240  # characters of a message that are compared at once
_LONGEST_VALUE = 60  # characters that may take the place of the wrong words
_READ = 0.4  # minimum probability that a statement conflicts with its corrected form
_CONFLICT = 0.5  # minimum probability that two statements conflict
_NUMBER = re.compile(r"\d+(?:st|nd|rd|th)?")
_NUMERAL = re.compile(
    r"\d+(?:[.,:]\d+)*|[一二三四五六七八九十两兩俩百千万萬半零〇廿]+"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    r"|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    r"|hundred|thousand)\b"
)
_LIVES = re.compile(r"住|家在|\b(?:live[sd]?|living|home|reside)\b", re.IGNORECASE)
_DAY_NUMERAL = re.compile("[一二三四五六日天]")
_UNIT = re.compile(
    r"\s?([a-z]{1,20}|[年月日号號歲岁级級斤公克元块塊点點分天周个個口人次里米楼樓层層路期])"
)
_END = re.compile(r"[.!?。！？\n]\s*")
_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:[.!?。！？\n]+|$)")


@dataclass(frozen=True)
class CorrectedStatement:
    """An earlier statement, `known`, that the words at `start:end` of a message correct.

    `correction` gives the earlier message with the right words. It is None if it is unclear which
    words are wrong; in that case, the statements of the new message replace `known`.
    """

    known: Candidate
    start: int
    end: int
    correction: Correction | None


@dataclass(frozen=True)
class EndedStatement:
    """An earlier statement that no longer holds, by the words at `start` of a message."""

    known: Candidate
    start: int
    words: str


@dataclass(frozen=True)
class EarlierChanges:
    """The earlier statements that a message corrects or ends."""

    corrected: CorrectedStatement | None = None
    ended: tuple[EndedStatement, ...] = ()


def find_earlier_changes(
    covered: str,
    before: Sequence[str],
    again: Callable[[int], Sequence[Candidate]],
    compare: Callable[[str, str], PairComparison],
    conflict: Callable[[str, str], float],
) -> EarlierChanges:
    """Return the earlier statement that a message most probably corrects, and those that it ends.

    The result also holds the correction, if it is clear which words are wrong.

    `covered` is the message with its secrets and code covered, and `before` holds the earlier
    messages, latest first. `again(place)` returns the candidates of an earlier message.
    `compare(statement, text)` returns how a text relates to a statement. A correction of words
    other than days, months and numbers is accepted only if the statement conflicts with its
    corrected form.
    """
    likeliest, best = SURE, None
    ended: dict[str, tuple[float, EndedStatement]] = {}
    for place, earlier, known, start, part in _pairs(covered, before, again):
        compared = compare(known.content, part)
        share, over = compared.replaces, compared.relations["ended"]
        if over > share and share + over >= max(ENDED, ended.get(known.content, (0.0,))[0]):
            words = part.strip()
            if COVER not in words and SECRET not in words:
                found_end = EndedStatement(known, start + part.index(words), words)
                ended[known.content] = share + over, found_end
        if share < likeliest:
            continue
        found = _corrected(place, earlier, known, compared, covered, start, conflict)
        if found is not None or share >= max(ALONE, likeliest):
            likeliest = share
            best = CorrectedStatement(known, start, start + len(part), found)
    surest = sorted(ended.values(), key=itemgetter(0), reverse=True)[:_MOST_ENDED]
    return EarlierChanges(best, tuple(one for _, one in surest))


def _pairs(
    covered: str, before: Sequence[str], again: Callable[[int], Sequence[Candidate]]
) -> Iterator[tuple[int, str, Candidate, int, str]]:
    """Yield at most `_MOST_PAIRS` pairs of an earlier statement and a part of the message."""
    parts = list(_parts(covered))
    found = (
        (place, earlier, known, start, part)
        for place, earlier in _likeliest_first(covered, correctable_messages(before))
        for known in again(place)
        for start, part in parts
    )
    return islice(found, _MOST_PAIRS)


def _likeliest_first(covered: str, before: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Move the earlier messages that share a content word with the new one to the front.

    Otherwise, their order (latest first) is kept.
    """
    words = segment.content_terms(covered)
    return sorted(before, key=lambda one: words.isdisjoint(segment.content_terms(one[1])))


def with_changes(
    candidates: Sequence[Candidate],
    changes: EarlierChanges,
    conflict: Callable[[str, str], float],
) -> list[Candidate]:
    """Return the candidates so that they change the earlier statements.

    The candidates that are quoted from correcting words, conflict with the corrected statement and
    have the same owner overrule it. An ended statement is overruled by a candidate of the ending
    words; if there is none, a candidate is added that consists of the ended statement in brackets
    and these words.
    """
    found = list(candidates)
    if changes.corrected:
        found = [
            replace(one, corrects=True, overrules=changes.corrected.known.content)
            if _overrules(one, changes.corrected, conflict)
            else one
            for one in found
        ]
    for ended in changes.ended:
        end, known = ended.start + len(ended.words), ended.known
        if any(one.overrules == known.content for one in found):
            continue
        for place, one in enumerate(found):
            if _may_overrule(one, known, ended.start, end):
                found[place] = replace(one, corrects=True, overrules=known.content)
                break
        else:
            found.append(ending(known, ended.words, ended.start))
    return found


def _may_overrule(candidate: Candidate, known: Candidate, start: int, end: int) -> bool:
    """Return whether a candidate is quoted from `start:end`, with the same owner as `known`."""
    is_quoted = start <= candidate.quote_start < end
    return is_quoted and not candidate.overrules and candidate.owner == known.owner


def _overrules(
    candidate: Candidate, found: CorrectedStatement, conflict: Callable[[str, str], float]
) -> bool:
    known = found.known.content
    return (
        _may_overrule(candidate, found.known, found.start, found.end)
        and not _denies_only_home(candidate.content, known)
        and conflict(known, candidate.content) >= _CONFLICT
    )


def _denies_only_home(text: str, known: str) -> bool:
    """Return whether a text denies where somebody lives, but `known` doesn't say that.

    我不是住渝北 ("I don't live in Yubei") doesn't conflict with 在渝北开快递站 ("runs a depot in
    Yubei").
    """
    return denies(text) and bool(_LIVES.search(text)) and not _LIVES.search(known)


def _corrected(
    place: int,
    earlier: str,
    known: Candidate,
    compared: PairComparison,
    covered: str,
    start: int,
    conflict: Callable[[str, str], float],
) -> Correction | None:
    """Return the correction of the earlier message, or None if it is unclear which words change.

    The span of the correction is the sentence of the new message that contains the right words.
    """
    if compared.wrong is None or compared.right is None:
        return None
    wrong = known.content[slice(*_whole(known.content, compared.wrong))].strip()
    first, last = _whole(covered, (start + compared.right[0], start + compared.right[1]))
    right = covered[first:last].strip()
    wrong, right = _only_values(known.content, wrong, right)
    if wrong == right or len(right) > _LONGEST_VALUE:
        return None
    if not all(map(_says_something, (wrong, right))) or not _are_of_one_sort(wrong, right):
        return None
    if COVER in right or SECRET in right or known.quote.count(wrong) != 1:
        return None
    at = known.quote_start + known.quote.index(wrong)
    if earlier[at : at + len(wrong)] != wrong:
        return None
    if not _have_one_unit(earlier[at + len(wrong) :], covered[last:], right):
        return None
    begin = max((end.end() for end in _END.finditer(covered, 0, first)), default=0)
    stop = _END.search(covered, last)
    text = earlier[:at] + right + earlier[at + len(wrong) :]
    found = Correction(place, text, begin, stop.start() if stop else len(covered))
    is_value = any(_is_of(sort, right) for sort in SORTS) or _NUMERAL.search(right.casefold())
    if is_value:
        return found if compared.replaces >= OF_VALUES else None
    is_read = conflict(known.content, known.content.replace(wrong, right)) >= _READ
    return found if is_read else None


def _only_values(statement: str, wrong: str, right: str) -> tuple[str, str]:
    """Return the wrong and the right words, without what doesn't change beside a value.

    "24" corrects only the day in "14 nov". "wednesdays" corrects only the day in "every second
    tuesday", even if the reader model marks "second".
    """
    numbers = _NUMBER.findall(wrong)
    if len(numbers) == 1 and _NUMBER.fullmatch(right):
        return numbers[0], right
    day = right.removesuffix("s")
    for sort in SORTS:
        if sort.fullmatch(day) and (old := only_value(sort, statement)):
            return old, day
    return wrong, right


def _says_something(text: str) -> bool:
    """Return whether a text contains a number or a content word."""
    return bool(_NUMERAL.search(text.casefold()) or segment.content_terms(text))


def _are_of_one_sort(wrong: str, right: str) -> bool:
    """Return whether the wrong and the right words are of the same type.

    Both must be days, or months, or differ only in numbers ("5 kg", "6 kg"), or contain no numbers.
    In the last case, either both or neither must contain Chinese characters.
    """
    for sort in SORTS:
        if sort.fullmatch(wrong) or sort.fullmatch(right):
            return _is_of(sort, wrong) and _is_of(sort, right)
    first, second = (_NUMERAL.sub("#", text.casefold()) for text in (wrong, right))
    if "#" in first or "#" in second:
        return first == second
    return has_han(wrong) == has_han(right)


def _is_of(sort: re.Pattern[str], text: str) -> bool:
    """Return whether a text is a day or month of this type; a Chinese numeral may stand for it."""
    return sort.fullmatch(text) is not None or _DAY_NUMERAL.fullmatch(text) is not None


def _have_one_unit(after_wrong: str, after_right: str, right: str) -> bool:
    """Return whether the wrong and the right number may have the same unit.

    A unit is the word after a number. One or both may be missing. Return True if `right` isn't a
    number.
    """
    if not _NUMERAL.fullmatch(right.casefold()):
        return True
    units = [_UNIT.match(after.casefold()) for after in (after_wrong, after_right)]
    words = [unit[1] for unit in units if unit and unit[1] not in segment.ENGLISH_STOP_WORDS]
    return len(words) < 2 or words[0] == words[1]


def _whole(text: str, span: tuple[int, int]) -> tuple[int, int]:
    return whole_words(text, *span, is_letter=is_letter_of_spaced_script, most=_LONGEST_VALUE)


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the position and the text of consecutive sentences, about `_PART` characters each."""
    start = end = 0
    for sentence in _SENTENCE.finditer(text):
        if sentence.end() - start > _PART and end > start:
            yield start, text[start:end]
            start = end
        end = sentence.end()
    if text[start:end].strip():
        yield start, text[start:end]
