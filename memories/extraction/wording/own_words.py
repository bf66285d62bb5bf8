"""Turn a statement in a message into a memory in the person's own words.

Fillers are removed at both ends. Missing context is added in square brackets: the person a pronoun
refers to, the subject of a list item, the question that is answered, the date of "tomorrow".
Nothing is rephrased, and no negation, hedge or condition is lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from memories.extraction.masking import COVER, SECRET
from memories.extraction.pattern_tables import table
from memories.extraction.wording.calendar_days import DateMention, month_of, year_days
from memories.extraction.wording.chinese_subjects import begins_with_noun, is_noun_phrase
from memories.extraction.wording.dates import dates_in
from memories.extraction.wording.people import PATTERNS as _P
from memories.extraction.wording.people import (
    Referents,
    end_of,
    named_person,
    names_in,
    nothing_referred_to,
    people_in,
    start_of,
)
from memories.screening import safe_patterns

LONGEST = 400  # characters of a memory
_CLAUSE = 60  # maximum number of characters of a clause that is put before a fragment
_ENDS_SENTENCE = re.compile(r"[.!?\n]")
_MATTER = 80  # the same before a statement about "it"
_NEAR = 12  # a clause ends less than this many characters before its fragment
_SCRAP = 4  # maximum number of words of a statement that only says something about "it"
_READ = 2_000  # characters read of a statement, the text before it, and an earlier message


@dataclass(frozen=True)
class OwnWords:
    """The text of a memory, its date, and its `data`.

    `data` may contain `date`, `until`, `since` (ISO days), `amounts`, `names` and `relation`.
    """

    text: str
    occurred: date | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


_LANGUAGES = ("en", "de", "es", "fr", "zh", "ja")
_DAY_ALONE = re.compile(
    r"(?<=\bthe )\d{1,2}(?=(?:st|nd|rd|th)$)|^\d{1,2}(?=(?:st|nd|rd|th)$)|^\d{1,2}(?=[号號日]$)"
)
# A single word between a statement and the start of its sentence or the previous statement.
_FIRST_WORD = re.compile(r"(?:^|[.!?;\n]) {0,2}(?P<word>[^\W\d_]{2,14}\s?)$")
_OPENING = re.compile(r"[(（]")
_EDGE = " \t\n\r,.;:!?~…–—，。、；：！？～"
_FORMERLY = table("own_words")["formerly"].split("|")
_SURNAMES = frozenset(table("own_words")["surnames"])


# --- the statement within its message


def own_words(
    message: str,
    start: int,
    end: int,
    *,
    others: Sequence[tuple[int, int]],
    before: Sequence[str],
    assistant: str,
    spoken_at: datetime,
    language: str,
    whose: str,
    holds: str = "",
    referents: Referents = nothing_referred_to,
) -> OwnWords:
    """Return the statement `message[start:end]` as a memory that is understandable by itself.

    The text is empty if it is unclear what the statement is about ("three times a week"). `others`
    holds the spans of the other statements in the message, `before` the person's earlier messages,
    oldest first, and `assistant` the assistant's last message. `whose` is self, related or others,
    depending on whom the statement is about. `holds` is lasting, habit, planned, past or passing,
    depending on when the statement is true, if known. `referents(start, end)` returns the words to
    which the pronoun `message[start:end]` may refer.
    """
    language = language if language in _LANGUAGES else "en"
    start, end = max(0, start), min(len(message), end)
    start, end = _widened(message, start, end, others=others, language=language)
    start, end = _trimmed(message, start, end, language=language)
    text = message[start:end][:_READ]
    gap = "" if language in ("zh", "ja") else " "
    asked = _P["last_question"].search(assistant[-200:])
    earlier = [message[max(0, start - _READ) : start], asked[0] if asked else ""]
    earlier += [earlier_text[-_READ:] for earlier_text in reversed(before)]
    opens = message[:start].rstrip()[-1:] in ("", *".!?…:\n-")
    named = text[:1].isupper() and not opens and language != "de"
    dates = _dates_of(text, message[:start], spoken_at=spoken_at, language=language, holds=holds)
    carried = _carried_clause(
        text, message[:start], _wholes_before(message, start, others, language), language=language
    )
    completes = language == "zh" and _P["fragment_zh"].search(text)
    added = [(0, carried)] if carried and completes else []
    if not named and not added:
        added = named_person(
            text, earlier, language=language, whose=whose, referents=referents, at=start
        )
    if not added:
        lead = (
            _question_topic(text, message[:start], assistant, language)
            or carried
            or _subject(text, message[:start], others, language=language, whose=whose)
            or _matter(text, message[:start], language)
        )
        added = [(0, lead)] if lead else []
    if _is_fragment(text, dates, lead="".join(words for _, words in added), language=language):
        if not asked:
            return OwnWords("")
        added = [(0, f"[{asked[0].strip()}]{gap}")]
    added += [(dated.end, f"{gap}[{_date_text(dated)}]") for dated in dates if _is_added(dated)]
    whole = text
    for at, words in sorted(added, reverse=True):  # backwards, so that positions stay valid
        whole = whole[:at] + words + whole[at:]
    told = whole.removeprefix(f"[{asked[0].strip()}]") if asked else whole
    occurred = next((dated.first for dated in dates if dated.kind == "on"), None)
    return OwnWords(text=_cut(whole), occurred=occurred, data=_data(told, dates, language))


def _dates_of(
    text: str, before: str, *, spoken_at: datetime, language: str, holds: str
) -> list[DateMention]:
    """Return the dates in a statement.

    A day without a month ("the 7th") gets the month of the last date in the text `before`.
    """
    dates = dates_in(text, spoken_at=spoken_at, language=language, holds=holds)
    if any(_day_alone(dated, text) for dated in dates):
        said = dates_in(before[-_READ:], spoken_at=spoken_at, language=language)
        dates = [_in_named_month(dated, text, said) for dated in dates]
    return list(dates)


def _wholes_before(
    message: str, start: int, others: Sequence[tuple[int, int]], language: str
) -> list[tuple[int, int]]:
    """Return the spans of the complete statements that end shortly before `start`."""
    near = [span for span in others if start - _NEAR < span[1] <= start]
    return [span for span in near if not _is_part(message[slice(*span)], language)]


def _cut(text: str) -> str:
    """Return at most `LONGEST` characters, cut at a word boundary outside of brackets."""
    if len(text) <= LONGEST:
        return text
    short = text[:LONGEST]
    if short.rfind("[") > short.rfind("]"):
        short = short[: short.rfind("[")]
    space = short.rfind(" ")
    if text[len(short) : len(short) + 1].isascii() and space > LONGEST // 2:
        short = short[:space]
    return short.rstrip()


def _widened(
    message: str, start: int, end: int, *, others: Sequence[tuple[int, int]], language: str
) -> tuple[int, int]:
    """Extend the range by a negation, hedge or condition directly before or after it.

    If none of these precedes an English range that begins with a verb, add the word before the
    verb, since it may be the subject: "shaz" in "shaz cant do nuts". `_trimmed` removes this word
    again if it is a filler.
    """
    floor = max([one_end for _, one_end in others if one_end <= start] + [start - 60, 0])
    cjk = language in ("zh", "ja")
    lead = message[floor:start]
    lead = _P["negates_nothing"].sub(lambda found: "□" * len(found[0]), lead) if cjk else lead
    negated_before = _P["cjk_negated_before"] if cjk else _P["negated_before"]
    while found := negated_before.search(lead):
        if _belongs(found, message[start:end]):
            start -= len(lead) - start_of(found, "all")
            break
        lead = lead[end_of(found, "all") :]  # in "or no not Ballarat", try "not" next
    else:
        first = _FIRST_WORD.search(lead) if language == "en" else None
        if first and _P["begins_with_verb"].search(message[start:end].lstrip()):
            start -= len(first["word"])
    after = _P["negated_after"].search(message[end : end + 24])
    return start, end + (after.end() if after else 0)


def _belongs(found: safe_patterns.Match, statement: str) -> bool:
    gap = found["gap"].lower().split()
    negation = (found["not"] or "").lower()
    if negation and negation not in _FORMERLY and _P["starts_anew"].search(statement):
        return False
    if negation == "no" and (gap or (found["all"].lower() == "no" and not found.start())):
        return False  # "no" in "no and he …" answers a question
    return not _P["not_this"].search(f"{found['all']}{found['gap']} ".lower())


def _trimmed(message: str, start: int, end: int, *, language: str) -> tuple[int, int]:
    """Return the range without fillers and punctuation at both ends; hedges are kept."""
    whole = (start, end)
    first, last = _P[f"first_filler_{language}"], _P[f"last_filler_{language}"]
    for _ in range(6):
        while start < end and message[start] in _EDGE + ")）]":
            start += 1
        while start < end and message[end - 1] in _EDGE + "(（[":
            end -= 1
        if message[start:end].endswith((")", "）")) and not _OPENING.search(message[start:end]):
            end -= 1
        text = message[start:end]
        head, tail = first.search(text[:80]), last.search(text[-80:])
        if head and 0 < head.end() < len(text) and not _P["hedges"].search(text[: head.end()]):
            start += head.end()
        elif tail and len(tail[0]) < len(text) and not _P["hedges"].search(tail[0]):
            end -= len(tail[0])
        else:
            break
    return (start, end) if start < end else whole


def _question_topic(text: str, before: str, assistant: str, language: str) -> str:
    """Return the assistant's only question, in brackets, if the text is a short answer to it.

    Otherwise return an empty string.
    """
    cjk = language in ("zh", "ja")
    asked = _P["last_question"].search(assistant[-200:])
    is_short = len(text) <= 10 if cjk else len(text.split()) <= 4
    is_first = len(before.strip()) <= (3 if cjk else 12)
    is_only = assistant.count("?") + assistant.count("？") == 1
    if not (asked and is_short and is_first and is_only) or _P["first_person"].search(text):
        return ""
    if _P["asks_for_more"].search(asked[0]):
        return ""
    return f"[{asked[0].strip()}]{'' if cjk else ' '}"


def _carried_clause(
    text: str, before: str, others: Sequence[tuple[int, int]], *, language: str
) -> str:
    """Return the statement just before a fragment ("twice a week"), shortened and in brackets.

    Return an empty string if the text isn't a fragment or no statement is near enough.
    """
    on_it = language == "en" and len(text.split()) <= _SCRAP and _P["about_it"].search(text)
    if not on_it and not _is_part(text, language):
        return ""
    ends = {end: start for start, end in others if len(before) - _NEAR < end <= len(before)}
    matter = before[ends[max(ends)] : max(ends)].strip(_EDGE + "[]")[:_CLAUSE] if ends else ""
    if language == "zh":
        return f"[{matter}]" if len(matter) > 1 else ""
    return f"[{matter}] " if " " in matter else ""


def _matter(text: str, before: str, language: str) -> str:
    """Return the words before a statement, in brackets, if they say what "it" or "there" means.

    For example, "[what's a good song on sousaphone] i play it in marching band". Return an empty
    string if the statement says it itself, or if the words hold secrets or code.
    """
    if language != "en" or not _P["means_earlier_thing"].match(text) or _is_of_unnamed_thing(text):
        return ""
    end = len(before.rstrip(_EDGE))
    floor = max(0, end - _MATTER)
    stops = [found.end() for found in _ENDS_SENTENCE.finditer(before, max(0, floor - 1), end)]
    if floor and not stops:
        stops = [before.find(" ", floor, end)]
    start = stops[-1] if stops else 0
    if start < 0:  # a single long word
        return ""
    start, end = _trimmed(before, start, end, language=language)
    words = before[start:end]
    return "" if COVER in words or SECRET in words or " " not in words else f"[{words}] "


def _is_part(text: str, language: str) -> bool:
    """Return whether a statement only completes the previous statement, like 下午3点 ("3 pm")."""
    form = _P.get(f"fragment_{language}")
    if language == "zh" and not _P["first_person"].search(text) and is_noun_phrase(text):
        return True
    return form is not None and form.search(text.strip(_EDGE)) is not None


def _is_fragment(text: str, dates: Sequence[DateMention], *, lead: str, language: str) -> bool:
    """Return whether a text doesn't say what it is about: for example, if it is only a date."""
    if lead.strip(" []:") not in ("", "我", "I"):
        return False
    if language == "zh":
        return _P["fragment_zh"].search(text) is not None
    if _is_of_unnamed_thing(text):
        return True
    for dated in reversed(dates):
        text = text[: dated.start] + text[dated.end :]
    return bool(dates) and _P["only_when"].search(text.strip(_EDGE)) is not None


