"""Recognise corrections of earlier messages, such as "typo, I meant Marta".

Such a message means little by itself, so the earlier message is processed again with the right
words in place of the wrong words. The wrong words are named ("my cousin, not my sister"), or they
are the only words of the same type in the latest message that contains such words. The types
include weekdays, months, amounts with the same unit, names, pets and relatives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from foundation.text import segment
from memories.extraction.corrections.replaced_nouns import (
    NAME,
    substituted,
    with_like_name,
    with_name,
    with_same_sort,
)
from memories.extraction.corrections.values import (
    NUMBERS,
    PATTERNS,
    SORTS,
    only_value,
    value_in_place,
    with_amount,
    with_dates_in_agreement,
    with_same_date,
)
from memories.extraction.pattern_tables import table

_OF_CORRECTING = frozenset(segment.terms(table("corrections")["of_correcting"]))
_SPEAKER = frozenset(table("corrections")["speaker"].split("|"))
_CUE, _AMOUNT, _PARTICLES, _ANNOUNCES = (
    PATTERNS[name] for name in ("cue", "amount", "particles", "announces")
)
_TIMES = (*SORTS, PATTERNS["day_list"])
_NOUNS = (PATTERNS["pet"], PATTERNS["relative"])
_ALONE = (
    PATTERNS["day_of_month"],
    PATTERNS["school_year"],
    *_NOUNS,
)  # types that count only if the correction says little else
_CONTRASTS = tuple(
    PATTERNS[name]
    for name in (
        *("not_one_it_is_other", "right_not_wrong", "not_wrong_but_right"),
        *("zh_not_wrong_but_right", "zh_right_not_wrong"),
    )
)
_ANY_CORRECTION = (_CUE, PATTERNS["not_one_but_other"], PATTERNS["zh_that_one_is_not"])
_MOST = 160  # characters of a sentence that may be a correction
LONGEST = 2_000  # characters of an earlier message that may be corrected
MOST_TRIED = 12  # most sentences or clauses of a message that are compared with earlier messages
_PHRASE = 5  # most words that may replace wrong words
_LONGER = 3  # characters by which a Chinese value may be longer than the one it replaces
_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|\.(?=\d))+")
# The first clause of a sentence, together with the next one if this begins with "not" or "but".
_CONTRAST_FIRST = re.compile(
    r"[^,，;；]{1,60}(?:[,，]\s?(?:not |不是|而是|是|but |it)[^,，;；]{1,40})?"
)
_CALLED = re.compile(r"(?i)(\b(?:its|it's|is|called)\s|[是叫]\s*)")
_CLAUSE = re.compile(r"[^,，;；]+")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_CHARACTER = re.compile(r"[^\W_]")
_DANGLING = re.compile(r"[,\s]{1,2}(?:and |but )?not$|[，,]?而?不是$")  # "its Ailsa, not"
_PART_OF_MONTH = "[上中下]旬|[初底末]"  # its beginning, middle or end
EDGE = " \t*\"'“”‘’「」,，;；:：.。!！)）("


@dataclass(frozen=True)
class Correction:
    """A correction of an earlier message, made by the words at `start:end` of the new message.

    `place` is the index of the earlier message, and `text` is its corrected text. `is_noun` means
    that a noun (or a Chinese name) was replaced because it is the only one of its kind in that
    message. `is_update` means that the words give a new value, but don't themselves say that the
    old value was wrong. In both cases, the reader model must confirm that the old and the new
    statement conflict.
    """

    place: int
    text: str
    start: int
    end: int
    is_noun: bool = False
    is_update: bool = False


def correction(said: str, before: Sequence[str]) -> Correction | None:
    """Return the correction that a message makes to an earlier message, or None.

    `before` holds the earlier messages, latest first; see `correctable_messages`. The first
    `MOST_TRIED` sentences that may be a correction are tried.
    """
    for sentence, values, is_update in islice(_possible_corrections(said), MOST_TRIED):
        for right, wrong in [(values, "")] if values else _right_and_wrong(sentence[0]):
            for place, earlier in correctable_messages(before):
                if values and bare_corrections(earlier):
                    continue
                text, is_noun = _corrected(earlier, right, wrong)
                text = with_dates_in_agreement(earlier, text)
                rest = sentence[0].replace(right, "").replace(wrong, "") if wrong else ""
                if text and text != earlier and _fits(rest, earlier):
                    start, end = sentence.span()
                    return Correction(place, text, start, end, is_noun, is_update)
    return None


def correctable_messages(before: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the place and the text of each earlier message that isn't too long to be corrected."""
    return ((place, text) for place, text in enumerate(before) if len(text) <= LONGEST)


