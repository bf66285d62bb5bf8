"""How a Chinese memory is worded: short, standing alone, without the person it is about."""

import re

from memories.extraction.rules import zh_dates
from memories.extraction.rules.masking import SECRET, simplified
from memories.extraction.rules.zh_grammar import Subject
from memories.extraction.rules.zh_words import RELATIONS

_CUT = re.compile(
    r"(?:因为|所以|但是?|不过|而且|可是|然后|以至于|以便|毕竟|只是|让我|使我|令我|"
    r"感觉|觉得|导致|来(?:缓解|充实|丰富)).*"
)
# 叫老周不叫老邹, 在南京不是南昌: what isn't so.
_CONTRAST = re.compile(r"(?<=..)(?<![是可要岂算])(?:而)?不(?:是|叫)(?!很|不|太)[^，。的]{1,8}$")
_FLUFF = re.compile(
    r"(?:[啊呀哦啦嘛哈呢吧噢喔诶哟哇嘞咯呗滴~～\s、，,.。!！…]|的说|来着|什么的|"
    r"之类的|等等|等$|真的$|哈哈+|嘿嘿|而已|罢了|的时候$|左右了|五花八门|吧)+$"
)
_POINTING = re.compile(
    r"它|那里|那儿|这里|这儿|这个|那个|这样|那样|这些|那些|这种|那种|"
    r"这[道本部首家件份次位天点]|那[道本部首家件份次位天边]|[你您]|其中|当前|一[家个]公司|上述|"
    r"某[些个种]|什么|怎|这么|那么|此(?!外)|前者|后者|该[公项]|刚才|时候$|我们|咱们|"
    r"一切|下次|上次|有空|回头|里面|剧情"
)
# Says what is done, and not with what: 每场都看, 是小米的.
_WITHOUT_OBJECT = re.compile(
    r"^(?:经常|总是?|一直|每天|常常|常|从来|有时|最近|还|也|都)+$|^.{0,8}(?:都|就|也|只)(?:会|"
    r"要)?[看买去吃喝听要玩用写做]$|^[\d一二两三四五六七八九十百千几多]+度$|^在《[^》]+》[中里]$|^(?:一直|都|就|也)?是[^，。做搞跑教学开种养卖干属]{1,4}的$"
)
# 我们家从来不买: what, was said before.
_REFUSES_SOMETHING = re.compile(
    r"^(?:家里?)?(?:从来|从|一直|也|都|就|再也|向来|几乎|基本|平时)*(?:不|没)(?:再)?"
    r"[看买去吃喝听要玩用写做碰养](?:过|了|的)?$"
)
_THIRD = re.compile(r"(?<![吉其])[他她佢]")
MARK = "[已隐去]"


def trimmed(text: str) -> str:
    text = _CUT.sub("", text)
    text = re.sub(
        r"^(?:也|还|都|就|很|非常|特别|超级|挺|蛮|比较|十分|真的|一直|其实|的)+(?=[^，]{2})",
        "",
        text,
    )
    text = _CONTRAST.sub("", text)
    return _FLUFF.sub("", text)


_ME = re.compile(r"(?<!自)我")
# When somebody leaves, without where to: half of what was asked.
_WITHOUT_PLACE = re.compile(
    r"(?:\d{4}年)?(?:\d{1,2}月)?(?:\d{1,2}[日号])?(?:早上|上午|中午|下午|晚上)?[就要会]*"
    r"(?:出发|动身|启程|回来|回去)$"
)


def is_complete(text: str) -> bool:
    if not 2 <= len(text) <= 90 or _POINTING.search(text) or zh_dates.LEFT_OVER.search(text):
        return False
    if _REFUSES_SOMETHING.match(simplified(text)):
        return False
    if _WITHOUT_OBJECT.match(text) or _WITHOUT_PLACE.match(text):
        return False
    third = _THIRD.search(text)
    return third is None or bool(re.search(RELATIONS, text[: third.start()]))


def sentence_of(text: str, subject: Subject, speaker: str) -> str:
    text = _ME.sub("自己", text)
    text = re.sub(f"{SECRET}+", MARK, text).strip()
    if subject.label:
        return f"{speaker}的{subject.label}{text}" if speaker else f"{subject.label}{text}"
    return f"{speaker}{text}"