def _is_of_unnamed_thing(text: str) -> bool:
    """Return whether a text only says what was done with "it": "i finally sold it"."""
    return len(text.split()) <= _SCRAP and _P["done_with_it"].search(text) is not None


def _subject(
    text: str, before: str, others: Sequence[tuple[int, int]], *, language: str, whose: str
) -> str:
    """Return "[I]" or "[我]" if a list item or a Chinese clause lacks this subject, else ""."""
    if whose == "related" and language == "zh" and _P["zh_person"].match(text):
        is_named = _P["first_person"].search(text[:4]) or text[0] in "家他她你"
        return "" if is_named or text[0] in _SURNAMES else "[我]"
    if whose != "self":
        return ""
    if language == "zh":
        said = _P["first_person"].search(text) or _P["said_to_assistant"].search(text)
        return "" if said or _P["begins_with_is"].search(text) or begins_with_noun(text) else "[我]"
    run: list[str] = []
    begin = len(before)
    for start, end in sorted(others, reverse=True):  # the statements right before, one by one
        if end <= begin and begin - end < 8 and not _ENDS_SENTENCE.search(before[end:begin]):
            run, begin = [*run, before[start:end].strip()], start
    said_i = any(statement.lower().startswith(("i ", "i'", "i’", "im ")) for statement in run)
    return "[I] " if language == "en" and said_i and _P["begins_with_verb"].search(text) else ""