def _possible_corrections(said: str) -> Iterator[tuple[re.Match[str], str, bool]]:
    """Yield each part that may be a correction, its values, and whether the part is an update.

    The values are empty if the part contains more than values. A part is an update if it doesn't
    say that something was wrong, but another part of the message does.
    """
    told = _tells_of_slip(said)
    for part in _sentences_and_contrasts(said, clauses=told):
        if len(part[0]) > _MOST:
            continue
        values = _only_values(part[0], told=told)
        says_so = any(one.search(part[0]) for one in _ANY_CORRECTION)
        if values or says_so or bare_contrast(part[0]):
            yield part, values, False
        elif told:
            yield part, "", PATTERNS["slip"].search(part[0]) is None


def _tells_of_slip(said: str) -> bool:
    """Return whether any part of a message says that something was wrong."""
    return len(said) <= LONGEST and any(one.search(said) for one in (_CUE, PATTERNS["slip"]))


def _sentences_and_contrasts(said: str, *, clauses: bool) -> Iterator[re.Match[str]]:
    """Yield each sentence, the contrast in it, and its clauses (if `clauses` is True).

    In "viola not cello, got that wrong", the contrast is "viola not cello". A contrast of two days
    or months, as in "wait not february, from march, because …", is yielded before its sentence,
    since the rest of the sentence may name other days or months.
    """
    for sentence in _SENTENCE.finditer(said):
        if of_one_sort := PATTERNS["not_one_but_other"].search(said, *sentence.span()):
            yield of_one_sort
        yield sentence
        contrast = _CONTRAST_FIRST.match(said, *sentence.span())
        if contrast and bare_contrast(contrast[0]):
            yield contrast
        if clauses:
            parts = list(_CLAUSE.finditer(said, *sentence.span()))
            yield from (one for one in parts if len(parts) > 1 and not denies(one[0]))


def bare_contrast(sentence: str) -> tuple[str, str] | None:
    """Return the wrong and the right words of a sentence that says nothing else, or None.

    The right words may stand first ("viola, not cello"). The wrong words are empty if the sentence
    doesn't name them: 改成无锡 ("change it to Wuxi").
    """
    found = PATTERNS["bare_contrast"].search(sentence.strip(EDGE))
    if found is None:
        return None
    if found["first"] and PATTERNS["no_value"].search(f"{found['first']} {found['then']}"):
        return None
    wrong = found["wrong"] or found["then"] or found["zh_wrong"] or found["zh_then"] or ""
    rights = ("right", "first", "zh_right", "zh_first", "zh_new")
    return wrong, next(found[name] for name in rights if found[name]).strip(EDGE)


def sentences(said: str) -> list[tuple[int, str]]:
    """Return the start and the text of each sentence that is short enough for a correction."""
    found = _SENTENCE.finditer(said)
    return [(one.start(), one[0]) for one in found if len(one[0]) <= _MOST]


def bare_corrections(said: str) -> list[tuple[int, int]]:
    """Return the spans of sentences that only give a corrected value: "no sorry, the 16th"."""
    told = _tells_of_slip(said)
    return [one.span() for one in _SENTENCE.finditer(said) if _only_values(one[0], told=told)]


