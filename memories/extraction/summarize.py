"""The bundled summarizer: the telling sentences of a conversation, as they were said."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from memcenter.lib import segment, tokens

LABELS = {
    "en": {"user": "User: ", "assistant": "Assistant: "},
    "zh": {"user": "用户：", "assistant": "助手："},
}
# What is read of one message, and of one sentence: more is a paste, and its beginning tells.
LONGEST_MESSAGE = 20_000
LONGEST_SENTENCE = 400
# So many sentences compete for a place; it keeps the work linear in what was said.
COMPETING = 400

_LINE = re.compile(r"^- (?:(?P<who>User: |Assistant: |用户：|助手：))?(?P<text>.+)$")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKS = re.compile(r"^[^\S\n]*+(?:[-*+•#>]++|\d{1,3}[.)、])\s+|\*\*|__|`", re.MULTILINE)
_END = re.compile(
    r"(?<=[。！？!?；…])[”’」』）)]*|\n+"
    r"|(?<![A-Z]\.[A-Z])(?<!\b[A-Z])(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bMrs)(?<!\be\.g)"
    r"(?<!\bi\.e)(?<!\bvs)\.(?=\s|$)"
)
_CLAUSE = re.compile(r"(?<=[,，;、:：])\s*")
_FILLER = re.compile(
    r"(?:ok(?:ay)?|hi|hello|hey|thanks?(?: you)?(?: so much| a lot)?|thx|great|cool|nice|sure|yes"
    r"|no|yeah|yep|nope|bye|good (?:morning|evening|night|afternoon)"
    r"|got it|i see|sounds good|perfect"
    r"|wow|haha+|lol|hmm+|please|you'?re welcome|no problem|of course|absolutely|certainly"
    r"|(?:(?:ok(?:ay)?|yes|sure|great)[,，]? )?i(?:'ll| will) "
    r"(?:take a look|try(?: it| that)?(?: out)?|check (?:it|that) out|give it a try)"
    r"|(?:that'?s a )?(?:good|great) idea|(?:hi[,，]? )?i'?m back(?: to chat with you)?(?: again)?"
    r"|(?:嗯[，,]?|好的?[，,])?(?:谢谢[^，。]{0,8}[，,])?我会(?:去)?(?:试试|试一试|看一?看|考虑)(?:看|的)?"
    r"|好主意|真棒|没关系|我也同感|我也这么(?:想|觉得)"
    r"|(?:hmm+[,，] )?(?:good|great) idea[,，] i'?ll try (?:it|that)(?: next time)?"
    r"|(?:(?:不客气|好的?)[，,])?(?:我们)?互相[^，。]{1,9}|(?:做个?|祝)?好梦"
    r"|(?:没有了[，,])?今天(?:就)?先(?:聊)?到这里?(?:吧|了)?|(?:我们)?(?:明天|下次)(?:再聊|见)(?:吧)?"
    r"|(?:你好[，,])?(?:今天)?我又来(?:和|跟|找)你聊天(?:啦|了)?"
    r"|that'?s (?:great|nice|cool|awesome)|how are you(?: doing)?(?: today)?|my pleasure"
    r"|好的?|嗯+|哦+|行|可以|谢谢(?:你|您|啦)?|多谢|感谢|你好|您好|嗨|早上好|晚上好|晚安|早安|再见|拜拜"
    r"|哈哈+|不客气|没问题|当然(?:可以)?|明白了?|知道了|收到|太好了|是的|对的?|好吧|在吗)"
    r"(?:[\s,，~～]+(?:there|again|everyone|assistant|啊|呀|呢|了|哦))?",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\blet me know\b|\bfeel free\b|\bhappy to help\b|\bhope (?:this|that) helps\b|\bas an ai\b"
    r"|\bmakes? me want\b|\bi also want to\b|\bi(?:'d| would) love to\b|\bi feel like i'?ve\b"
    r"|我也(?:很|好)?想|(?:真的?|听起来)(?:已经)?(?:很|是|太)?(?:不错|棒|好|有趣)"
    r"|谢谢你的(?:建议|分享)|^不客气"
    r"|\bis there anything else\b|\bwould you like\b|\bhow can i help\b|\bi'?m (?:sorry|glad)\b"
    r"|希望.{0,8}(?:帮助|帮到)|随时(?:告诉|问|联系)|还有(?:什么|其他).{0,10}(?:帮|问题)|很高兴|作为.{0,4}AI"
    r"|祝你|\bgood luck\b|\benjoy your\b|需要我.{0,12}吗|有什么可以帮|不用谢",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|never|no longer|without)\b|n['’]t\b|[不没别无]", re.IGNORECASE)
_WEIGHTY = re.compile(
    r"\b(?:my|i'?m|i am|i have|i've|i live|i work|i like|i love|i prefer"
    r"|i need|i want|i plan|i decided"
    r"|we decided|i will|i'll|remember|deadline|allergic|never|always|must|moved|agreed)\b"
    r"|我(?:很|也|最|非常|特别)?(?:是|叫|有|在|住|喜欢|讨厌|想|要|打算|决定|需要|对|的|们|家|最近|现在|不|希望|准备|会|下)"
    r"|记住|记得|必须|截止|过敏|决定|计划|以后|约好",
    re.IGNORECASE,
)


# What stays true of a person, and what is mere manners.
_LASTING = re.compile(
    r"\b(?:my name|call me|i live|i work|allergic|birthday|deadline|i prefer|remember"
    r"|married|moved)\b"
    r"|我叫|名字|住在|工作|过敏|生日|截止|喜欢|记住|结婚|搬",
    re.IGNORECASE,
)
_POLITE = re.compile(r"谢谢|感谢|\bthank", re.IGNORECASE)


@dataclass(frozen=True)
class Point:
    """One sentence and where it stood: `place` orders them, `message` tells which it came from."""

    place: int
    message: int
    role: str
    text: str
    terms: frozenset[str]
    weight: float = 0.0


class ExtractiveSummarizer:
    """Keeps the sentences that carry most, in order, each whole.

    A sentence weighs what its words weigh in the conversation (a centroid of the words' counts,
    after MEAD, Radev et al. 2004: linear where LexRank compares all pairs), more when the user
    tells of themselves, names a number or a name, and less when it asks, when the assistant says
    it and the longer ago it was said. What `previous` holds competes on the same terms.
    """

    name = "bundled"

    def __init__(self, *, count: Callable[[str], int] = tokens.count) -> None:
        self._count = count

    def summarize(
        self, previous: str, messages: Sequence[tuple[str, str]], *, max_tokens: int
    ) -> str:
        points = list(_points(previous, messages))
        if not points or max_tokens <= 0:
            return ""
        labels = LABELS[segment.language(" ".join(point.text[:200] for point in points[-200:]))]
        kept = self._choose(_weighed(points), labels=labels, max_tokens=max_tokens)
        if not kept:
            return self._beginning(points, labels=labels, max_tokens=max_tokens)
        return _written(kept, labels=labels)

    def _choose(
        self, points: list[Point], *, labels: dict[str, str], max_tokens: int
    ) -> list[Point]:
        """The weightiest points that fit and don't repeat one another."""
        kept: list[Point] = []
        spent = 0
        for point in sorted(points, key=lambda point: (-point.weight, point.place))[:COMPETING]:
            cost = self._count(_written([point], labels=labels)) + 1
            if spent + cost <= max_tokens and not any(_repeats(point, other) for other in kept):
                kept.append(point)
                spent += cost
        while kept and self._count(_written(kept, labels=labels)) > max_tokens:
            kept.pop()
        return kept

    def _beginning(self, points: list[Point], *, labels: dict[str, str], max_tokens: int) -> str:
        """No sentence fits as a whole: the first one's beginning, and the mark that says so."""
        line = _written(points[:1], labels=labels)
        for limit in range(max_tokens - 1, 0, -1):
            cut = f"{tokens.truncate(line, limit=limit).rstrip()}…"
            if self._count(cut) <= max_tokens:
                return cut
        return ""


