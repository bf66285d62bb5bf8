"""Find secrets that a label announces: values near a word such as "password"."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from memories.screening import safe_patterns
from memories.screening.labelled import vocabulary
from memories.screening.labelled.label_reader import EMPTY_SCAN, Hit, LabelReader, ScanState
from memories.screening.labelled.tokens import Look, Token, is_odd
from memories.screening.labelled.vocabulary import (
    ANSWER,
    BACK,
    BANK,
    DIAL,
    DIAL_TURNS,
    DOORS,
    FARTHEST,
    HAN_PHRASE,
    LABELS,
    PAIRING,
    PAPER,
    PASS_WORDS,
    PHRASE,
    PLAIN_PHRASE,
    SECRET_USE,
    SURELY_ZH,
    THREE,
    UNIT_ZH,
    Cue,
    Label,
    LabelledText,
    counts_as_phrase,
    is_a_figure_of_speech,
    is_an_answer,
    is_counted,
    password_after_name,
)
from memories.screening.secret_forms import FoundSecret


def _hits(label: Label, found: Sequence[tuple[int, int]], text: str) -> Iterator[Hit]:
    """Yield the occurrences of a label, except figures of speech.

    If the label is repeated in a row, only its last two occurrences are yielded.
    """
    for place, (start, end) in enumerate(found):
        after = found[place + 1 : place + 3]
        if len(after) == 2 and after[0][0] - end < 3 and after[1][0] - after[0][1] < 3:
            continue
        words = text[start:end]
        if not is_a_figure_of_speech(text, start, words):
            yield Hit(start, end, label, words.lower())


def by_label(text: LabelledText) -> Iterator[FoundSecret]:
    """Yield the secrets that labels in the text announce."""
    hits = [
        hit
        for label, found in zip(LABELS, text.labels, strict=True)
        for hit in _hits(label, found, text.text)
    ]
    if hits:
        reader = _Reader(text, hits)
        for hit in hits:
            yield from (_one_value(text.text, found) for found in reader.by_cue[hit.cue](hit))
        yield from reader.dial_turns()


# An environment variable and its value, which ends before the first whitespace or quote.
_ASSIGNED = safe_patterns.compile(r"[A-Za-z0-9]_[A-Z0-9_]{2,60}=[^\s\"']+")
_LONGEST_NAME = 64


def _one_value(text: str, found: FoundSecret) -> FoundSecret:
    """Return the secret; if it is assigned to a variable (`A_KEY=…`), cut it after the value."""
    before = max(0, found.start - _LONGEST_NAME)
    assigned = _ASSIGNED.search(text[before : found.end])
    if assigned is None or before + assigned.end() <= found.start:
        return found
    return FoundSecret(found.start, min(found.end, before + assigned.end()), found.category)


def spelled_codes(labelled: LabelledText, original: str) -> Iterator[FoundSecret]:
    """Yield codes whose digits are written as words in the original text.

    Without a label nearby, such a code must contain 幺 (1) or 洞 (0), which are used only for
    spelling out numbers.
    """
    text, plain = labelled.text, labelled.folded
    runs = [match.span() for match in _RUN.finditer(text)]
    spelled = [(start, end) for start, end in runs if plain.ends[start] - plain.starts[start] > 1]
    if not spelled:
        return
    places = list(labelled.label_starts)
    for start, end in spelled:
        typed = original[plain.starts[start] : plain.ends[end - 1]]
        near = any(abs(place - start) < 80 for place in places) or "幺" in typed or "洞" in typed
        if end - start <= 10 and near and not UNIT_ZH.search(text[end : end + 2]):
            yield FoundSecret(start, end, "password")


_RUN = safe_patterns.compile(r"\d{4,}")


class _Reader(LabelReader):
    def __init__(self, text: LabelledText, hits: list[Hit]) -> None:
        super().__init__(text)
        self.context: Mapping[int, set[Cue]] = defaultdict(set)
        self.acts: Counter[int] = Counter()
        for hit in hits:
            self.context[self._sentence(hit.start)].add(hit.cue)
            self.acts[self._sentence(hit.start)] += hit.cue is Cue.ACT
        self.by_cue: Mapping[Cue, Callable[[Hit], Iterator[FoundSecret]]] = {
            Cue.PASSWORD: self._label,
            Cue.CODE: self._label,
            Cue.KEY: self._label,
            Cue.PHRASE: self._phrase,
            Cue.PATTERN: self._pattern,
            Cue.LOGIN: self._login,
            Cue.ACT: self._act,
            Cue.SERVICE: self._label,
            Cue.LOOSE_CODE: self._label,
            Cue.ANSWER: self._answers,
            Cue.SENT: self._sent,
            Cue.PLACE: lambda hit: iter(()),
            Cue.EVERYWHERE: self._everywhere,
            Cue.CARD_CODE: self._card_code,
            Cue.NUMBER: lambda hit: self._numbered(hit, PAPER),
            Cue.ACCOUNT: lambda hit: self._numbered(hit, BANK),
        }

    def dial_turns(self) -> Iterator[FoundSecret]:
        """Yield the turns of a combination lock, such as "left 12, right 34"."""
        for match in DIAL.finditer(self.text):
            sentence = self._sentence(match.start())
            if (self.context[sentence] | self.context.get(sentence - 1, set())) & DOORS:
                yield FoundSecret(match.start(), match.end(), "password")

    # Labels that announce a secret only together with other labels.

    def _around(self, hit: Hit) -> set[Cue]:
        sentence = self._sentence(hit.start)
        return self.context[sentence] | self.context.get(sentence - 1, set())

    def _sentence(self, place: int) -> int:
        return self.tokens.sentence[self.tokens.at(place)]

    def _act(self, hit: Hit) -> Iterator[FoundSecret]:
        acts = self.acts[self._sentence(hit.start)]
        has_context = bool(self._around(hit) & DOORS) or acts > 1
        for number, token in self.tokens.following(hit.end, most=8):
            if token.kind == "line" or token.text in "。！？":
                break
            is_near = token.start < hit.end + 24 or token.look >= Look.MIXED
            if is_near and self._is_typed(number, token, hit, has_context=has_context):
                yield self._whole(number, token, ScanState(hit, words=1))
                return
            if token.ends_sentence:
                break
        if has_context and (found := self._before(hit)):
            yield found

    def _is_typed(self, number: int, token: Token, hit: Hit, *, has_context: bool) -> bool:
        if token.look == Look.DIGITS:
            is_dialled = token.core[-1] in "#*" or token.core[0] in "*#"
            before = self.tokens.all[number - 1] if number else None
            led = before.bare if before and before.start >= hit.end else ""
            is_free = led not in vocabulary.BEFORE_A_COUNT and not self._is_counted(
                number, token, EMPTY_SCAN
            )
            enough = sum(map(str.isdigit, token.core)) >= 4
            return is_free and (is_dialled or (has_context and enough))
        if token.look >= Look.MIXED:
            return has_context
        return token.start == hit.end and has_context and is_odd(token.core) and "_" in token.core

    def _everywhere(self, hit: Hit) -> Iterator[FoundSecret]:
        sure = (
            "same" in hit.name
            or hit.name[0] in "哪到"
            or any(word in hit.name for word in SURELY_ZH)
        )
        scan = ScanState(hit)
        for number, token in self.tokens.following(hit.end, most=FARTHEST):
            if (
                token.kind == "word"
                and token.look >= Look.MIXED
                and (sure or self._around(hit) & SECRET_USE)
            ):
                yield self._whole(number, token, scan)
                return
            if sure and token.kind != "line" and (found := self._step(number, token, scan)):
                yield found
                return
            if scan.crossed or token.ends_sentence:
                break
        for _number, token in self.tokens.before(hit.start, most=2):
            if token.look >= Look.MIXED and token.has_digit:
                yield FoundSecret(token.core_start, token.core_end, hit.label.category)
                return
        if (sure or self._around(hit) & SECRET_USE) and (found := self._before_loosely(hit)):
            yield found

    def _before_loosely(self, hit: Hit) -> FoundSecret | None:
        for _number, token in self.tokens.before(hit.start, most=BACK):
            if token.kind == "word" and token.look >= Look.MIXED:
                return FoundSecret(token.core_start, token.core_end, hit.label.category)
        return None

    def _login(self, hit: Hit) -> Iterator[FoundSecret]:
        """Yield the password after a login name, as in "lily/Lily#2020" or "bob and hunter2"."""
        previous = ""
        for number, token in self.tokens.following(hit.end, most=12):
            if token.kind == "line":
                return
            if token.kind == "word":
                if found := self._second(number, token, previous, hit):
                    yield found
                    return
                previous = token.text[-1] if token.text[-1] in "/:" and number else token.bare
                previous = previous or token.text.strip()
            elif token.kind == "sign":
                previous = token.text
            if token.ends_sentence:
                return

    def _second(self, number: int, token: Token, previous: str, hit: Hit) -> FoundSecret | None:
        if token.start == hit.end and token.text[0] in "/:":  # root/toor
            after = token.from_place(token.start + 1)
            is_one = len(after.core) >= 3 and after.look != Look.NOTHING
            return FoundSecret(after.core_start, after.core_end, "password") if is_one else None
        if previous in PASS_WORDS and token.look != Look.NOTHING:
            return self._clause(number, token, ScanState(hit))
        is_number = token.look == Look.DIGITS and is_counted(self.tokens, number)
        rest = password_after_name(token.core)
        if rest or (previous in PAIRING and token.look >= Look.DIGITS and not is_number):
            start = token.core_end - len(rest or token.core)
            return FoundSecret(start, token.core_end, "password")
        is_with = hit.name.endswith((" with", " using")) or not hit.name.isascii()
        if (is_with or previous in ("with", "using")) and token.look >= Look.MIXED:
            return self._whole(number, token, ScanState(hit, words=1))
        return None

    def _answers(self, hit: Hit) -> Iterator[FoundSecret]:
        rest = self.text[hit.end : hit.end + 240]
        for match in ANSWER.finditer(rest):
            if not is_an_answer(match):
                continue
            yield FoundSecret(hit.end + match.start(1), hit.end + match.end(1), hit.label.category)

    def _sent(self, hit: Hit) -> Iterator[FoundSecret]:
        for number, token in self.tokens.following(hit.end, most=6):
            if token.look == Look.DIGITS and not is_counted(self.tokens, number):
                if 5 <= sum(map(str.isdigit, token.core)) <= 8:
                    yield FoundSecret(token.core_start, token.core_end, hit.label.category)
                return

    # Phrases, patterns and numbers.

    def _phrase(self, hit: Hit) -> Iterator[FoundSecret]:
        rest = self.text[hit.end : hit.end + 320]
        match = PHRASE.search(rest) or PLAIN_PHRASE.search(rest) or HAN_PHRASE.search(rest)
        if match and counts_as_phrase(match["s"]):
            start = hit.end + match.start(1)
            yield FoundSecret(
                start,
                start + len(match["s"].rstrip(" .,")),
                "api_key" if hit.label.category == "api_key" else "password",
            )
        else:
            yield from self._label(hit)

    def _pattern(self, hit: Hit) -> Iterator[FoundSecret]:
        rest = self.text[hit.end : hit.end + 160]
        match = DIAL_TURNS.search(rest)
        if match and len(match[0].strip()) > 3:
            yield FoundSecret(hit.end + match.start(1), hit.end + match.end(1), "password")
        else:
            yield from self._label(hit)

    def _card_code(self, hit: Hit) -> Iterator[FoundSecret]:
        match = THREE.search(self.text[hit.end : hit.end + 40])
        if match:
            yield FoundSecret(hit.end + match.start(1), hit.end + match.end(1), "card")
        elif found := self._before(hit):
            yield found

    def _numbered(self, hit: Hit, pattern: safe_patterns.Pattern) -> Iterator[FoundSecret]:
        match = pattern.search(self.text[hit.end : hit.end + 110])
        if match and sum(map(str.isdigit, match["s"])) >= 5:
            yield FoundSecret(hit.end + match.start(1), hit.end + match.end(1), hit.label.category)
