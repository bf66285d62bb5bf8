"""The labels that announce a secret, and the words and patterns around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache

from foundation.text.segment import ENGLISH_STOP_WORDS
from memories.screening import safe_patterns
from memories.screening.labelled.tokens import Look, Token, Tokens
from memories.screening.safe_patterns import Match, Pattern
from memories.screening.spelling import Folded


class Cue(Enum):
    """The type of a label, which determines the values near the label that count as secrets."""

    PASSWORD = "password"  # words, numbers and codes
    CODE = "code"  # numbers and codes of doors and devices; words count only after "is"
    KEY = "key"  # long strings of letters and digits
    PHRASE = "phrase"  # many words
    PATTERN = "pattern"  # a swipe over a grid, or turns of a dial
    LOGIN = "login"  # a name and a password
    SERVICE = "service"  # a site or an app: a password only if one clearly follows
    LOOSE_CODE = "loose_code"  # only the word "code"
    ANSWER = "answer"  # the answer to a security question
    SENT = "sent"  # a code received in a message
    PLACE = "place"  # only a place: a door, a device
    ACT = "act"  # somebody types, presses or opens something
    EVERYWHERE = "everywhere"  # the same secret is used for everything
    CARD_CODE = "card_code"  # three or four digits of a card
    NUMBER = "number"  # the number of an identity document
    ACCOUNT = "account"  # the number of a bank account


@dataclass(frozen=True)
class Label:
    cue: Cue
    category: str
    pattern: Pattern


LABELS: tuple[Label, ...] = tuple(
    Label(Cue(row["cue"]), row["category"], safe_patterns.compile(f"(?i)(?:{row['pattern']})"))
    for row in safe_patterns.rows("labels")
)


class LabelledText:
    """A normalised text with its tokens and the positions of its labels, each computed once."""

    def __init__(self, folded: Folded) -> None:
        self.folded, self.text = folded, folded.text

    @cached_property
    def tokens(self) -> Tokens:
        return Tokens(self.text, self.folded)

    @cached_property
    def labels(self) -> tuple[list[tuple[int, int]], ...]:
        """The spans of the matches of each label in `LABELS`, in the same order."""
        return tuple(
            [match.span() for match in label.pattern.finditer(self.text)] for label in LABELS
        )

    @property
    def label_starts(self) -> Iterator[int]:
        return (start for spans in self.labels for start, _ in spans)

    def end_of_labels(self, most: int) -> int:
        """Return the start of the label after the first `most` labels, or the text's length."""
        if len(self.text) <= most:
            return len(self.text)
        places = sorted(self.label_starts)
        return places[most] if len(places) > most else len(self.text)


_WORDS = safe_patterns.sets("vocabulary")
_P = safe_patterns.compiled("vocabulary")

FARTHEST = 20  # maximum number of tokens between a label and its value
BACK = 9  # the same for a value before its label
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
def is_link(text: str) -> bool:
    return HAN_LINK.search(text) is not None


@lru_cache(maxsize=4096)
def refers_back_to_label(text: str) -> bool:
    return BACK_LINK_ZH.search(text) is not None


@lru_cache(maxsize=4096)
def value_in(text: str) -> str:
    value = HAN_VALUE.search(text)
    return str(value["s"]) if value else ""


def is_an_answer(match: Match) -> bool:
    """Return whether the match is an answer to a security question.

    After "I put" or "A:", any text except a question is an answer. After "is", the text must also
    be plausible as an answer.
    """
    answer, lead = str(match["s"]), match[0][: match.start(1) - match.start()]
    links = ("is", "it's", "is it", "是", "叫", "its")
    if "答案" in lead or not lead.strip(' ,:："“').lower().endswith(links):
        return not answer.startswith(ASKING_ZH)
    if "\u3400" <= answer[0] <= "\u9fff":
        return is_han_phrase(answer[:12])
    return is_phrase(answer.split())


def is_counted(tokens: Tokens, number: int) -> bool:
    """Return whether a unit follows the token with the index `number`, as in "8 characters"."""
    following = tokens.all[number + 1 : number + 2]
    if not following or tokens.all[number].ends_clause:
        return False
    after = following[0]
    if after.kind == "han":
        return UNIT_ZH.search(after.text) is not None
    return after.bare in AFTER_A_COUNT


NO_CODE = _P["no_code"]
FIGURES_ZH = _WORDS["figures_zh"]
ASKING_ZH = tuple(_WORDS["asking_zh"])


def is_a_figure_of_speech(text: str, start: int, label: str) -> bool:
    """Return whether a label has another meaning here, as "code" has in "area code".

    In 流量密码 ("key to traffic"), 密码 ("password") is a figure of speech. The abbreviations mm是
    and kl是 ("pw is") announce a secret only if ASCII characters follow. If Chinese characters
    follow, the text is about the meaning of the letters.
    """
    if label.startswith("密"):
        return text[max(0, start - 2) : start] in FIGURES_ZH
    if label[-1] == "是" and label[:2].lower() in ("mm", "kl"):
        return not text[start + len(label) :].lstrip()[:1].isascii()
    if label.lower() in ("code", "codes"):
        return NO_CODE.search(text[max(0, start - 16) : start]) is not None
    return False


