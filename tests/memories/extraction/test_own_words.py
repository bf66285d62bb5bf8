"""A statement becomes a memory in the person's own words, spoken on 25 November 2026."""

import json
import re
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.extraction.wording.chinese_subjects import is_noun_phrase
from memories.extraction.wording.own_words import LONGEST, OwnWords, own_words
from memories.extraction.wording.people import lacks_name, named_person
from memories.reader import reader

SPOKEN = datetime(2026, 11, 25, 10, tzinfo=UTC)


def kept(
    message: str,
    quote: str = "",
    *,
    language: str = "en",
    whose: str = "self",
    before: tuple[str, ...] = (),
    assistant: str = "",
    others: tuple[str, ...] = (),
) -> OwnWords:
    """The own words of `quote` in `message`, or of all of it."""
    start = message.index(quote)
    spans = [(message.index(one), message.index(one) + len(one)) for one in others]
    return own_words(
        message,
        start,
        start + len(quote or message),
        others=spans,
        before=before,
        assistant=assistant,
        spoken_at=SPOKEN,
        language=language,
        whose=whose,
        referents=partial(
            reader().referents, message, before=[*reversed(before)], assistant=assistant
        ),
    )


@pytest.mark.parametrize(
    ("language", "message", "text"),
    [
        ("en", "so yeah, um I live in Gdynia, you know", "I live in Gdynia"),
        ("en", "please always answer in French", "always answer in French"),
        ("en", "no peanuts please", "no peanuts"),
        ("zh", "嗯那个，我住在大连，然后", "我住在大连"),
        ("es", "pues y vivo en Sevilla, o sea", "vivo en Sevilla"),
        ("de", "also ich bin Lehrerin halt", "ich bin Lehrerin"),
        ("fr", "ben du coup j'habite à Brest, quoi", "j'habite à Brest"),
        ("ja", "えっと、私は教師です。ありがとう", "私は教師です"),
    ],
)
def test_fillers_and_requests_come_off(language: str, message: str, text: str) -> None:
    assert kept(message, language=language).text == text


@pytest.mark.parametrize(
    ("language", "message", "quote", "text"),
    [
        ("en", "I don't like tea", "like tea", "I don't like tea"),
        ("en", "I don't like tea", "tea", "I don't like tea"),
        ("en", "I don't want to move", "move", "I don't want to move"),
        ("zh", "我不想搬家", "搬家", "我不想搬家"),
        ("en", "well I used to smoke", "smoke", "I used to smoke"),
        ("en", "maybe I'm anemic", "I'm anemic", "maybe I'm anemic"),
        ("en", "if I move to Berlin", "I move to Berlin", "if I move to Berlin"),
        ("en", "I eat meat no longer", "I eat meat", "I eat meat no longer"),
        ("zh", "我不吃香菜", "吃香菜", "我不吃香菜"),
        ("zh", "可能我对尘螨过敏", "我对尘螨过敏", "可能我对尘螨过敏"),
        ("zh", "我以前抽烟", "抽烟", "我以前抽烟"),
        ("es", "ya no como carne", "como carne", "ya no como carne"),
        ("de", "ich esse kein Fleisch", "Fleisch", "kein Fleisch"),
        ("fr", "jamais de sucre", "de sucre", "jamais de sucre"),
        ("ja", "私は肉を食べない", "私は肉を食べ", "私は肉を食べない"),
    ],
)
def test_a_negation_beside_the_range_is_taken_in(
    language: str, message: str, quote: str, text: str
) -> None:
    assert kept(message, quote, language=language).text == text


@pytest.mark.parametrize(
    ("language", "message", "quote", "text"),
    [
        ("en", "no and he said I'm fine with cats", "I'm fine with cats", "I'm fine with cats"),
        ("en", "don't forget dentist appointment", "dentist appointment", "dentist appointment"),
        ("zh", "别忘了我对花生过敏", "我对花生过敏", "我对花生过敏"),
        ("zh", "我特别喜欢吃辣", "喜欢吃辣", "[我]喜欢吃辣"),
    ],
)
def test_a_negation_of_something_else_is_left(
    language: str, message: str, quote: str, text: str
) -> None:
    assert kept(message, quote, language=language).text == text


