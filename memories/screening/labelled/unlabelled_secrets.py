"""Find secrets without a label: made-up words and codes in or next to a sentence about access.

Access means logins, codes, locks and the like. No label marks the value as a secret, so it must
look unlike anything else that people write.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from memories.screening import safe_patterns
from memories.screening.labelled import vocabulary
from memories.screening.labelled.tokens import Look, Shape, Token, Tokens
from memories.screening.labelled.vocabulary import (
    LABELS,
    NAMES,
    Cue,
    LabelledText,
    is_a_figure_of_speech,
    is_counted,
    names_a_code,
)
from memories.screening.secret_forms import FoundSecret

_ACCESS = safe_patterns.compile(
    r"(?i)\b(?:unlock\w*|decrypt\w*|encrypted|(?:log|sign)(?:s|ged|ed)? ?(?:in|on|into)|"
    r"(?:won'?t|doesn'?t|don'?t|can'?t|will|to) open|opens? (?:it |them )?(?:up )?(?:with|using)|"
    r"(?:get|gets|let|lets) (?:me |you |us |them )?in(?:to)?|asks?,|sticker says|"
    r"what i use|i use for|the usual one|same as always)\b|"
    r"解压|解得?开|解密|加密|打开填|登进|登上|进得?去|初始|弹窗|验证我|我都打|我都填|我都用|什么都用|贴的"
)
_PLACES = safe_patterns.compile(
    r"(?i)\b(?:zip|rar|pdf|portal|website|site|app|account|laptop|sticker|icloud|cloud|drive|"
    r"prompt|remember|reminder)\b|压缩包|网站|软件|平台|后台|系统|客户端|论坛"
)
_CASH = safe_patterns.compile(
    r"(?i)\b(?:bank(?:ing)? app|online banking|cash ?machine|atm|texted)\b|取款|取钱|网银|手机银行|"
    r"行app|短信来了|能开的|能打开"
)
# Labels that count for adjacent sentences too, and labels that count only for their own sentence.
_SURE = frozenset({Cue.PASSWORD, Cue.LOGIN, Cue.EVERYWHERE, Cue.PHRASE})
_HERE = frozenset({Cue.SERVICE, Cue.CODE, Cue.PATTERN})
_PRODUCT = safe_patterns.compile(
    r"(?i)^(?:python|java|node|iphone|ipad|galaxy|pixel|windows|win|ubuntu|debian|postgres\w*|mysql|"
    r"gpt|claude|llama|qwen|deepseek|gemini|ios|android|macos|rtx|gtx|cuda|http|sha|aes|rsa|utf|"
    r"ipv|usb|oauth|php|ruby|rails|django|react|vue|angular|log4j|web|sql|x86|arm|thinkpad|"
    r"macbook|surface|office|covid|formula|psalm|argon|bcrypt|base|wpa|ed|md)[-_.]?\d"
)
_FILE = safe_patterns.compile(r"(?i)\.[a-z]{2,4}\d?$")
_HEX = safe_patterns.compile(r"^[0-9a-f]{32,}$")
_STRUCTURE = frozenset("()[]{}<>/\\|='`,;:")
_LETTERS = safe_patterns.compile(r"[A-Za-z]{2}")
_NAMED_ZH = safe_patterns.compile(r"(?:叫|名为?|昵称|用户名|型号|账号是?|帐号是?|网名|id是?)$")
_FEWEST = 6
_NOT_A_CODE = frozenset(
    {"order", "invoice", "ticket", "ref", "reference", "no", "tracking", "case", "stock", "paid"}
)


def find_near_access_words(text: LabelledText) -> Iterator[FoundSecret]:
    """Yield made-up words and codes in or next to a sentence about logins, codes or locks."""
    tokens = Tokens(text.text) if text.tokens.has_spaced else text.tokens
    unusual: dict[Shape, bool] = {}
    for token in tokens.all:
        if token.shape not in unusual:
            unusual[token.shape] = token.look == Look.DIGITS or is_made_up_word(token)
    candidates = [number for number, token in enumerate(tokens.all) if unusual[token.shape]]
    if not candidates:
        return
    sure, here, cash = _access_sentences(text, tokens)
    for number in candidates:
        token, sentence = tokens.all[number], tokens.sentence[number]
        if _is_a_name(tokens, number):
            continue
        is_near = sentence in here or not sure.isdisjoint((sentence - 1, sentence, sentence + 1))
        is_word = is_near and is_made_up_word(token)
        if is_word or (sentence in cash and _is_a_code(tokens, number)):
            yield FoundSecret(token.core_start, token.core_end, "password")


def _access_sentences(labelled: LabelledText, tokens: Tokens) -> tuple[set[int], ...]:
    text = labelled.text
    places: dict[str, set[int]] = defaultdict(set)
    for label, spans in zip(LABELS, labelled.labels, strict=True):
        for start, end in spans if label.cue in _SURE | _HERE else ():
            words = text[start:end]
            if is_a_figure_of_speech(text, start, words):
                continue
            is_sure = label.cue in _SURE or (label.cue is Cue.CODE and names_a_code(words.lower()))
            places["sure" if is_sure else "here"].add(start)
    for name, pattern in (("sure", _ACCESS), ("here", _PLACES), ("cash", _CASH)):
        places[name].update(match.start() for match in pattern.finditer(text))
    return tuple(
        {tokens.sentence[tokens.at(place)] for place in places[name]}
        for name in ("sure", "here", "cash")
    )


def is_made_up_word(token: Token) -> bool:
    """Return whether a token mixes characters like a password but isn't a product, file or hash."""
    core = token.core
    if token.look < Look.MIXED or len(core) < _FEWEST or not _STRUCTURE.isdisjoint(core):
        return False
    if (
        not any(map(str.islower, core))
        or _PRODUCT.search(core)
        or _FILE.search(core)
        or _HEX.search(core)
    ):
        return False
    if core[0].isdigit() and token.look < Look.RANDOM:
        return False
    return _LETTERS.search(core) is not None or token.look == Look.RANDOM


