"""Reads a message in whichever of the two languages each of its sentences is in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from memories.extraction.rules import (
    en_clauses,
    en_introducing,
    en_reader,
    zh_clauses,
    zh_grammar,
    zh_reader,
)
from memories.extraction.rules.absurd import is_absurd
from memories.extraction.rules.en_clauses import Sentence
from memories.extraction.rules.masking import simplified
from memories.extraction.rules.rule import Found

_HAN = re.compile(r"[\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]+")
_ENGLISH_I = re.compile(r"\b(?:I|I'm|I've|my|My)\b")


def language_of(text: str) -> str:
    """ "zh" or "en"; a sentence with both is in the language of its frame, not of its names."""
    han = len(_HAN.findall(text))
    if han == 0:
        return "en"
    if "我" in text:
        return "zh"
    if _ENGLISH_I.search(text):
        return "en"
    return "zh" if han >= len(_LATIN.findall(text)) else "en"


def sentences(text: str) -> Iterator[Sentence]:
    if language_of(text) == "zh":
        return zh_clauses.sentences(text)
    return en_clauses.sentences(text)


@dataclass
class Reader:
    """Goes through the sentences of one speaker and remembers whom they spoke of.

    Without `rules` it only words the clauses, and leaves every one of them to be judged.
    """

    today: date
    speaker: str = ""
    rules: bool = True
    english: en_introducing.Setting = field(init=False)
    chinese: zh_grammar.Setting = field(init=False)

    def __post_init__(self) -> None:
        self.english = en_introducing.Setting(
            today=self.today, speaker=self.speaker, rules=self.rules
        )
        self.chinese = zh_grammar.Setting(today=self.today, speaker=self.speaker, rules=self.rules)

    def read(self, sentence: Sentence) -> list[Found]:
        chinese = language_of(sentence.text) == "zh"
        if is_absurd(sentence.text, simplified=simplified(sentence.text) if chinese else ""):
            return []
        if chinese:
            return list(zh_reader.read(sentence, self.chinese))
        return list(en_reader.read(sentence, self.english))

    def note(self, text: str) -> None:
        """Whom `text` speaks of is whom "she" or 她 may mean in the next sentence."""
        if language_of(text) == "zh":
            self.chinese = zh_grammar.introduced(text, self.chinese)
        else:
            self.english = en_introducing.introduced(text, self.english)