@pytest.mark.parametrize(
    ("language", "message", "quote", "text"),
    [
        ("en", "visited my aunt Zofia. she lives in Gdynia", "she lives in Gdynia",
         "she [my aunt Zofia] lives in Gdynia"),
        ("en", "our Mia is here and her knee hurts", "her knee hurts", "her [our Mia] knee hurts"),
        ("en", "my sister came, can't stand cilantro", "can't stand cilantro",
         "[my sister:] can't stand cilantro"),
        ("en", "my brother Tom works at sea. she hates it", "she hates it", "she hates it"),
        ("en", "toms mum stays for easter, she cant eat eggs", "she cant eat eggs",
         "she [toms mum] cant eat eggs"),
        ("en", "she loves mum. he snores", "he snores", "he snores"),
        ("en", "my husband's brother is here, he snores", "he snores",
         "he [my husband's brother] snores"),
        ("en", "my aunt met Priya, she lives in Rome", "she lives in Rome",
         "she [my aunt] lives in Rome"),
        ("en", "perhaps later. she knits", "she knits", "she knits"),
        ("en", "my lad Rory cant do dairy, comes out in hives", "comes out in hives",
         "[my lad Rory:] comes out in hives"),
        ("en", "Ailsa came, shes mad on puffins and cant have dairy", "cant have dairy",
         "[Ailsa:] cant have dairy"),
        ("en", "he hates mushrooms and is allergic to nuts", "is allergic to nuts",
         "[he:] is allergic to nuts"),
        ("en", "back on Islay, the dr says its sciatica so shes put me on pills",
         "shes put me on pills", "shes [the dr] put me on pills"),
        ("zh", "我弟小名叫狗娃子 学土木的", "学土木的", "[我弟]学土木的"),
        ("en", "Marta's coming over, she can't eat nuts", "she can't eat nuts",
         "she [Marta] can't eat nuts"),
        ("en", "dinner ideas? Marta comes over, she can't eat nuts", "she can't eat nuts",
         "she [Marta] can't eat nuts"),
        ("en", "Kofi and Ama come. they eat no pork", "they eat no pork",
         "they [Kofi and Ama] eat no pork"),
        ("en", "see you Monday and Tuesday. they rest", "they rest", "they rest"),
        ("zh", "小雨要来吃饭，她不能吃坚果", "她不能吃坚果", "她[小雨]不能吃坚果"),
        ("en", "Who pays? she knits", "she knits", "she knits"),
        ("zh", "昨天见了我小姨，她住在青岛", "她住在青岛", "她[我小姨]住在青岛"),
        ("zh", "我妈身体还行，做菜咸", "做菜咸", "[我妈]做菜咸"),
        ("es", "mi mamá vive en Cali. ella tiene 71", "ella tiene 71", "ella [mi mamá] tiene 71"),
        ("de", "meine Mutter kommt, sie hat Parkinson", "sie hat Parkinson",
         "sie [meine Mutter] hat Parkinson"),
        ("fr", "ma daronne dort, elle bosse de nuit", "elle bosse de nuit",
         "elle [ma daronne] bosse de nuit"),
        ("ja", "妹に会った。彼女は看護師です", "彼女は看護師です", "彼女[妹]は看護師です"),
    ],
)  # fmt: skip
def test_who_is_meant_is_added(language: str, message: str, quote: str, text: str) -> None:
    assert kept(message, quote, language=language, whose="related").text == text


@pytest.mark.parametrize(
    ("language", "message", "quote", "text"),
    [
        ("en", "im on 3.8 at work so no match statement", "im on 3.8 at work so",
         "im on 3.8 at work"),
        ("zh", "我对芒果过敏所以别放", "我对芒果过敏所以", "我对芒果过敏"),
        ("en", "the cake and the pie. i finally sold it", "i finally sold it", ""),
    ],
)  # fmt: skip
def test_a_filler_comes_off_and_what_names_nothing_is_left(
    language: str, message: str, quote: str, text: str
) -> None:
    assert kept(message, quote, language=language, whose="related").text == text


