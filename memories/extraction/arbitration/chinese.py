"""Reads one Chinese memory: 「养了一只叫豆豆的猫」 and 「我家的猫叫豆豆」 alike."""

import re
import unicodedata

import rjieba

from memories.extraction.arbitration import english
from memories.extraction.arbitration.figures import take_figures
from memories.extraction.arbitration.lexicon import (
    CONCEPT_OF,
    DAYTIMES,
    DIETS,
    JOBS,
    LONGEST_CHINESE,
    MARITAL,
    PETS,
)
from memories.extraction.arbitration.patterns_zh import (
    ADVERBS,
    DENIED,
    ENDED,
    KIN,
    KIN_ZH,
    NEGATIVE,
    NOW,
    OFTEN,
    PAST,
    PETS_ZH,
    STOP,
    SURNAMES,
)
from memories.extraction.arbitration.rewording_zh import introduced, reworded
from memories.extraction.arbitration.shapes_zh import PATTERNS
from memories.extraction.arbitration.statement import SINGLE_ROLES, Statement, Time
from memories.extraction.arbitration.things import relation_of
from memories.extraction.rules.zh_dialect import standard

_SUBJECT = re.compile(r"^(?:用户|本人|我们?|他|她|自己)(?:自己)?(?:家里?)?的?|^家里的?(?=[^有养])")
_KIN = re.compile(
    rf"^(?P<kin>{KIN_ZH})(?P<name>[^是在住养对有喜爱不也的最会从每吃喝今已现]{{1,3}}(?=[是在住养对]))?的?"
)
_PET = re.compile(rf"^(?:宠物)?(?P<pet>{PETS_ZH})(?:的)?(?=名|叫|今|已|很|最|不|对|是|喜|爱|\d)")
_PREDICATE = "是在住养有对不会也的爱喜从今每吃喝最讨搬当做换说经正现以已想"
_NAMED = re.compile(
    rf"^(?P<name>[小老阿][\u4e00-\u9fff]|[A-Z][A-Za-z]*|[\u4e00-\u9fff]{{2,3}}?)(?=[{_PREDICATE}\d])"
)
_DETAIL = re.compile(r"[，,；;。]|(?<!^)(?:因为|由于|比如|例如)")
_DATED = re.compile(
    r"^(?:用户|我)?(?:于|在)?(?:(?:\d{4}年|今年|去年|前年)(?:\d{1,2}|[一二三四五六七八九十]{1,2})?月?份?"
    r"(?:\d{1,2}[日号])?(?:那一周|那个周末)?"
    r"|(?:\d{1,2}|[一二三四五六七八九十]{1,2})月份?(?:\d{1,2}[日号])?)"
    r"(?:起|(?=[从搬入生戒换开加辞离结离成转毕升买考]))"
)
# 「不住在成都了」 tells what ended; it takes nothing back.
_LEFT = re.compile(r"^(?:用户|我)?不(?:再)?住在[^，,；;]+了$")
_JOB = re.compile(
    r"(?:师|经理|总监|教练|主任|医生|店长|研究员|分析员|飞行员|服务员|售货员|保安|司机|顾问|队长|组长|组员|队员|店员|职员|文员|科长|处长|校长|院长|班长|工人|实习生|研究生|留学生|博士生|作家|画家|专家|歌手|助理|秘书|会计|律师|警察|程序员|主播|博主)$"
)
_PERSON = re.compile(
    rf"^(?:是|叫|姓)?(?!小学|中学|高中|大学|初中|数学|语文|英语|体育|音乐|美术)(?:[小老阿][\u4e00-\u9fff]|[{''.join(sorted(SURNAMES))}][\u4e00-\u9fff]{{0,2}}"
    r"|[\u4e00-\u9fff]{1,2}(?:姐|哥|总|叔|姨|阿姨|工|先生|女士|小姐|老师|师傅)|[A-Za-z]+)$"
)
_VERB = re.compile(r"^(?:吃|喝|看|听|玩|打|去|做|用|骑|穿|弹|拉|踢|养)(?=.)")


