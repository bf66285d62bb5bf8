"""Recognise corrections of earlier messages, such as "typo, I meant Marta".

Such a message means little by itself, so the earlier message is processed again with the right
words in place of the wrong words. The wrong words are named ("my cousin, not my sister"), or they
are the only words of the same type in the latest message that contains such words. Types are
weekdays, months, amounts with the same unit, names, pets and relatives.
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
from memories.extraction.masking import ADDED_DATE
from memories.extraction.word_tables import compiled, table

_PEOPLE = table("own_words")
PATTERNS = compiled(
    "corrections",
    people="|".join(_PEOPLE["relations"][one] for one in ("f", "m", "either")),
    cjk_people=_PEOPLE["cjk_relation"].removesuffix("|猫|貓|狗"),
)
_OF_CORRECTING = frozenset(segment.terms(table("corrections")["of_correcting"]))
_SPEAKER = frozenset(table("corrections")["speaker"].split("|"))
_CUE, _AMOUNT, _PARTICLES, _ANNOUNCES = (
    PATTERNS[name] for name in ("cue", "amount", "particles", "announces")
)
SORTS = (PATTERNS["day"], PATTERNS["month"])
_NOUNS = (PATTERNS["pet"], PATTERNS["relative"])
_ALONE = (
    PATTERNS["day_of_month"],
    PATTERNS["school_year"],
    *_NOUNS,
)  # types that count only if the correction says little else
_CONTRASTS = tuple(
    PATTERNS[name]
    for name in (
        *("not_one_but_other", "not_one_it_is_other", "right_not_wrong", "not_wrong_but_right"),
        *("zh_not_wrong_but_right", "zh_right_not_wrong", "zh_wrong_to_right"),
    )
)
_ANY_CORRECTION = (_CUE, PATTERNS["not_one_but_other"], PATTERNS["zh_that_one_is_not"])
_MOST = 160  # characters of a sentence that may be a correction
LONGEST = 2_000  # characters of an earlier message that may be corrected
MOST_TRIED = 12  # most sentences or clauses of a message that are held against earlier messages
_PHRASE = 5  # most words that may replace wrong words
_LONGER = 3  # characters by which a Chinese value may be longer than the one it replaces
_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|\.(?=\d))+")
# The first clause of a sentence, together with the next one if this begins with "not" or "but".
_CONTRAST_FIRST = re.compile(
    r"[^,，;；]{1,60}(?:[,，]\s?(?:not |不是|而是|是|but |it)[^,，;；]{1,40})?"
)
NUMBERS = re.compile(r"\d+(?:[.,:]\d+)*")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_CHARACTER = re.compile(r"[^\W_]")
_ORDINALS = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}
EDGE = " \t*\"'“”‘’「」,，;；:：.。!！)）("


def without_values(text: str) -> str:
    """Replace each day, month and number in the text by a placeholder."""
    for sort in SORTS:
        text = sort.sub("#", text)
    return NUMBERS.sub("#", text)


def without_dates(text: str) -> str:
    """Replace each date and time by signs of the same length, so that positions stay."""
    for sort in (*SORTS, PATTERNS["day_of_month"], PATTERNS["clock"], ADDED_DATE):
        text = sort.sub(lambda found: "□" * len(found[0]), text)
    return text


def numbers_of_series(text: str) -> list[str]:
    """Return the numbers that identify an item of a series: 41 in "issue 41 needs 3 days"."""
    return [found["number"] for found in PATTERNS["of_series"].finditer(text)]


@dataclass(frozen=True)
class Correction:
    """A correction of an earlier message, made by the words at `start:end` of the new one.

    `place` is the index of the earlier message, and `text` its corrected text. `is_noun` means that
    its only noun of the same kind was replaced; the reader model must then confirm that both
    statements conflict. `is_update` means that the new words only give a new amount; the model must
    then confirm that they conflict with the earlier statement.
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
    for sentence, values in islice(_possible_corrections(said), MOST_TRIED):
        for right, wrong in [(values, "")] if values else _right_and_wrong(sentence[0]):
            for place, earlier in correctable_messages(before):
                if values and bare_corrections(earlier):
                    continue
                text, is_noun = _corrected(earlier, right, wrong)
                text = with_dates_in_agreement(earlier, text)
                rest = sentence[0].replace(right, "").replace(wrong, "") if wrong else ""
                if text and text != earlier and _fits(rest, earlier):
                    return Correction(place, text, sentence.start(), sentence.end(), is_noun)
    return None


