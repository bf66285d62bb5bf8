""" "Remember that …" and "forget that …", in both languages."""

import re
from dataclasses import dataclass

from memories.extraction import commands_zh

_POLITE = (
    r"(?:(?:please|pls|hey|hi|ok|okay|also|and|so|oh|by the way|btw|one more thing|"
    r"can you|could you|"
    r"would you|will you|i want you to|i'd like you to|i need you to|you should|you "
    r"must|you can|just|kindly|"
    r"always|now|actually|wait|no|well|yes|for (?:the )?future(?: reference)?|from "
    r"now on)[\s,:!]+)*"
)
_THAT = (
    r"(?:\s+(?:that|the fact that|this|the following"
    r"|about me|for (?:me|later|the future|next time)|down|in mind))*\s*[:,—-]?\s*(?:that\s+)?"
)
REMEMBER = (
    re.compile(
        rf"{_POLITE}(?:remember|keep in mind|bear in mind|note to (?:my)?self|note(?: down)?|"
        r"make a (?:mental )?note|"
        r"take (?:a )?note|memori[sz]e|store|save|jot down|write down|add to (?:your )"
        r"?memory|"
        r"save to (?:your )?memory|commit to memory|don'?t (?:ever )?forget|do not "
        r"forget|never forget|"
        r"remind yourself)(?! (?:when|how|what|where|who|why|the (?:good )?(?:old )?(?:days|"
        r"times?)\b|the first|last|me\b|you|if|"
        r"whether|it\b|all|everything|"
        r"nothing|anything|any of|some of|them|those|money|time|to mention|meeting|"
        r"seeing|going|being|from|i said|our|"
        rf"his|her|energy|as|on my))(?: of)?{_THAT}(?P<what>\S.+)$",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(
        r"(?:请|麻烦|拜托|那|另外|还有|对了|你|您|帮我|给我|替我|要|一定要?|千万|务必|"
        r"可以|能不能|能否|能|会|也|顺便|以后|好|嗯|，|,)*"
        r"(?:记住|记下来?|记好|牢记|记着|记得|记一下|记一记|记录一下|记录下来?|备忘|"
        r"备注一下|存一下|保存一下|别忘了?|不要忘了?|别忘记|不要忘记|加入记忆|写进记忆|"
        r"存到[^，。]{0,6}记忆里?|记到[^，。我]{0,8}[上里]|记一笔|记牢|加个?备忘|做个?备注|"
        r"把?这(?:个|一?点|条|件事)?(?:也|都|给我)?记(?:下来|住|一下|好))"
        r"(?!上次|我说|我刚|当时|那天|那次|以前|小时候|吗|么|不|我昨天|我之前|我前|他|"
        r"她|带|拿|锁|关|起来|密码|清楚|很|那个|有一)(?:一下|这一?点|这件事|下(?![周个月星午次半])|点(?=[，,：:])|哦|了|喔|啊|我说的|"
        r"：|:|，|,|\s)*(?P<what>.+)$",
        re.DOTALL,
    ),
)
REMIND = re.compile(
    rf"{_POLITE}remind me (?:to|that|about) (?P<what>.+)$|{_POLITE}(?:remember|"
    r"don'?t forget|do not forget) to (?P<todo>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_HAN = re.compile(r"[\u4e00-\u9fff]")
FORGET = (
    re.compile(
        rf"{_POLITE}(?:forget|stop remembering|don'?t remember|do not remember|erase|"
        r"delete|remove|wipe|drop|clear|"
        r"no longer remember|unlearn|discard)(?:(?: from (?:your |the )?memory| the "
        r"(?:memory|fact|note|information|info) (?:that|about|of)| "
        r"(?:everything|anything|what|all|all of what|all that) (?:you know about|i "
        r"(?:said|told you|mentioned)(?: (?:about|on|regarding))?|about|"
        r"you remember about|you have (?:on|about))| my memory (?:of|about)| memories "
        r"(?:of|about)| what i said about| about| that))+"
        r"(?:\s+that)?\s*[:,]?\s*(?P<what>.*)$|"
        rf"{_POLITE}(?:remove|erase|delete|clear|wipe|drop) (?P<kept>(?:my|our|that|the|"
        rf"all) .+?) from "
        r"(?:your |the )?memory[.! ]*$|"
        rf"{_POLITE}(?:forget|stop remembering|don'?t remember|do not remember|please "
        r"forget) (?P<thing>(?:that|this|it)|(?:my|our) .+|i .+|i'm .+|where i .+|what "
        r"i .+)$",
        re.IGNORECASE | re.DOTALL,
    ),
)
# "I forgot my keys" tells; "forget it" and 算了 only wave something away.
_WAVED_AWAY = re.compile(
    r"^(?:forget (?:it|about it|this)|never ?mind)[.! ]*$|^(?:忘了吧|忘了它|"
    r"算了忘了吧)$",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"^(?:that|this|it|这个|那个|这件事|那件事|这些|那些|以上|它|吧|了|的|刚才那些|刚刚那[条句]|"
    r"刚才说的|上一条|the last (?:thing|"
    r"message)|what i just said|刚才的?|刚刚的?)?[.!。！\s]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Command:
    """`start` is where `what` begins in the sentence. `todo`: a thing to do, not a fact."""

    verb: str  # remember | forget
    what: str
    start: int
    todo: bool = False


# "Can you remember my name?" and 你记得我叫什么吗 ask; "can you remember that …?" orders.
_ASKED = re.compile(
    r"\b(?:can|could|do|will|would) you remember (?!that\b)|^(?:你|您)?(?:还|都|"
    r"是否|是不是)?记得|记得.*(?:吗|么)$|"
    r"什么|哪|谁|多少",
    re.IGNORECASE,
)
_ASKING_TAIL = re.compile(r"(?:好吗|好不好|可以吗|行吗|吗|么)$")


# 你能记住我家地址吗 asks whether it can be done, and tells nothing.
_NAMES_ONLY = re.compile(r"我[^，。是在叫有不对爱要喜会住属]{1,12}")
# Most sentences order nothing: this looks first.
_HINT = re.compile(
    r"forget|rememb|remind|mind|note|memor|store|save|jot|write|erase|delete|remove|wipe|drop|"
    r"clear|unlearn|discard|[记記忘备備存保抹删刪清遗遺当當存撤收擦作算]",
    re.IGNORECASE,
)


# "Forget that I live in Leeds?" wonders; "can you forget that …?" orders.
_REQUESTS_POLITELY = re.compile(
    r"^(?:please|hey|hi|ok|okay|so|and|also|well|no|yes|now|actually|[\s,])*"
    r"(?:can|could|would|will|may)\b|please\W*$|[\u4e00-\u9fff]",
    re.IGNORECASE,
)


def is_polite_request(sentence: str) -> bool:
    """Whether a sentence that ends in a question mark asks for something to be done."""
    return _REQUESTS_POLITELY.search(sentence) is not None


def command(sentence: str, *, question: bool = False) -> Command | None:
    """What a sentence asks of the memory itself, if anything."""
    if not _HINT.search(sentence):
        return None
    if _ASKED.search(sentence) and (question or _ASKING_TAIL.search(sentence)):
        return None
    if match := REMIND.match(sentence):
        name = "what" if match["what"] else "todo"
        return Command("remember", match[name], match.start(name), todo=True)
    asks = question or _ASKING_TAIL.search(sentence) is not None
    for pattern in REMEMBER:
        if match := pattern.match(sentence):
            what = _ASKING_TAIL.sub("", match["what"]).rstrip("，, ")
            if _EMPTY.match(what) or (asks and _NAMES_ONLY.fullmatch(what)):
                return None
            return Command("remember", what, match.start("what"))
    return None if _WAVED_AWAY.match(sentence) else _forget(sentence)


def _forget(sentence: str) -> Command | None:
    for pattern in FORGET:
        if match := pattern.match(sentence):
            groups = match.groupdict()
            what = (groups.get("what") or groups.get("kept") or groups.get("thing") or "").strip(
                " ，。,.!！?？"
            )
            return Command("forget", "" if _EMPTY.match(what) else what, match.start())
    about = commands_zh.asked(sentence) if _HAN.search(sentence) else None
    return None if about is None else Command("forget", "" if _EMPTY.match(about) else about, 0)
