"""What can be counted of one statement alone, for the learned judge of pairs."""

import re
from dataclasses import dataclass

from memcenter.lib import segment
from memories.extraction.arbitration.lexicon import with_kinds

# fmt: off
_MARKS_EN = {
    "negation": r"\b(?:not|no|never|none|nobody|nothing|without|cannot|hardly|un\w+able|allergic|"
                r"afraid|fear|free|(?:hate|dislike|avoid|refuse)\w*)\b|n['’]t\b|can't stand",
    "change": r"\b(?:now|no longer|any ?more|used to|former\w*|since|moved|switched|changed|"
              r"swapped|sold|quit|stopped|gave up|left|started|becomes?|became|has become|got|went|"
              r"bought|raised|dropped|finished|over|cancelled|called off|delayed|postponed|"
              r"extended|again|back|instead|passed|done|died|new|ha(?:s|ve) been|turned|grew|"
              r"reached|healed|repaired)\b",
    "absolute": r"\b(?:always|never|only|every|all|any|everything|nothing|whole|completely|very|"
                r"hardly)\b",
    "plan": r"\b(?:plan(?:s|ned)?|will|going to|wants?|due|expecting|looking|learning|writing|"
            r"saves?|in the)\b",
    "rhythm": r"\b(?:every|daily|weekly|a (?:day|week|month|year)|usually|often|sometimes|"
              r"on \w+days?)\b",
}
_MARKS_ZH = {
    "negation": r"不|没|无|别|从未|戒|讨厌|怕|受不了|禁",
    "change": r"现在|不再|了(?:$|[，,。])|改|换|搬|升|转|戒|辞|退|离|卖|停|取消|推迟|提前|新|最近|"
              r"以后|开始|变|又|恢复|去世|死|刚|已经|完|迁|重写|从.{1,4}起",
    "absolute": r"从来|从不|一直|只|全|(?<![成京首丰])都(?!市|江堰|匀)|任何|每|一点|完全|特别|最|"
                r"顿顿|天天",
    "plan": r"要|想|打算|准备|计划|在(?!.{0,3}[住上])|正|备",
    "rhythm": r"每|天天|经常|常|偶尔|(?<!那)一[天周月年]",
}
# fmt: on
_MARKS = {
    language: {name: re.compile(form) for name, form in marks.items()}
    for language, marks in (("en", _MARKS_EN), ("zh", _MARKS_ZH))
}
MARKS = tuple(_MARKS_EN)
_ENGLISH_WORD = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?")
_GOES_ON = re.compile("[,，]")
_OF_A_WORD = re.compile(r"\w")


@dataclass(frozen=True)
class Counted:
    """One side of many pairs is counted once.

    `terms` are the words that are searched by, `written` all as they stand, `kinds` the concepts
    with what they belong to, `pairs` the neighbouring characters of `lower`.
    """

    lower: str
    terms: frozenset[str]
    written: frozenset[str]
    kinds: frozenset[str]
    pairs: frozenset[str]
    marks: frozenset[str]
    goes_on: bool


def count(plain: str, *, language: str, words: frozenset[str]) -> Counted:
    lower = plain.lower()
    return Counted(
        lower=lower,
        terms=frozenset(segment.terms(plain)),
        written=_written(plain, lower, language=language),
        kinds=with_kinds(words),
        pairs=frozenset(lower[at : at + 2] for at in range(len(lower) - 1)),
        marks=frozenset(name for name, form in _MARKS[language].items() if form.search(lower)),
        goes_on=bool(_GOES_ON.search(plain)),
    )


def _written(plain: str, lower: str, *, language: str) -> frozenset[str]:
    if language == "zh":
        words = segment.words(segment.normalise(plain))
        return frozenset(word for word in words if _OF_A_WORD.search(word))
    return frozenset(_ENGLISH_WORD.findall(lower))
