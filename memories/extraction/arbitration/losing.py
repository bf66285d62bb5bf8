"""What one has until one loses it: who sold the car drives none, whose dog died has none.

A loss is told without saying what was lost by name ("Sold the car", 「退租了」), so it shares
hardly a word with what ends by it. The table says by which words each is had and lost.
"""

import re
from dataclasses import dataclass

from memories.extraction.arbitration.patterns_zh import PETS_ZH
from memories.extraction.arbitration.statement import Statement

_SOLD = r"(?:sold|gave away|got rid of|scrapped|wrote off|crashed|totalled|lost|traded in|returned)"
_ITS = r"(?:the |her |his |their |my |an? )?(?:old )?"
_GONE_ZH = r"(?:卖|扔|丢|退|送人|送|报废|弄丢|处理|转手)掉?了"
_CARS_ZH = r"(?:车|汽车|轿车|小车)"
_DIED = (
    r"(?:died|passed away|(?:is|was) (?:dead|gone|put (?:down|to sleep))|has (?:died|passed away)"
    r"|ran away)"
)
_DIED_ZH = r"(?:死了|去世了?|走了|没了|走丢了|丢了|不在了|去了喵星|去了汪星)"
_PAIR = r"(?:girlfriend|boyfriend|partner|fianc[eé]e?)"
_SPOUSE = r"(?:wife|husband|spouse)"
_SPOUSE_ZH = r"(?:老婆|老公|妻子|丈夫|太太)"
_PAIR_ZH = r"(?:女朋友|男朋友|女友|男友|对象)"
_MANY = re.compile(r"\b(?:two|three|four|five|[2-9]|several)\b|[两二三四五几]|[2-9][只个条辆]")


@dataclass(frozen=True)
class Loss:
    """`had` and `lost`: by the words of either language; `slots`: whose every value is had."""

    had: re.Pattern[str]
    lost: re.Pattern[str]
    slots: frozenset[str]


def _loss(had: str, lost: str, *, slots: str = "") -> Loss:
    return Loss(had=re.compile(had), lost=re.compile(lost), slots=frozenset(slots.split()))


