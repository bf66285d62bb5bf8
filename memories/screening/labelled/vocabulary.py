"""The patterns and word lists for reading secrets near labels."""

from __future__ import annotations

from functools import lru_cache

from memories.screening import linear
from memories.screening.labelled import common_words
from memories.screening.labelled.labels import Cue
from memories.screening.labelled.tokens import Token, Tokens
from memories.screening.labelled.values import Look
from memories.screening.linear import Match

FARTHEST = 20  # tokens between a label and its value
BACK = 9
QUOTES = {"“": "”", "「": "」", "『": "』", '"': '"', "《": "》", "【": "】"}
LONGEST_QUOTED = 120
LINK_SIGNS = ":=：＝>→⇒➜—–~|-"
HAN_LINK = linear.compile(
    r"(?:就?是|都是|还是|一直是|即|为|係|系|叫做?|叫作|等于|改成了?|改为了?|换成了?|换为|设成了?|"
    r"设置?为了?|设置?成了?|设的?是?|"
    r"变成了?|再?加|[三四五六七八3-8]位(?:数字?)?|用的?都?是?|写的是|填的?是?|输入?|按|打|念|键入|"
    r"敲|拨|记为|定为|定成了?|如下|"
    r"登[录陆入]?|放这儿?|在这儿?|"
    r"转到|转|拧到|拧|画|发来|收到)(?:的是|的)?(?:个|一下|一个|我的)?$"
)
HAN_VALUE = linear.compile(
    r"^[^\n]{0,10}?(?:就是|都是|还是|是|为|係|叫做?|改成了?|改为了?|换成了?|设成了?|设置?为|"
    r"设置成了?|用的是)"
    r"(?P<s>[\x{3400}-\x{9fff}]{2,14})$"
)
OF_A_DATE = linear.compile(
    r"^(?:就?是|用的?是?|设的?).{0,6}(?:生日|号码|手机号|日期|年份|名字|倒过来|纪念日)"
)
UNIT_ZH = linear.compile(
    r"^(?:年|月|日|号|位|次|个|天|分|遍|点|块|元|人|层|条|把|秒|小时|种|万|岁|页|章|版|倍|平|米|"
    r"公里|斤|多|家|台|部|套|款|代|"
    r"期|届|班|路|度|字|千|亿|周|季|集|左右|以上|以下)"
)
BACK_LINK_ZH = linear.compile(
    r"(?:是|作为?|做|当作?|设成|设为|用来|就能|能|可以|才能|用于|即|打开|解)"
)
BEFORE = (
    "is was are as for = opens unlocks that's thats that it's its to being be my our the gets into "
    "on in at of ( i use we used using disarms turns works still"
)
BACK_LINKS = frozenset(BEFORE.split())
TELL = "is was are as = that's be being opens unlocks for gets works disarms"
COPULAS = frozenset(TELL.split())


@lru_cache(maxsize=4096)
def is_link(said: str) -> bool:
    return HAN_LINK.search(said) is not None


@lru_cache(maxsize=4096)
def leads_back(said: str) -> bool:
    return BACK_LINK_ZH.search(said) is not None


@lru_cache(maxsize=4096)
def value_in(said: str) -> str:
    value = HAN_VALUE.search(said)
    return str(value["s"]) if value else ""


def is_an_answer(match: Match) -> bool:
    """Whether the match is an answer: after "I put" or "A:" always, after "is" if plausible."""
    said, lead = str(match["s"]), match[0][: match.start(1) - match.start()]
    if not lead.strip(' ,:："“').lower().endswith(("is", "it's", "is it", "是", "叫", "its")):
        return True
    if "\u3400" <= said[0] <= "\u9fff":
        return common_words.is_han_phrase(said[:12])
    return common_words.is_phrase(said.split())


def is_counted(tokens: Tokens, number: int) -> bool:
    """Whether a unit follows the number: "8 characters", 90天."""
    following = tokens.all[number + 1 : number + 2]
    if not following or tokens.all[number].ends_clause:
        return False
    after = following[0]
    if after.kind == "han":
        return UNIT_ZH.search(after.text) is not None
    return after.bare in common_words.AFTER_A_COUNT