# --- dates and data


def _day_alone(dated: DateMention, text: str) -> re.Match[str] | None:
    return _DAY_ALONE.search(text[dated.start : dated.end])


def _in_named_month(dated: DateMention, text: str, said: Sequence[DateMention]) -> DateMention:
    """Move a bare day ("the 7th") to the month of the last full date in `said`."""
    alone = _day_alone(dated, text)
    named = next((mention.first for mention in reversed(said) if not mention.relative), None)
    if alone is None or named is None:
        return dated
    try:
        day = named.replace(day=int(alone[0]))
    except ValueError:
        return dated
    return replace(dated, first=day, last=day)


def data_of(text: str, *, spoken_at: datetime, language: str) -> dict[str, Any]:
    """Return the dates, amounts, names and family relation in a text, as in `OwnWords.data`."""
    return _data(text, dates_in(text, spoken_at=spoken_at, language=language), language)


def _is_added(dated: DateMention) -> bool:
    """Return whether a date is appended to the text in brackets.

    A date is appended if it is relative ("tomorrow"), unless it is a beginning ("since last week")
    that is longer than a day.
    """
    return dated.relative and (dated.kind != "since" or dated.first == dated.last)


def _date_text(dated: DateMention) -> str:
    """Return a date or range as text: 2026-12-04, 2026-12 or 2026-12-07 – 2026-12-13."""
    first, last = dated.first, dated.last
    if first == last or dated.kind == "since":
        return first.isoformat()
    if (first, last) == year_days(first.year):
        return str(first.year)
    if (first, last) == month_of(first.year, first.month):
        return f"{first:%Y-%m}"
    return f"{first.isoformat()} – {last.isoformat()}"


def _data(text: str, dates: Sequence[DateMention], language: str) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for dated in reversed(dates):
        if dated.kind == "on":
            data["date"] = dated.first.isoformat()
            data |= {"until": dated.last.isoformat()} if dated.last > dated.first else {}
        else:
            data[dated.kind] = (dated.first if dated.kind == "since" else dated.last).isoformat()
    amounts = [found[0].strip() for found in _P["amount"].finditer(text)]
    people = list(people_in(text, language))
    names = [person.name for person in people if person.name]
    names += [found["who"] for found in _P["named"].finditer(text)]
    if language in ("en", "es", "fr"):
        names += [person.name for person in names_in(text)]
    data |= {"amounts": amounts} if amounts else {}
    data |= {"names": list(dict.fromkeys(names))} if names else {}
    data |= {"relation": people[0].relation} if people else {}
    return data


def names_people_or_dates(text: str, *, spoken_at: datetime, language: str) -> bool:
    """Return whether a text mentions a relative, a friend, a name ("called Mia") or a date."""
    if any(True for _ in people_in(text, language)) or _P["named"].search(text):
        return True
    return bool(dates_in(text, spoken_at=spoken_at, language=language))
