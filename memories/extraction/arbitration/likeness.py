"""Whether two texts that no rule takes apart are one statement in other words."""

import re

from memories.extraction.arbitration.lexicon import stem
from memories.extraction.arbitration.pairing import Pair
from memories.extraction.arbitration.patterns_zh import SURNAMES
from memories.extraction.arbitration.statement import Statement
from memories.extraction.arbitration.wordlists import words

# At this cosine equal content words make one statement, whatever stands between them.
ALIKE = 0.6
# At this one a single word that only one of them has makes no other statement.
NEARLY_EQUAL = 0.75
EQUAL_ACROSS_SLOTS = 0.7
# At this one two texts that differ in a word or two speak of one thing.
_CLOSE = 0.68
_ENOUGH_WORDS = 4
_TOKEN = re.compile(r"[a-z][a-z0-9+#.-]*|\w")
_ON_ONE_MATTER = 0.5
_OPPOSITE_CHARS = frozenset(
    frozenset(pair)
    for pair in words(
        """
        大小 长短 高低 多少 冷热 早晚 快慢 左右 内外 新旧 开关 前后 单双 公私 明暗 轻重 宽窄 深浅
        贵贱 好坏 干湿 软硬 粗细 强弱 甜咸 横竖 阴阳 动静
        """
    )
)
# Verbs and particles that carry no content of their own.
_LIGHT = words(
    """
    use must should need want prefer pleas make made keep kept alway usual get know how take
    if when becaus call store run host regular so do not can onli well better more
    than which that who live such as happen take place let us we user habit tend tri come been
    whenev via
    """
)
_LIGHT_CHARS = frozenset(
    "的了是在有我用户都就还又很更最会要想能把被对到从里上中时得而但且并或希望请喜欢爱着过也因为所以"
    "打算想近正现零一二三四五六七八九十两0123456789习惯家天每常都会使需应该必须写放做去来个只位一些点吧呢啊呀之其"
)


def says_the_same(pair: Pair, *, strictly: bool = False) -> bool:
    """`strictly`: no word of content may be left over on either side."""
    new, old = pair.new, pair.old
    if pair.similarity < ALIKE or not _may_be_one(new, old):
        return False
    ours, theirs = _content(new), _content(old)
    if not ours or not theirs:
        return False
    gained, lost = ours - theirs, theirs - ours
    one_slot = "" in (new.slot, old.slot) or new.slot == old.slot
    if not gained and not lost:
        return one_slot or (len(ours) > 1 and pair.similarity >= EQUAL_ACROSS_SLOTS)
    if strictly or not one_slot:
        return False
    if new.language == "zh" and not gained:
        return True
    long_enough = len(ours & theirs) >= _ENOUGH_WORDS
    one_sided = len(gained | lost) == 1 and not (gained | lost) & (new.names | old.names)
    return one_sided and long_enough and pair.similarity >= NEARLY_EQUAL


def is_too_close(pair: Pair) -> bool:
    """Nearly one text, but each with a word of its own: nobody can tell whether both hold."""
    new, old = pair.new, pair.old
    if pair.similarity < _CLOSE or not _may_be_one(new, old):
        return False
    if {new.slot, old.slot} - {"", "thing"} or new.names != old.names:
        return False
    ours, theirs = _content(new), _content(old)
    gained, lost = ours - theirs, theirs - ours
    if new.language == "zh" and len(gained) == len(lost) == 1 and gained | lost <= SURNAMES:
        return False
    shared = len(ours & theirs)
    least = 3 if new.language == "zh" else 2
    return bool(gained and lost) and shared >= max(least, len(gained), len(lost))


def turned_round(pair: Pair) -> bool:
    """Chinese opposites are single characters: 早睡 and 晚睡 differ in one."""
    new, old = pair.new, pair.old
    if new.language != "zh" or new.slot in ("kin", "pet") or not _may_be_one(new, old):
        return False
    ours, theirs = _content(new), _content(old)
    gained, lost = ours - theirs, theirs - ours
    opposite = len(gained) == len(lost) == 1 and gained | lost in _OPPOSITE_CHARS
    return opposite and pair.similarity >= _ON_ONE_MATTER and bool(ours & theirs)


def _may_be_one(new: Statement, old: Statement) -> bool:
    return (
        new.language == old.language
        and new.figures == old.figures
        and new.positive == old.positive
        and new.holds == old.holds
        and new.against == old.against
    )


def _content(said: Statement) -> frozenset[str]:
    """English: the stems; Chinese, where words are cut now so and now so: the characters."""
    if said.language == "zh":
        return frozenset(_TOKEN.findall(said.plain.lower())) - _LIGHT_CHARS
    named = {stem(name) for name in said.names} | {stem(said.subject)} - {"user"}
    return (said.words | named) - _LIGHT