def correctable_messages(before: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the place and the text of each earlier message that isn't too long to be corrected."""
    return ((place, text) for place, text in enumerate(before) if len(text) <= LONGEST)


def _possible_corrections(said: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each sentence that may be a correction, and its values if it says nothing else."""
    for sentence in _sentences_and_contrasts(said):
        values = _only_values(sentence[0])
        says_so = any(one.search(sentence[0]) for one in _ANY_CORRECTION)
        if (values or says_so or bare_contrast(sentence[0])) and len(sentence[0]) <= _MOST:
            yield sentence, values


def _sentences_and_contrasts(said: str) -> Iterator[re.Match[str]]:
    """Yield each sentence, and the contrast at its beginning if more follows.

    In "viola not cello, got that wrong", the contrast is "viola not cello". A contrast of two days
    or months ("wait not february, from march, because …") comes before its sentence, since the rest
    may name others.
    """
    for sentence in _SENTENCE.finditer(said):
        if of_one_sort := PATTERNS["not_one_but_other"].search(said, *sentence.span()):
            yield of_one_sort
        yield sentence
        contrast = _CONTRAST_FIRST.match(said, *sentence.span())
        if contrast and bare_contrast(contrast[0]):
            yield contrast


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
    return [found.span() for found in _SENTENCE.finditer(said) if _only_values(found[0])]


def _only_values(sentence: str) -> str:
    """Return the values of a correction that says nothing else, or an empty string."""
    if len(sentence) > _MOST or not any(one.search(sentence) for one in (_ANNOUNCES, _CUE)):
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
            right, wrong = (
                strip_particles(PATTERNS["clause"].sub("", found["right"])),
                strip_particles(found["wrong"]),
            )
            right = PATTERNS["begins_with_it_is"].sub("", right)
            is_told = _content(wrong) or wrong in _SPEAKER
            if right and is_told and len(right.split()) <= _PHRASE:
                yield right, wrong
    yield strip_particles(_without_cue(sentence)), ""
    parts = (strip_particles(part) for part in _CUE.split(sentence))
    yield next((part for part in parts if len(part) > 1 or _HAN.match(part)), ""), ""


def _without_cue(sentence: str) -> str:
    """Return the text after the last word that announces a correction."""
    cues = [found.end() for found in _CUE.finditer(sentence) if found.end() < len(sentence)]
    keeps = PATTERNS["changed"].search(sentence)
    return sentence if keeps else sentence[max(cues, default=0) :].strip(EDGE)


def strip_particles(words: str) -> str:
    return _PARTICLES.sub("", words.strip(EDGE)).strip(EDGE)


def _corrected(earlier: str, right: str, wrong: str) -> tuple[str, bool]:
    """Return the corrected earlier message (or ""), and whether a common noun was replaced."""
    if not right:
        return "", False
    if wrong:
        value = _value_of(right, wrong)
        fits = value == right or _fits(right.replace(value, " ", 1), earlier)
        return (_replaced(earlier, value, wrong) if fits else ""), False
    if text := _with_date(earlier, right):
        return text, False
    for sort in (*SORTS, *_ALONE):
        value = _only_value(sort, right)
        rest = "" if sort in SORTS else right.replace(value, "", 1)
        fits = _fits(right.replace(value, " ", 1), earlier)
        if value and fits and PATTERNS["around_value"].search(rest):
            return substituted(earlier, value, _only_value(sort, earlier)), sort in _NOUNS
    amount = _AMOUNT.search(right)
    if amount and _fits(right.replace(amount[0], " ", 1), earlier):
        return _with_amount(earlier, amount), False
    if " " in right and (text := _with_same_noun(earlier, right)):
        return text, True
    if text := with_same_sort(earlier, right) or with_like_name(earlier, right):
        return text, True
    name = NAME.fullmatch(re.sub(r"(?i)^(?:its|it's|is|是)\s*", "", right))
    return with_name(earlier, name[0]) if name else "", False


def _with_date(earlier: str, right: str) -> str:
    """Replace a weekday, a month and a day of the month together ("wednesday 16th")."""
    sorts = [sort for sort in (*SORTS, PATTERNS["day_of_month"]) if sort.search(right)]
    rest = right
    for sort in sorts:
        rest = sort.sub(" ", rest)
    shared = [sort for sort in sorts if sort.search(earlier)]
    if len(sorts) < 2 or _CHARACTER.search(rest) or not shared:
        return ""
    for sort in shared:
        value, old = _only_value(sort, right), _only_value(sort, earlier)
        if not value or not old:
            return ""
        earlier = earlier.replace(old, value)
    return earlier


def with_dates_in_agreement(earlier: str, text: str) -> str:
    """Return the corrected text, in which a weekday and a date agree as they did before.

    A new weekday moves the date to that day of the same week, or removes it if this is in another
    month. A new date removes the weekday.
    """
    sorts = SORTS[0], PATTERNS["day_of_month"]
    (old_day, old_date), (day, date) = (
        [_only_value(sort, one) for sort in sorts] for one in (earlier, text)
    )
    if not all((old_day, old_date, day, date)) or (old_day == day) == (old_date == date):
        return text
    if old_day == day:
        return " ".join(text.replace(day, "").split())
    number = int(NUMBERS.findall(date)[0]) + _weekday(day) - _weekday(old_day)
    if not 0 < number < 29:
        return " ".join(PATTERNS["date_of_day"].sub(" ", text).split())
    end = date[-1] if not date.isascii() else _ORDINALS.get(number, "th")
    return text.replace(date, f"{number}{end}")


def _weekday(name: str) -> int:
    """Return the number of a weekday, Monday being 0."""
    english = name.casefold()[:3]
    if english.isascii():
        return ("mon", "tue", "wed", "thu", "fri", "sat", "sun").index(english)
    return "一二三四五六日".index(name[-1].replace("天", "日"))


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
    """In the earlier text, replace the phrase with the noun of `right`, if there is exactly one.

    For example, "oat milk" replaces "cow milk".
    """
    *rest, kind, thing = right.split(" ")
    if not _content(kind) or not _fits(" ".join(rest), earlier):
        return ""
    found = re.findall(rf"(?i)\b[a-z]+ {re.escape(thing)}\b", earlier)
    return substituted(earlier, f"{kind} {thing}", found[0] if len(found) == 1 else "")


def _only_value(sort: re.Pattern[str], text: str) -> str:
    """Return the text's only value of this type, or "" if it has none or several."""
    found = {match[0] for match in sort.finditer(text)}
    return found.pop() if len(found) == 1 else ""


def _with_amount(earlier: str, right: re.Match[str]) -> str:
    """Replace the only amount that has the unit of `right` (any unit, if `right` has no unit)."""
    unit = (right["unit"] or "").casefold()
    found = {
        amount["number"]: amount
        for amount in _AMOUNT.finditer(without_dates(earlier))
        if not unit or (amount["unit"] or "").casefold() == unit
    }
    if len(found) != 1:
        return ""
    (amount,) = found.values()
    start, end = amount.span("number")
    return earlier[:start] + right["number"] + earlier[end:]


def _replaced(earlier: str, right: str, wrong: str) -> str:
    """Replace all occurrences of the wrong words by the right ones, without doubling a word."""
    edge = r"\b" if wrong[0].isascii() and wrong[-1].isascii() else ""
    form = re.compile(edge + re.escape(wrong) + edge, re.IGNORECASE)
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
            return _only_value(sort, right)
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

    For example, 「一年级」 ("first grade") and 「二年级」 ("second grade") do.
    """
    return one["unit"] == other["unit"]


def with_exchanged_value(text: str, said: str) -> str:
    """Return a text with the value that a sentence exchanges, or "" if it exchanges none of it.

    The sentence names both values ("from Wednesday to Monday"), or a new weekday where the text has
    only one ("moved to Mondays").
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
            old, new = _only_value(day, old), _only_value(day, new)
    else:
        old, new = _only_value(day, text), _only_value(day, said)
    changed = _replaced(text, new, old) if old and new else ""
    if changed == text and day.fullmatch(old):  # "wednesdays"
        changed = _replaced(text, f"{new}s", f"{old}s")
    return with_dates_in_agreement(text, changed) if changed != text else ""


def denies(text: str) -> bool:
    """Return whether a text says what something is not, such as "she isn't my sister"."""
    return PATTERNS["denial"].search(text) is not None
