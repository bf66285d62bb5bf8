"""Chinese: a short reply to the assistant's question, as a sentence of the user's.

你平时用什么输入法？ 小鹤双拼 is 我平时用小鹤双拼输入法; 你抽烟吗？ 不抽 is 我不抽烟. The
sentence is read by the rules like any other.
"""

import re

_QUESTION = re.compile(
    r"(?:^|"
    r"[。！？!?，,\n])(?P<asked>[^。！？!?\n，,]*[你您][^。！？!?\n，,]*)[？?]?\s*$"
)
_LEAD = re.compile(
    r"^(?:那么?|所以|请问|对了|顺便问一?下?|话说|方便问一?下?|想问一?下?|"
    r"可以告诉我|能说说|冒昧问一?下?)+"
)
_WHICH = re.compile(
    r"什么样的|什么时候|什么牌子的?|什么|啥|哪一?[个种家座年天支款所位条本门国]|哪里|哪儿|哪|谁|"
    r"几月几号|几号|几点|几年级|几岁|"
    r"几(?=个|只|口|年|次|天|杯)|多少(?=岁|钱|个|人|度|斤|年)|多大年纪|多大|多少|多久|多高|多重|"
    r"多远|怎么(?=去|上班|称呼)"
)
_UNITS = re.compile(r"^(?:了|啦)?$")
_YES_NO = re.compile(r"^[你您](?P<said>[^，。？?]{1,18}?)(?:吗|嘛|么)$")
_NO = re.compile(
    r"^(?:不是?|没有?|没|还没有?|从来不|从来没有?|从不|不太|不怎么|"
    r"基本不)(?P<verb>[^，。我你]{0,3}?)(?:的|了|啊|呀|过|诶|欸|吧)?$"
)
_YES = re.compile(
    r"^(?:嗯+|对|是|有|会|要|能|爱|喜欢|抽|喝|吃|养|住|结了?|当然|肯定|"
    r"一直)[^，。我你不没]{0,3}$"
)
_OFFERS = re.compile(
    r"^[你您](?:想|要|需要|愿意|觉得|知道|能|可以|介意|还好|好|在(?=吗|不|干|"
    r"做什么|忙|听)|累|准备好|听|看到|说的|希望我|打算怎么|感觉)"
)
# 一般十二点以后吧: how it is said, and none of what is said.
_SOFTENED = re.compile(r"(?<![酒网书水氧])[吧啊呀呢哦嘛啦哈～~…]+$")
_NO_THING = re.compile(
    r"[我你您吗呢？?]|什么|为什么|不知道|不告诉|秘密|保密|随便|谢|再说|都行|"
    r"都可以|没想好|看情况|一言难尽|^(?:嗯|哦|好|行|对|是的?|不|没|有|还行|还好|一般)$"
)


def turned(reply: str, before: str) -> str | None:
    """`reply` put into the last question of `before`, in the first person."""
    match = _QUESTION.search(before[-200:].strip())
    if match is None:
        return None
    asked = _LEAD.sub("", match["asked"].strip()).rstrip("呀啊呢哦")
    if _OFFERS.match(asked):
        return None
    return _filled(asked, reply) or _decided(asked, reply)


def _filled(asked: str, reply: str) -> str | None:
    which = _WHICH.search(asked)
    if which is None or _NO_THING.search(reply) or len(reply) > 24:
        return None
    reply = _SOFTENED.sub("", reply)
    rest = asked[which.end() :]
    said = asked[: which.start()] + reply + ("" if _UNITS.match(rest) else _without(rest, reply))
    return re.sub("[你您]", "我", said)


def _without(rest: str, reply: str) -> str:
    """几岁 and 五岁 share their last words."""
    for length in range(min(len(rest), len(reply)), 0, -1):
        if reply.endswith(rest[:length]):
            return rest[length:].removesuffix("了")
    return rest.removesuffix("了")


def _decided(asked: str, reply: str) -> str | None:
    question = _YES_NO.match(asked)
    if question is None:
        return None
    said = question["said"]
    if no := _NO.match(reply):
        if no["verb"] and no["verb"][0] not in said:
            return None
        if said.startswith("有"):
            return f"我没{said}"
        done = said.endswith(("了", "过"))
        return f"我没{said.removesuffix('了')}" if done else f"我不{said}"
    return f"我{said}" if _YES.match(reply) and reply[0] in said + "嗯对是当肯一" else None