def _points(previous: str, messages: Sequence[tuple[str, str]]) -> Iterator[Point]:
    """All that may be kept, in order; filler is left out."""
    said = [(-1 - line, role, text) for line, role, text in _before(previous)]
    for at, (role, content) in enumerate(messages):
        if role in ("user", "assistant"):
            said += [(at, role, text) for text in _sentences(content) if _tells(text, role=role)]
    seen: set[tuple[str, str]] = set()
    for place, (message, role, text) in enumerate(said):
        key = (role, segment.normalise(text).strip(" .。!！?？"))
        if text and key not in seen:
            seen.add(key)
            yield Point(place, message, role, text, _terms(text))


def _terms(text: str) -> frozenset[str]:
    """The words that count, and whether it denies: "I like tea" isn't "I don't like tea"."""
    denies = {"(not)"} if _NOT.search(text) else set()
    return frozenset(segment.terms(text[:LONGEST_SENTENCE])) | denies


def _before(previous: str) -> Iterator[tuple[int, str, str]]:
    """The sentences of a summary of ours by line and speaker, of any other text with nobody's."""
    for at, line in enumerate(previous.splitlines()):
        found = _LINE.match(line.strip())
        if found:
            who = found["who"] or ""
            role = "user" if who in ("User: ", "用户：") else "assistant" if who else ""
            yield from ((at, role, text) for text in _sentences(found["text"]))
        else:
            yield from ((at, "", text) for text in _sentences(line))


