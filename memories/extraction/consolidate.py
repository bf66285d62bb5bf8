"""Many statements to fewer: the bundled way lists what begins alike, in its own words.

"Likes oolong", "Likes matcha" and "Likes sencha" become "Likes oolong, matcha and sencha". Nothing
is said that no input says, and every input that went in is in the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from memcenter.lib import segment, shingles
from memcenter.lib.stopwords import ENGLISH

MOST_RESULTS = 3
LONGEST = 240  # characters of one result; what would be longer stays apart
_FEWEST = 3  # statements that are worth joining
_END = " .。;；,，!！"
_HAN = re.compile(r"[\u4e00-\u9fff]")
_DENIES = re.compile(r"\b(?:not|never|no|nor)\b|n['’]t\b", re.IGNORECASE)
_WORD = re.compile(r"\S+\s*")
_ARTICLES = frozenset(["a", "an", "the", "his", "her", "their", "its", "my", "some"])
# After these Chinese verbs come things, which 和 joins; other ends are joined by commas.
_TAKES_THINGS = re.compile(
    r"(?:喜欢|喜爱|热爱|偏爱|爱|讨厌|不吃|不喝|想要|想学|擅长|会|会说|精通|使用|用|有|养|养了|收集|去过|到过"
    r"|读过|看过|听过|玩过|学过|吃过|买了|在学|关注|欣赏|吃|喝|看|听|读|玩|学|说|打|弹)$"
)
# Words too common to be searched for that do say what a statement is about.
_TELLING = frozenset(["like", "likes", "has", "have", "had", "goes", "wants", "says", "gets"])
_VERB_ZH = re.compile(
    r"[很也最不特别非常一直]{0,8}(?:喜欢|喜爱|热爱|偏爱|讨厌|想要|想学|想去|擅长|精通|去过|到过|读过|看过"
    r"|听过|玩过|学过|吃过|在学|在读|关注|收集|经常|打算|计划|习惯)"
)
_LISTED_ZH = re.compile(r"、|和(?=[^、和]*$)")
_LISTED_EN = re.compile(r",\s++(?:and\s+)?|(?<!\s)\s++and\s+(?=[^,]*$)")


@dataclass(frozen=True)
class Joined:
    """One statement made of several: `inputs` are their places in what was given."""

    content: str
    inputs: tuple[int, ...]


class Consolidator(Protocol):
    """Makes fewer statements of a group of similar ones, each of at least two of them.

    An input stands in at most one result; one that stands in none stays as it is. Raises
    `ProviderError`.
    """

    name: str

    def consolidate(self, texts: Sequence[str]) -> list[Joined]: ...


class BundledConsolidator:
    """Joins what begins with the same words; what it can't join well it leaves."""

    name = "bundled"

    def consolidate(self, texts: Sequence[str]) -> list[Joined]:
        frames = _frames(texts)
        found = [joined for places in frames for joined in _in_size(places, texts)]
        left = len(texts) - sum(len(one.inputs) for one in found)
        if len(found) + left <= MOST_RESULTS:
            return found
        return [one for one in found if len(one.inputs) >= _FEWEST]


def join(texts: Iterable[str]) -> str:
    """One text that says what all of these say, each thing once."""
    kept = _without_repeats([text.strip() for text in texts if text.strip()])
    if len(kept) < 2:
        return kept[0] if kept else ""
    groups = [[kept[place] for place in places] for places in _frames(kept)]
    pieces = [_listed(group) if len(group) > 1 else group[0] for group in groups]
    if len(pieces) == 1:
        return pieces[0]
    mark = "；" if all(_HAN.search(piece) for piece in pieces) else "; "
    return mark.join(piece.rstrip(_END) for piece in pieces)


def _frames(texts: Sequence[str]) -> list[list[int]]:
    """The places of the texts that begin alike, in the order of the first of each."""
    found: dict[tuple[str, ...], list[int]] = {}
    for place, text in enumerate(texts):
        found.setdefault(_opening(text), []).append(place)
    return list(found.values())


def _opening(text: str) -> tuple[str, ...]:
    """The words that must be shared: up to the first that says something by itself."""
    if verb := _VERB_ZH.match(text):
        return (verb[0],)
    words = _words(text)
    for count, word in enumerate(words, start=1):
        bare = word.strip().casefold()
        tells = bare in _TELLING or (bare not in ENGLISH and any(map(str.isalpha, bare)))
        if tells:
            return tuple(one.strip().casefold() for one in words[:count])
    return (text.casefold(),)