NO_CODE = linear.compile(
    r"(?i)(?:zip|postal|post|area|error|exit|status|country|dress|source|qr|bar|promo|discount|"
    r"coupon|product|"
    r"course|tax|hs|swift|iata|icao|airport|colou?r|hex|morse|http|sic|icd|fault|trouble|engine|"
    r"part|model|vin|"
    r"class|fire|moral|ethics|machine|byte|unicode|ascii|char|referral|flight|medical|billing|cpt|"
    r"genetic|dna|"
    r"python|js|legacy|open|dead|spaghetti|clean|state|street|response|return|reason|item|order|"
    r"style|sku|"
    r"building|health|safety|penal|civil|labou?r|criminal|cheat|konami|plu|dialing|dialling|"
    r"region|stock|ticker)[ -]$"
)
FIGURES = (
    "流量 财富 基因 摩斯 幸福 成功 长寿 健康 快乐 生命 "
    "爆款 致富 人生 情感 恋爱 文化 增长 芬奇 遗传 青春 美丽"
)
FIGURES_ZH = frozenset(FIGURES.split())


def is_a_figure_of_speech(text: str, start: int, said: str) -> bool:
    """Whether the label announces no secret, as in 流量密码 ("key to traffic") or "area code"."""
    if said.startswith("密"):
        return text[max(0, start - 2) : start] in FIGURES_ZH
    if said.lower() in ("code", "codes"):
        return NO_CODE.search(text[max(0, start - 16) : start]) is not None
    return False


def names_a_code(said: str) -> bool:
    return any(word in said for word in ("code", "combo", "combination", "pin", "码", "sequence"))


def second_of(core: str) -> str:
    """Return the part after the name in lily/Lily#2020 or bob:hunter2."""
    for sign in "/:":
        name, found, rest = core.partition(sign)
        if found and len(name) >= 2 and len(rest) >= 4 and pair_look(rest):
            return rest
    return ""


def pair_look(rest: str) -> bool:
    return Tokens(rest).all[0].look >= Look.DIGITS and "/" not in rest


def is_alike(one: Token, other: Token) -> bool:
    """Whether a token continues a value: digits after digits, codes after similarly long codes."""
    if other.look == Look.DIGITS:
        return one.core.isdigit() or one.look == Look.DIGITS
    same = one.look >= Look.MIXED or (one.look == Look.DIGITS and len(one.core) >= 3)
    return same and abs(len(one.core) - len(other.core)) <= 12


def counts_as_phrase(said: str) -> bool:
    words = [
        word
        for word in said.replace(",", " ").replace("，", " ").replace("、", " ").split()
        if not word.isdigit()
    ]
    if not words:
        return False
    if any(sign >= "\u3400" for sign in said):
        return len(words) >= 5 or len(words[0]) in (12, 15, 18, 21, 24)
    if len(words) < 3:
        return False
    return common_words.is_phrase(words) or sum(
        word.lower() in common_words.FUNCTION_WORDS for word in words
    ) * 6 <= len(words)


