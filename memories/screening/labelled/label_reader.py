"""Find the value that belongs to a label such as "password", after or before the label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memories.screening.labelled import vocabulary
from memories.screening.labelled.tokens import Look, Shape, Token, is_gibberish, is_made_up, is_odd
from memories.screening.labelled.vocabulary import (
    BACK,
    BACK_LINKS,
    COPULAS,
    DOORWAYS,
    FARTHEST,
    LABELS,
    LINK_SIGNS,
    LONGEST_QUOTED,
    LOOSE_KEYS,
    NAMES,
    NETWORKS,
    OF_A_DATE,
    OF_THE_LABEL,
    QUOTES,
    SHORT_LABELS,
    STOPS,
    WEAK,
    WORDS_COUNT,
    Cue,
    Label,
    LabelledText,
    is_alike,
    is_counted,
    is_link,
    names_a_code,
    refers_back_to_label,
    value_in,
)
from memories.screening.secret_forms import FoundSecret


@dataclass(frozen=True)
class Hit:
    """An occurrence of a label in the text; `name` is the matched text in lower case."""

    start: int
    end: int
    label: Label
    name: str

    @property
    def cue(self) -> Cue:
        return self.label.cue


@dataclass
class ScanState:
    """The state while scanning the tokens between a label and the current token."""

    hit: Hit
    linked: bool = False  # a link ("is" or ":") was read, without a negation
    direct: bool = False  # the link is directly before the current token
    words: int = 0
    signs: int = 0  # Han characters
    crossed: int = 0  # sentence and line ends
    negative: bool = False
    by_sign: bool = False  # the link is ":" rather than a word
    first: str = ""  # the first word after the label
    before: str = ""

    def link(self, *, by_sign: bool = False) -> None:
        self.linked = self.direct = True
        self.negative = False
        self.by_sign = by_sign

    def skip_token(self, token: Token) -> None:
        self.words += 1
        self.before = token.bare
        self.first = self.first or token.bare
        if token.bare in vocabulary.NO_VALUE and self.direct:
            self.negative, self.linked = True, False
        self.direct = False
        if token.ends_sentence:
            self.cross()

    def cross(self) -> None:
        self.crossed += 1
        self.linked = self.direct = False


class LabelReader:
    """A search for the values that belong to the labels of one text."""

    def __init__(self, text: LabelledText) -> None:
        self.text, self.tokens = text.text, text.tokens
        self._plain: dict[Shape, bool] = {}  # a cache, since labels share tokens

    # Values after or before their label.

    def _label(self, hit: Hit) -> Iterator[FoundSecret]:
        if (found := self._after(hit)) or (found := self._before(hit)):
            yield found

    def _after(self, hit: Hit) -> FoundSecret | None:
        scan = ScanState(hit)
        has_name = hit.cue is Cue.SERVICE or any(word in hit.name for word in NETWORKS)
        for number, token in self.tokens.following(hit.end, most=FARTHEST):
            if has_name and self._is_a_name(token):
                return None
            if scan.words and not scan.direct and self._is_plain(self.tokens.all[number]):
                scan.skip_token(token)
            elif (found := self._step(number, token, scan)) is not None:
                return found
            if scan.crossed > 1 or scan.signs > 18:
                return None
        return None

    def _is_plain(self, token: Token) -> bool:
        shape = token.shape
        if shape not in self._plain:
            self._plain[shape] = (
                token.kind == "word"
                and token.look <= Look.WORD
                and not token.is_program
                and token.text[0] not in LINK_SIGNS
                and token.bare not in vocabulary.LINKS
                and token.bare not in ("to", "as")
            )
        return self._plain[shape]

    def _is_a_name(self, token: Token) -> bool:
        if token.kind == "han":
            return any(word in token.text for word in ("叫", "名", "昵称"))
        return token.bare in NAMES

    def _step(self, number: int, token: Token, scan: ScanState) -> FoundSecret | None:
        if token.kind == "line":
            linked, scan.before = scan.linked, ""
            scan.cross()
            scan.linked = scan.direct = linked
            return None
        if token.kind == "sign":
            return self._sign(token, scan)
        if token.kind == "han":
            return self._han(number, token, scan)
        return self._word(number, token, scan)

    def _sign(self, token: Token, scan: ScanState) -> FoundSecret | None:
        if token.text in "：":
            scan.link(by_sign=True)
        elif token.text in QUOTES and (scan.linked or scan.words + scan.signs == 0):
            return self._quoted(token, scan)
        elif token.text in "。！？":
            scan.cross()
        elif token.text in "，；、":
            scan.direct = False
        return None

    def _quoted(self, token: Token, scan: ScanState) -> FoundSecret | None:
        closing = self.text.find(QUOTES[token.text], token.end, token.end + LONGEST_QUOTED)
        value = self.text[token.end : closing]
        if closing <= token.end or "\n" in value or not any(sign.isalnum() for sign in value):
            return None
        if not scan.linked and scan.hit.cue is Cue.KEY:
            return None
        return FoundSecret(token.end, closing, scan.hit.label.category)

    def _han(self, number: int, token: Token, scan: ScanState) -> FoundSecret | None:
        words = token.text
        following = self.tokens.all[number + 1 : number + 2]
        is_last = not following or following[0].kind in ("sign", "line")
        if scan.hit.cue in WORDS_COUNT and is_last:
            value = value_in(words) or (words if scan.direct else "")
            if value and vocabulary.is_han_phrase(value, by_sign=scan.by_sign):
                return FoundSecret(token.end - len(value), token.end, scan.hit.label.category)
        if is_link(words):
            scan.link()
        elif OF_A_DATE.search(words):  # 是我生日倒过来 5180 ("is my birthday backwards, 5180")
            scan.linked = True
        else:
            scan.direct = False
            if words not in ("的", "呢", "吧", "了"):
                scan.signs += len(words)
        scan.before = ""
        return None

    def _word(self, number: int, token: Token, scan: ScanState) -> FoundSecret | None:
        if token.is_program:
            scan.crossed = FARTHEST
            return None
        rest = token.text.lstrip(LINK_SIGNS + "'" if scan.words == 0 else LINK_SIGNS)
        if len(rest) < len(token.text):
            scan.link(by_sign=True)
            token = token.from_place(token.end - len(rest))
            if not rest:
                return None
        if token.bare in vocabulary.LINKS or (token.text in ("s", "s:") and scan.words == 0):
            scan.link()
            scan.words += 1
            return None
        if token.bare in ("to", "as") and self._is_changed(scan):
            scan.link()
            return None
        if token.bare in vocabulary.BETWEEN and scan.direct and not token.ends_sentence:
            return None
        if self._is_secret(number, token, scan):
            return self._whole(number, token, scan)
        if self._starts_phrase(number, token, scan):
            return self._clause(number, token, scan)
        scan.skip_token(token)
        return None

    def _is_changed(self, scan: ScanState) -> bool:
        """Return whether "to" or "as" introduces a value, as in "changed to …"."""
        if scan.before in vocabulary.CHANGES or scan.words:
            return scan.before in vocabulary.CHANGES
        led = (token.bare for _, token in self.tokens.before(scan.hit.start, most=6))
        return not vocabulary.CHANGES.isdisjoint(led)

    def _is_secret(self, number: int, token: Token, scan: ScanState) -> bool:
        look, core = token.look, token.core
        if look == Look.RANDOM and scan.hit.cue not in WEAK:
            return scan.words <= 14
        if look >= Look.MIXED:
            return self._is_code(core, scan)
        if look == Look.DIGITS:
            return self._is_number(number, token, scan)
        if not scan.direct and scan.words + scan.signs:
            return False
        if scan.hit.cue is Cue.KEY:
            return look == Look.WORD and is_gibberish(core)
        return scan.hit.cue is Cue.PASSWORD and is_odd(core)

    def _is_code(self, core: str, scan: ScanState) -> bool:
        if scan.hit.cue is Cue.SERVICE:
            return (scan.linked and is_made_up(core)) or scan.before in (
                "wants",
                "takes",
                "asks-for",
            )
        if scan.hit.cue is Cue.LOOSE_CODE:
            return (scan.linked and scan.words <= 4) or scan.words + scan.signs == 0
        if scan.hit.cue is not Cue.KEY:
            return scan.words <= 8 or scan.linked
        if scan.hit.name in LOOSE_KEYS and not scan.linked:
            return len(core) >= 12 and scan.words <= 2
        return (len(core) >= 8 and scan.words <= 8) or (len(core) >= 5 and scan.linked)

    def _is_number(self, number: int, token: Token, scan: ScanState) -> bool:
        digits = sum(sign.isdigit() for sign in token.core)
        if scan.negative or self._is_counted(number, token, scan):
            return False
        if token.core[-1] in "#*" or token.core[0] in "#*":
            return digits >= 3
        if scan.hit.cue is Cue.KEY:
            return scan.linked and digits >= 6
        if scan.hit.cue is Cue.SERVICE:
            return False
        if scan.hit.cue is Cue.LOOSE_CODE:
            return digits >= 4 and (scan.direct or scan.words + scan.signs == 0)
        if scan.hit.name in DOORWAYS and not scan.linked:
            return False
        if scan.direct or (scan.linked and scan.words <= 7):
            return digits >= 3
        if scan.words + scan.signs == 0:
            return digits >= 3
        if digits >= 6 and scan.signs <= 10 and scan.words <= 2:
            return True
        is_year = digits == 4 and token.core[:2] in ("19", "20")
        return (
            digits >= 4 and not is_year and scan.words <= 5 and scan.signs <= 2 and not scan.crossed
        )

    def _is_counted(self, number: int, token: Token, scan: ScanState) -> bool:
        if scan.before in vocabulary.BEFORE_A_COUNT and not scan.direct:
            return True
        return is_counted(self.tokens, number)

    def _starts_phrase(self, number: int, token: Token, scan: ScanState) -> bool:
        if token.look != Look.WORD or scan.hit.cue not in WORDS_COUNT:
            return False
        if not scan.direct and not (scan.words == 0 and scan.hit.name in SHORT_LABELS):
            return False
        if scan.first and scan.first not in OF_THE_LABEL:
            return False  # "the password manager is": the link doesn't refer to the label
        if scan.hit.cue is Cue.CODE and not names_a_code(scan.hit.name):
            return False
        if token.text[0] in "'`" and len(token.text) > 3:
            return True
        words = [word.core for word in self._clause_tokens(number, token)]
        if not scan.direct and len(words) > 1:
            return False
        return vocabulary.is_phrase(words, by_sign=scan.by_sign)

    def _clause_tokens(self, number: int, first: Token) -> Iterator[Token]:
        for place, token in enumerate(self.tokens.all[number : number + 14]):
            if token.kind != "word" or (place and token.bare in STOPS):
                return
            yield first if place == 0 else token
            if token.ends_clause:
                return

    def _clause(self, number: int, token: Token, scan: ScanState) -> FoundSecret:
        last = list(self._clause_tokens(number, token))[-1]
        if last.text[-1] in "!?":
            last = self._last_of_clause(self.tokens.at(last.start), last)
        end = max(last.core_end, token.core_end)
        closes = self.text[token.start] == "(" and self.text[end : end + 1] == ")"
        return FoundSecret(token.start, end + closes, scan.hit.label.category)

    def _whole(self, number: int, token: Token, scan: ScanState) -> FoundSecret:
        """Return the whole value, including similar parts after it: "4821 77", "a1b2, c3d4"."""
        begin = self._with_han(token.core_start)
        own = self.tokens.all[number]
        if scan.words == 0 and own.start < scan.hit.start < own.end:
            begin = own.start  # password123: the label is part of the secret
        last = token
        for following in self._continuation(number, token):
            last = following
        if scan.direct:
            last = self._last_of_clause(number, last)
        return FoundSecret(begin, last.core_end, scan.hit.label.category)

    def _last_of_clause(self, number: int, token: Token) -> Token:
        """Return the last token of a secret, such as "h4rbor" in "the code is 1234 blue h4rbor".

        This is the last unusual token among the next five of the clause. Return `token` if none is
        unusual.
        """
        if token.ends_clause:
            return token
        last = token
        for following in self.tokens.all[number + 1 : number + 6]:
            if following.kind != "word" or following.bare in STOPS:
                break
            if following.start > last.end and (
                following.look >= Look.DIGITS or is_odd(following.core)
            ):
                if is_counted(self.tokens, self.tokens.at(following.start)):
                    break
                last = following
            if following.ends_clause:
                break
        return last

    def _with_han(self, begin: int) -> int:
        """Return the start of a value that may begin with Chinese characters: 梅花三弄@1988."""
        if self.text[begin] not in "@#!&_^*-":
            return begin
        start = begin
        while start and begin - start < 6 and "\u3400" <= self.text[start - 1] <= "\u9fff":
            start -= 1
        return start

    def _continuation(self, number: int, token: Token) -> Iterator[Token]:
        gap = 0
        for place in range(number + 1, min(number + 60, len(self.tokens.all))):
            following = self.tokens.all[place]
            if following.kind == "word" and is_alike(following, token):
                if self._is_counted(place, following, EMPTY_SCAN):
                    return
                yield following
                gap = 0
            elif gap < 2 and (
                following.text in "、，,;；\n/&+" or following.bare in ("and", "or", "")
            ):
                gap += 1
            elif gap == 0 and following.text in ("#", "*", "!", "?"):
                yield following
            else:
                return

    def _before(self, hit: Hit) -> FoundSecret | None:
        between: list[str] = []
        for number, token in self.tokens.before(hit.start, most=BACK):
            if token.kind == "han":
                between.append("=" if refers_back_to_label(token.text) else "?")
            elif token.kind == "word":
                if self._is_value_before(number, token, between, hit):
                    start = self._beginning(number, between, hit)
                    return FoundSecret(start, token.core_end, hit.label.category)
                between.append(token.bare)
            elif token.text in '”」』"' and (found := self._quote_before(token, between, hit)):
                return found
        return None

    def _beginning(self, number: int, between: list[str], hit: Hit) -> int:
        """Return the start of the value in "<value> is my password".

        `number` is the index of a token in the value. A password may have several words, so it
        starts where the sentence starts, if at most four tokens precede this token.
        """
        token = self.tokens.all[number]
        if hit.cue is not Cue.PASSWORD or between[-1:] not in (["is"], ["was"]):
            return token.core_start
        first = number
        while first and self.tokens.sentence[first - 1] == self.tokens.sentence[number]:
            first -= 1
        return self.tokens.all[first].start if number - first <= 4 else token.core_start

    def _quote_before(self, token: Token, between: list[str], hit: Hit) -> FoundSecret | None:
        if not COPULAS.intersection(between) or hit.cue not in WORDS_COUNT:
            return None
        opening = {closing: opening for opening, closing in QUOTES.items()}[token.text]
        start = self.text.rfind(opening, max(0, token.start - LONGEST_QUOTED), token.start)
        return (
            FoundSecret(start + 1, token.start, hit.label.category)
            if 0 <= start < token.start - 2
            else None
        )

    def _is_value_before(self, number: int, token: Token, between: list[str], hit: Hit) -> bool:
        look = token.look
        if look >= Look.MIXED:
            is_near = len(between) <= 2 and "?" not in between
            is_long = hit.cue is not Cue.KEY or len(token.core) >= 8
            return is_long and (is_near or bool(COPULAS.intersection(between)))
        if not COPULAS.intersection(between) and (between or hit.cue is not Cue.ACT):
            return False
        if look == Look.DIGITS:
            is_led = number and self.tokens.all[number - 1].bare in vocabulary.BEFORE_A_COUNT
            return (
                not is_led
                and not self._is_counted(number, token, EMPTY_SCAN)
                and BACK_LINKS.issuperset(between[1:] if hit.cue is Cue.ACT else between)
                and sum(map(str.isdigit, token.core)) >= 4
            )
        is_first = number == 0 or self.tokens.sentence[number - 1] != self.tokens.sentence[number]
        is_told = (
            hit.cue is Cue.PASSWORD and between[-1:] in (["is"], ["was"]) and len(between) <= 5
        )
        return look == Look.WORD and is_first and is_told and vocabulary.may_come_first(token.core)


EMPTY_SCAN = ScanState(Hit(0, 0, LABELS[0], ""))