_LOSSES: tuple[Loss, ...] = (
    _loss(
        r"\bowns? an? (?:\w+ )?car\b|\bhas an? (?:\w+ )?car\b",
        rf"\b{_SOLD} {_ITS}car\b|(?:^|把|将|的)(?:旧|老)?{_CARS_ZH}(?:已经|也|都)?{_GONE_ZH}"
        rf"|^(?:已经)?(?:卖|报废)了?(?:旧|老|那辆|这辆)?{_CARS_ZH}",
        slots="car",
    ),
    _loss(
        r"\b(?:rents?|renting|lives? in an? (?:rented|shared))\b|租(?:房|住|了|的房)|合租|租着",
        r"\b(?:moved out of|gave up|left) "
        rf"{_ITS}(?:flat|apartment|room|house|place)\b|\b(?:ended|cancelled|broke) {_ITS}(?:lease"
        r"|tenancy)\b|退租|把房子?退了|租约(?:到期|终止)了?",
    ),
    _loss(
        r"^has an? (?:\w+ )?job\b|^在.{1,14}(?:上班|工作|任职|就职)",
        rf"\b(?:quit|left|lost|resigned from|was (?:fired|laid off) from) {_ITS}job\b"
        r"|^(?:quit|resigned|(?:was|got) (?:fired|laid off|made redundant))\b"
        r"(?=$|[,;]| (?:in|on|last|from)\b)"
        rf"|\b(?:handed in|gave) {_ITS}(?:notice|resignation)\b"
        r"|^(?:已经|刚)?(?:辞职|离职|裸辞|辞了|被裁|失业)(?:了|$)|把工作辞了|(?:递|交)了?辞(?:呈|职信)",
        slots="job employer",
    ),
    _loss(
        rf"^(?:the )?{_PAIR} is (?:called |named )?\w+$|\bis (?:dating|seeing) "
        rf"|\b(?:has an?|(?:lives?|living|is) with) (?:the |her |his |my )?{_PAIR}\b"
        rf"|有{_PAIR_ZH}|[跟和与]{_PAIR_ZH}(?:一起住|同居|住|在一起)|^{_PAIR_ZH}(?:叫|是|姓)",
        rf"\b(?:broke|split) up\b|\b(?:dumped|left) {_ITS}{_PAIR}\b|\bis single again\b"
        r"|分手了|分了手|被甩了|恢复单身",
    ),
    _loss(
        rf"^(?:the )?{_SPOUSE} is (?:called |named )?\w+$|\b(?:is|got) married\b"
        rf"|\b(?:has an?|(?:lives?|living) with) (?:the |her |his |my )?{_SPOUSE}\b"
        rf"|已婚|^{_SPOUSE_ZH}(?:叫|是|姓)|[跟和与]{_SPOUSE_ZH}(?:一起住|住)",
        rf"\b(?:got|is now|are) divorced\b|\bsplit (?:up )?(?:from|with) {_ITS}{_SPOUSE}\b"
        r"|离婚了|离了婚",
    ),
    _loss(
        r"\b(?:goes to|works out at|trains at|member of) (?:the |a )?gym\b|\bgym member"
        r"|去.{0,4}健身房|有健身卡|办了健身卡",
        rf"\b(?:cancell?ed|quit|gave up|dropped|ended) {_ITS}(?:gym|gym membership)\b"
        r"|健身卡(?:已经)?(?:退|转|停)(?:掉|让)?了|退了健身卡|不去健身房了",
    ),
)  # fmt: skip
_PETS_EN = (
    r"dog|puppy|cat|kitten|rabbit|bunny|hamster|parrot|bird|goldfish|fish|tortoise|turtle|horse"
    r"|guinea pig"
)
_HAS_PET = re.compile(
    rf"\b(?:has|owns?|keeps?|adopted|got) (?:\w+ ){{1,3}}?(?P<en>{_PETS_EN})s?\b"
    rf"|^(?:家里)?(?:养|有|领养)了?(?:着)?.{{0,4}}?(?P<zh>{PETS_ZH})"
)  # fmt: skip
_PET_GONE = re.compile(
    rf"^(?:the |her |his |my |one |one of the |old )*(?P<en>{_PETS_EN})s? {_DIED}"
    rf"|^(?:有一[只条])?(?:家里的?|我家的?)?(?P<zh>{PETS_ZH}).{{0,4}}?{_DIED_ZH}"
)


# 「2026年10月离职了」 tells of a loss as 「离职了」 does.
_WHEN_ZH = re.compile(r"^\d{4}年(?:\d{1,2}月)?(?:\d{1,2}[日号])?(?:那一周|那个周末)?")


def loses(*, new: Statement, old: Statement) -> bool:
    """Whether the new statement tells of losing what the old one says the same person has."""
    if not old.holds or new.language != old.language:
        return False
    if _pet_gone(new, old):
        return True
    if new.subject != "user":
        return False
    text = _WHEN_ZH.sub("", new.text)
    return any(
        (loss.had.search(old.text) or old.slot in loss.slots) and loss.lost.search(text)
        for loss in _LOSSES
    )


def is_one_of_many(old: Statement) -> bool:
    """Who had two may have one left."""
    return bool(_MANY.search(old.text))


def _pet_gone(new: Statement, old: Statement) -> bool:
    gone, had = _PET_GONE.search(new.text), _HAS_PET.search(old.text)
    if not gone or not had or old.subject != "user" or ":" in new.subject:
        return False
    if gone["en"]:
        return gone["en"] == had["en"]
    return bool(gone["zh"]) and (
        gone["zh"] in (had["zh"] or "") or (had["zh"] or "-") in gone["zh"]
    )
