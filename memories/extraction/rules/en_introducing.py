"""English: who is spoken of, and how people give names, their own and others'."""

import re
from dataclasses import dataclass, replace
from datetime import date

from memories.extraction.rules import en
from memories.extraction.rules.en_clauses import Sentence
from memories.extraction.rules.en_grammar import Subject
from memories.extraction.rules.en_words import LANGUAGES, NATIONALITIES, RELATIONS, STATES, TRAITS
from memories.extraction.rules.rule import Found

_INTRODUCES = re.compile(
    rf"\b(?:[Mm]y|[Aa]n?|[Oo]ur|one|two) (?:[\w-]+ ){{0,3}}?(?P<relation>{RELATIONS})"
    r"\b(?:,? (?:(?:called|named) )?(?P<name>[A-Z][\w-]+))?"
)
_TOLD_OF = re.compile(r"(?:\w+,? ){0,2}?(?:[Mm]y|[Oo]ur) ")
_IM_NAME = re.compile(
    r"(?:hi|hello|hey|nice to meet you|good (?:morning|evening|"
    r"afternoon))\b.{0,30}?\b(?:i'm|i am|this is) "
    r"(?P<x>(?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+){0,2})(?=$|,| and (?:i|i'm|my)\b)",
    re.IGNORECASE,
)
_IM_NAME_COMMA = re.compile(
    rf"(?:I'm|I am|i'm|im) (?!(?i:{NATIONALITIES}|{STATES}|{LANGUAGES}|{TRAITS})\b)"
    r"(?P<x>[A-Z][a-z]+)(?=, (?:I|i|an?|\d\d)\b| and I (?:am|work|live|run|teach)\b)"
)
_NOT_NAMES = re.compile(
    r"(?i:sorry|just|not|so|very|from|back|here|good|fine|great|happy|the|an?|new|"
    r"in|on|at)\b|.*(?:ing|ed)$"
)


@dataclass(frozen=True)
class Setting:
    """What the reader knows beside the words: the day, and whom it may already know.

    Without `rules` clauses are only worded, for the classifier.
    """

    today: date
    speaker: str = ""
    known: Subject | None = None
    names: frozenset[str] = frozenset()
    last: Subject | None = None  # whom the last sentence was about
    rules: bool = True


def introduced(text: str, setting: Setting) -> Setting:
    """`setting` knowing the one person or animal that `text` spoke of last, and all names."""
    last, names = setting.known, set(setting.names)
    told = _TOLD_OF.match(text)
    about = None
    for match in _INTRODUCES.finditer(text):
        name = match["name"] or ""
        plural = match["relation"].lower().endswith("s")
        last = Subject(f"{match['relation'].lower()} {name}".strip(), plural)
        about = last if told and match.start() < told.end() else about
        if name:
            names.add(name)
    return replace(setting, known=last, names=frozenset(names), last=about)


def introduction(sentence_: Sentence) -> Found | None:
    """ "Hi, I'm Ada": the name, if the sentence gives the speaker's."""
    match = _IM_NAME.match(sentence_.text) or _IM_NAME_COMMA.match(sentence_.text)
    if match is None or _NOT_NAMES.match(match["x"]):
        return None
    row = en.INTRODUCTION
    start = sentence_.start + match.start("x")
    return Found(row, f"Name is {match['x']}", start, start + len(match["x"]), "en")
