"""Turn a statement in a message into a memory in the person's own words.

Fillers are removed at both ends. Square brackets add what the words alone don't tell: who a pronoun
means, the subject of a list, the question that is answered, the date of "tomorrow". Nothing is
reworded, and no negation, hedge or condition is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple

from memories.extraction.word_tables import patterns, table
from memories.extraction.wording.calendar_days import Dated
from memories.extraction.wording.dates import dates_in
from memories.screening import linear

LONGEST = 400  # characters of a memory
_READ = 2_000  # characters that are read of a statement, before it, and of an earlier message


@dataclass(frozen=True)
class OwnWords:
    """The text of a memory, its date, and its `data`.

    `data` has any of `date`, `until`, `since` (ISO days), `amounts`, `names` and `relation`.
    """

    text: str
    occurred: date | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


_P = {name: linear.compile(one) for name, one in patterns("own_words").items()}
_LANGUAGES = ("en", "de", "es", "fr", "zh", "ja")
_EDGE = " \t\n\r,.;:!?~…–—，。、；：！？～"
_GENDERS = {"several": "s", "f": "f", "m": "m", "either": "", "pet": "p"}
_NO_NAMES = frozenset(table("own_words")["no_names"].split("|"))


def _start(found: linear.Match, group: str) -> int:
    return int(found.start(found.re.groupindex[group]))


def _end(found: linear.Match, group: str) -> int:
    return int(found.end(found.re.groupindex[group]))


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
) -> OwnWords:
    """Return the statement `message[start:end]` as a memory that stands alone.

    `others` are the other statements of the message, `before` the person's earlier messages, oldest
    first, `assistant` the assistant's last message, `whose` is self, related or others, and `holds`
    how the statement holds (lasting, habit, planned, past, passing), if known.
    """
    language = language if language in _LANGUAGES else "en"
    start, end = max(0, start), min(len(message), end)
    start, end = _widened(message, start, end, others=others, language=language)
    start, end = _trimmed(message, start, end, language=language)
    text = message[start:end][:_READ]
    asked = _P["last_question"].search(assistant[-200:])
    earlier = [message[max(0, start - _READ) : start], asked[0] if asked else ""]
    earlier += [one[-_READ:] for one in reversed(before)]
    opens = message[:start].rstrip()[-1:] in ("", *".!?…:\n-")
    named = text[:1].isupper() and not opens and language != "de"
    added = [] if named else _meant(text, earlier, language=language, whose=whose)
    if not added:
        lead = _matter(text, message[:start], assistant, language) or _subject(
            text, message[:start], others, language=language, whose=whose
        )
        added = [(0, lead)] if lead else []
    dates = dates_in(text, spoken_at=spoken_at, language=language, holds=holds)
    gap = "" if language in ("zh", "ja") else " "
    added += [(one.end, f"{gap}[{_written(one)}]") for one in dates if one.relative]
    whole = text
    for at, words in sorted(added, reverse=True):  # so that places stay true
        whole = whole[:at] + words + whole[at:]
    told = next((one.first for one in dates if one.kind == "on"), None)
    return OwnWords(text=_cut(whole), occurred=told, data=_data(whole, dates, language))


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
    """Extend the range by a negation, hedge or condition directly before or after it."""
    floor = max([one_end for _, one_end in others if one_end <= start] + [start - 60, 0])
    cjk = language in ("zh", "ja")
    lead = message[floor:start]
    lead = _P["negates_nothing"].sub(lambda found: "□" * len(found[0]), lead) if cjk else lead
    found = (_P["cjk_negated_before"] if cjk else _P["negated_before"]).search(lead)
    if found and _belongs(found, message[start:end]):
        start = floor + _start(found, "all")
    after = _P["negated_after"].search(message[end : end + 24])
    return start, end + (after.end() if after else 0)


def _belongs(found: linear.Match, statement: str) -> bool:
    gap = found["gap"].lower().split()
    if found["not"] and _P["starts_anew"].search(statement):
        return False
    negation = (found["not"] or "").lower()
    if negation == "no" and (gap or (found["all"].lower() == "no" and not found.start())):
        return False  # "no and he …" is an answer
    return not _P["not_this"].search(f"{found['all']}{found['gap']} ".lower())


def _trimmed(message: str, start: int, end: int, *, language: str) -> tuple[int, int]:
    """Remove fillers, punctuation and requests at both ends, unless one negates."""
    whole = (start, end)
    asked = _P["asks"].search(message[start:end])
    if (
        asked
        and asked.start() > 0
        and not _P["hedges"].search(message[start + asked.start() : end])
    ):
        end = start + asked.start()
    first, last = _P[f"first_filler_{language}"], _P[f"last_filler_{language}"]
    for _ in range(6):
        while start < end and message[start] in _EDGE + ")）]":
            start += 1
        while start < end and message[end - 1] in _EDGE + "(（[":
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


# --- who is meant


class _Person(NamedTuple):
    start: int
    words: str
    gender: str = ""
    relation: str = ""
    name: str = ""


def _people(text: str, language: str) -> Iterator[_Person]:
    """Return the relatives and friends named in `text`."""
    if language in ("zh", "ja"):
        for found in (_P["zh_person"] if language == "zh" else _P["ja_person"]).finditer(text):
            name = (found["name"] or "")[1:]
            words = found["who"] + (found["name"] or "").removeprefix("叫")
            gender = _cjk_gender(found["relation"])
            yield _Person(_start(found, "who"), words, gender, found["relation"], name)
        return
    for found in _P["person"].finditer(text):
        if found["own"] or found["name"] or _start(found, "who") == 0:
            name = (found["name"] or "").lstrip(", ")
            group = next(group for group in _GENDERS if found[group])
            words = f"{found['who']} {name}".strip()
            yield _Person(_start(found, "who"), words, _GENDERS[group], found[group].lower(), name)


def _cjk_gender(word: str) -> str:
    if any(one in word for one in ("父母", "爸妈", "双胞胎", "两个", "们", "両親")):
        return "s"
    if any(one in word for one in "猫貓狗犬"):
        return "p"
    if any(one in word for one in "父夫公爷爸男哥弟叔舅儿子兒兄息") and not any(
        one in word for one in "女妻孩妈"
    ):
        return "m"
    return "f" if any(one in word for one in "妈媽母姐姊妹姨姑婶婆妻女奶姥嫂闺太娘姉媳") else ""


def _fits(pronoun: str, person: str) -> bool:
    if pronoun in ("s", "p"):
        return pronoun == person
    return person in (pronoun, "", "p") or (not pronoun and person != "s")


def _antecedent(earlier: Sequence[str], pronoun: str, language: str) -> str:
    """Return the nearest person named before who matches."""
    for number, text in enumerate(earlier):
        people = [*_people(text, language)]
        if language in ("en", "es", "fr") and pronoun not in ("s", "p") and number < 2:
            taken = [(one.start, one.start + len(one.words)) for one in people]
            people += [
                one
                for one in _names(text)
                if not any(start <= one.start < end for start, end in taken)
            ]
        for one in sorted(people, reverse=True):
            if _fits(pronoun, one.gender):
                return one.words
    return ""


def _names(text: str) -> Iterator[_Person]:
    """Return capitalised words within a sentence except places, months and weekdays."""
    for found in _P["name"].finditer(text):
        before, words = text[: _start(found, "who")].rstrip(" "), found["who"]
        if (
            before[-1:] in tuple('.!?:…\n"“¿¡-')
            or _P["place"].search(before[-8:])
            or words.split()[-1] in _NO_NAMES
        ):
            continue
        if before or _P["first_name"].search(text) or _P["ours"].search(words):
            yield _Person(_start(found, "who"), words, name=words.split(" ", 1)[-1])


def _meant(
    text: str, earlier: Sequence[str], *, language: str, whose: str
) -> list[tuple[int, str]]:
    """Add the person after the first pronoun, or in front if a relative isn't named at all."""
    cjk = language in ("zh", "ja")
    named = [one.start for one in _people(text, language)]
    named += [] if cjk or language == "de" else [one.start for one in _names(text)]
    start, end, gender = _pronoun(text, language)
    if gender:
        who = "" if any(at < start for at in named) else _antecedent(earlier, gender, language)
        return [(end, f"{'' if cjk else ' '}[{who}]")] if who else []
    if whose != "related" or named or _P["starts_anew"].search(text) or _P["ours"].search(text):
        return []
    who = _antecedent([earlier[0].rpartition("\n")[2], *earlier[1:]], "", language)
    return [(0, f"[{who}]" if cjk else f"[{who}:] ")] if who else []