def names_a_code(label: str) -> bool:
    return any(word in label for word in ("code", "combo", "combination", "pin", "码", "sequence"))


def password_after_name(core: str) -> str:
    """Return the password after the name in lily/Lily#2020 or bob:hunter2, or an empty string."""
    for sign in "/:":
        name, found, rest = core.partition(sign)
        is_pair = found and len(name) >= 2 and len(rest) >= 4 and "/" not in rest
        if is_pair and Tokens(rest).all[0].look >= Look.DIGITS:
            return rest
    return ""


def is_alike(token: Token, first: Token) -> bool:
    """Return whether a token may belong to the value that begins with the token `first`.

    Only digits may follow digits. A code may be followed by another code or by a number of at least
    three digits, if their lengths differ by at most 12 characters.
    """
    if first.look == Look.DIGITS:
        return token.core.isdigit() or token.look == Look.DIGITS
    same = token.look >= Look.MIXED or (token.look == Look.DIGITS and len(token.core) >= 3)
    return same and abs(len(token.core) - len(first.core)) <= 12


def counts_as_phrase(text: str) -> bool:
    words = [
        word
        for word in text.replace(",", " ").replace("，", " ").replace("、", " ").split()
        if not word.isdigit()
    ]
    if not words:
        return False
    if any(sign >= "\u3400" for sign in text):
        return len(words) >= 5 or len(words[0]) in (12, 15, 18, 21, 24)
    if len(words) < 3:
        return False
    return is_phrase(words) or sum(word.lower() in FUNCTION_WORDS for word in words) * 6 <= len(
        words
    )


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
PLAIN_PHRASE = safe_patterns.compile(r"^\s*(?P<s>[a-z]{3,8}(?:[ ,]+[a-z]{3,8}){3,23})")
HAN_PHRASE = _P["han_phrase"]
DIAL_TURNS = _P["dial_turns"]
DIAL = _P["dial"]
THREE = safe_patterns.compile(r"^[^\d\n]{0,24}?(?P<s>\d{3,4})(?:$|[^\d])")
PAPER = _P["paper"]
BANK = safe_patterns.compile(
    r"(?i)^[^\d\n。]{0,28}?(?P<s>[A-Z]{0,4}\d(?:[ \-]?\d){5,30})(?:$|[^\d])"
)


_COMMON_WORDS = safe_patterns.sets("common_words")
_COMMON = safe_patterns.compiled("common_words")

LINKS = _COMMON_WORDS["links"]
CHANGES = _COMMON_WORDS["changes"]
BETWEEN = _COMMON_WORDS["between"]
BEFORE_A_COUNT = _COMMON_WORDS["before_a_count"]
AFTER_A_COUNT = _COMMON_WORDS["after_a_count"]
NO_VALUE = _COMMON_WORDS["no_value"]
_ADJECTIVE = _COMMON["adjective"]
FUNCTION_WORDS = ENGLISH_STOP_WORDS.union(
    ("without", "because", "since", "every", "also", "whenever", "anyway")
)
_PRONOUNS = _COMMON_WORDS["pronouns"]

NO_VALUE_ZH = _COMMON["no_value_zh"]
_ENDS_ZH = _COMMON["ends_zh"]


def is_phrase(words: list[str], *, by_sign: bool = False) -> bool:
    """Return whether plain words directly after "the password is" are the password.

    With `by_sign`, the words follow a sign ("password: …"), so nearly any words are accepted.
    """
    first = words[0].lower().strip("'\"")
    if by_sign:
        return first not in NO_VALUE and first not in FUNCTION_WORDS and len(first) >= 3
    if first in NO_VALUE or first in FUNCTION_WORDS or _ADJECTIVE.search(first) or len(first) < 3:
        return False
    rest = [word.lower() for word in words[1:4]]
    return not any(word in FUNCTION_WORDS for word in rest[:2]) or len(words) >= 12


def may_come_first(word: str) -> bool:
    """Return whether the word can be the password in "<word> is my password"."""
    bare = word.lower()
    return bare not in _PRONOUNS and bare not in FUNCTION_WORDS and not bare.endswith("ing")


def is_han_phrase(text: str, *, by_sign: bool = False) -> bool:
    """Return whether Chinese text directly after a label and its link is the password.

    The link is 是 ("is") or, with `by_sign`, a sign such as a colon.
    """
    if not 2 <= len(text) <= 12 or NO_VALUE_ZH.search(text):
        return False
    return by_sign or not _ENDS_ZH.search(text)