@pytest.mark.parametrize(
    ("language", "message", "quote", "others", "text"),
    [
        ("zh", "我在学游泳，一周三次", "一周三次", ("我在学游泳",), "[我在学游泳]一周三次"),
        ("zh", "我租房子呢一个月四千五", "一个月四千五", ("我租房子",), "[我租房子]一个月四千五"),
        ("zh", "一个月四千五", "一个月四千五", (), ""),
        ("en", "I do yoga now, three times a week", "three times a week", ("I do yoga now",),
         "[I do yoga now] three times a week"),
        ("en", "for august", "for august", (), ""),
        ("en", "Ms Ito left, its Ms Rao now", "its Ms Rao now", ("Ms Ito left",),
         "[Ms Ito left] its Ms Rao now"),
        ("en", "we own goats (Ann and Bo)", "Ann and Bo)", (), "Ann and Bo"),
        ("en", "at Lidl", "at Lidl", (), "at Lidl"),
    ],
)  # fmt: skip
def test_a_part_of_a_statement_carries_what_it_is_about(
    language: str, message: str, quote: str, others: tuple[str, ...], text: str
) -> None:
    assert kept(message, quote, language=language, others=others).text == text


def test_a_part_without_a_matter_carries_what_was_asked_before() -> None:
    asked = "两个问题：在哪里挖的？挖了多久？"
    assert kept("十一年", language="zh", assistant=asked).text == "[挖了多久？]十一年"


@pytest.mark.parametrize(
    "said", ["its me birthday on 9th of june", "cant wear them latex gloves they bring a rash"]
)
def test_what_is_no_pronoun_of_somebody_gets_no_name(said: str) -> None:
    text = kept(said, before=("our kirsty came", "me dog is mabel")).text
    assert "kirsty" not in text and "dog" not in text


def test_a_pronoun_of_nobody_named_gets_nothing() -> None:
    assert kept("she hates mornings", whose="related").text == "she hates mornings"


def test_the_subject_of_a_list_is_carried_over() -> None:
    message = "I live in Leeds and work nights"
    own = kept(message, "work nights", others=("I live in Leeds",))
    assert own.text == "[I] work nights"
    message = "I work in Leeds, live in York and have two dogs"
    others = ("I work in Leeds", "live in York")
    assert kept(message, "have two dogs", others=others).text == "[I] have two dogs"
    message = "I work in Leeds. My dog is Rex and have two dogs"
    others = ("I work in Leeds", "My dog is Rex")
    assert kept(message, "have two dogs", others=others).text == "have two dogs"
    assert kept("前年九月退休", language="zh").text.startswith("[我]前年九月")


@pytest.mark.parametrize(
    ("language", "assistant", "message", "text"),
    [
        (
            "en",
            "Sure. When is your dentist?",
            "early evening",
            "[When is your dentist?] early evening",
        ),
        (
            "en",
            "Which vehicle should I plan for?",
            "the Berlingo",
            "[Which vehicle should I plan for?] the Berlingo",
        ),
        ("en", "Anything else?", "the Berlingo", "the Berlingo"),
        ("en", "Nice! Where do you live?", "Ghent", "[Where do you live?] Ghent"),
        ("de", "Wie alt bist du?", "34", "[Wie alt bist du?] 34"),
        ("es", "¿Cuál es tu talla?", "la 42", "[¿Cuál es tu talla?] la 42"),
        ("es", "¿Dónde vives?", "en Gante", "[¿Dónde vives?] en Gante"),
        ("zh", "好的。您在哪个科室？", "心内四年了", "[您在哪个科室？]心内四年了"),
        ("ja", "Excelのバージョンは？", "2016です", "[Excelのバージョンは？]2016です"),
    ],
)
def test_a_short_answer_gets_the_question(
    language: str, assistant: str, message: str, text: str
) -> None:
    assert kept(message, assistant=assistant, language=language).text == text


