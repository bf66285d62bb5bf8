"""What of a message is the person's own words. The rest is covered, sign for sign.

Covering keeps every offset, so that a quote found in the covered text stands at the same place in
the message.
"""

import re
from functools import lru_cache
from typing import Protocol, cast

SECRET = "\ue000"  # a private-use sign nobody types: a secret stood here
COVER = "\ue001"  # code, a quotation, pasted material: not the person's own statement

_PARAGRAPH = 1500  # signs; what is longer was pasted rather than said
_READ = 8000  # signs of one message that are read at all

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]{41,}`")
_QUOTED_LINE = re.compile(r"(?m)^[ \t]{0,4}(?:>|\|).*$|^(?:\t| {4,})\S.*$")
_URL = re.compile(r"\b(?:https?://|www\.)[^\s<>，。；、）]+")
_TAGS = re.compile(r"<[a-zA-Z/!][^<>\n]{0,200}>")
_SPEECH = re.compile(
    r"“[^“”\n]{1,600}”|\"[^\"\n]{1,600}\"|「[^「」\n]{1,600}」|『[^『』\n]{1,600}』"
)
_LONG_SPEECH = re.compile(r"[.!?。！？]\s*[”\"」』]?$|^.(?:\S+\s+){6,}|[，；]|\b(?:I|I'm|my)\b|我")
_SAID_BEFORE = re.compile(
    r"(?:\b(?:says?|said|wrote|writes?|asked|told \w+|goes|was like|sentence|phrase|"
    r"line|text)|"
    r"[说问道讲喊写]|句话|这句|歌词|台词)\s*[,:，：]?\s*$",
    re.IGNORECASE,
)
# "Translate this: …": everything after the colon is material to work on.
_MATERIAL = re.compile(
    r"\b(?:translate|proofread|rewrite|rephrase|paraphrase|summari[sz]e|correct|"
    r"edit|fix|improve|"
    r"polish|review|analy[sz]e|explain|continue|complete|format|convert|shorten|"
    r"reword|debug|"
    r"(?:here(?:'s| is)|below is|this is) (?:the|a|an|my|our|some) (?:text|email|"
    r"e-mail|essay|letter|"
    r"article|story|poem|paragraph|draft|code|log|transcript|dialog(?:ue)?|passage|"
    r"lyrics|quote|"
    r"cover letter|sentence|review|message))\b[^\n:]{0,80}(?::|\n)"
    r"|(?:改成|换成|译成|翻成)[^\n:：。，]{1,8}[:：]|(?:下面|以下|这)(?:的|几|一?段|一?句|"
    r"些)?(?:话|文字|内容|句子)[^\n:：。]{0,20}[:：]"
    r"|(?:翻译|润色|改写|校对|修改|总结|概括|续写|扩写|缩写|解释|分析|纠正|改一?下|"
    r"造句|仿写)[^\n:：。]{0,40}[:：\n]",
    re.IGNORECASE,
)
_WRITE_FOR_ME = re.compile(
    r"\b(?:write|compose|draft|generate|create|tell)\s+(?:me\s+|us\s+)?(?:a|an|the|"
    r"some|my)\s+"
    r"(?:\w+\s+){0,3}?(?:story|poem|song|rap|dialog(?:ue)?|script|scene|monologue|"
    r"letter|essay|joke|"
    r"speech|bio|caption|tweet|novel|haiku|limerick|email|e-mail|post)\b[^.!?\n]{0,400}"
    r"|(?:写|编|讲|来)(?:我|一下|给我)?(?:一?[个篇首段封则])(?:[^，。！？\n]{0,12}?)"
    r"(?:故事|小说|诗|歌|剧本|台词|对话|文案|作文|信|笑话|演讲稿|邮件|"
    r"文章)[^。！？\n]{0,400}",
    re.IGNORECASE,
)
_PLAY = re.compile(
    r"\b(?:role-?\s?play(?:ing)?|let'?s (?:pretend|play|imagine)|pretend (?:that|to "
    r"be|you|i|we|i'm)|"
    r"act as|you are now|in character|(?:in|for) my (?:story|novel|fan ?fic(?:tion)"
    r"?|d&d|dnd|rpg|"
    r"screenplay|campaign|dream|manuscript)|my (?:character|protagonist|oc|player "
    r"character|avatar)|"
    r"in (?:the|this|that|our|a) (?:\w+ )?(?:story|novel|game|film|movie|tv show|comic|manga"
    r"|rpg|dream|fan ?fic(?:tion)?|screenplay|roleplay),? "
    r"(?:i'm|i am|i play|i was|i have|i live|i work as|my character|my name is|we're|we are)\b|"
    r"imagine (?:that|you|i|i'm|we|being)|(?:once upon a time)|"
    r"you(?:'re| are) (?:an? |the )?(?:interviewer|examiner|dungeon master|narrator|waiter|judge"
    r"|customer|detective|client|doctor|patient|boss), (?:and )?i(?:'m| am) |in our campaign|"
    r"just kidding|(?:i'm|i am|was) (?:just |only )?kidding|only joking|(?:i'm|i am|"
    r"was|just) joking|"
    r"\boh,? (?:brilliant|great|perfect|super|wonderful|lovely|fantastic)[,.!]? .{0,40}\b(?:again|"
    r"another|"
    r"broken|cancel\w+|crash\w*)\b|\b(?:yeah|sure|right|yep|ok|oh)(?: right| sure)?,? "
    r"(?:because|cause|cos|'cause) (?:i|we|who) (?:just |totally |really |so |absolutely )*"
    r"(?:love|enjoy|adore|need|want|live for)\w*\b|\bjk\b|\bj/k\b|/s\b|april fool)"
    r"|(?:你|您)(?:现在|从现在起|从现在开始|来|就|先)?(?:是|当|做|演|扮)(?!不是|谁|什么|对的|最|"
    r"说|在|想|要|真|机器|个?AI)"
    r"[^，。？?]{1,12}[，,；。 ]{1,2}(?:而|然后)?我(?:是|当|演|扮|来|做)"
    r"|我(?:是|当|演|扮)[^，。？?]{1,10}[，,]你(?:是|当|演|扮|来)(?!不是|谁|怎|什么|做|干|"
    r"哪)[^，。？?吗呢]{1,10}(?:[，。！]|$)"
    r"|(?:我|咱俩?|咱们|我们)?来?(?:演|饰演|扮|模拟)(?:一?[个段场出]|一下|那个|你)"
    r"|(?:^|[，。 ])(?:朕|本王|本宫|本座|哀家|臣妾|奴婢|贫道|贫僧|老衲|本公主|本少爷)"
    r"|(?:剧本|剧情|设定|人设|跑团|桌游|剧本杀|跑团里)(?:里|中|里面|是|：)[^，。]{0,10}我|"
    r"我(?:是|叫)[^，。]{0,8}(?:穿越来的|魔法学院|修仙|星球来的|王国的|帝国的)"
    r"|角色扮演|扮演|假装(?:你|我|自己)|假设(?:你|我)|从前有|(?:小说|故事|剧本|游戏|"
    r"梦)(?:里|中)[^，。]{0,6}我|"
    r"我的(?:角色|主角|小说主角)|开个?玩笑|逗你(?:的|玩)|骗你的|说笑的|愚人节",
    re.IGNORECASE,
)

# One sign for one sign: full-width forms and typographic quotes as their plain cousins.
_PLAIN = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF10, 0xFF5B) if chr(code).isalnum()}
    | {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'", "\u00a0": " ", "\u3000": " "}
)


class _Converter(Protocol):
    def convert(self, text: str) -> str: ...


@lru_cache(maxsize=1)
def _simplified_signs() -> dict[int, str]:
    import opencc  # 20 ms, and only a process that reads Chinese pays it

    converter = cast(_Converter, opencc.OpenCC("t2s"))
    signs = [chr(code) for code in range(0x4E00, 0xA000)]
    plain = converter.convert("\n".join(signs)).split("\n")
    return {ord(a): b for a, b in zip(signs, plain, strict=True) if a != b and len(b) == 1}


@lru_cache(maxsize=1)
def _to_traditional() -> _Converter:
    import opencc

    return cast(_Converter, opencc.OpenCC("s2t"))


def traditional(text: str) -> str:
    """Our own words among those of a person who writes traditional characters."""
    return _to_traditional().convert(text)


def simplified(text: str) -> str:
    """Traditional characters as simplified ones, sign for sign: offsets stay true."""
    return text.translate(_simplified_signs()).replace("妳", "你").replace("牠", "它")


def plain(text: str) -> str:
    """Full-width digits and letters, and curly apostrophes, as plain ones; the same length."""
    return text.translate(_PLAIN)


def _covered(match: re.Match[str]) -> str:
    return COVER * len(match[0])


def _cover_from(text: str, start: int) -> str:
    return text[:start] + COVER * (len(text) - start)


def _cover_speech(text: str) -> str:
    def cover(match: re.Match[str]) -> str:
        said = _SAID_BEFORE.search(text[max(0, match.start() - 24) : match.start()])
        if said or _LONG_SPEECH.search(match[0]):
            return _covered(match)
        return match[0]

    return _SPEECH.sub(cover, text)


def _cover_pasted(text: str) -> str:
    kept = []
    for line in text.split("\n"):
        limit = _PARAGRAPH if len(line) > _PARAGRAPH else len(line)
        kept.append(line[:limit] + COVER * (len(line) - limit))
    joined = "\n".join(kept)
    return _cover_from(joined, _READ) if len(joined) > _READ else joined


def is_play(text: str) -> bool:
    """Whether the message as a whole is a game, a story or a joke."""
    return _PLAY.search(text[:_READ]) is not None


def own_words(text: str) -> str:
    """The message with all that isn't the person's own statement covered; the same length."""
    covered = _cover_pasted(plain(text))
    for pattern in (_FENCE, _INLINE, _QUOTED_LINE, _URL, _TAGS):
        covered = pattern.sub(_covered, covered)
    covered = _cover_speech(covered)
    if match := _MATERIAL.search(covered):
        covered = _cover_from(covered, match.end())
    return _WRITE_FOR_ME.sub(_covered, covered)