def _pronoun(text: str, language: str) -> tuple[int, int, str]:
    """Return the place of the first third-person pronoun, and whom it may mean."""
    found = _P[f"pronoun_{language}"].search(text)
    if found is None or _P["no_pronoun"].search(text[max(0, found.start()) :].lower().strip()):
        return 0, 0, ""
    gender = next(group for group in "fmsp" if found.groupdict().get(group))
    return _start(found, "all"), _end(found, "all"), gender


def _matter(text: str, before: str, assistant: str, language: str) -> str:
    """Return the topic of the assistant's plain question, to put before a short answer."""
    cjk = language in ("zh", "ja")
    long = len(text) > 10 or "は" in text if cjk else len(text.split()) > 4
    asked = _P["last_question"].search(assistant[-200:])
    late = len(before.strip()) > (3 if cjk else 12)
    plain = assistant.count("?") + assistant.count("？") == 1
    if long or late or not plain or asked is None or _P["first_person"].search(text):
        return ""
    question = asked[0].strip(" ?？¿\n")
    found = _P[f"question_{language}"].search(question)
    if not found and not cjk and _P["asks_briefly"].search(question):
        return f"[{question}?] "
    matter = next((words for words in found.groups() if words), "").strip() if found else ""
    if not matter or len(matter.split()) > 4 or any(one in matter for one in "做想要您你请"):
        return ""
    return f"[{matter}:]" if cjk else f"[{matter}:] "


