"""What a person has or did but once, by how it is told: where one grew up, whom one married.

Two such statements with two values of one sort can't both be right, though the words around the
values differ ("Grew up on a farm", "… in a tower block"). What one likes, owns or visited is no
business of this table.
"""

import re

from memories.extraction.arbitration.patterns_en import KIN
from memories.extraction.arbitration.patterns_zh import KIN_ZH
from memories.extraction.arbitration.statement import Statement, Time

_LONGEST = {"en": 4, "zh": 8}  # words; signs
_PERSON_EN = rf"(?:\w+ )?(?:{'|'.join(KIN)})s?"
_FRAMES: dict[str, tuple[str, ...]] = {
    "en": (
        r"banks with (?P<v>.+)",
        r"(?:is )?insured (?:with|by) (?P<v>.+)",
        r"was born (?:in|at|on|near) (?P<v>.+)",
        r"grew up (?:in|on|at|near) (?P<v>.+)",
        r"(?:got|was) married (?:in|on|at) (?P<v>.+)",
        r"is (?:married|engaged) to (?P<v>.+)",
        r"(?:was|is) named after (?P<v>.+)",
        r"is writing (?:a|the|her|his) (?:thesis|dissertation) (?:on|about) (?P<v>.+)",
        r"parks (?:in|on|at|under) (?P<v>.+)",
        r"works (?:in|at|for) (?P<v>an? .+)",
        rf"lives with (?P<v>(?:an? |the |two |three )?{_PERSON_EN})",
    ),
    "zh": (
        r"在(?P<v>[^，,]+?)(?:结的婚|办的婚礼|领的证)",
        r"(?:嫁给|娶)了?(?:一?[个名位])?(?P<v>[^，,]+)",
        r"从小在(?P<v>[^，,]+?)长大",
        r"(?:婚礼|酒席|喜酒)(?:是)?在(?P<v>[^，,]+?)(?:办|摆|举行)的?",
        r"(?:论文|毕业论文)(?:写的|研究的|做的|题目)是(?P<v>[^，,]+)",
        rf"(?:现在)?[跟和与](?P<v>(?:{KIN_ZH})+)(?:一起)?住",
        r"(?:工资|薪水)(?:是)?(?P<v>(?:每|按)[天日周月年小时]+)(?:发|结|付)",
    ),
}
_COMPILED = {
    language: tuple(re.compile(frame) for frame in frames) for language, frames in _FRAMES.items()
}
_BARE = re.compile(r"\b(?:an?|the|one|her|his|their)\b|的|了")


def clash_of_one(new: Statement, old: Statement) -> bool:
    """Whether both tell of one such matter of the same person, with two values."""
    if new.language != old.language or new.subject != old.subject or new.is_change:
        return False
    if not (new.positive and old.positive) or Time.PAST in (new.time, old.time):
        return False
    if any(said.figures for said in (new, old)):
        return False
    for frame in _COMPILED[new.language]:
        ours, theirs = (_value(frame, said) for said in (new, old))
        if ours and theirs and not (ours <= theirs or theirs <= ours):
            return True
    return False


def _value(frame: re.Pattern[str], said: Statement) -> frozenset[str]:
    found = frame.fullmatch(said.text.strip(" .。"))
    if not found:
        return frozenset()
    value = _BARE.sub("", found["v"])
    parts = value.split() if said.language == "en" else list(value)
    return frozenset(parts) if len(parts) <= _LONGEST[said.language] else frozenset()