def _only_values(sentence: str, *, told: bool) -> str:
    """Return the values in a sentence that only gives corrected values, or an empty string.

    The sentence must announce a correction, unless some part of the message says that something
    was wrong (`told`).
    """
    announced = told or any(one.search(sentence) for one in (_ANNOUNCES, _CUE))
    if len(sentence) > _MOST or not announced:
        return ""
    values = " ".join(PATTERNS["only_announces"].sub(" ", sentence).split()).strip(EDGE)
    rest = values
    for sort in (*SORTS, PATTERNS["day_of_month"], PATTERNS["clock"], NUMBERS):
        rest = sort.sub(" ", rest)
    return "" if _CHARACTER.search(rest) or rest == values else values


def old_value(statement: str) -> tuple[str, int]:
    """Return the old value that a correction names, and the position at which it can be cut off.

    In "it's Tom who eats no nuts, not Dan", the old value is "Dan", and the text can be cut off
    before ", not Dan". If nothing can be cut off, the position is the end of the statement. The old
    value is empty if the correction doesn't name it.
    """
    if named := PATTERNS["old_value_named"].search(statement):
        return next(one for one in named.groups() if one), len(statement)
    last = PATTERNS["old_value_last"].search(statement)
    if last and _is_whole(statement[: last.start()], sign=last[0][0]):
        return last["old"] or last["zh"], last.start()
    return "", len(statement)


def without_old_value(statement: str) -> tuple[str, str]:
    """Return a correction without its old value (", not Dan"), and the old value ("Dan").

    The first text is empty if the statement only says what is wrong ("not Monday").
    """
    statement = _DANGLING.sub("", statement)
    old, end = old_value(statement)
    return "" if PATTERNS["only_old_value"].search(statement) else statement[:end].rstrip(), old


def _is_whole(said: str, *, sign: str) -> bool:
    """Return whether the text before the old value (", not Dan") is a whole statement.

    `sign` is the first character after this text, such as the comma.
    """
    if PATTERNS["half"].search(said) or len(_content(said)) < 2:
        return False
    return sign in ",，" or not said.isascii() or PATTERNS["whole"].search(said) is not None


def _content(words: str) -> set[str]:
    """Return the terms of a text without stop words and single letters."""
    terms = segment.content_terms(words)
    return {term for term in terms if len(term) > 1 or not term.isascii() or term.isdigit()}


def _fits(rest: str, earlier: str) -> bool:
    """Return whether the rest of a correction fits the earlier message.

    `rest` is the correction without its right and wrong words. It fits if it has no content words,
    or if it shares a content word with the earlier message.
    """
    words = _content(_CUE.sub(" ", rest)) - _OF_CORRECTING
    return not words or not words.isdisjoint(_content(earlier))