def _is_a_name(tokens: Tokens, number: int) -> bool:
    before = tokens.all[max(0, number - 3) : number]
    if any(token.bare in NAMES or token.bare == "as" for token in before if token.kind == "word"):
        return True
    return bool(before) and before[-1].kind == "han" and bool(_NAMED_ZH.search(before[-1].text))


def _is_a_code(tokens: Tokens, number: int) -> bool:
    token = tokens.all[number]
    digits = sum(map(str.isdigit, token.core))
    if token.look != Look.DIGITS or not 4 <= digits <= 8 or is_counted(tokens, number):
        return False
    led = {before.bare for before in tokens.all[max(0, number - 2) : number]}
    is_year = digits == 4 and token.core[:2] in ("19", "20")
    return not is_year and led.isdisjoint(_NOT_A_CODE | vocabulary.BEFORE_A_COUNT)


COVER = "\ue000"
# The distance from a covered secret, in characters, within which codes and numbers count.
_NEAR, _NEARER = 60, 40
_COVERED = safe_patterns.compile(r"\x{e000}+")
_EXPIRY = safe_patterns.compile(r"^\d{1,2}[/\-.](?:20)?\d{2}$")
_YEAR = safe_patterns.compile(r"^(?:19|20)\d\d$")


def companions(text: str, *, with_card: bool) -> Iterator[FoundSecret]:
    """Yield codes and numbers that are near a covered secret, on the same line.

    A covered secret is one that was found earlier and replaced by `COVER` characters. With
    `with_card`, the expiry date of a card is included.
    """
    secrets = [match.span() for match in _COVERED.finditer(text)]
    tokens = Tokens(text)
    place = 0
    for number, token in enumerate(tokens.all):
        if token.kind != "word" or COVER in token.text:
            continue
        while place + 1 < len(secrets) and secrets[place + 1][0] < token.start:
            place += 1
        distance = min(
            (_distance(token, span, text) for span in secrets[place : place + 2]), default=_NEAR
        )
        if _is_companion(tokens, number, distance, with_card=with_card):
            yield FoundSecret(token.core_start, token.core_end, "password")


def _distance(token: Token, span: tuple[int, int], text: str) -> int:
    start, end = (span[1], token.start) if span[1] <= token.start else (token.end, span[0])
    return _NEAR if "\n" in text[start : min(end, start + _NEAR)] else end - start


def _is_companion(tokens: Tokens, number: int, distance: int, *, with_card: bool) -> bool:
    token = tokens.all[number]
    if token.look >= Look.MIXED:
        return distance < _NEAR
    if with_card and _EXPIRY.search(token.core):
        return distance < _NEAR
    if token.look != Look.DIGITS or distance >= _NEARER or is_counted(tokens, number):
        return False
    led = tokens.all[number - 1].bare if number else ""
    is_year = _YEAR.search(token.core) is not None
    return led not in vocabulary.BEFORE_A_COUNT and not is_year