def read_chinese(text: str) -> Statement:
    text = standard(unicodedata.normalize("NFKC", text))
    plain = reworded(text)
    denied = None if _LEFT.match(plain) else DENIED.search(plain)
    told = introduced(DENIED.sub("", plain, count=1)) if denied else plain
    dated = _DATED.match(told)
    told = told[dated.end() :] if dated else told
    subject, own_names, told = _subject(told)
    lower = told.lower()
    often = " ".join(OFTEN.findall(lower)).replace("每晚", "每天晚上").replace("每天", "每天 ")
    bare = OFTEN.sub("", ADVERBS.sub("", lower)).strip("，, ")
    slot, groups = _slot(bare)
    slot = _of_place(slot, groups)
    positive = slot in ("favorite", "name", "role") or len(NEGATIVE.findall(lower)) % 2 == 0
    if slot.endswith("-"):
        slot, positive = slot[:-1], False
    time = _time(lower)
    if denied and denied.start() == 0 and "了" in denied.group():
        time = Time.NOW
    return _statement(
        told, plain=plain, subject=subject, own_names=own_names, slot=slot, groups=groups,
        bare=bare, often=often + (f" {dated.group()}" if dated else ""), positive=positive,
        time=time,
        denied=denied.group() if denied else "", text=text.lower(),
    )  # fmt: skip


def concepts(text: str) -> frozenset[str]:
    """The content words, each by its concept where we know one."""
    parts = [part for part in rjieba.cut(text, False) if part.strip()]
    found: set[str] = set()
    at = 0
    while at < len(parts):
        length = _longest(parts, at)
        found.add(CONCEPT_OF["".join(parts[at : at + length])] if length else _plain(parts[at]))
        at += length or 1
    words = frozenset(word for word in found if word not in STOP)
    latin = " ".join(word for word in words if word.isascii() and word not in _CONCEPT_NAMES)
    return frozenset(w for w in words if not w.isascii() or w in _CONCEPT_NAMES) | (
        english.concepts(latin) if latin else frozenset()
    )


def _plain(word: str) -> str:
    """喝咖啡 is one word to the dictionary; what counts is the coffee."""
    bare = _VERB.sub("", word)
    return CONCEPT_OF.get(bare, word) if bare != word else word


_CONCEPT_NAMES = frozenset(CONCEPT_OF.values())


def _longest(parts: list[str], at: int) -> int:
    for length in range(min(4, len(parts) - at), 0, -1):
        name = "".join(parts[at : at + length])
        if len(name) <= LONGEST_CHINESE and name in CONCEPT_OF and not name.isascii():
            return length
    return 0


def _subject(told: str) -> tuple[str, frozenset[str], str]:
    own = _SUBJECT.match(told)
    rest = told[own.end() :] if own else told
    kin = _KIN.match(rest)
    if kin and rest[kin.end() :]:
        name = frozenset([kin["name"].lower()]) if kin["name"] else frozenset()
        of_theirs = _KIN.match(rest[kin.end() :]) if kin.group().endswith("的") else None
        if of_theirs and rest[kin.end() + of_theirs.end() :]:
            both = f"{KIN[kin['kin']]}:{KIN[of_theirs['kin']]}"
            return both, frozenset(), rest[kin.end() + of_theirs.end() :]
        return KIN[kin["kin"]], name, rest[kin.end() :]
    pet = _PET.match(rest)
    if pet:
        return next(iter(concepts(pet["pet"]))), frozenset(), rest[pet.end() :]
    return ("user", frozenset(), rest) if own else _named(rest)


def _named(rest: str) -> tuple[str, frozenset[str], str]:
    found = _NAMED.match(rest)
    if found and _is_name(found["name"]):
        after = rest[found.end() :].removeprefix("的")
        kin = _KIN.match(after)
        if kin and after[kin.end() :]:
            return f"{found['name'].lower()}:{KIN[kin['kin']]}", frozenset(), after[kin.end() :]
        return found["name"].lower(), frozenset(), after
    return "user", frozenset(), rest


def _is_name(word: str) -> bool:
    if word[-1] in "会末期报日年刊边包店":
        return False
    if word.isascii():
        return len(word) > 1
    if word[0] in "小老阿":
        return word[1] in SURNAMES or word[1] in "明红芳强军丽华美东刚敏静燕琳"
    return word[0] in SURNAMES and word not in CONCEPT_OF and _rare(word)


def _rare(word: str) -> bool:
    """Whether the dictionary holds it for a name, not for a word such as 高兴 or 周末."""
    return (
        all(tag.startswith("nr") for _, tag in rjieba.tag(word)) or len(rjieba.cut(word, False)) > 1
    )