def _subject(
    text: str, before: str, others: Sequence[tuple[int, int]], *, language: str, whose: str
) -> str:
    """Return the subject that a list item or a Chinese clause leaves out."""
    if whose == "related" and language == "zh" and _P["zh_person"].search(text[:4]):
        return "" if _P["first_person"].search(text[:4]) or text[0] in "家他她你" else "[我]"
    if whose != "self":
        return ""
    if language == "zh":
        return (
            ""
            if _P["first_person"].search(text) or _P["said_to_assistant"].search(text)
            else "[我]"
        )
    if language == "de":
        return (
            "[ich] "
            if _P["begins_with_ich_verb"].search(text) and not _P["no_verb"].search(text)
            else ""
        )
    run = [
        before[start:end] for start, end in others if end <= len(before) and len(before) - end < 8
    ]
    said_i = any(one.lower().startswith(("i ", "i'", "i’", "im ")) for one in run)
    return "[I] " if language == "en" and said_i and _P["begins_with_verb"].search(text) else ""


# --- dates and data


def _written(dated: Dated) -> str:
    """Return the date or range: 2026-12-04, 2026-12, 2026-12-07 – 2026-12-13."""
    first, last = dated.first, dated.last
    if first == last or dated.kind == "since":
        return first.isoformat()
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        return str(first.year)
    return f"{first.isoformat()} – {last.isoformat()}"


def _data(text: str, dates: Sequence[Dated], language: str) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for one in reversed(dates):
        if one.kind == "on":
            data["date"] = one.first.isoformat()
            data |= {"until": one.last.isoformat()} if one.last > one.first else {}
        else:
            data[one.kind] = (one.first if one.kind == "since" else one.last).isoformat()
    amounts = [found[0].strip() for found in _P["amount"].finditer(text)]
    people = list(_people(text, language))
    names = [one.name for one in people if one.name]
    names += [found["who"] for found in _P["named"].finditer(text)]
    if language in ("en", "es", "fr"):
        names += [one.name for one in _names(text)]
    data |= {"amounts": amounts} if amounts else {}
    data |= {"names": list(dict.fromkeys(names))} if names else {}
    data |= {"relation": people[0].relation} if people else {}
    return data


def names_people_or_dates(text: str, *, spoken_at: datetime, language: str) -> bool:
    """Tell whether the words of `text` alone name a person or a date."""
    if any(True for _ in _people(text, language)) or _P["named"].search(text):
        return True
    return bool(dates_in(text, spoken_at=spoken_at, language=language))
