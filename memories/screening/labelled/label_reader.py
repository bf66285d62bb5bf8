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
    """An occurrence of a label, such as "password", in the text."""

    start: int
    end: int
    label: Label
    said: str

    @property
    def cue(self) -> Cue:
        return self.label.cue


@dataclass
class ScanState:
    """The state while scanning the tokens between a label and the current token."""

    hit: Hit
    linked: bool = False  # "is" or ":" was read, without a negation
    direct: bool = False  # the link was right before the current token
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
        way = ScanState(hit)
        has_name = hit.cue is Cue.SERVICE or any(word in hit.said for word in NETWORKS)
        for number, token in self.tokens.following(hit.end, most=FARTHEST):
            if has_name and self._is_a_name(token):
                return None
            if way.words and not way.direct and self._is_plain(self.tokens.all[number]):
                way.skip_token(token)
            elif (found := self._step(number, token, way)) is not None:
                return found
            if way.crossed > 1 or way.signs > 18:
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

    def _step(self, number: int, token: Token, way: ScanState) -> FoundSecret | None:
        if token.kind == "line":
            linked, way.before = way.linked, ""
            way.cross()
            way.linked = way.direct = linked
            return None
        if token.kind == "sign":
            return self._sign(token, way)
        if token.kind == "han":
            return self._han(number, token, way)
        return self._word(number, token, way)

    def _sign(self, token: Token, way: ScanState) -> FoundSecret | None:
        if token.text in "：":
            way.link(by_sign=True)
        elif token.text in QUOTES and (way.linked or way.words + way.signs == 0):
            return self._quoted(token, way)
        elif token.text in "。！？":
            way.cross()
        elif token.text in "，；、":
            way.direct = False
        return None

    def _quoted(self, token: Token, way: ScanState) -> FoundSecret | None:
        closing = self.text.find(QUOTES[token.text], token.end, token.end + LONGEST_QUOTED)
        said = self.text[token.end : closing]
        if closing <= token.end or "\n" in said or not any(sign.isalnum() for sign in said):
            return None
        if not way.linked and way.hit.cue is Cue.KEY:
            return None
        return FoundSecret(token.end, closing, way.hit.label.category)

    def _han(self, number: int, token: Token, way: ScanState) -> FoundSecret | None:
        said = token.text
        following = self.tokens.all[number + 1 : number + 2]
        is_last = not following or following[0].kind in ("sign", "line")
        if way.hit.cue in WORDS_COUNT and is_last:
            value = value_in(said) or (said if way.direct else "")
            if value and vocabulary.is_han_phrase(value, by_sign=way.by_sign):
                return FoundSecret(token.end - len(value), token.end, way.hit.label.category)
        if is_link(said):
            way.link()
        elif OF_A_DATE.search(said):  # 是我生日倒过来 5180 ("is my birthday backwards, 5180")
            way.linked = True
        else:
            way.direct = False
            if said not in ("的", "呢", "吧", "了"):
                way.signs += len(said)
        way.before = ""
        return None

    def _word(self, number: int, token: Token, way: ScanState) -> FoundSecret | None:
        if token.is_program:
            way.crossed = FARTHEST
            return None
        rest = token.text.lstrip(LINK_SIGNS + "'" if way.words == 0 else LINK_SIGNS)
        if len(rest) < len(token.text):
            way.link(by_sign=True)
            token = token.from_place(token.end - len(rest))
            if not rest:
                return None
        if token.bare in vocabulary.LINKS or (token.text in ("s", "s:") and way.words == 0):
            way.link()
            way.words += 1
            return None
        if token.bare in ("to", "as") and self._is_changed(way):
            way.link()
            return None
        if token.bare in vocabulary.BETWEEN and way.direct and not token.ends_sentence:
            return None
        if self._is_secret(number, token, way):
            return self._whole(number, token, way)
        if self._starts_phrase(number, token, way):
            return self._clause(number, token, way)
        way.skip_token(token)
        return None

    def _is_changed(self, way: ScanState) -> bool:
        """Return whether "to" or "as" introduces a value, as in "changed to …"."""
        if way.before in vocabulary.CHANGES or way.words:
            return way.before in vocabulary.CHANGES
        led = (token.bare for _, token in self.tokens.before(way.hit.start, most=6))
        return not vocabulary.CHANGES.isdisjoint(led)

    def _is_secret(self, number: int, token: Token, way: ScanState) -> bool:
        look, core = token.look, token.core
        if look == Look.RANDOM and way.hit.cue not in WEAK:
            return way.words <= 14
        if look >= Look.MIXED:
            return self._is_code(core, way)
        if look == Look.DIGITS:
            return self._is_number(number, token, way)
        if not way.direct and way.words + way.signs:
            return False
        if way.hit.cue is Cue.KEY:
            return look == Look.WORD and is_gibberish(core)
        return way.hit.cue is Cue.PASSWORD and is_odd(core)

    def _is_code(self, core: str, way: ScanState) -> bool:
        if way.hit.cue is Cue.SERVICE:
            return (way.linked and is_made_up(core)) or way.before in ("wants", "takes", "asks-for")
        if way.hit.cue is Cue.LOOSE_CODE:
            return (way.linked and way.words <= 4) or way.words + way.signs == 0
        if way.hit.cue is not Cue.KEY:
            return way.words <= 8 or way.linked
        if way.hit.said in LOOSE_KEYS and not way.linked:
            return len(core) >= 12 and way.words <= 2
        return (len(core) >= 8 and way.words <= 8) or (len(core) >= 5 and way.linked)

    def _is_number(self, number: int, token: Token, way: ScanState) -> bool:
        digits = sum(sign.isdigit() for sign in token.core)
        if way.negative or self._is_counted(number, token, way):
            return False
        if token.core[-1] in "#*" or token.core[0] in "#*":
            return digits >= 3
        if way.hit.cue is Cue.KEY:
            return way.linked and digits >= 6
        if way.hit.cue is Cue.SERVICE:
            return False
        if way.hit.cue is Cue.LOOSE_CODE:
            return digits >= 4 and (way.direct or way.words + way.signs == 0)
        if way.hit.said in DOORWAYS and not way.linked:
            return False
        if way.direct or (way.linked and way.words <= 7):
            return digits >= 3
        if way.words + way.signs == 0:
            return digits >= 3
        if digits >= 6 and way.signs <= 10 and way.words <= 2:
            return True
        is_year = digits == 4 and token.core[:2] in ("19", "20")
        return digits >= 4 and not is_year and way.words <= 5 and way.signs <= 2 and not way.crossed

    def _is_counted(self, number: int, token: Token, way: ScanState) -> bool:
        if way.before in vocabulary.BEFORE_A_COUNT and not way.direct:
            return True
        return is_counted(self.tokens, number)

    def _starts_phrase(self, number: int, token: Token, way: ScanState) -> bool:
        if token.look != Look.WORD or way.hit.cue not in WORDS_COUNT:
            return False
        if not way.direct and not (way.words == 0 and way.hit.said in SHORT_LABELS):
            return False
        if way.first and way.first not in OF_THE_LABEL:
            return False  # "the password manager is": the link doesn't refer to the label
        if way.hit.cue is Cue.CODE and not names_a_code(way.hit.said):
            return False
        if token.text[0] in "'`" and len(token.text) > 3:
            return True
        words = [word.core for word in self._clause_tokens(number, token)]
        if not way.direct and len(words) > 1:
            return False
        return vocabulary.is_phrase(words, by_sign=way.by_sign)

    def _clause_tokens(self, number: int, first: Token) -> Iterator[Token]:
        for place, token in enumerate(self.tokens.all[number : number + 14]):
            if token.kind != "word" or (place and token.bare in STOPS):
                return
            yield first if place == 0 else token
            if token.ends_clause:
                return

    def _clause(self, number: int, token: Token, way: ScanState) -> FoundSecret:
        last = list(self._clause_tokens(number, token))[-1]
        if last.text[-1] in "!?":
            last = self._last_of_clause(self.tokens.at(last.start), last)
        end = max(last.core_end, token.core_end)
        closes = self.text[token.start] == "(" and self.text[end : end + 1] == ")"
        return FoundSecret(token.start, end + closes, way.hit.label.category)

    def _whole(self, number: int, token: Token, way: ScanState) -> FoundSecret:
        """Return the whole value, including similar parts after it: "4821 77", "a1b2, c3d4"."""
        begin = self._with_han(token.core_start)
        own = self.tokens.all[number]
        if way.words == 0 and own.start < way.hit.start < own.end:
            begin = own.start  # password123: the label is part of the secret
        last = token
        for following in self._continuation(number, token):
            last = following
        if way.direct:
            last = self._last_of_clause(number, last)
        return FoundSecret(begin, last.core_end, way.hit.label.category)

    def _last_of_clause(self, number: int, token: Token) -> Token:
        """Return the last token of a secret, such as "h4rbor" in "the code is 1234 blue h4rbor".

        It is the last unusual one among the next five tokens of the clause, or else `token`.
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

        If only a few words precede the token in its sentence, they are part of the value.
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