def _words(text: str) -> list[str]:
    """Cut so that joined again they are the text; Chinese by its dictionary, behind its verb."""
    if not _HAN.search(text):
        return _WORD.findall(text)
    verb = _VERB_ZH.match(text)
    at = verb.end() if verb else 0
    return [*([text[:at]] if at else []), *segment.words(text[at:])]


def _in_size(places: Sequence[int], texts: Sequence[str]) -> list[Joined]:
    """One list of them, or several where one would be too long."""
    if len(places) < 2:
        return []
    content = join(texts[place] for place in places)
    if len(content) <= LONGEST:
        return [Joined(content, tuple(places))]
    half = len(places) // 2
    return [*_in_size(places[:half], texts), *_in_size(places[half:], texts)]


def _without_repeats(texts: Sequence[str]) -> list[str]:
    """Without what another says letter by letter; of twins the first stays."""
    plain = [shingles.normalise(text) for text in texts]
    return [
        text
        for place, text in enumerate(texts)
        if not any(
            _within(text, other) and (plain[place] != plain[beside] or place > beside)
            for beside, other in enumerate(texts)
            if beside != place
        )
    ]


def _within(text: str, other: str) -> bool:
    """Whether the words of `text` stand in `other` in a row: not "Likes tea" in "Dislikes tea"."""
    ours, theirs = (_bare_words(one) for one in (text, other))
    size = len(ours)
    return any(theirs[at : at + size] == ours for at in range(len(theirs) - size + 1))


def _bare_words(text: str) -> list[str]:
    bare = (word.strip().strip(_END).casefold() for word in _words(text))
    return [word for word in bare if word]


def _listed(texts: Sequence[str]) -> str:
    """The words that all begin with, once, and what follows them as a list."""
    cut = [_words(text.rstrip(_END)) for text in texts]
    chinese = bool(_HAN.search(texts[0]))
    shared = _shared(cut)
    head = "".join(cut[0][:shared])
    rests = ["".join(words[shared:]).strip() for words in cut]
    if chinese:
        return head + _chinese_list(rests, things=bool(_TAKES_THINGS.search(head)))
    word = "or" if _DENIES.search(head) else "and"
    return f"{head.rstrip()} {_english_list(rests, word=word)}"


def _shared(cut: Sequence[Sequence[str]]) -> int:
    """How many words all begin with; some are left to each, with its article and its brackets."""
    shortest = min(len(words) for words in cut)
    shared = 0
    while shared < shortest - 1 and len({_key(words[shared]) for words in cut}) == 1:
        shared += 1
    while shared > 1 and (_key(cut[0][shared - 1]) in _ARTICLES or not _closes(cut[0][:shared])):
        shared -= 1
    return shared


def _closes(words: Sequence[str]) -> bool:
    last = words[-1].strip()
    return bool(last) and last[-1].isalnum()


def _key(word: str) -> str:
    return word.strip().casefold()


def _chinese_list(rests: Sequence[str], *, things: bool) -> str:
    if not things or any(re.search(r"[，,；;]", rest) for rest in rests):
        return "，".join(dict.fromkeys(rests))
    items = list(dict.fromkeys(item for rest in rests for item in _items_zh(rest)))
    return items[0] if len(items) == 1 else f"{'、'.join(items[:-1])}和{items[-1]}"


def _items_zh(rest: str) -> list[str]:
    """A list that we made before is taken apart, so that it grows by one, not by "and"."""
    return [item for item in _LISTED_ZH.split(rest) if item] if "、" in rest else [rest]


def _english_list(rests: Sequence[str], *, word: str) -> str:
    if any(re.search(r"[;:.]\s", rest) for rest in rests):
        return "; ".join(dict.fromkeys(rests))
    items = list(dict.fromkeys(item for rest in rests for item in _items_en(rest)))
    if len(items) == 1:
        return items[0]
    inner = any(" and " in item or item.count(" ") > 2 for item in items)
    last = f", {word} " if inner else f" {word} "
    return f"{', '.join(items[:-1])}{last}{items[-1]}"


def _items_en(rest: str) -> list[str]:
    return [item for item in _LISTED_EN.split(rest) if item] if ", " in rest else [rest]