@pytest.mark.parametrize(
    ("language", "message", "text", "occurred"),
    [
        ("en", "my exam is next Friday", "my exam is next Friday [2026-12-04]", "2026-12-04"),
        ("en", "I'm away next week", "I'm away next week [2026-11-30 – 2026-12-06]", "2026-11-30"),
        ("en", "I moved last year", "I moved last year [2025]", "2025-01-01"),
        ("en", "I swim every Monday", "I swim every Monday", None),
        ("en", "vegan since March", "vegan since March", None),
        ("en", "in march we go to Rome", "in march [2027-03] we go to Rome", "2027-03-01"),
        ("zh", "我9月开学", "我9月[2027-09]开学", "2027-09-01"),
        ("zh", "我明年五一结婚", "我明年五一[2027-05-01]结婚", "2027-05-01"),
        ("zh", "我住五一路", "我住五一路", None),
        ("de", "ich bin seit montag krank", "ich bin seit montag [2026-11-23] krank", None),
        ("zh", "我下周三考试", "我下周三[2026-12-02]考试", "2026-12-02"),
        ("de", "ich ziehe übermorgen um", "ich ziehe übermorgen [2026-11-27] um", "2026-11-27"),
        ("fr", "je pars demain", "je pars demain [2026-11-26]", "2026-11-26"),
        ("ja", "私は明日退院する", "私は明日[2026-11-26]退院する", "2026-11-26"),
    ],
)
def test_a_relative_date_gets_its_day(
    language: str, message: str, text: str, occurred: str | None
) -> None:
    own = kept(message, language=language)
    assert own.text == text
    assert own.occurred == (date.fromisoformat(occurred) if occurred else None)


@pytest.mark.parametrize(
    ("language", "message", "data"),
    [
        ("en", "I earn 80k since 2019", {"since": "2019-01-01", "amounts": ["80k"]}),
        ("en", "rent of €800 is due by friday", {"until": "2026-11-27", "amounts": ["€800"]}),
        ("en", "our holiday is 5–9 May", {"date": "2027-05-05", "until": "2027-05-09"}),
        ("en", "my aunt Zofia is a vet", {"names": ["Zofia"], "relation": "aunt"}),
        ("zh", "我老婆叫林静", {"names": ["林静"], "relation": "老婆"}),
        ("zh", "我房租三千块", {"amounts": ["三千块"]}),
        ("de", "mein Hund heißt Rex", {"names": ["Rex"], "relation": "hund"}),
        ("fr", "Mon fils Hugo habite à Lyon", {"names": ["Hugo"], "relation": "fils"}),
        ("fr", "Je suis prof à Brest", {}),
        ("fr", "Mes parents vivent à Nantes", {"relation": "parents"}),
        ("es", "Mi hermana Lucía vive en Cádiz", {"names": ["Lucía"], "relation": "hermana"}),
    ],
)
def test_data_holds_what_was_found(language: str, message: str, data: dict[str, object]) -> None:
    assert kept(message, language=language).data == data


def test_a_long_statement_is_cut_on_a_word_boundary() -> None:
    text = kept("I like " + "strawberries " * 60).text
    assert len(text) <= LONGEST
    assert text.endswith("strawberries")


_NEGATIONS = (
    *(
        "not",
        "never",
        "no longer",
        "don't",
        "used to",
        "if",
        "maybe",
        "no",
        "不",
        "没",
        "别",
        "以前",
    ),
    *("可能", "nicht", "kein", "pas", "ない", "jamais", "nunca"),
)
_WORDS = st.sampled_from(
    [
        *_NEGATIONS, "so", "um,", "and", "but", "well,", "I", "she", "my aunt Zofia", "like", "tea",
        "please", "嗯", "然后", "就是", "我", "她", "吃", "香菜", "，", ". ", "? can you help",
        "pues", "also", "next friday", "下周三", "quoi", "ben", "えっと", "です", "\n", "[", "]",
        "(", "y", "und", "thanks",
    ]
)  # fmt: skip
_TEXTS = st.lists(_WORDS, min_size=1, max_size=12).map(" ".join)


@given(
    message=_TEXTS, cut=st.tuples(st.integers(0, 99), st.integers(0, 99)), data=st.data(),
    language=st.sampled_from(["en", "zh", "es", "de", "fr", "ja", "pt"]),
    whose=st.sampled_from(["self", "related", "others"]),
)  # fmt: skip
def test_no_negation_is_ever_lost(
    message: str, cut: tuple[int, int], data: st.DataObject, language: str, whose: str
) -> None:
    start, end = sorted(min(one, len(message)) for one in cut)
    own = own_words(
        message,
        start,
        end,
        others=[],
        before=[data.draw(_TEXTS)],
        assistant=data.draw(_TEXTS),
        spoken_at=SPOKEN,
        language=language,
        whose=whose,
    )
    padded = f" {message[start:end]} ".replace("\n", " ")
    for word in _NEGATIONS:
        if f" {word} " in padded:
            assert word in own.text


