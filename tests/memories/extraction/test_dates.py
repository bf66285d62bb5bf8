"""The days that a text names, spoken on Wednesday, 25 November 2026."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.extraction.wording.calendar_days import DateMention
from memories.extraction.wording.dates import dates_in

SPOKEN = datetime(2026, 11, 25, 10, tzinfo=UTC)
LANGUAGES = ("en", "zh", "es", "de", "fr", "ja")


def found(text: str, language: str) -> list[DateMention]:
    return dates_in(text, spoken_at=SPOKEN, language=language)


def only(text: str, language: str) -> DateMention:
    (one,) = found(text, language)
    return one


@pytest.mark.parametrize(
    ("language", "text", "day"),
    [
        ("en", "my exam is next Friday", "2026-12-04"),
        ("en", "dentist friday at 3", "2026-11-27"),
        ("en", "i broke my leg on friday", "2026-11-20"),
        ("en", "we fly the day after tomorrow", "2026-11-27"),
        ("en", "back on the 5th", "2026-12-05"),
        ("en", "last Monday", "2026-11-23"),
        ("en", "screening on tuesday 15th at 10am", "2026-12-15"),
        ("en", "screening is on wednesday, the 16th", "2026-12-16"),
        ("en", "my lesson got moved to friday", "2026-11-27"),
        ("en", "my exam is moved to the 20th", "2026-12-20"),
        ("zh", "考试改到周五了", "2026-11-27"),
        ("zh", "我下周三考试", "2026-12-02"),
        ("zh", "大后天出发", "2026-11-28"),
        ("zh", "三天后面试", "2026-11-28"),
        ("zh", "下个月15号体检", "2026-12-15"),
        ("zh", "5号体检", "2026-12-05"),
        ("es", "el examen es pasado mañana", "2026-11-27"),
        ("es", "el lunes que viene", "2026-11-30"),
        ("es", "llegué el jueves pasado", "2026-11-19"),
        ("de", "nächsten Freitag habe ich Prüfung", "2026-12-04"),
        ("de", "übermorgen Zahnarzt", "2026-11-27"),
        ("de", "am Montag", "2026-11-30"),
        ("fr", "vendredi prochain", "2026-11-27"),
        ("fr", "après-demain", "2026-11-27"),
        ("ja", "来週の金曜に試験", "2026-12-04"),
        ("ja", "明後日", "2026-11-27"),
        ("ja", "三日後", "2026-11-28"),
    ],
)
def test_relative_wording_is_a_day(language: str, text: str, day: str) -> None:
    one = only(text, language)
    assert one.first == one.last == date.fromisoformat(day)
    assert one.relative


@pytest.mark.parametrize(
    ("language", "text", "day"),
    [
        ("en", "on 3 March 2019", "2019-03-03"),
        ("en", "the colloquium, October 22nd", "2027-10-22"),
        ("en", "by 2026-12-04", "2026-12-04"),
        ("en", "Friday, Dec 4", "2026-12-04"),
        ("zh", "2024年5月12日", "2024-05-12"),
        ("zh", "十二月三号", "2026-12-03"),
        ("es", "el 12 de mayo de 2024", "2024-05-12"),
        ("es", "se la entrego el 12 de dic", "2026-12-12"),
        ("de", "Freitag, den 4. Dezember", "2026-12-04"),
        ("de", "3.5.2027", "2027-05-03"),
        ("fr", "1er mai 2024", "2024-05-01"),
        ("ja", "文化祭は10/4", "2027-10-04"),
        ("ja", "十二月三日", "2026-12-03"),
    ],
)
def test_a_calendar_day_is_not_relative(language: str, text: str, day: str) -> None:
    one = only(text, language)
    assert one.first == one.last == date.fromisoformat(day)
    assert not one.relative


@pytest.mark.parametrize(
    ("language", "text", "first", "last"),
    [
        ("en", "the move is in March", "2027-03-01", "2027-03-31"),
        ("en", "he died 4 years ago in March", "2022-03-01", "2022-03-31"),
        ("en", "we wed in June last year", "2025-06-01", "2025-06-30"),
        ("zh", "我爸四年前的三月走的", "2022-03-01", "2022-03-31"),
        ("en", "holiday 5–9 May", "2027-05-05", "2027-05-09"),
        ("en", "Rome from May 5 to June 2", "2027-05-05", "2027-06-02"),
        ("en", "next week", "2026-11-30", "2026-12-06"),
        ("en", "this weekend", "2026-11-28", "2026-11-29"),
        ("en", "two weeks ago", "2026-11-09", "2026-11-15"),
        ("en", "next Monday to Wednesday", "2026-11-30", "2026-12-02"),
        ("zh", "下周", "2026-11-30", "2026-12-06"),
        ("zh", "上个月", "2026-10-01", "2026-10-31"),
        ("zh", "三月去日本", "2027-03-01", "2027-03-31"),
        ("zh", "3月5日到9日", "2027-03-05", "2027-03-09"),
        ("zh", "年底回家", "2026-12-01", "2026-12-31"),
        ("zh", "这周末", "2026-11-28", "2026-11-29"),
        ("es", "del 5 al 9 de mayo", "2027-05-05", "2027-05-09"),
        ("es", "el año pasado", "2025-01-01", "2025-12-31"),
        ("de", "vor zwei Jahren", "2024-01-01", "2024-12-31"),
        ("de", "5.–9. Mai", "2027-05-05", "2027-05-09"),
        ("fr", "la semaine prochaine", "2026-11-30", "2026-12-06"),
        ("fr", "mi-mai", "2027-05-11", "2027-05-20"),
        ("ja", "来月", "2026-12-01", "2026-12-31"),
        ("ja", "今月末", "2026-11-21", "2026-11-30"),
    ],
)
def test_a_range_has_its_first_and_last_day(
    language: str, text: str, first: str, last: str
) -> None:
    one = only(text, language)
    assert (one.first, one.last) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    ("language", "text", "kind", "first"),
    [
        ("en", "vegan since March", "since", "2026-03-01"),
        ("en", "i lived here since 2016", "since", "2016-01-01"),
        ("en", "rent is due by friday", "until", "2026-11-27"),
        ("zh", "从三月开始上班", "since", "2027-03-01"),
        ("zh", "到下周五为止", "until", "2026-12-04"),
        ("es", "desde marzo", "since", "2026-03-01"),
        ("de", "seit 2016", "since", "2016-01-01"),
        ("fr", "depuis 2019", "since", "2019-01-01"),
        ("ja", "金曜までに", "until", "2026-11-27"),
    ],
)
def test_a_start_and_an_end_are_no_single_day(
    language: str, text: str, kind: str, first: str
) -> None:
    one = only(text, language)
    assert (one.kind, one.first) == (kind, date.fromisoformat(first))


def test_what_holds_began_in_the_past_and_what_is_planned_begins_ahead() -> None:
    for text, language, month in (
        ("我从三月开始吃素", "zh", 3),
        ("从九月开始学吉他", "zh", 9),
        ("三月からベジタリアンです", "ja", 3),
        ("九月から柔道をしています", "ja", 9),
    ):
        for holds, year in (("lasting", 2026), ("habit", 2026), ("planned", 2027)):
            (one,) = dates_in(text, spoken_at=SPOKEN, language=language, holds=holds)
            assert (one.kind, one.first) == ("since", date(year, month, 1)), (text, holds)


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


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "me encanta el mar"),
        ("en", "every Monday i swim"),
        ("en", "on Mondays"),
        ("en", "closed monday and tuesday"),
        ("en", "I got the kids Sunday to Wednesday"),
        ("en", "I always ski in February"),
        ("en", "my birthday is March 3"),
        ("en", "for 3 years, i'm 33, at 5pm, 300 dollars, python 3.11.2"),
        ("en", "12/04/2026"),
        ("en", "on the 5th floor"),
        ("en", "the second Saturday of the month"),
        ("en", "the Monday run"),
        ("en", "I may march"),
        ("en", "February 30"),
        ("en", "rent is due every month on the 1st"),
        ("zh", "每周三游泳"),
        ("zh", "每个月月底交报表"),
        ("zh", "每到月底就很忙"),
        ("zh", "每年年底回老家"),
        ("zh", "每个月15号发工资"),
        ("zh", "周二周四上课"),
        ("zh", "养了九年了，三个月，地铁5号线"),
        ("zh", "农历三月初八"),
        ("zh", "下周三次"),
        ("es", "los lunes"),
        ("es", "por la mañana"),
        ("de", "jeden Montag"),
        ("de", "montags, seit 3 Jahren, guten morgen"),
        ("de", "Montag bis Freitag"),
        ("fr", "tous les jeudis"),
        ("fr", "le lundi, depuis 3 ans"),
        ("fr", "depuis mon accouchement"),
        ("ja", "毎週火曜"),
        ("ja", "火曜と木曜"),
        ("ja", "第三土曜です"),
        ("ja", "5日間"),
    ],
)
def test_what_recurs_or_is_no_day_is_no_date(language: str, text: str) -> None:
    assert found(text, language) == []


@pytest.mark.parametrize(
    ("holds", "days"),
    [("planned", ["2026-11-27"]), ("past", ["2026-11-20"]), ("habit", [])],
)
def test_how_a_statement_holds_decides_on_a_weekday(holds: str, days: list[str]) -> None:
    dates = dates_in("camogie on Friday", spoken_at=SPOKEN, language="en", holds=holds)
    assert [one.first.isoformat() for one in dates] == days


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


def test_what_began_with_something_in_a_month_lies_behind() -> None:
    assert only("no lifting since my back op in march", "en").first == date(2026, 3, 1)


def test_a_weekday_that_contradicts_its_day_of_the_month_is_no_date() -> None:
    assert not found("screening on monday 15th at 10am", "en")