WORDS_COUNT = frozenset({Cue.PASSWORD, Cue.CODE, Cue.PHRASE, Cue.EVERYWHERE})
DOORS = frozenset({Cue.PASSWORD, Cue.CODE, Cue.LOGIN, Cue.PATTERN, Cue.PLACE})
SECRET_USE = frozenset({Cue.PASSWORD, Cue.CODE, Cue.LOGIN, Cue.ACT, Cue.KEY})
PASS_WORDS = frozenset({"pass", "pw", "pwd", "password"})
NETWORKS = ("wifi", "wi-fi", "hotspot", "network", "无线", "热点", "路由器")
NAMES = frozenset(
    {
        "called",
        "named",
        "name",
        "ssid",
        "shows",
        "handle",
        "user",
        "username",
        "gamertag",
        "id",
        "profile",
        "nickname",
    }
)
DOORWAYS = frozenset(
    {
        "gate",
        "door",
        "alarm",
        "safe",
        "front door",
        "back door",
        "side door",
        "garage",
        "side gate",
        "locker",
        "intercom",
        "buzzer",
        "大门",
        "后门",
        "院门",
        "车库",
        "保险柜",
        "保险箱",
        "柜子",
        "行李箱",
        "无线网",
        "wifi",
        "wi-fi",
        "热点",
        "平板",
        "路由器",
        "无线",
    }
)
ANSWER = linear.compile(
    r"(?i)(?:\bi (?:always )?(?:put|said|say|answered|wrote|set|used?|entered|typed)(?: it (?:as|"
    r"to|is))?\b|\blied and said\b|\banswer(?:ed|s)?\b(?: is| was| to that is)?|\ba[:：]|"
    r"\bit'?s\b|\bis\b|\bit is\b|[:：]|我?填的?是?|我?答的?是?|我?设的?是?|我?写的是?|答案是?|"
    r"暗语，|是|叫)[ ,:：]*[\"“「']?"
    r"(?P<s>[^.?!。？！，,;；\n\"”」]{2,60})"
)
WEAK = frozenset({Cue.SERVICE, Cue.LOOSE_CODE})
SURELY_ZH = ("用", "同一", "统一")
OF = "for to of on at in there here used is was it's 's"
OF_THE_LABEL = frozenset(OF.split())
SHORT_LABELS = frozenset(
    {"pw", "pwd", "psw", "p/w", "passwd", "pass:", "pass =", "pswd", "mm:", "mm：", "mima"}
)
LOOSE = "token tokens secret secrets cookie cookies ak sk psk 凭证 许可证 序列号"
LOOSE_KEYS = frozenset(LOOSE.split())
PAIRS = "/ : and & + | 、 ， 和 pass pw pwd"
PAIRING = frozenset(PAIRS.split())
STOP = "and but so because if when which since for btw thanks please ok while though"
STOPS = frozenset(STOP.split())
PHRASE = linear.compile(
    r"^[^.!?。！？:：=\n]{0,60}?(?:\s*(?:[:：=]|->|→|\bis\b|\bare\b|\bgoes\b|是|为|"
    r"依次是)\s*[\"“'「]?)\n?\s*"
    r"(?P<s>(?:\d{1,2}[.)、 ]+)?[A-Za-z\x{3400}-\x{9fff}][^.!?。！？\n\"”」]{5,300}(?:\n "
    r"?\d{1,2}[.)、 ][^\n.]{2,20}){0,24})"
)
PLAIN_PHRASE = linear.compile(r"^\s*(?P<s>[a-z]{3,8}(?:[ ,]+[a-z]{3,8}){3,23})")
HAN_PHRASE = linear.compile(
    r"^\s*(?P<s>[\x{4e00}-\x{9fff}]{12}(?:[\x{4e00}-\x{9fff}]{12})?)(?:$|[ ，。\n])"
)
TURN = (
    r"(?:left|right|clockwise|counter-?clockwise|anti-?clockwise|top|bottom|middle|cent(?:er|re)|"
    r"upper|lower|corner|down|up|diagonal(?:ly)?|across|"
    r"[左右上下中顺逆横竖斜对角圈格转角]|letter|shape|字形|字|形)"
)
TURNS = linear.compile(
    rf"(?i)^[^.!?。！？\n]{{0,40}}?(?:[:：=]|->|\bis\b|\bgoes\b|\bstarts\b|是|先|画|从|为|"
    rf"\bfrom\b|\bdraw\b|，|,|\s)\s*(?P<s>(?:[^.!?。！？\n]{{0,30}}?{TURN}"
    rf"[^.!?。！？\n]{{0,24}}?){{2,}}[^.!?。！？\n]{{0,80}})"
)
DIAL = linear.compile(
    r"(?i)(?:(?:\b(?:left|right|l|r|clockwise|counter-?clockwise|anti-?clockwise)\b|"
    r"[左右顺逆](?:时针)?)[^.!?。！？\n\d零一二三四五六七八九十]{0,12}"
    r"(?:\d{1,3}|[零一二三四五六七八九十]{1,3})(?:圈|格|度)?[，, 、;；/\-再又then和and ]*){2,}"
    r"|(?:\b\d{1,2} ?(?:left|right|l|r)\b[, \-/then]*){2,}"
)
THREE = linear.compile(r"^[^\d\n]{0,24}?(?P<s>\d{3,4})(?:$|[^\d])")
PAPER = linear.compile(
    r"(?i)^(?: ?(?:number|no\.?|num|#|号码|号|编号|档案编号))?[^\d\n。]{0,28}?(?:\b|[^A-Za-z\d])"
    r"(?P<s>[A-Z]{0,3}[ \-]?\d(?:[ \-]?[A-Z\d]){5,19})(?:$|[^A-Za-z\d])"
)
BANK = linear.compile(r"(?i)^[^\d\n。]{0,28}?(?P<s>[A-Z]{0,4}\d(?:[ \-]?\d){5,30})(?:$|[^\d])")
