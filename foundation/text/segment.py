"""Split text into terms for keyword search, in the same way for stored texts and queries.

The stop words suit questions and short statements. Some stop words are also first names, such as
"will" and "an". They are kept where the text uses them as names: "Where does Will work?", "An lives
in Ghent".
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, Protocol, cast

from foundation.text import tokens

if TYPE_CHECKING:
    from opencc import OpenCC

_NAMES = ("Will", "An", "Can", "Don", "Do", "So", "My")
_NAME = re.compile(rf"(?:{'|'.join(_NAMES)})(?:['’]s)?\b(?!['’])")
# A capitalised stop word is a name if this matches before it: it then is inside a sentence.
_GOES_BEFORE = re.compile(r"[\w,;:] ")
# At the beginning of a sentence, "Will" and "An" are names if the next word allows it (not "Will
# you", "An apple"). `_ASKED` lists the words that follow "Will" in a question.
_ASKED = (
    "i|you|he|she|it|we|they|there|this|that|these|those|the|a|an|my|your|his|her|its|our|their"
    "|anyone|anybody|someone|somebody|everyone|everybody|any|some|all|no"
)
_WILL = re.compile(rf"(?:^|[.!?\n]\s{{0,3}})Will(?:['’]s\b|\s++(?!(?:{_ASKED})\b)[a-z])")
_AN = re.compile(r"(?:^|[.!?\n]\s{0,3})An(?:['’]s\b|\s++(?!ho|he)[b-df-hj-np-tv-z])")
_CAPITALS = re.compile(r"\b[A-Z]")
_WORDS = re.compile(r"\b[A-Za-z]")


def names_among_stop_words(text: str) -> frozenset[str]:
    """Return the stop words that the text uses as names, in lower case.

    The result is empty if most words are capitalised, as in a headline.
    """
    if not any(name in text for name in _NAMES):
        return frozenset()
    found = {
        match.group().lower().removesuffix("'s").removesuffix("’s")
        for match in _NAME.finditer(text)
        if _GOES_BEFORE.match(text, max(0, match.start() - 2))
    }
    found |= {"will"} if _WILL.search(text) else set()
    found |= {"an"} if _AN.search(text) else set()
    if found and 2 * len(_CAPITALS.findall(text)) > len(_WORDS.findall(text)) > 3:
        return frozenset()
    return frozenset(found)


_ENGLISH = """
a about above after again all also am an and any are as at be because been before being below
between both but by can could did do does doing down during each else ever few for from further
get gets getting go goes going got had has have having he her here hers herself him himself his
how i if in into is it its itself just let like me more most much my myself no nor not now of
off oh ok okay on once only or other our ours ourselves out over own please really same say
says said she should so some still such tell than that the their theirs them themselves then
there these they thing things this those through to too under until up us very was we well were
what when where which while who whom whose why will with would yeah yes you your yours yourself
yourselves
i'm i've i'd i'll you're you've you'd you'll he's she's it's we're we've we'd we'll they're
they've they'd they'll that's there's here's what's who's where's when's how's let's
isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't won't wouldn't can't
cannot couldn't shouldn't im ive dont doesnt didnt cant wont isnt
"""

_CHINESE = """
的 地 得 了 着 过 吗 呢 吧 啊 呀 哦 嗯 哈 嘛 啦 呗 么 哎 唉 喔 噢 诶 哇
我 你 您 他 她 它 咱 我们 你们 他们 她们 它们 咱们 自己 大家 人家 俺
这 那 这个 那个 这些 那些 这样 那样 这么 那么 这里 那里 这儿 那儿 此 其 该
什么 怎么 怎样 怎么样 如何 为什么 为何 哪 哪个 哪些 哪里 哪儿 谁 几 多少 何时 什么时候 啥 咋
是 在 有 没 没有 不 不是 是不是 有没有 会 能 可以 可 要 想 应该 应 得到
和 与 跟 及 以及 或 或者 还是 而 而且 并 并且 但 但是 不过 因为 所以 因此 如果 虽然 然后 于是 则
把 被 给 让 叫 使 对 从 到 向 往 由 于 以 为 为了 关于 对于 比 用 按 按照
就 都 也 还 又 再 才 只 很 太 更 最 非常 十分 特别 已 已经 曾 曾经 正 正在 将 将要
一 一个 一些 一下 一样 一点 个 些 种 次 里 中 上 下 来 去 说 说过 告诉 提到 提过 知道 觉得
吗 请 请问 之 之前 之后 的话 等 等等 时候 时
"""

ENGLISH_STOP_WORDS = frozenset(_ENGLISH.split())
CHINESE_STOP_WORDS = frozenset(_CHINESE.split())

# Characters that are never part of a character pair.
CHINESE_STOP_CHARACTERS = frozenset(
    "的地得了着过吗呢吧啊呀哦嗯嘛啦我你您他她它们这那哪谁什么怎是在有没和与跟就都也还很把被给让"
)


_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN_CHARACTER = re.compile(f"[{_HAN}]")
_WORD = f"(?:(?![{_HAN}])[^\\W_])+"
# A run of Chinese characters, or a word that may contain the punctuation of ids, addresses, dates
# and names like c++.
_TOKEN = re.compile(f"([{_HAN}]+)|({_WORD}(?:[-._@/:+#&'’]{_WORD})*(?:\\+\\+|#)?)")
_PART = re.compile(r"[^\W_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# PostgreSQL's GIN refuses very long keys.
_LONGEST = 64


class _Cutter(Protocol):
    def cut(self, text: str, hmm: bool = True) -> list[str]: ...
    def cut_for_search(self, text: str, hmm: bool = True) -> list[str]: ...
    def has_word(self, word: str) -> bool: ...


_local = threading.local()


def terms(text: str) -> list[str]:
    """Return the terms of a text for the search index or for a query, with repetitions.

    English words are stemmed. Ids, numbers and addresses are kept whole and also split into parts.
    Chinese text is converted to simplified characters. Its terms are words, the words inside long
    words, and pairs of characters, so that texts match even if they are segmented differently. Stop
    words are left out, unless they are names or the text contains nothing else.
    """
    names = names_among_stop_words(text)
    found = [(term, stop and term not in names) for term, stop in _tokens(normalise(text))]
    kept = [term for term, is_stop in found if not is_stop] or [term for term, _ in found]
    return [term[:_LONGEST] for term in kept]


def content_terms(text: str) -> set[str]:
    """Return the terms of a text without stop words; the set may be empty."""
    return set(terms(text)) - ENGLISH_STOP_WORDS - CHINESE_STOP_WORDS


def unusual(text: str) -> list[str]:
    """Return the terms of a text that are rare in its language, such as names, ids and jargon.

    Two texts that share such a term are probably about the same subject. A word counts as rare if
    the token encoding, which was learned from word frequencies, needs several tokens for it. Words
    that begin with a digit count as rare from five characters on.
    """
    written = dict.fromkeys(_written(normalise(text)))
    return [_term(word) for word in written if not _is_stop(word) and _is_unusual(word)]


def words(text: str) -> list[str]:
    """Split the text into words and separators; joined together, they are the original text."""
    return _cutter().cut(text)


def normalise(text: str) -> str:
    """Unify width and case, convert Chinese to simplified characters, and write 1,000 as 1000."""
    text = unicodedata.normalize("NFKC", text).casefold()
    if _HAN_CHARACTER.search(text):
        text = _simplifier().convert(text)
    return _THOUSANDS.sub("", text)


def simplified(text: str) -> str:
    """Convert traditional to simplified Chinese characters one by one, so offsets stay valid."""
    return text.translate(_simplified_signs()).replace("妳", "你").replace("牠", "它")


def language(text: str) -> Literal["zh", "en"]:
    """Return "zh" if the text has at least as many Chinese characters as words, else "en"."""
    chinese = words = 0
    for han, word in _TOKEN.findall(text):
        chinese += len(han)
        words += bool(word) and not word[0].isdigit()
    return "zh" if chinese and chinese >= words else "en"


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    for han, word in _TOKEN.findall(text):
        yield from _chinese(han) if han else _foreign(word)


def _written(text: str) -> Iterator[str]:
    for han, word in _TOKEN.findall(text):
        yield from map(_trimmed, _cutter().cut(han)) if han else (word,)


def _term(word: str) -> str:
    return word if _HAN_CHARACTER.match(word) else next(_foreign(word))[0][:_LONGEST]


def _is_unusual(word: str) -> bool:
    if _HAN_CHARACTER.match(word):
        pieces = tokens.count(word)
        known = len(word) == 1 or _cutter().has_word(word)
        return not known or pieces > len(word) or (len(word) > 2 and pieces == len(word))
    if word[0].isdigit():
        return len(word) > 4 and not word.isalpha()
    bare = re.sub("['’]s$", "", word)
    return len(bare) > 2 and tokens.count(f" {bare}") > 1


def _is_stop(word: str) -> bool:
    if _HAN_CHARACTER.match(word):
        return _simplifier().convert(word) in CHINESE_STOP_WORDS
    return next(_foreign(word))[1]


def _foreign(token: str) -> Iterator[tuple[str, bool]]:
    token = token.replace("’", "'")
    if token in ENGLISH_STOP_WORDS:
        yield token, True
        return
    stem, _, ending = token.rpartition("'")
    if stem and ending in {"s", "m", "d", "ll", "re", "ve"} and _PART.fullmatch(stem):
        yield _stem(stem), stem in ENGLISH_STOP_WORDS
        return
    parts = _PART.findall(token)
    if len(parts) == 1 and parts[0] == token:
        yield _stem(token), False
        return
    yield token, all(part in ENGLISH_STOP_WORDS for part in parts)
    for part in parts:
        yield _stem(part), part in ENGLISH_STOP_WORDS


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    word = _without_accents(word)
    return _stemmer()(word) if word.isascii() and word.isalpha() else word


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFKD", word)
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", bare)


def _chinese(run: str) -> Iterator[tuple[str, bool]]:
    found = [_trimmed(word) for word in _cutter().cut_for_search(run)]
    for word in found:
        yield word, word in CHINESE_STOP_WORDS
    words = frozenset(found)
    for pair in _pairs(run):
        if pair not in words:
            yield pair, False


def _pairs(run: str) -> Iterator[str]:
    content = "".join(" " if word in CHINESE_STOP_WORDS else word for word in _cutter().cut(run))
    for pair in map("".join, pairwise(content)):
        if " " not in pair and not CHINESE_STOP_CHARACTERS.intersection(pair):
            yield pair


def _trimmed(word: str) -> str:
    """Remove pronouns and particles at the ends of a word that isn't in the dictionary.

    For example, 我养 ("I keep") becomes 养 ("keep").
    """
    if len(word) == 1 or _cutter().has_word(word):
        return word
    return word.strip("".join(CHINESE_STOP_CHARACTERS)) or word


def _stemmer() -> Callable[[str], str]:
    """Return this thread's stemmer; stemmers are not thread-safe."""
    if not hasattr(_local, "stem"):
        import snowballstemmer

        _local.stem = snowballstemmer.stemmer("english").stemWord
    stem: Callable[[str], str] = _local.stem
    return stem


@cache
def _cutter() -> _Cutter:
    # Importing loads the dictionary (25 MB). The module's functions use it; a `Jieba` object would
    # load another copy.
    import rjieba

    return cast(_Cutter, rjieba)


@cache
def _simplifier() -> OpenCC:
    import opencc

    return opencc.OpenCC("t2s")


@cache
def _simplified_signs() -> dict[int, str]:
    signs = [chr(code) for code in range(0x4E00, 0xA000)]
    plain = _simplifier().convert("\n".join(signs)).split("\n")
    return {ord(a): b for a, b in zip(signs, plain, strict=True) if a != b and len(b) == 1}
