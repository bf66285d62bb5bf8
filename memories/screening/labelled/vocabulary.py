"""The patterns and word lists for reading secrets near labels."""

from __future__ import annotations

from functools import lru_cache

from memories.screening import linear
from memories.screening.labelled import common_words
from memories.screening.labelled.labels import Cue
from memories.screening.labelled.tokens import Token, Tokens
from memories.screening.labelled.values import Look
from memories.screening.linear import Match

_WORDS = linear.sets("vocabulary")
_P = linear.compiled("vocabulary")

FARTHEST = 20  # tokens between a label and its value
BACK = 9
QUOTES = {"“": "”", "「": "」", "『": "』", '"': '"', "《": "》", "【": "】"}
LONGEST_QUOTED = 120
LINK_SIGNS = ":=：＝>→⇒➜—–~|-"
HAN_LINK = _P["han_link"]
HAN_VALUE = _P["han_value"]
OF_A_DATE = _P["of_a_date"]
UNIT_ZH = _P["unit_zh"]
BACK_LINK_ZH = _P["back_link_zh"]
BACK_LINKS = _WORDS["back_links"]
COPULAS = _WORDS["copulas"]


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
    links = ("is", "it's", "is it", "是", "叫", "its")
    if "答案" in lead or not lead.strip(' ,:："“').lower().endswith(links):
        return not said.startswith(ASKING_ZH)
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


NO_CODE = _P["no_code"]
FIGURES_ZH = _WORDS["figures_zh"]
ASKING_ZH = tuple(_WORDS["asking_zh"])


def is_a_figure_of_speech(text: str, start: int, said: str) -> bool:
    """Whether the label announces no secret, as in 流量密码 ("key to traffic") or "area code".

    "mm是" and "kl是" announce one where a code follows, and ask what it means before Chinese.
    """
    if said.startswith("密"):
        return text[max(0, start - 2) : start] in FIGURES_ZH
    if said[-1] == "是" and said[:2].lower() in ("mm", "kl"):
        return not text[start + len(said) :].lstrip()[:1].isascii()
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
NAMES = _WORDS["names"]
DOORWAYS = _WORDS["doorways"]
ANSWER = _P["answer"]
WEAK = frozenset({Cue.SERVICE, Cue.LOOSE_CODE})
SURELY_ZH = ("用", "同一", "统一")
OF_THE_LABEL = _WORDS["of_the_label"]
SHORT_LABELS = frozenset(
    {"pw", "pwd", "psw", "p/w", "passwd", "pass:", "pass =", "pswd", "mm:", "mm：", "mima"}
)
LOOSE_KEYS = _WORDS["loose_keys"]
PAIRS = "/ : and & + | 、 ， 和 pass pw pwd"
PAIRING = frozenset(PAIRS.split())
STOPS = _WORDS["stops"]
PHRASE = _P["phrase"]
PLAIN_PHRASE = linear.compile(r"^\s*(?P<s>[a-z]{3,8}(?:[ ,]+[a-z]{3,8}){3,23})")
HAN_PHRASE = _P["han_phrase"]
TURNS = _P["turns"]
DIAL = _P["dial"]
THREE = linear.compile(r"^[^\d\n]{0,24}?(?P<s>\d{3,4})(?:$|[^\d])")
PAPER = _P["paper"]
BANK = linear.compile(r"(?i)^[^\d\n。]{0,28}?(?P<s>[A-Z]{0,4}\d(?:[ \-]?\d){5,30})(?:$|[^\d])")
