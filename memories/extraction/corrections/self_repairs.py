"""Recognise slips that a message corrects itself, and leave out the wrong words.

For example, "at the market, thursdays. no wait fridays" is processed as "at the market, fridays".
The wrong words are followed by an editing term ("no wait") and the repair; these terms are from
E. Shriberg, "Preliminaries to a Theory of Speech Disfluencies" (1994).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from foundation.text import segment
from foundation.text.shingles import has_han
from memories.extraction.corrections.corrected_messages import LONGEST, bare_contrast, old_value
from memories.extraction.corrections.replaced_nouns import ALIKE, likeness, with_same_sort
from memories.extraction.corrections.values import (
    CLAUSE_END,
    PARTICLES,
    PATTERNS,
    Replacement,
    value_replacement,
)
from memories.extraction.pattern_tables import compiled, table
from memories.extraction.types import Candidate, Extraction

_MOST = 4  # most slips of a message that are repaired
_WORDS = table("corrections")
_P = compiled("self_repairs", **{name: _WORDS[name] for name in ("taking_back", "taking_back_cjk")})
NEAR = 160  # most characters before an editing term that are searched for the wrong words
_CONFLICTS = 0.5  # minimum probability that two statements conflict
_SHORT_WORD, _ALIKE_IN_HAN = 3, 0.5  # characters of a short Chinese word; its least similarity
_PHRASE = 3  # most English words of a repair without a day, month or number
_CHARACTERS = 8  # the same for Chinese characters
# A repair may start again with one of this many last words (in Chinese, twice as many characters).
_RETRACED = 6
_BREAK = re.compile(r"[.!?。！？\n](?!\d)")
# The end of the right words: that of the clause, or the end of "york" in "york with her two kids".
_WORDS_END = re.compile(
    rf"{CLAUSE_END.pattern}|\s(?=(?:with|and|but|in|at|on|near|from|for|since|because|who)\b)"
)
_BARE_END = re.compile(rf"[{PARTICLES}]{{0,2}}(?:{CLAUSE_END.pattern})")
_SIGNS = re.compile(r"[,.;!?…–—，。；！？(（]+\s*")
_CLOSING = re.compile(r"\s?[–—)）-]")
_LAST_CLAUSE = re.compile(r"[^,，;；.!?。！？\n]*$")


@dataclass(frozen=True)
class SelfRepair:
    """A slip in the text `said` that the text itself corrects.

    The wrong words `said[start:end]` are replaced by `right`, and `said[cut:resumed]` (the editing
    term and the repair) is left out. `is_sure` means that a value, noun or single word is replaced
    by one of the same type; the reader model must confirm anything else (see `statements`).
    """

    said: str
    start: int
    end: int
    cut: int
    resumed: int
    right: str
    is_sure: bool

    @property
    def text(self) -> str:
        """Return the corrected text."""
        kept = self.said[self.end : self.cut]
        return self.said[: self.start] + self.right + kept + self.said[self.resumed :]

    @property
    def statements(self) -> tuple[str, str]:
        """Return the sentence with the wrong words, and the same sentence with the right words."""
        first = _begin(self.said, self.start)
        said = self.said[first : self.start], self.said[self.end : self.cut]
        wrong = self.said[self.start : self.end]
        return wrong.join(said), self.right.join(said)

    def in_message(self, found: Extraction) -> Extraction:
        """Convert the positions in an extraction from `text` to positions in `said`."""
        return replace(
            found,
            candidates=tuple(map(self._quoted, found.candidates)),
            endings=tuple(map(self._quoted, found.endings)),
            outside_real_life=tuple(self._span(*span) for span in found.outside_real_life),
        )

    def _quoted(self, one: Candidate) -> Candidate:
        if one.quoted_role == "assistant":
            return one
        start, end = self._span(one.quote_start, one.quote_start + len(one.quote))
        return replace(one, quote=self.said[start:end], quote_start=start)

    def _span(self, start: int, end: int) -> tuple[int, int]:
        """Convert a span of `text` to a span of `said`.

        A span that contains any of the right words includes the whole slip and its repair.
        """
        begun = self.start + len(self.right)  # where the words after the right ones begin
        repaired = begun + self.cut - self.end
        if end <= self.start:
            return start, end
        later = self.resumed - repaired
        if start >= repaired:
            return start + later, end + later
        return min(start, self.start), max(end + later, self.resumed)


def self_repairs(said: str, conflict: Callable[[str, str], float]) -> list[SelfRepair]:
    """Return the repairs of a message; each applies to the text that the previous one produces.

    `conflict` returns the probability that two statements conflict. At most `_MOST` slips are
    repaired, and none in a text above `LONGEST` characters.
    """
    repairs: list[SelfRepair] = []
    while len(said) <= LONGEST and len(repairs) < _MOST:
        found = (one for one in _possible(said) if one.is_sure or _is_clear(one, conflict))
        if (repair := next(found, None)) is None:
            break
        repairs.append(repair)
        said = repair.text
    return repairs


def repaired_text(said: str, repairs: Sequence[SelfRepair]) -> str:
    """Return the message after all repairs; `repairs` is the result of `self_repairs`."""
    return repairs[-1].text if repairs else said


def _is_clear(repair: SelfRepair, conflict: Callable[[str, str], float]) -> bool:
    """Return whether the right words are spelled like the wrong ones, or conflict with them.

    Two short Chinese words with one character in common (小名, 小明) are spelled alike.
    """
    wrong, right = repair.said[repair.start : repair.end], repair.right
    least = ALIKE if not has_han(wrong) or len(wrong) > _SHORT_WORD else _ALIKE_IN_HAN
    return likeness(wrong, right) >= least or conflict(*repair.statements) >= _CONFLICTS


def _possible(said: str) -> Iterator[SelfRepair]:
    for term in _P["editing"].finditer(said):
        first, before, after = _around(said, term)
        for stated in _stated(before):
            found, is_sure = _repair_of(stated, after, term)
            if found and not _P["goes_on"].match(after[found.length :]):
                repair = _repaired(said, term, first, found, is_sure)
                yield repair if stated == before else replace(repair, cut=term.start())
    for sign in _SIGNS.finditer(said):
        first, before, after = _around(said, sign)
        found = value_replacement(before, after)
        if found and (end := _P["said_after"].match(after, found.length)):
            yield _repaired(said, sign, first, found._replace(length=end.end()), True)


def _stated(before: str) -> Iterator[str]:
    """Yield the texts in which to search for the wrong words, best first.

    `before` is the text before an editing term. If it ends with an old value, the text without this
    value comes first: in "it's Mira not Mara, no wait, Myra", the repair replaces "Mira".
    """
    stated = before.rstrip(PARTICLES)
    if last := PATTERNS["old_value_last"].search(stated):
        old, words = last["old"] or last["zh"], stated[: last.start()]
        contrast = bare_contrast(stated[_begin(stated, last.start()) :])
        is_named = old in (old_value(stated)[0], contrast and contrast[0])
        is_alike = likeness(words.split(" ")[-1], old) >= ALIKE
        if is_named or is_alike or value_replacement(words, old):
            yield words
    yield before


def _around(said: str, term: re.Match[str]) -> tuple[int, str, str]:
    """Return the start and the text of the part before an editing term, and the text after it.

    The part before the term has at most `NEAR` characters, and begins at most one sentence before
    the sentence that contains the term.
    """
    first = max(_begin(said, _begin(said, term.start()) - 1), term.start() - NEAR)
    return first, said[first : term.start()], said[term.end() :]


def _repaired(
    said: str, term: re.Match[str], first: int, found: Replacement, is_sure: bool
) -> SelfRepair:
    start, end = found.start + first, found.end + first
    cut = term.start() if is_sure else end
    resumed = term.end() + found.length
    if term[0].lstrip()[:1] in tuple("–—-(（") and (closing := _CLOSING.match(said, resumed)):
        resumed = closing.end()
    return SelfRepair(said, start, end, cut, resumed, found.right, is_sure)


def _repair_of(before: str, after: str, term: re.Match[str]) -> tuple[Replacement | None, bool]:
    """Return how the words at the beginning of `after` replace words in `before`, if they do.

    `before` and `after` are the texts before and after the editing term, such as "no wait". The
    second result is whether the replacement is certain.
    """
    found = _of_both(before, after) or value_replacement(before, after)
    if term["weak"] or term["cjk_weak"]:
        found = found or _of_like_word(before.rstrip(PARTICLES), after)
        is_bare = found and _BARE_END.match(after, found.length)
        return (found if is_bare else None), True
    takes_back = bool(term["back"] or term["cjk_back"])
    if found is None and takes_back:
        found = _of_noun(before, after)
    if found:
        return found, True
    before = before.rstrip(PARTICLES)
    found = _of_words(before, after)
    return found, bool(found and takes_back and _is_one_word(before, found))


def _begin(said: str, at: int) -> int:
    """Return the position where the sentence that contains the position `at` begins."""
    return max((one.end() for one in _BREAK.finditer(said, 0, max(at, 0))), default=0)


def _of_both(before: str, after: str) -> Replacement | None:
    """Return the replacement if `after` begins with both the wrong and the right words.

    For example, "not shellfish, peanuts" replaces "shellfish" by "peanuts".
    """
    if (both := _P["names_both"].match(after)) is None:
        return None
    wrong, right = both["wrong"] or both["zh_wrong"], both["right"] or both["zh_right"]
    start = before.casefold().rfind(wrong.casefold())
    return Replacement(start, start + len(wrong), right, both.end()) if start >= 0 else None


def _is_one_word(before: str, found: Replacement) -> bool:
    """Return whether one meaningful word replaces another: "metformin, no wait, aspirin"."""
    words = before[found.start : found.end], found.right
    return not _P["no_repair"].match(found.right) and all(
        len(word) > 2 and word.isalpha() and word.isascii() and segment.content_terms(word)
        for word in words
    )


def _of_noun(before: str, after: str) -> Replacement | None:
    """Return how a Chinese noun after the editing term replaces the only similar one before it.

    That noun must be in the last clause before the term and have the same part-of-speech tag.
    """
    clause, end = _LAST_CLAUSE.search(before), CLAUSE_END.search(after)
    if not (clause and end):
        return None
    text = with_same_sort(clause[0], after[: end.start()].rstrip(PARTICLES) or " ")
    return Replacement(*clause.span(), text, end.start()) if text else None


def _of_like_word(before: str, after: str) -> Replacement | None:
    """Return how one English word replaces another that is spelled alike: "Mara, sorry, Myra"."""
    found = _of_words(before, after)
    if not found or not _is_one_word(before, found):
        return None
    return found if likeness(before[found.start : found.end], found.right) >= ALIKE else None


def _of_words(before: str, after: str) -> Replacement | None:
    """Return how a few words after the editing term replace the last words before it.

    If their first word is also one of the last words before the term, they replace everything from
    there. Otherwise, they replace the same number of words (in Chinese, of characters).
    """
    clause, end = _LAST_CLAUSE.search(before), _WORDS_END.search(after)
    right = after[: end.start()].rstrip(PARTICLES) if end else ""
    if not (clause and end and right) or right == clause[0]:
        return None
    if right.isascii():
        words, known = right.split(), list(re.finditer(r"\S+", clause[0]))
        count, most = len(words), _PHRASE
        again = [one.start() for one in known[-_RETRACED:] if one[0] == words[0]]
        starts = [one.start() for one in known]
    else:
        count, most = len(right), _CHARACTERS
        starts = list(range(len(clause[0])))
        again = [at for at in starts[-2 * _RETRACED :] if clause[0][at] == right[0]]
    if count > most or count >= len(starts):
        return None
    start = again[-1] if again else starts[-count]
    return Replacement(clause.start() + start, len(before), right, len(after[: end.start()]))
