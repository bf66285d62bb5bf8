"""Find secrets that only their context reveals, with the reader model.

The model takes a few milliseconds, so it is used only for texts that are derived from messages or
written as memories. Pages, for which users wait, use the positions that were found when the message
was processed (`Message.secrets`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

from memories.reader import Reading, reader
from memories.screening import linear, secret_search
from memories.screening.secret_search import Span
from memories.screening.stand_ins import is_stand_in, public_places, run_around

CATEGORY = "password"
# Words for things that have a number. The number isn't secret, even if a rule finds it.
_NUMBERED = (
    "serial|s/n|chassis|frame|vin|pnr|pcn|ticket|batch|lot|sku|asset|docket|date code|order|invoice"
    "|tracking|booking|reservation|reference|ref|isbn|commit|version|model|plate|badge|charity"
    "|member(?:ship)?|bleep|chip|hs code|tax code|course|crn|ssid|(?:promo|voucher|discount) code"
)
_NUMBERED_ZH = (
    "订单|訂單|单号|單號|快递|运单|航班|车次|编号|編號|版本|车牌|型号|考号|学号|工号|序列|批号|货号"
    "|车架|发动机|信用代码|读数"
)
_NUMBER_OF_A_THING = linear.compile(
    rf"(?i)(?:\b(?:{_NUMBERED}|(?:case|claim) (?:number|no|id)|queue code)|{_NUMBERED_ZH}|工单)"
    r"(?:[\s:：#=.]|\bis\b|\bno\b\.?|\bnumber\b|\bcode\b|号码?|號碼?|是|为){0,8}"
    r"(?:\b(?:on|of|for) (?:[a-z]+ ){0,3}[a-z]+(?: is|:) ?)?$"
)
# Numbers and names after these words aren't secret; the model was trained on too few examples.
_HARMLESS = linear.compile(
    rf"(?i)(?:\b(?:{_NUMBERED}|phone|mobile|cell|tel|telephone|fax|orders|receipt|parcel|shipment"
    r"|flight|train|bus|line|gate|room|ward|seat|appointment|bisect|hash|md5|sha-?\d*|etag|trace_?id"
    r"|tag|release|port|ports|error|exit|transaction|process|page|chapter|zip|alarm|postcode|extension"
    r"|ext|press|tokens|sn|case|claim|part|reg|contact|apartment|apt|form|opens|opened|handle|mark"
    r"|(?:minecraft|gamer|user|screen|psn|xbox|steam|instagram|discord|tiktok) ?(?:name|tag|id))"
    rf"|{_NUMBERED_ZH}|电话|電話|手机号?|手機|座机|房间|房號|座位|预订|提交|端口|错误|报错|邮编|尾号"
    r"|第|考场|准考证|报名|住院|病历|挂号|设备|基金|股票|转账|网名|昵称)"
    r"(?:[\s:：#=.]|\bis\b|\bat\b|\bthere\b|\bsays\b|\bno\b\.?|\bnumber\b|\bcode\b"
    r"|号码?|號碼?|是|为|叫){0,8}$"
)
# Hashes, trace ids, long numbers: `secret_search` finds them if a label makes them secret.
_NAMES_A_THING = linear.compile(
    r"(?i)^(?:20[2-3]\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])|[0-9a-f-]{7,}|\d[\d .-]{7,}"
    r"|(?:\d{1,2}[ ,，]+){4,}\d{1,2}|1Z[0-9A-Z ]{10,}|KB\d{5,}"
    r"|第 ?\d+ ?\p{Han}?[:：]?|.*\b(?:0x[0-9a-f]+|[a-h][1-8])\b.*)$"
)
_IS_A_NAME = linear.compile(
    r"(?i)^[\"”’']? (?:is|was) (?:the |my |our )?(?:wi-?fi |network )?(?:name|ssid)\b"
)
_DATE = linear.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}")
_FEWEST_DIGITS = 10  # a shorter number may well be a PIN
_LONGEST = 240  # characters; enough for a recovery phrase of 24 words
_MOST_OCCURRENCES = 3  # a string that occurs more often in a text isn't a secret
_SENTENCE_ENDS = linear.compile(r"[a-z]{3}[.!?] +\p{Lu}|[。！？\n]")
_BEFORE = 32  # characters before a span that are searched for words like "order number"
_NAME = linear.compile(r"^[A-Za-z]+[-_.]?[0-9]{0,4}$")
_LINK = linear.compile(r"(?i)\b(?:https?|webcals?)://[^\s<>\"，。；）]+")
_GAP = linear.compile(
    r"(?i)(?: (?:the|a|an|is|are|was|of|on|in|at|to|my|and|never|always|for|with)){1,3} "
)
_ORDINARY = "Sunflower"  # a word that people use as a password
_known = secret_search.Places()


def find(text: str) -> tuple[Span, ...]:
    """Return all secrets in `text`, in order and without overlap, using rules and the reader model.

    The result is cached. Only the positions are cached, never the text.
    """
    return _known.of(text, lambda unread: of_reading(unread, reader().read(unread), reader().read))


def of_reading(text: str, reading: Reading, read: Callable[[str], Reading]) -> tuple[Span, ...]:
    """Return all secrets in a message, like `find`, given the model's output.

    `read` analyses a changed text in the same context. A secret that a rule found only by the words
    around it is dropped if the model is confident that it is harmless.
    """
    found = [
        _whole_words(text, *_trimmed(text, secret.start, secret.end)) for secret in reading.secrets
    ]
    spans = [Span(*span, CATEGORY) for span in found if _can_be_secret(text, *span)]
    public = public_places(text)
    learned = [
        span
        for span in _not_masked(text, spans)
        if not _is_public(span, public) and not _is_harmless(text, span)
    ]
    searched = [span for span in _spans_by_rules(text, reading) if not _is_public(span, public)]
    kept = secret_search.joined([*searched, *_without_unusual_words(text, learned, read)])
    whole = secret_search.joined([*kept, *secret_search.again(text, kept)])
    whole = secret_search.joined([*whole, *_whole_links(text, whole), *_gaps(text, whole)])
    return secret_search.with_account_numbers(text, whole)


def _whole_links(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield each link that contains a secret, since its other parts may open the same door."""
    for link in _LINK.finditer(text) if spans else ():
        start, end = link.span()
        if any(start < span.start and span.end <= end for span in spans):
            yield Span(start, end, CATEGORY)


