"""What a person told of doing in several turns is a habit: "I went for a run this morning"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memcenter.lib import segment
from memories.extraction import masking, sensitive
from memories.extraction.joint.types import Gathered, Heard
from memories.extraction.types import Candidate

FEWEST = 3  # turns that tell of it
_IMPORTANCE, _CONFIDENCE = 0.4, 0.6
_DONE = {
    "went": "goes", "had": "has", "ate": "eats", "drank": "drinks", "ran": "runs",
    "slept": "sleeps", "woke": "wakes", "skipped": "skips", "played": "plays",
    "watched": "watches", "swam": "swims", "cooked": "cooks", "ordered": "orders",
    "practised": "practises", "practiced": "practices", "meditated": "meditates",
    "overslept": "oversleeps", "worked": "works", "stayed": "stays", "took": "takes",
    "baked": "bakes", "painted": "paints", "cycled": "cycles", "walked": "walks",
    "visited": "visits", "called": "calls", "wrote": "writes", "studied": "studies",
}  # fmt: skip
_ENGLISH = re.compile(
    rf"\bI(?: just| also| finally| already| even)* (?P<verb>{'|'.join(_DONE)})\b"
    r"(?P<rest>[^.,!?;:\n]{0,60})"
)
_TIMES = re.compile(
    r"\b(?:again|today|yesterday|tonight|just now|already|too|as (?:usual|always)|"
    r"(?:this|last|yesterday|on|every) (?:morning|afternoon|evening|night|week|weekend|\w+day)|"
    r"at \d[\w:.]*(?: ?[ap]m)?|before work|after work|for (?:an?|\d+|\w+) (?:hours?|minutes?|km|"
    r"miles?))\b|\d+(?:\.\d+)? ?(?:km|kilometers|kilometres|miles?|hours?|minutes?|mins?)\b",
    re.IGNORECASE,
)
_JOIN = re.compile(r"\b(?:and|but|because|so|then|which|when|while|with my|that)\b.*$")
_PRONOUN = re.compile(
    r"\b(?:it|them|that|there|him|her|he|she|this)\b|[他她它]|那[个里边]|这[个里边]"
)
_WHEN_ZH = (
    r"(?:今天|昨天|昨晚|前天|今晚|今早|早上|上午|中午|下午|傍晚|晚上|周末|周[一二三四五六日末]|刚刚?|又|也|就|还"
    r"|一早|已经|终于|下班后?|睡前)"
)
_SPEECH = re.compile(r"“[^“”\n]{1,600}”|\"[^\"\n]{1,600}\"|「[^「」\n]{1,600}」")
_CHINESE = re.compile(
    rf"(?:(?<=[。！？!?，,\n])|^)\s{{0,3}}"
    rf"(?:我{_WHEN_ZH}{{0,4}}|{_WHEN_ZH}{{1,4}}我?{_WHEN_ZH}{{0,4}})"
    r"(?P<what>(?:去|吃|喝|跑|打|看|玩|练|游|做|点|弹|听|写|画|骑|爬|加班|熬夜|失眠|迟到|健身|冥想|散步)"
    r"[^，,。！!？?；;\n]{0,14})"
)
_DONE_ZH = re.compile(
    r"了|过(?=[。！，]|$)|[啊呀呢吧啦]$|\d+(?:\.\d+)?(?:公里|小时|分钟|个小时)|一会儿?"
)


@dataclass(frozen=True)
class _Doing:
    key: frozenset[str]
    content: str
    language: str
    quote: str
    start: int


def habits(turns: Sequence[Heard]) -> Iterator[Gathered]:
    """One statement for each of the turns that tell of it, where at least `FEWEST` do.

    At least one of them is fresh: else it was found before.
    """
    told: dict[frozenset[str], dict[int, _Doing]] = defaultdict(dict)
    for heard in turns:
        for doing in _doings(heard):
            told[doing.key].setdefault(heard.turn, doing)
    fresh = {heard.turn for heard in turns if heard.fresh}
    for by_turn in told.values():
        if len(by_turn) >= FEWEST and fresh & by_turn.keys():
            first = next(iter(by_turn.values()))
            yield from (
                Gathered(_candidate(first.content, doing), turn) for turn, doing in by_turn.items()
            )


def _doings(heard: Heard) -> Iterator[_Doing]:
    said = heard.text.user.text
    covered = masking.covered(sensitive.cover(said))
    own = _SPEECH.sub(lambda quoted: masking.COVER * len(quoted[0]), covered)
    for match in _ENGLISH.finditer(own):
        rest = " ".join(_JOIN.sub("", _TIMES.sub("", match["rest"])).split())
        yield from _doing(f"Often {_DONE[match['verb']]} {rest}".strip(), match, "en", own)
    for match in _CHINESE.finditer(own):
        what = _DONE_ZH.sub("", match["what"]).strip()
        yield from _doing(f"经常{what}", match, "zh", own)


def _doing(content: str, match: re.Match[str], language: str, own: str) -> Iterator[_Doing]:
    sentence = own[match.start() : match.end()]
    covered = masking.COVER in sentence or masking.SECRET in sentence
    says = frozenset(segment.terms(content)) - {"often", "经常"}
    if says and not covered and not _PRONOUN.search(content):
        lead = len(sentence) - len(sentence.lstrip())
        yield _Doing(says, content, language, sentence.strip(), match.start() + lead)


def _candidate(content: str, doing: _Doing) -> Candidate:
    return Candidate(
        kind="pattern",
        content=content,
        importance=_IMPORTANCE,
        confidence=_CONFIDENCE,
        quote=doing.quote,
        quote_start=doing.start,
        language=doing.language,
        reasons=("repeated",),
    )