_BORDER = {
    "en": re.compile(r"(?i)\b(?:not|used to|if|never)\s+"),
    "zh": re.compile(r"不(?![过错])|以前|从前|如果"),
}
_ROWS = [
    (row["lang"], row["text"], span["quote"], span["whose"])
    for file in sorted((Path(__file__).parents[3] / "training/data/messages").glob("*.jsonl"))
    for row in map(json.loads, file.read_text("utf-8").splitlines())
    for span in row["spans"]
    if row["lang"] in _BORDER and span["keep"] == "yes"
    if row["text"].count(span["quote"]) == 1 and _BORDER[row["lang"]].search(span["quote"])
]


def test_a_span_that_begins_behind_a_negation_takes_it_in() -> None:
    lost = [
        (found[0], message[begin:end])
        for language, message, quote, whose in _ROWS
        for start, end in [(message.index(quote), message.index(quote) + len(quote))]
        for found in _BORDER[language].finditer(quote)
        for begin in {start, start + found.end()} - {end}
        if found[0].strip().lower()
        not in own_words(
            message,
            begin,
            end,
            others=[],
            before=[],
            assistant="",
            spoken_at=SPOKEN,
            language=language,
            whose=whose,
        ).text.lower()
    ]
    assert len(_ROWS) > 500
    assert not lost


@given(message=st.text(max_size=60), before=st.lists(st.text(max_size=30), max_size=2))
def test_no_message_raises(message: str, before: list[str]) -> None:
    for language in ("en", "zh", "de", "ja"):
        own = own_words(
            message,
            0,
            len(message),
            others=[(0, 1)],
            before=before,
            assistant="".join(before),
            spoken_at=SPOKEN,
            language=language,
            whose="related",
        )
        assert len(own.text) <= LONGEST


@pytest.mark.parametrize(
    ("language", "message", "quote", "text"),
    [
        ("en", "oisin starts school and hes scared of it", "hes scared", "hes [oisin] scared"),
        ("en", "my mams hip is bad and shes 72", "shes 72", "shes [my mam] 72"),
    ],
)
def test_a_pronoun_means_whom_the_same_message_names(
    language: str, message: str, quote: str, text: str
) -> None:
    named = kept(
        message,
        quote,
        language=language,
        whose="related",
        before=("my friend Mary is ill", "我孙子对虾过敏"),
    )
    assert named.text == text


@pytest.mark.parametrize(
    ("language", "message", "quote"),
    [
        ("en", "oisin is 4", "oisin is 4"),
        ("zh", "我血压高每天早上吃一片药", "每天早上吃一片药"),
        ("zh", "张姐不去了", "张姐不去了"),
    ],
)
def test_a_statement_with_its_own_subject_is_not_given_another_persons_name(
    language: str, message: str, quote: str
) -> None:
    before = ("my mum met the teacher", "我孙子对虾和鸡蛋过敏")
    named = kept(message, quote, language=language, whose="related", before=before)
    assert named.text == quote


@pytest.mark.parametrize(
    ("language", "message", "quote", "text"),
    [
        (
            "en",
            "we launch on 14 January 2027 and I present it on the 7th",
            "I present it on the 7th",
            "I present it on the 7th [2027-01-07]",
        ),
        ("zh", "1月14日发布，我7号要汇报", "我7号要汇报", "我7号[2027-01-07]要汇报"),
        ("en", "I present it on the 7th", "", "I present it on the 7th [2026-12-07]"),
    ],
)
def test_a_day_alone_is_of_the_month_that_was_named(
    language: str, message: str, quote: str, text: str
) -> None:
    assert kept(message, quote, language=language).text == text