def _time(lower: str) -> Time:
    if ENDED.search(lower):
        return Time.ENDED
    if PAST.search(lower):
        return Time.PAST
    return Time.NOW if NOW.search(lower) else Time.PLAIN


def _slot(bare: str) -> tuple[str, dict[str, str]]:
    for slot, pattern in PATTERNS:
        found = pattern.search(bare)
        if found:
            said = {key[0]: value for key, value in found.groupdict().items() if value}
            return slot, said | {"rest": bare[found.end() :]}
    return "", {}


def _of_place(slot: str, groups: dict[str, str]) -> str:
    """「弟弟去武汉了」 tells of a home, 「去游泳了」 doesn't; who works in a city names no firm."""
    if slot == "whereabouts":
        return "home" if _is_place(groups["v"]) else ""
    if slot == "workplace":
        return "employer" if _is_place(groups["v"]) else ""
    return slot


def _is_place(value: str) -> bool:
    return value == "老家" or (bool(value) and all(tag == "ns" for _, tag in rjieba.tag(value)))


def _statement(
    told: str, *, plain: str, subject: str, own_names: frozenset[str], slot: str,
    groups: dict[str, str], bare: str, often: str, denied: str, positive: bool, time: Time,
    text: str,
) -> Statement:  # fmt: skip
    figures, _ = take_figures(f"{bare} {often}" if often else bare)
    value = take_figures(groups["v"])[1] if "v" in groups else take_figures(bare)[1]
    value, _, against = value.partition("多过") if slot == "like" else (value, "", "")
    main, detail = _split(value)
    detail |= concepts(take_figures(groups.get("rest", ""))[1])
    detail |= concepts(groups.get("d", "")) | concepts(take_figures(often)[1])
    if slot == "blood":
        main = frozenset([value.rstrip("型血")])
    if any(figure.startswith("hour:") for figure in figures):
        main, detail = main - DAYTIMES, detail - DAYTIMES
    if slot in ("", "is") and subject in SINGLE_ROLES and _is_person(value, main):
        slot = "role"
    elif slot in ("", "is"):
        slot, main, detail = _by_value(slot, main, detail)
    names = own_names | _names(told)
    names |= frozenset([groups["n"]]) if "n" in groups else frozenset()
    if slot in ("name", "nickname"):
        main = frozenset([value.rstrip("了").strip()])
        if subject != "user" and slot == "name":
            slot, main, subject, names = _introduces(subject, names | main)
    return Statement(
        language="zh", plain=plain, subject=subject, slot=slot,
        topic=_topic(groups.get("t", "")), main=main, detail=detail, figures=figures,
        names=names, positive=positive, time=time, corrects=bool(denied),
        denied=concepts(denied), against=concepts(against),
        relation=relation_of(groups.get("r", "")), text=text,
    )  # fmt: skip


def _is_person(value: str, main: frozenset[str]) -> bool:
    """何老师 is somebody, 老师 is a trade."""
    somebody = _PERSON.match(value.rstrip("了"))
    return bool(somebody and (not main & JOBS or value[0] in SURNAMES))


def _topic(name: str) -> frozenset[str]:
    return concepts(name) or frozenset([name] if name else [])


def _introduces(
    subject: str, names: frozenset[str]
) -> tuple[str, frozenset[str], str, frozenset[str]]:
    """「猫叫豆豆」 says of the user that they have a cat of that name."""
    owner, _, who = subject.rpartition(":")
    return "pet" if who in PETS else "kin", frozenset([who.split(".")[0]]), owner or "user", names


def _by_value(
    slot: str, main: frozenset[str], detail: frozenset[str]
) -> tuple[str, frozenset[str], frozenset[str]]:
    for name, values in (("diet", DIETS), ("marital", MARITAL), ("job", JOBS)):
        if main & values and (slot == "is" or name != "job"):
            return name, main & values, detail | (main - values)
    if slot == "is" and any(_JOB.search(word) for word in main):
        return "job", main, detail
    return "" if slot == "is" else slot, main, detail


def _split(value: str) -> tuple[frozenset[str], frozenset[str]]:
    main = concepts(_DETAIL.split(value.strip("，, "), maxsplit=1)[0])
    whole = concepts(value)
    return (main, whole - main) if main else (whole, frozenset())


def _names(told: str) -> frozenset[str]:
    return frozenset(name.lower() for name in re.findall(r"(?<![A-Za-z])[A-Z][A-Za-z]{2,}", told))
