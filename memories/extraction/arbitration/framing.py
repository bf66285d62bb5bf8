"""Two statements of one frame: all words the same but for the value of what there is one of.

"The wedding was in Florence" and "… in Glasgow", 「经理姓邓」 and 「经理姓崔」. What one likes,
owns, visited or fears may be many; what something is called, where it is and who it is may not.
"""

import re

import rjieba

from memories.extraction.arbitration.figures import differ
from memories.extraction.arbitration.lexicon import DAYTIMES
from memories.extraction.arbitration.statement import Statement, Time
from memories.extraction.arbitration.wordlists import words

_TOKEN = re.compile(r"[\w'.@#+-]+")
# The last words before the value.
_GIVES_ONE_EN = re.compile(
    r"\b(?:is|are|was|were|will be|gets|got)(?: \w+(?:ed|en|ld))? (?:in|at|on|from|by"
    r"|called|named|near|under|to|with|for)(?: the| an?)?$"
    r"|\b(?:meets|stays|hangs|stands) (?:in|at|on|under|by)(?: the| an?)?$"
    r"|\b(?:faces|belongs to|starts at|ends at|leaves (?:at|from)|comes from)(?: the| an?)?$"
)
_NAMES_ONE_EN = re.compile(r"\b(?:is|was)$")
_GIVES_ONE_ZH = re.compile(
    r"[\u4e00-\u9fff]{2}(?:姓|叫|名叫|来自|位于|坐落在|属于|归|由|交给|是由|用|讲|说|使用|采用|是)$"
)
_PLACES_ZH = re.compile(r"[\u4e00-\u9fff]{2}(?:在|住在|定在|选在|设在|放在|开在|办在|坐落于)$")
# Who does something now and then does it in many places and by many means.
_MANY = re.compile(
    r"\b(?:likes?|loves?|enjoys?|prefers?|hates?|dislikes?|can|knows?|speaks?|reads?|plays?|visited"
    r"|went|goes|bought|ate|saw|met|sometimes|often|usually|one|some|another|allergic|afraid|good"
    r"|bad|interested|(?<!best )friends?|colleagues?|sisters?"
    r"|brothers?|son|daughter|child|cat|dog|pet)\b"
    r"|喜欢|爱|讨厌|怕|会|去|想|过敏|有时|常|也|又|一个|朋友[之圈]|周|早|晚|上午|下午|平时|假期|每"
    r"|有的|[今明后去]年|同事|邻居"
)  # fmt: skip
# What begins so is told of the person, who may be in a band and in a book club.
_VERBS_FIRST = frozenset(["is", "are", "was", "were", "has", "had", "it", "there", "they"])
_TIMES = DAYTIMES | words("every each daily weekly monthly nightly yearly run only 才 只 evening")
_LONGEST_VALUE = 4  # words of English; of Chinese twice as many signs


def clash_in_one_frame(new: Statement, old: Statement) -> bool:
    """Whether they say the same of the same, and give another value of what there is one of."""
    if new.language != old.language or new.subject != old.subject or not _plain(new, old):
        return False
    return _in_chinese(new, old) if new.language == "zh" else _in_english(new, old)


def otherwise_often(new: Statement, old: Statement) -> bool:
    """ "Backups run nightly" beside "Backups run once a month": the same, but not as often."""
    often = [
        frozenset(one for one in said.figures if one.startswith("often:")) for said in (new, old)
    ]
    if not all(often) or not differ(*often) or not (new.holds and old.holds):
        return False
    ours, theirs = new.words - _TIMES, old.words - _TIMES
    within = bool(ours & theirs) and (ours <= theirs or theirs <= ours)
    return within and new.subject == old.subject


def _plain(new: Statement, old: Statement) -> bool:
    if {new.slot, old.slot} & {"pet", "kin", "like", "habit", "allergy", "fear", "plays", "speaks"}:
        return False
    past = Time.PAST in (new.time, old.time)
    same_figures = bool(new.figures) == bool(old.figures)
    return new.positive == old.positive and not past and same_figures


def _in_english(new: Statement, old: Statement) -> bool:
    ours, theirs = _TOKEN.findall(new.text), _TOKEN.findall(old.text)
    begin = _run(ours, theirs)
    end = _run(ours[begin:][::-1], theirs[begin:][::-1])
    values = [side[begin : len(side) - end] for side in (ours, theirs)]
    frame = " ".join(ours[:begin])
    if _MANY.search(frame) or not all(0 < len(value) <= _LONGEST_VALUE for value in values):
        return False
    if begin < 2 or _is_more_of(values) or ours[0] in _VERBS_FIRST:
        return False
    named = all(_is_name(value, said.plain) for value, said in zip(values, (new, old), strict=True))
    gives_one = _GIVES_ONE_EN.search(frame) and begin > 2
    return bool(gives_one or (named and _NAMES_ONE_EN.search(frame)))


def _in_chinese(new: Statement, old: Statement) -> bool:
    ours, theirs = list(new.text.strip("。.")), list(old.text.strip("。."))
    begin = _run(ours, theirs)
    end = _run(ours[begin:][::-1], theirs[begin:][::-1])
    values = [side[begin : len(side) - end] for side in (ours, theirs)]
    frame = "".join(ours[:begin])
    short = all(0 < len(value) <= 2 * _LONGEST_VALUE for value in values)
    if not short or _MANY.search(frame) or _is_more_of(values):
        return False
    if (values[0][0] == "个") != (values[1][0] == "个"):
        return False  # 爸爸是司机, 爸爸是个急性子: a trade and a trait
    if _GIVES_ONE_ZH.search(frame):
        return not any(re.search(r"[，,的了]", "".join(value)) for value in values)
    return bool(_PLACES_ZH.search(frame)) and all(_is_noun("".join(value)) for value in values)


def _run(one: list[str], other: list[str]) -> int:
    same = 0
    for ours, theirs in zip(one, other, strict=False):
        if ours != theirs:
            break
        same += 1
    return same


def _is_more_of(values: list[list[str]]) -> bool:
    first, second = map(set, values)
    return first <= second or second <= first


def _is_name(value: list[str], plain: str) -> bool:
    """Written with a capital where it stands."""
    return bool(re.search(rf"(?<!^)\b{re.escape(value[0].capitalize())}\b", plain))


def _is_noun(value: str) -> bool:
    return all(tag.startswith(("n", "f", "s")) for _, tag in rjieba.tag(value))