@pytest.mark.parametrize(
    ("message", "quote", "others", "text"),
    [
        ("我下周要带娃看牙 下午3点", "下午3点", ("我下周要带娃看牙",), "[我下周要带娃看牙]下午3点"),
        ("豆豆在学琴 每周六十点", "每周六十点", ("豆豆在学琴",), "[豆豆在学琴]每周六十点"),
        ("我在重庆读书 四川美院", "四川美院", ("我在重庆读书",), "[我在重庆读书]四川美院"),
        ("我不喝咖啡 喝了心慌", "喝了心慌", ("我不喝咖啡",), "[我不喝咖啡]喝了心慌"),
        ("下午3点", "下午3点", (), ""),
    ],
)  # fmt: skip
def test_a_chinese_fragment_goes_with_the_statement_before_it(
    message: str, quote: str, others: tuple[str, ...], text: str
) -> None:
    assert kept(message, quote, language="zh", others=others).text == text


@pytest.mark.parametrize(
    "text", ["豆豆读一年级", "美式不行", "现在一节课260", "月租3800", "膝盖不好"]
)
def test_a_chinese_statement_with_a_subject_of_its_own_gets_no_i(text: str) -> None:
    assert kept(text, language="zh").text == text


def test_a_chinese_statement_without_subject_gets_an_i() -> None:
    assert kept("已经搬到成都了", language="zh").text == "[我]已经搬到成都了"


@pytest.mark.parametrize(
    ("message", "before", "text"),
    [
        ("小雅不吃牛肉", ("我闺蜜小雅怀孕了 她老公在深圳上班",), "[我闺蜜]小雅不吃牛肉"),
        ("豆豆怕黑", ("我儿子小名豆豆七岁",), "[我儿子]豆豆怕黑"),
        ("豆豆怕黑", ("我妈说冷",), "豆豆怕黑"),
        ("不吃牛肉", ("她老公在深圳上班",), "不吃牛肉"),
    ],
)
def test_the_owner_of_a_chinese_statement_is_stated_or_none(
    message: str, before: tuple[str, ...], text: str
) -> None:
    assert kept(message, language="zh", whose="related", before=before).text == text


def test_a_statement_without_subject_is_about_whom_the_message_before_named() -> None:
    said = kept("hates skittles", language="en", whose="related", before=("my niece Ava is six",))
    assert said.text == "[my niece Ava:] hates skittles"


def test_he_is_the_name_just_said() -> None:
    text = "豆豆怕黑 睡觉要开灯 他喜欢奥特曼"
    assert kept(text, "睡觉要开灯", language="zh", whose="related").text == "[豆豆]睡觉要开灯"
    assert kept(text, "他喜欢奥特曼", language="zh", whose="related").text == "他[豆豆]喜欢奥特曼"


@pytest.mark.parametrize(
    ("text", "language"),
    [("豆豆钢琴课是周日上午", "zh"), ("Leo's lessons are on Sunday", "en")],
)
def test_a_weekly_lesson_has_no_date(text: str, language: str) -> None:
    own = kept(text, language=language)
    assert (own.text, own.occurred, "date" in own.data) == (text, None, False)


@pytest.mark.parametrize("clause", ["是高中物理老师", "教12年级"])
def test_what_a_relative_is_names_the_relative_and_not_the_profession(clause: str) -> None:
    before = "我老公Marcus其实不是工程师，" + ("是高中物理老师，" if clause[0] == "教" else "")
    assert named_person(clause, [before, ""], language="zh", whose="related") == [(0, "[我老公]")]


def test_a_pronoun_never_means_the_speaker() -> None:
    earlier = ["", "你好 我是何小满", ""]
    assert named_person("她爸跟我离了三年了", earlier, language="zh", whose="related") == []


@pytest.mark.parametrize("text", ["对虾过敏", "對蝦過敏", "鞋开胶了", "戒烟三年了", "乳糖不耐受"])
def test_a_predicate_is_no_part_of_the_clause_before(text: str) -> None:
    assert not is_noun_phrase(text)