def _right_and_wrong(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield possible pairs of right and wrong words; the wrong words are empty if not named."""
    if (contrast := bare_contrast(sentence)) and contrast[0]:
        yield contrast[1], contrast[0]
    for form in _CONTRASTS:
        for found in form.finditer(_without_cue(sentence)):
            right, wrong = strip_particles(found["right"]), strip_particles(found["wrong"])
            right = PATTERNS["begins_with_it_is"].sub("", right)
            is_told = _content(wrong) or wrong in _SPEAKER
            if right and is_told and len(right.split()) <= _PHRASE:
                yield right, wrong
    yield strip_particles(_without_cue(sentence)), ""
    parts = (strip_particles(part) for part in _CUE.split(sentence))
    first = next((part for part in parts if len(part) > 1 or _HAN.match(part)), "")
    if not any(sort.search(sentence.replace(first, "", 1)) for sort in SORTS):
        yield first, ""  # "Marta, I meant"; with a day or month behind it, it's only the subject


def _without_cue(sentence: str) -> str:
    """Return the text after the last words that announce a correction, such as "I meant"."""
    cues = [
        found.end() for found in _CUE.finditer(sentence) if strip_particles(sentence[found.end() :])
    ]
    return sentence[max(cues, default=0) :].strip(EDGE)


def strip_particles(words: str) -> str:
    return _PARTICLES.sub("", words.strip(EDGE)).strip(EDGE)


def _corrected(earlier: str, right: str, wrong: str) -> tuple[str, bool]:
    """Return the corrected earlier message (or ""), and the value of `Correction.is_noun`."""
    if not right:
        return "", False
    if wrong:
        value = _value_of(right, wrong)
        fits = value == right or _fits(right.replace(value, " ", 1), earlier)
        return (_replaced(earlier, value, wrong) if fits else ""), False
    if text := _with_date(earlier, right) or with_same_date(earlier, right):
        return text, False
    for sort in _TIMES:
        if text := _with_other_value(sort, earlier, right):
            return text, False
    for sort in (*_TIMES, *_ALONE):
        value = only_value(sort, right)
        rest = "" if sort in _TIMES else right.replace(value, "", 1)
        fits = _fits(right.replace(value, " ", 1), earlier)
        if value and fits and PATTERNS["around_value"].search(rest):
            old = value_in_place(sort, earlier, right)
            return substituted(earlier, value, old), sort in _NOUNS
    amount = PATTERNS["amount"].search(right)
    if amount and _fits(right.replace(amount[0], " ", 1), earlier):
        return with_amount(earlier, amount), False
    return _with_noun(earlier, right)


def _with_noun(earlier: str, right: str) -> tuple[str, bool]:
    """Replace a noun or a name of the earlier message by `right`.

    Return the new text, which is empty if no noun or name fits, and the value of
    `Correction.is_noun`.
    """
    if " " in right and (text := _with_same_noun(earlier, right)):
        return text, True
    if text := with_same_sort(earlier, right) or with_like_name(earlier, right):
        return text, True
    called = _CALLED.search(right)
    before, name = (right[: called.start()], right[called.end() :]) if called else ("", right)
    is_name = NAME.fullmatch(name) and _fits(before, earlier)
    return with_name(earlier, name) if is_name else "", False


def _with_other_value(sort: re.Pattern[str], earlier: str, right: str) -> str:
    """Replace a value in `earlier` if `right` contains this value and exactly one other value.

    The other value replaces it; otherwise return "". For example, 周三是上学期的 现在改周四了
    ("Wednesday was last term, now it's Thursday") changes 周三有钢琴课 ("piano lesson on
    Wednesday") to 周四有钢琴课.
    """
    values = {found[0] for found in sort.finditer(right)}
    known = {value for value in values if value in earlier}
    new = values - known
    if len(known) != 1 or len(new) != 1:
        return ""
    return _replaced(earlier, new.pop(), known.pop())


def _with_date(earlier: str, right: str) -> str:
    """Replace several parts of a date (weekday, month, day of the month) together.

    For example, "wednesday 16th" replaces "tuesday 15th". Return "" if `right` gives fewer than two
    parts or says anything else.
    """
    sorts = [sort for sort in (*SORTS, PATTERNS["day_of_month"]) if sort.search(right)]
    rest = right
    for sort in sorts:
        rest = sort.sub(" ", rest)
    shared = [sort for sort in sorts if sort.search(earlier)]
    if len(sorts) < 2 or _CHARACTER.search(rest) or not shared:
        return ""
    for sort in shared:
        value, old = only_value(sort, right), only_value(sort, earlier)
        if not value or not old:
            return ""
        earlier = earlier.replace(old, value)
    return earlier


def _value_of(right: str, wrong: str) -> str:
    """Return the part of the right words that replaces the wrong words.

    If the wrong words are a day, month or number, this part is the value of the same type: "Sunday"
    in "Leo's lesson is Sunday, not Saturday". Otherwise, all of the right words are returned.
    """
    singular = wrong.removesuffix("s")
    if any(sort.fullmatch(one) for sort in (*SORTS, NUMBERS) for one in (wrong, singular)):
        return in_place_of(wrong, right) or right
    return right


def _with_same_noun(earlier: str, right: str) -> str:
    """Replace the phrase in the earlier text that ends with the same noun as `right`.

    For example, "oat milk" replaces "cow milk". Return "" unless there is exactly one such phrase.
    """
    *rest, kind, thing = right.split(" ")
    if not _content(kind) or not _fits(" ".join(rest), earlier):
        return ""
    found = re.findall(rf"(?i)\b[a-z]+ {re.escape(thing)}\b", earlier)
    return substituted(earlier, f"{kind} {thing}", found[0] if len(found) == 1 else "")


def _replaced(earlier: str, right: str, wrong: str) -> str:
    """Replace all occurrences of the wrong words, without repeating a word next to them."""
    edge = r"\b" if wrong[0].isascii() and wrong[-1].isascii() else ""
    part = _PART_OF_MONTH if wrong.endswith("月") and re.search(f"{_PART_OF_MONTH}$", right) else ""
    form = re.compile(f"{edge}{re.escape(wrong)}(?:{part})?{edge}", re.IGNORECASE)
    return form.sub(
        lambda found: without_overlap(right, earlier[: found.start()], earlier[found.end() :]),
        earlier,
    )


def without_overlap(words: str, before: str, behind: str) -> str:
    """Return `words` without any words that `before` ends with or `behind` begins with.

    For example, if "oisin is 5" is to replace "4" in "oisin is 4", only "5" is returned.
    """
    before, behind = before.rstrip().casefold(), behind.lstrip()
    sizes = range(len(words), 0, -1)
    said = next((n for n in sizes if before.endswith(words[:n].rstrip().casefold())), 0)
    is_whole = " " in words[max(0, said - 1) : said + 1] or not words[:said].isascii()
    words = words[said:].lstrip() if is_whole else words
    size = next((n for n in range(len(words), 0, -1) if behind.startswith(words[-n:])), 0)
    return words[: len(words) - size].rstrip() if size else words


def in_place_of(wrong: str, right: str) -> str:
    """Return the part of the right words that replaces the wrong words, or "" if it is unclear.

    For the wrong words "9" and the right words "Zuri is 10", the part is "10". For "Dan" and "Dan's
    mum who can't eat nuts", the part is "Dan's mum".
    """
    for sort in (*SORTS, NUMBERS):
        if sort.fullmatch(wrong):
            return only_value(sort, right)
    if counted := PATTERNS["zh_counted"].fullmatch(wrong):
        same = {one[0] for one in PATTERNS["zh_counted"].finditer(right) if _ends(one, counted)}
        return same.pop() if len(same) == 1 else ""
    if cleft := PATTERNS["it_is_right_who"].match(right):
        return cleft["value"]
    count = len(wrong.split())
    if found := PATTERNS["after_is"].search(right):
        words = found["value"].split(" ")
        lead = wrong.split(" ")[0]
        if count > 1 and PATTERNS["leads_in"].match(lead) and lead in words:
            words = words[words.index(lead) :]
        return " ".join(words)
    words = right.split(" ")
    if right.isascii():
        return " ".join(words[-count:])
    return right if len(right) <= len(wrong) + _LONGER else ""


def _ends(one: re.Match[str], other: re.Match[str]) -> bool:
    """Return whether two counted values have the same unit.

    For example, 一年级 ("first grade") and 二年级 ("second grade") have the unit 年级.
    """
    return one["unit"] == other["unit"]


def with_exchanged_value(text: str, said: str) -> str:
    """Return the text with the new value that the sentence `said` gives, or "" if none fits.

    The sentence names the old and the new value ("from Wednesday to Monday"), or only a new weekday
    ("moved to Mondays") if the text contains a single weekday.
    """
    day = SORTS[0]
    if found := PATTERNS["exchanged"].search(said):
        kinds = ("", "zh_", "gone_")
        old, new = (
            next(found[kind + name] for kind in kinds if found[kind + name])
            for name in ("old", "new")
        )
        new = " ".join(new.split()[: len(old.split())]).strip(EDGE)
        if day.search(old):
            old, new = only_value(day, old), only_value(day, new)
    else:
        old, new = only_value(day, text), only_value(day, said)
    changed = _replaced(text, new, old) if old and new else ""
    if changed == text and day.fullmatch(old):  # "wednesdays"
        changed = _replaced(text, f"{new}s", f"{old}s")
    return with_dates_in_agreement(text, changed) if changed != text else ""


def denies(text: str) -> bool:
    """Return whether a text says what something is not, such as "she isn't my sister"."""
    return PATTERNS["denial"].search(text) is not None
