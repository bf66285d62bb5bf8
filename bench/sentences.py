"""Generated sentences in both languages, for robustness tests.

A sentence is made by a small grammar, taken from our labelled sets, joined from halves of two such
texts, or generated from one of the product's patterns, so that its rules apply. Most sentences are
then distorted: words are dropped, repeated or swapped, quotes stay open, letters are replaced by
look-alikes, figures and dates become impossible.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence

from bench import patterns
from bench.labelled import DATA

LANGUAGES = ("en", "zh")
_SETS = ("arbitration", "clauses", "extraction", "pairs")
_WORDS = {
    "en": {
        "who": "I|I|I|My sister|My wife|Our dog|We|She|My boss Tom|Will|The cat|My son Leo|User|"
        "My parents|He|The user's mother|Nobody|My ex-husband|Biscuit, my cat,",
        "verb": "love|hates|am allergic to|work as|lives in|is|moved to|quit|has|doesn't have|got|"
        "used to like|wants|can't stand|is married to|divorced|doesn't miss|turned|speaks|owns|"
        "is called|no longer eats|switched from coffee to|prefers|weighs|is engaged to|sold",
        "what": "a single rehearsal|tea|Oslo|a wedding singer|divorce lawyer|two cats|41|peanuts|"
        "my own bakery|3 sisters and a brother|the night shift|a vegan|Chinese|a '98 Golf|5'11|"
        "jazz over rock|it|nothing|her birthday on 30 February|B positive|£1,200 a month|delays",
        "when": "now|every other Friday|since 2031|at 25:61|last Tuesday|on weekends|in March|"
        "two years ago|from 31/02/2024|for 99999999999 years|until further notice|at the moment|"
        "in 10000 days|the day after tomorrow|on 0/0|next week",
        "and": ', and | but |. |; | because |, who | — |, which is why |\n- | (|" |... |? ',
        "start": "||||Remember that |Forget that |Actually, |No, |Not anymore: |FYI |I think |"
        "Please don't forget: |password for |the token for |Correction: ",
    },
    "zh": {
        "who": "我|我|我|我妈|我老公|我家的狗|我们|她|我姐姐小美|用户|"
        "我儿子|他|我前妻|谁|我同事老王|猫",
        "verb": "喜欢|讨厌|对|住在|是|搬到了|辞了|有|没有|养了|以前爱吃|想要|受不了|嫁给了|"
        "离婚|不再吃|会说|叫|改成了|更喜欢|体重|戒了|卖了|从来不|最爱|正在学",
        "what": "一次排练|茶过敏|成都|婚礼歌手|离婚律师|两只猫|四十一岁|花生|面包店|三个姐姐|夜班|"
        "素食主义者|英语|一辆九八年的车|一米八|爵士不喜欢摇滚|它|什么都没有|生日是二月三十号|B型血|一千二百块|迟到",
        "when": "现在|每隔一个周五|从二〇三一年起|二十五点|上周二|周末|三月|两年前|二月三十一号|"
        "九亿九千万年|大后天|零月零日|下下周|目前|一万天后|刚刚刚刚",
        "and": "，|，而且|但是|。|；|因为|，所以|\n|（|“|……|？|、",
        "start": "||||记住|忘掉|其实|不对，|我觉得|请记得：|密码是|纠正一下：|别忘了|另外",
    },
}
_ALIKE = str.maketrans(
    {"a": "а", "e": "е", "o": "о", "i": "і", "s": "ſ", "k": "\u212a", "I": "İ", "l": "ı", "c": "ⅽ",
     "1": "１", "2": "²", "3": "٣", "，": ",", "。": "｡", " ": "\u00a0", "的": "底", "一": "⼀"}
)  # fmt: skip
_SIGNS = (
    "\"'“”「」（）()[]{}<>《》，。？！,.?!;:：；…—-/\\|`*_#@&%$€+=~^0123456789"
    "\n\t\u200b\ue000\ue001\x00😀"
)


class Sentences:
    """An endless iterator of sentences; the same `seed` gives the same sentences."""

    def __init__(self, *, seed: int, rules: bool = True) -> None:
        self._rng = random.Random(seed)
        self._ours = {language: _ours(language) for language in LANGUAGES}
        self._patterns = _rules() if rules else []

    def __iter__(self) -> Iterator[str]:
        while True:
            yield self.one()

    def one(self) -> str:
        language = self._rng.choice(LANGUAGES)
        make = self._rng.choice(
            (self.worded, self.worded, self._of_ours, self._crossed, self._ruled)
        )
        text = make(language)
        for _ in range(self._rng.choice((0, 1, 1, 2, 3))):
            text = self._rng.choice(_DISTORTIONS)(text, self._rng)
        return text

    def worded(self, language: str) -> str:
        words = {name: row.split("|") for name, row in _WORDS[language].items()}
        gap = " " if language == "en" else ""
        parts = []
        for _ in range(self._rng.choice((1, 1, 2, 3))):
            names = ["who", "verb", "what", *self._rng.choice(([], [], ["when"]))]
            if self._rng.random() < 0.2:
                names = names[1:] if self._rng.random() < 0.5 else ["what", *names[3:]]
            parts.append(gap.join(self._rng.choice(words[name]) for name in names))
        joint = self._rng.choice(words["and"])
        return self._rng.choice(words["start"]) + joint.join(parts)

    def _of_ours(self, language: str) -> str:
        return self._rng.choice(self._ours[language])

    def _crossed(self, language: str) -> str:
        first, second = self._of_ours(language), self._of_ours(self._rng.choice(LANGUAGES))
        return (
            first[: self._rng.randint(0, len(first))] + second[self._rng.randint(0, len(second)) :]
        )

    def _ruled(self, language: str) -> str:
        if not self._patterns:
            return self.worded(language)
        start = self._rng.choice(("", "", "I ", "我", "My sister ", "我妈", "User "))
        made = patterns.sample(self._rng.choice(self._patterns).pattern, self._rng)
        # Lone surrogates become "?", because no input of the product accepts them.
        return start + made.encode("utf-8", "replace").decode()


def _ours(language: str) -> list[str]:
    """Return every text of the labelled sets in a language, without duplicates."""
    found: dict[str, None] = {}
    for path in sorted(
        file for name in _SETS for file in (DATA / name).glob(f"*{language}*.jsonl")
    ):
        for line in path.read_text("utf-8").splitlines():
            found.update(dict.fromkeys(_texts(json.loads(line))))
    return list(found)


def _texts(row: object) -> Iterator[str]:
    if isinstance(row, dict):
        for name, value in row.items():
            if isinstance(value, str) and name in ("text", "old", "new", "user", "assistant"):
                yield value
            else:
                yield from _texts(value)


def _rules() -> list[patterns.Named]:
    found, _ = patterns.of_project()
    return [pattern for pattern in found if pattern.module.startswith("memories.extraction.")]


Distortion = Callable[[str, random.Random], str]


def _halved(text: str, rng: random.Random) -> str:
    return (
        text[rng.randint(0, len(text)) :]
        if rng.random() < 0.5
        else text[: rng.randint(0, len(text))]
    )


def _shuffled(text: str, rng: random.Random) -> str:
    if not text:
        return text
    words = text.split(" ") if " " in text else list(text)
    at, other = rng.randrange(len(words)), rng.randrange(len(words))
    words[at], words[other] = words[other], words[at]
    return (" " if " " in text else "").join(words)


def _repeated(text: str, rng: random.Random) -> str:
    at, end = _span(text, rng)
    return text[:at] + text[at:end] * rng.randint(2, 5) + text[end:]


def _dropped(text: str, rng: random.Random) -> str:
    at, end = _span(text, rng)
    return text[:at] + text[end:]


def _signed(text: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + "".join(rng.choices(_SIGNS, k=rng.randint(1, 3))) + text[at:]


def _alike(text: str, rng: random.Random) -> str:
    at, end = _span(text, rng)
    return text[:at] + text[at:end].translate(_ALIKE) + text[end:]


def _cased(text: str, rng: random.Random) -> str:
    return rng.choice((str.upper, str.lower, str.title, str.swapcase))(text)


def _quoted(text: str, rng: random.Random) -> str:
    opening, closing = rng.choice(("“”", "「」", '""', "()", "（）", "[]", "{}", "<>", "``", "''"))
    at, end = _span(text, rng)
    return text[:at] + opening + text[at:end] + rng.choice((closing, "", opening)) + text[end:]


def _span(text: str, rng: random.Random) -> tuple[int, int]:
    at, end = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
    return at, end


_DISTORTIONS: Sequence[Distortion] = (
    _halved, _shuffled, _repeated, _dropped, _signed, _alike, _cased, _quoted
)  # fmt: skip
