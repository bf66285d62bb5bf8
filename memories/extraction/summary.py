"""The bundled summarizer, which selects the most important sentences of a conversation."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from foundation.text import segment, tokens
from memories.extraction.pattern_tables import compiled

LABELS = {
    "en": {"user": "User: ", "assistant": "Assistant: "},
    "zh": {"user": "用户：", "assistant": "助手："},
}
# Only the beginning of a longer message is read, since it is probably pasted. Longer sentences are
# cut at commas.
LONGEST_MESSAGE = 8_000
LONGEST_SENTENCE = 400
# At most this many sentences are compared, so that the time is linear in the conversation's length.
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
_P = compiled("summary")


@dataclass(frozen=True)
class Point:
    """A sentence of the conversation; `message` is the index of the message that contains it.

    For a line of the previous summary, `message` is negative. `place` is the position of the
    sentence among all sentences.
    """

    place: int
    message: int
    role: str
    text: str
    terms: frozenset[str]
    weight: float = 0.0


class ExtractiveSummarizer:
    """Select the most important sentences, unchanged and in their original order.

    A sentence is weighted by the frequency of its words in the conversation (a centroid of word
    counts, after MEAD, Radev et al. 2004, in linear time; LexRank compares all pairs). Its weight
    is higher if the user talks about themselves or the sentence contains a number or a name. It is
    lower if the sentence is long, old, a question, or said by the assistant. Sentences of the
    previous summary are weighted in the same way. `own` returns the parts of a message that are
    the user's own words; pasted mails and quoted texts aren't summarized.
    """

    name = "bundled"

    def __init__(
        self, *, count: Callable[[str], int] = tokens.count, own: Callable[[str], str] = str
    ) -> None:
        self._count, self._own = count, own

    def summarize(
        self, previous: str, messages: Sequence[tuple[str, str]], *, max_tokens: int
    ) -> str:
        own = [
            (role, self._own(text[:LONGEST_MESSAGE]) if role == "user" else text)
            for role, text in messages
        ]
        points = list(_points(previous, own))
        if not points or max_tokens <= 0:
            return ""
        labels = LABELS[segment.language(" ".join(point.text[:200] for point in points[-200:]))]
        kept = self._choose(_weighted(points), labels=labels, max_tokens=max_tokens)
        if not kept:
            return self._beginning(points, labels=labels, max_tokens=max_tokens)
        return _written(kept, labels=labels)

    def _choose(
        self, points: list[Point], *, labels: dict[str, str], max_tokens: int
    ) -> list[Point]:
        """Return the most important sentences that fit the limit and don't repeat each other."""
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
        """Return as much of the first sentence as fits `max_tokens`, followed by an ellipsis."""
        line = _written(points[:1], labels=labels)
        for limit in range(max_tokens - 1, 0, -1):
            cut = f"{tokens.truncate(line, limit=limit).rstrip()}…"
            if self._count(cut) <= max_tokens:
                return cut
        return ""


def _points(previous: str, messages: Sequence[tuple[str, str]]) -> Iterator[Point]:
    """Yield all sentences that may be selected, in order, without pleasantries and repetitions."""
    sentences = [(-1 - line, role, text) for line, role, text in _previous_sentences(previous)]
    for at, (role, content) in enumerate(messages):
        if role in ("user", "assistant"):
            sentences += [
                (at, role, text) for text in _sentences(content) if _has_content(text, role=role)
            ]
    seen: set[tuple[str, str]] = set()
    for place, (message, role, text) in enumerate(sentences):
        key = (role, segment.normalise(text).strip(" .。!！?？"))
        if text and key not in seen:
            seen.add(key)
            yield Point(place, message, role, text, _terms(text))


def _terms(text: str) -> frozenset[str]:
    """Return the content words of a sentence, and "(not)" if it contains a negation."""
    denies = {"(not)"} if _P["denies"].search(text) else set()
    return frozenset(segment.terms(text[:LONGEST_SENTENCE])) | denies


def _previous_sentences(previous: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line number, role and text of each sentence in the previous summary.

    The role is empty if the line doesn't name the speaker.
    """
    for at, line in enumerate(previous.splitlines()):
        found = _LINE.match(line.strip())
        if found:
            who = found["who"] or ""
            role = "user" if who in ("User: ", "用户：") else "assistant" if who else ""
            yield from ((at, role, text) for text in _sentences(found["text"]))
        else:
            yield from ((at, "", text) for text in _sentences(line))


def _sentences(content: str) -> Iterator[str]:
    """Split a text into sentences; sentences that are too long are cut at commas."""
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


def _has_content(text: str, *, role: str) -> bool:
    """Return whether a sentence may be selected; offers and questions of the assistant may not."""
    if not says_something(text):
        return False
    return not (role == "assistant" and (_P["courteous"].search(text) or text[-1] in "?？:："))


def says_something(text: str) -> bool:
    """Return whether a text is more than a greeting, thanks, agreement or punctuation."""
    bare = text.strip(" .,!?~。，！？～…\"'")
    has_words = len(bare) >= 2 and any(char.isalnum() for char in bare)
    return has_words and not _P["says_nothing"].fullmatch(bare)


def _weighted(points: list[Point]) -> list[Point]:
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
        weight *= 2.0 if _P["of_weight"].search(point.text) else 1.3
        weight *= 1.4 if _P["of_the_person"].search(point.text) else 1.0
        weight *= 0.5 if _P["polite"].search(point.text) else 1.0
    of_themselves = _P["of_the_person"].search(point.text) and _P["of_weight"].search(point.text)
    if point.text[-1] in "?？吗" and not of_themselves:
        weight *= 0.5
    if re.search(r"\d|(?<=[a-z] )[A-Z][a-z]+", point.text):
        weight *= 1.2
    # A third of the bytes approximates the number of tokens. Of equally important sentences, the
    # shorter one is preferred.
    return weight * (1 - 0.3 * age) / math.pow(len(point.text.encode()) / 3, 0.3)


def _repeats(point: Point, other: Point) -> bool:
    """Return whether nearly all words of the shorter sentence occur in the other."""
    if ("(not)" in point.terms) != ("(not)" in other.terms):
        return False
    fewer = min(len(point.terms), len(other.terms))
    if fewer < 3:
        return point.terms == other.terms
    return len(point.terms & other.terms) >= 0.8 * fewer


def _written(points: list[Point], *, labels: dict[str, str]) -> str:
    """Write each sentence on a line; consecutive sentences of one message share a line."""
    lines: list[str] = []
    last: Point | None = None
    for point in sorted(points, key=lambda point: point.place):
        if last and point.message == last.message and point.place == last.place + 1:
            is_spaced = lines[-1][-1].isascii() or point.text[0].isascii()
            lines[-1] += f" {point.text}" if is_spaced else point.text
        else:
            lines.append(f"- {labels.get(point.role, '')}{point.text}")
        last = point
    return "\n".join(lines)