@pytest.mark.parametrize(
    ("language", "before", "said", "text"),
    [
        ("en", "my other half works nights", "he's diabetic", "he's [my other half] diabetic"),
        ("en", "my youngest is coeliac", "she's 4 now", "she's [my youngest] 4 now"),
        ("en", "our eldest starts uni soon", "she does law", "she [our eldest] does law"),
        ("en", "my folks live in Cork", "they don't drive", "they [my folks] don't drive"),
        ("en", "hubby's allergic to cats", "he has asthma", "he [hubby] has asthma"),
        ("en", "met up with Dave yesterday", "he's a dad now", "he's [Dave] a dad now"),
        ("en", "my carer comes on Mondays", "she's from Ghana", "she's [my carer] from Ghana"),
        ("en", "my granddaughter is two", "she has eczema", "she [my granddaughter] has eczema"),
        ("zh", "我先生在医院上班", "他不吃辣", "他[我先生]不吃辣"),
        ("zh", "我丈母娘住我们家", "她有糖尿病", "她[我丈母娘]有糖尿病"),
        ("zh", "店里现在小刘在管", "她是湖南人", "她[小刘]是湖南人"),
        ("zh", "现在是老周带我们组", "他不喝酒", "他[老周]不喝酒"),
        ("zh", "隔壁张阿姨在帮忙", "她膝盖不好", "她[张阿姨]膝盖不好"),
    ],
)
def test_a_pronoun_means_whom_the_message_before_names(
    language: str, before: str, said: str, text: str
) -> None:
    assert kept(said, language=language, before=(before,), whose="related").text == text


@pytest.mark.parametrize(
    ("before", "clause", "lead"),
    [
        ("我家娃在学钢琴，", "不吃胡萝卜", "[我家娃]"),
        ("我先生在医院上班，", "对青霉素过敏", "[我先生]"),
    ],
)
def test_a_chinese_clause_without_subject_is_about_the_relative(
    before: str, clause: str, lead: str
) -> None:
    assert named_person(clause, [before, ""], language="zh", whose="related") == [(0, lead)]


@pytest.mark.parametrize("clause", ["现在是小杨帮我看店", "小杨现在帮我看店", "现在小刘在管店里"])
def test_a_statement_about_a_named_person_is_of_nobody_else(clause: str) -> None:
    before = ["我老婆回娘家了，", ""]
    assert named_person(clause, before, language="zh", whose="related") == []


@pytest.mark.parametrize(
    ("said", "has_name"),
    [
        ("ruaridh broke his arm at the fitba", False),
        ("eilidhs 17 had her birthday last week", False),
        ("I drive her to school", True),
        ("every day I ring him", True),
    ],
)
def test_a_name_in_lower_case_is_the_subject_of_its_own_statement(
    said: str, has_name: bool
) -> None:
    before = ("my physio Jo is at the clinic on thursdays",)
    assert ("Jo]" in kept(said, whose="related", before=before).text) == has_name


@pytest.mark.parametrize("said", ["vegan", "allergic to nuts", "scared of dogs", "works nights"])
def test_a_statement_of_a_relative_without_subject_names_the_relative(said: str) -> None:
    before = ["my sister Jo is a nurse. ", ""]
    found = named_person(said, before, language="en", whose="related")
    assert found == [(0, "[my sister Jo:] ")]


@pytest.mark.parametrize(
    ("text", "language", "lacks"),
    [
        ("he's diabetic", "en", True),
        ("she [my sister] is a nurse", "en", False),
        ("he's my brother", "en", False),
        ("Tom says he's off", "en", False),
        ("她是护士", "zh", False),
        ("他[老周]不喝酒", "zh", False),
        ("小刘说她不去", "zh", False),
    ],
)
def test_a_text_lacks_the_name_of_whom_it_is_about(text: str, language: str, lacks: bool) -> None:
    assert lacks_name(text, language) is lacks


@pytest.mark.parametrize(
    ("message", "quote", "text"),
    [
        ("shaz cant do nuts", " cant do nuts", "shaz cant do nuts"),
        ("Busy day. bev never eats fish", "never eats fish", "bev never eats fish"),
        ("also cant do nuts", "cant do nuts", "cant do nuts"),
        ("she told me once we play chess", "play chess", "play chess"),
    ],
)
def test_the_only_word_before_a_verb_is_kept_since_it_may_be_the_subject(
    message: str, quote: str, text: str
) -> None:
    assert kept(message, quote).text == text