def _gaps(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield what stands between two parts of one passphrase: up to three words of one clause."""
    for one, other in itertools.pairwise(spans):
        between = text[one.end : other.start]
        if one.category == other.category == CATEGORY and _GAP.fullmatch(between):
            yield Span(one.start, other.end, CATEGORY)


def _is_public(span: Span, public: Sequence[tuple[int, int]]) -> bool:
    return any(start <= span.start + 1 and span.end - 1 <= end for start, end in public)


def _without_unusual_words(
    text: str, spans: Sequence[Span], read: Callable[[str], Reading]
) -> list[Span]:
    """Drop single words that the model took for secrets only because they are unusual.

    An unknown name, even with a number after it, can look like a password to the model. To check
    this, the word is replaced by an ordinary word: if the context announces a secret, the model
    takes the ordinary word for a secret too.
    """
    unusual = [span for span in spans if _NAME.search(text[span.start : span.end])]
    if not unusual:
        return list(spans)
    changed, last, places = "", 0, {}
    for span in unusual:
        changed += text[last : span.start]
        places[span] = (len(changed), len(changed) + len(_ORDINARY))
        changed += _ORDINARY
        last = span.end
    innocent = read(changed + text[last:]).innocent
    return [
        span
        for span in spans
        if span not in places
        or not any(start <= places[span][0] and places[span][1] <= end for start, end in innocent)
    ]


def _spans_by_rules(text: str, reading: Reading) -> list[Span]:
    """Return the secrets that rules find, except those that the model is confident are harmless.

    Secrets with a known form, such as card numbers and keys, are always returned.
    """
    found = secret_search.find(text)
    if not found:
        return []
    by_form = secret_search.find_by_form(text)
    return [
        span
        for span in found
        if span.category != CATEGORY
        or any(form.start < span.end and span.start < form.end for form in by_form)
        or not (
            any(start <= span.start and span.end <= end for start, end in reading.innocent)
            or _NUMBER_OF_A_THING.search(text[max(0, span.start - _BEFORE) : span.start])
        )
    ]


def spans_at(places: Sequence[int], text: str) -> tuple[Span, ...]:
    """Return a message's secrets, given their stored positions: start, end, start, end …"""
    pairs = zip(places[::2], places[1::2], strict=True)
    return tuple(Span(start, end, CATEGORY) for start, end in pairs if end <= len(text))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in " \t\n,，。:：;；\"'“”「」":
        start += 1
    while start < end and text[end - 1] in " \t\n,，。;；\"'“”「」":
        end -= 1
    return start, end


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    while (
        0 < start < end and _is_word_character(text[start - 1]) and _is_word_character(text[start])
    ):
        start -= 1
    while (
        start < end < len(text)
        and _is_word_character(text[end - 1])
        and _is_word_character(text[end])
    ):
        end += 1
    return start, end


def _is_word_character(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()


def _can_be_secret(text: str, start: int, end: int) -> bool:
    words = text[start:end]
    if not 0 < len(words) <= _LONGEST or _SENTENCE_ENDS.search(words):
        return False
    return text.count(words) <= _MOST_OCCURRENCES


def _is_harmless(text: str, span: Span) -> bool:
    if is_stand_in(text[span.start : span.end]):
        return True
    start, end = run_around(text, span.start, span.end, _is_name_character)
    word = text[start:end].strip()
    short = sum(map(str.isdigit, word)) < _FEWEST_DIGITS and not any(map(str.isalpha, word))
    names = not short and _NAMES_A_THING.search(word) is not None
    names = names or _DATE.fullmatch(word) is not None or _is_handle(text, start)
    names = names or _IS_A_NAME.search(text[end : end + _BEFORE]) is not None
    return names or _HARMLESS.search(text[max(0, start - _BEFORE) : start]) is not None


def _is_handle(text: str, start: int) -> bool:
    return (
        text[max(0, start - 1) : start] == "@" and not text[: start - 1].rstrip("( ")[-1:].isalnum()
    )


def _is_name_character(sign: str) -> bool:
    return sign.isascii() and (sign.isalnum() or sign in "-_")


def _not_masked(text: str, spans: Iterable[Span]) -> list[Span]:
    marks = secret_search.marks(text)
    return [span for span in spans if not secret_search.is_covered(span, marks)]