def _sentences(content: str) -> Iterator[str]:
    """Sentences, with their own full stop; what no sentence should be is cut at its commas."""
    text = _MARKS.sub("", _CODE.sub("\n", content[:LONGEST_MESSAGE].replace("\0", "")))
    start = 0
    for end in [*(found.end() for found in _END.finditer(text)), len(text)]:
        sentence = " ".join(text[start:end].split())
        start = end
        if len(sentence) > LONGEST_SENTENCE:
            yield from _clauses(sentence)
        elif sentence:
            yield sentence


def _clauses(sentence: str) -> Iterator[str]:
    part = ""
    for clause in _CLAUSE.split(sentence):
        if part and len(part) + len(clause) > LONGEST_SENTENCE:
            yield part.rstrip(" ,，;、:：")
            part = ""
        part = f"{part} {clause}" if part and part[-1].isascii() else part + clause
    if part:
        yield part


def _tells(text: str, *, role: str) -> bool:
    """Whether it says anything: not a greeting, thanks, an offer to help, or mere signs."""
    bare = text.strip(" .,!?~。，！？～…\"'")
    if len(bare) < 2 or not any(char.isalnum() for char in bare) or _FILLER.fullmatch(bare):
        return False
    return not (role == "assistant" and (_COURTESY.search(text) or text[-1] in "?？:："))


def _weighed(points: list[Point]) -> list[Point]:
    spread = Counter(term for point in points for term in point.terms)
    oldest = points[0].place
    span = max(1, points[-1].place - oldest)
    return [
        replace(point, weight=_weight(point, spread=spread, age=1 - (point.place - oldest) / span))
        for point in points
    ]


def _weight(point: Point, *, spread: Counter[str], age: float) -> float:
    central = sum(1 + math.log(spread[term]) for term in point.terms)
    weight = central / (4 + len(point.terms)) + min(len(point.terms), 8) / 8
    if point.role == "user":
        weight *= 2.0 if _WEIGHTY.search(point.text) else 1.3
        weight *= 1.4 if _LASTING.search(point.text) else 1.0
        weight *= 0.5 if _POLITE.search(point.text) else 1.0
    of_themselves = _LASTING.search(point.text) and _WEIGHTY.search(point.text)
    if point.text[-1] in "?？吗" and not of_themselves:
        weight *= 0.5
    if re.search(r"\d|(?<=[a-z] )[A-Z][a-z]+", point.text):
        weight *= 1.2
    # A third of its bytes is about its tokens: what says as much in less goes first.
    return weight * (1 - 0.3 * age) / math.pow(len(point.text.encode()) / 3, 0.3)


def _repeats(point: Point, other: Point) -> bool:
    """Whether nearly all the words of the shorter stand in the other."""
    if ("(not)" in point.terms) != ("(not)" in other.terms):
        return False
    fewer = min(len(point.terms), len(other.terms))
    if fewer < 3:
        return point.terms == other.terms
    return len(point.terms & other.terms) >= 0.8 * fewer


def _written(points: list[Point], *, labels: dict[str, str]) -> str:
    """One line a point; sentences of one message that follow one another share theirs."""
    lines: list[str] = []
    last: Point | None = None
    for point in sorted(points, key=lambda point: point.place):
        if last and point.message == last.message and point.place == last.place + 1:
            lines[-1] += f" {point.text}" if lines[-1][-1].isascii() else point.text
        else:
            lines.append(f"- {labels.get(point.role, '')}{point.text}")
        last = point
    return "\n".join(lines)
