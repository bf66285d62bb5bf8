"""The days that a text names, spoken on Wednesday, 25 November 2026."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.extraction.wording.calendar_days import DateMention
from memories.extraction.wording.dates import dates_in
from tests.memories.extraction.scored import Floors, Row, assert_floor, groups

SPOKEN = datetime(2026, 11, 25, 10, tzinfo=UTC)
FLOORS: Floors = {}
LANGUAGES = ("en", "zh", "es", "de", "fr", "ja")


def found(text: str, language: str) -> list[DateMention]:
    return dates_in(text, spoken_at=SPOKEN, language=language)


def only(text: str, language: str) -> DateMention:
    (one,) = found(text, language)
    return one


def days(row: Row) -> str:
    """The dates of a row of the table, such as "2026-11-30..2026-12-06 relative"."""
    dates = dates_in(row["text"], spoken_at=SPOKEN, language=row["language"], holds=row["holds"])
    return "; ".join(map(shown, dates))


def shown(one: DateMention) -> str:
    first, last = one.first.isoformat(), one.last.isoformat()
    kind = "" if one.kind == "on" else one.kind
    parts = first if first == last else f"{first}..{last}", kind, "relative" * one.relative
    return " ".join(filter(None, parts))


@pytest.mark.parametrize(("subject", "language"), groups("dates"))
def test_dates_reach_their_floor(subject: str, language: str) -> None:
    assert_floor("dates", subject, language, days, FLOORS)


# Every weekday and month by its long and short names; Monday and January first.
_WEEKDAYS = {
    "en": "monday tuesday wednesday thursday friday saturday sunday",
    "de": "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "zh": "周一 周二 周三 周四 周五 周六 周日",
    "ja": "月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日",
}
_NEXT = {"en": "next {}", "de": "nächsten {}", "es": "el próximo {}", "fr": "{} prochain"}
_NEXT |= {"zh": "下{}看牙", "ja": "来週の{}に歯医者"}
_MONTHS = {
    "en": (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sept oct nov dec",
    ),
    "de": (
        "januar februar märz april mai juni juli august september oktober november dezember",
        "jan feb mär apr mai jun jul aug sept okt nov dez",
    ),
    "es": (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "ene feb mar abr may jun jul ago sept oct nov dic",
    ),
    "fr": (
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "janv févr mars avr mai juin juil août sept oct nov déc",
    ),
}


@pytest.mark.parametrize("language", _WEEKDAYS)
def test_every_weekday_is_known(language: str) -> None:
    found = {
        name: only(_NEXT[language].format(name), language).first.weekday()
        for name in _WEEKDAYS[language].split()
    }
    assert list(found.values()) == list(range(7)), found
    for short in ("thu", "thur", "thurs") if language == "en" else ():
        assert only(f"dentist next {short}", language).first.weekday() == 3


@pytest.mark.parametrize("language", _MONTHS)
def test_every_month_is_known(language: str) -> None:
    for names in _MONTHS[language]:
        found = {name: only(f"12 {name} 2027", language).first for name in names.split()}
        assert [one.month for one in found.values()] == list(range(1, 13)), found


def test_a_date_stands_where_it_was_said() -> None:
    text = "über 🎉 my exam is next Friday, ok"
    one = only(text, "en")
    assert text[one.start : one.end] == "next Friday"


_PIECES = st.sampled_from(
    [
        *(
            "next ",
            "friday ",
            "may ",
            "31 ",
            "feb ",
            "since ",
            "in ",
            "999 years ago ",
            "9999 ",
            "/",
        ),
        *(
            "下",
            "周",
            "三",
            "月",
            "十",
            "号",
            "年",
            "前",
            "昨天",
            "から",
            "日",
            "底",
            "-",
            " 99999999 ",
        ),
        *("nächste ", "woche ", "hace ", "dos ", "semanas ", "le ", "ce ", "prochain ", "\n", "é"),
    ]
)


@given(text=st.lists(_PIECES | st.text(max_size=5), max_size=30).map("".join))
def test_no_text_raises_and_ranges_are_in_order(text: str) -> None:
    for language in LANGUAGES:
        for one in found(text, language):
            assert one.first <= one.last
            assert 0 <= one.start < one.end <= len(text)
