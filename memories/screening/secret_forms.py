"""Secrets recognisable by form alone: keys of known vendors, checksummed numbers, seeds."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from detect_secrets import plugins
from detect_secrets.plugins.base import RegexBasedDetector
from stdnum import iban, luhn
from stdnum.cn import ric
from stdnum.us import ssn

from memories.screening import linear
from memories.screening.labelled.values import is_key_by_itself, is_password_by_itself
from memories.screening.linear import Pattern


@dataclass(frozen=True)
class Found:
    """A secret in the searched text, from `start` to `end`."""

    start: int
    end: int
    category: str


def is_chunked_key(text: str) -> bool:
    """Whether groups of letters and digits look like an authenticator's key, not dates or words."""
    chunks = text.replace("-", " ").split()
    mixed = sum(any(map(str.isdigit, one)) and any(map(str.isalpha, one)) for one in chunks)
    return 3 * mixed >= len(chunks)


def always(text: str) -> bool:
    return True


def bare(text: str) -> str:
    """Return a number without the characters that group its digits."""
    return "".join(sign for sign in text if sign.isalnum()).upper()


# ISO/IEC 7812: the lengths of card numbers by issuer prefix.
_CARDS: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...] = (
    (("34", "37"), (15,)),
    (("30", "36", "38", "39"), (14, 16)),
    (("62", "81"), (16, 17, 18, 19)),
    (("4",), (13, 16, 19)),
    (("2", "5"), (16,)),
    (("6",), (16, 17, 18, 19)),
    (("3",), (16,)),
)


def is_card(text: str) -> bool:
    digits = bare(text)
    lengths = next((found for begins, found in _CARDS if digits.startswith(begins)), ())
    return len(digits) in lengths and len(set(digits)) > 1 and bool(luhn.is_valid(digits))


def is_chinese_identity(text: str) -> bool:
    """Check the checksum of GB 11643-1999, the birthday and the place code."""
    try:
        return bool(ric.is_valid(bare(text)))
    except KeyError:  # the table lacks this county; checksum and birthday were checked before
        return True


def is_iban(text: str) -> bool:
    return bool(iban.is_valid(bare(text)))


_PRINTED = frozenset(["078-05-1120", "219-09-9999", "457-55-5462"])


def is_social_security(text: str) -> bool:
    """Whether the number could have been issued, or was once printed on samples."""
    number = text.replace(" ", "-")
    return bool(ssn.is_valid(number)) or number in _PRINTED


@dataclass(frozen=True)
class Form:
    """`pattern` finds the secret, in group "s" if there is one; `check` confirms it."""

    category: str
    pattern: Pattern
    check: Callable[[str], bool] = always


def _form(category: str, pattern: str, check: Callable[[str], bool] = always) -> Form:
    return Form(category, linear.compile(pattern), check)


_KEY_BODY = r"[A-Za-z0-9_.\-]"
_OWN: tuple[Form, ...] = (
    _form(
        "api_key",
        r"-----BEGIN [A-Z0-9 ]{0,30}(?:PRIVATE KEY|CERTIFICATE)[A-Z ]{0,10}-----[\s\S]*?"
        r"(?:-----END [A-Z0-9 ]{0,30}-----|\z)",
    ),
    _form("api_key", rf"\b(?P<s>(?:sk|pk|rk)[-_](?:[a-z]{{2,10}}[-_])?{_KEY_BODY}{{16,}})"),
    _form(
        "api_key",
        r"\b(?P<s>(?:gh[pousr]_|github_pat_|gl(?:pat|dt|ft|rt|soat|cbt|ptt|imt|oas|agent)-|"
        r"xox[a-z]-|"
        r"xapp-|hf_|npm_|pypi-|shp(?:at|ss|ca|pa)_|dop_v1_|mc_|r8_|gsk_|tvly-|whsec_|SG\.|EAA[A-Z]|"
        r"ya29\.|lin_api_|figd_|nvapi-|xai-|AKC|dckr_pat_|sntrys_|rubygems_|pat-|secret_|ntn_|"
        r"sbp_|sb_secret_|vercel_|fly_|do[ort]_v1_|AGE-SECRET-KEY-|1//0|PMAK-|rnd_|key-|ATATT|"
        r"glsa_)"
        rf"{_KEY_BODY}{{14,}})",
        lambda text: any(sign.isdigit() for sign in text),
    ),
    _form(
        "api_key",
        r"\b(?P<s>(?:AKIA|ASIA|AGPA|AIDA|AROA|ABIA|ACCA)[A-Z0-9]{12,20}|AIza[A-Za-z0-9_-]{30,40}|"
        r"LTAI[A-Za-z0-9]{12,24}|AKID[A-Za-z0-9]{13,40}|[xt]prv[A-Za-z0-9]{50,115})\b",
    ),
    _form("api_key", r"\b(?P<s>eyJ[A-Za-z0-9_\-.=+/]{12,})"),
    _form(
        "api_key",
        r"(?i)\b(?:bearer|authorization: ?basic|basic auth:?)\s+(?P<s>[A-Za-z0-9_.~+/=\-]{12,})",
    ),
    _form("api_key", r"(?i)otpauth://\S{4,}|WIFI:\S{0,200}P:[^\n;]{1,80};"),
    _form(
        "api_key",
        r"https://(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks|"
        r"[\w.]+\.webhook\.office\.com|"
        r"oapi\.dingtalk\.com/robot/send|qyapi\.weixin\.qq\.com/cgi-bin/webhook|"
        r"open\.feishu\.cn/open-apis/bot)\S{8,}",
    ),
    _form(
        "api_key",
        r"(?i)[?&#;](?:[a-z_\-]{0,24})(?:token|key|secret|signature|sig|password|passwd|pwd|pass|"
        r"auth|code|session|sid|otp)"
        r"=(?P<s>[^\s&#\"'<>，。]{6,})",
        lambda text: any(sign.isdigit() for sign in text),
    ),
    _form(
        "password",
        r"(?i)(?P<s>\b[a-z][a-z0-9+.\-]{1,20}://[^\s:@/，。]{0,80}:[^\s@，。]{1,120}@?[^\s@/，。]{0,60}@"
        r"[^\s\"'<>`，。；、（）()]*[\w/=&%\-])",
    ),
    _form(
        "password",
        r"(?i)(?:AccountKey|SharedAccessKey|Password|Pwd|User ?Id|Uid|"
        r"PASSWD)=(?P<s>[^;\s\"'，。]{3,})",
    ),
    _form(
        "password",
        r"(?i)\b(?:curl|wget|http)\b[^\n]{0,120}?(?:-u|--user|--password)[ =](?P<s>\S{3,120})",
    ),
    _form(
        "password",
        r"(?i)\b(?:mysql|mysqldump|mariadb|sshpass)\b[^\n]{0,80}? -p ?(?P<s>[^\s\-]\S{2,80})",
    ),
    _form("api_key", r"(?:^|[^A-Za-z0-9])(?P<s>[5KLc9][1-9A-HJ-NP-Za-km-z]{50,51})\b"),
    _form("api_key", r"\b(?P<s>0x[0-9a-fA-F]{64})\b"),
    _form("api_key", r"\b(?P<s>(?:\d{6}-){5,}\d{6})\b"),
    _form("api_key", r"(?i)\b(?P<s>(?:[a-z0-9]{4}[ \-]){5,}[a-z0-9]{4})\b", is_chunked_key),
    _form("api_key", r"(?i)\b(?P<s>(?:[a-z0-9]{5}-){3,}[a-z0-9]{5})\b", is_chunked_key),
    _form("api_key", r"\bSEC(?P<s>[0-9a-f]{32,})\b"),
    _form(
        "identity_number",
        r"(?:^|[^\dA-Za-z])(?P<s>[1-8]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])\d{3}[\dXx])"
        r"(?:$|[^\dA-Za-z])",
    ),
    _form("password", r"\bG-(?P<s>\d{6})\b"),
    _form("card", r"\b(?P<s>[3-6]\d{3}[ \-]\d{4}[ \-]\d{4}[ \-]\d{4}(?:[ \-]\d{1,3})?)\b"),
    _form("card", r"(?:^|[^\d.\-])(?P<s>[2-6]\d(?:[ \-.]?\d){11,17})\b", is_card),
    _form(
        "identity_number",
        r"(?:^|[^\d])(?P<s>[1-9]\d{5}[ \-]?\d{4}[ \-]?\d{4}[ \-]?\d{3}[\dXx])(?:$|[^\dA-Za-z])",
        is_chinese_identity,
    ),
    _form(
        "identity_number",
        r"(?:^|[^\d\-])(?P<s>\d{3}[\- ]\d{2}[\- ]\d{4})(?:$|[^\d\-])",
        is_social_security,
    ),
    _form("bank_account", r"\b(?P<s>[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8})\b", is_iban),
)
# Plugins that match users' own numbers or addresses, or far too much.
_NOT_SECRETS = (
    "ip_public",
    "keyword",
    "high_entropy_strings",
    "basic_auth",
    "npm",
    "private_key",
    "artifactory",
    "jwt",
)


@cache
def known_forms() -> tuple[Form, ...]:
    """Return our own forms, and those of `detect-secrets` that RE2 can run."""
    return (*_OWN, *_of_others())


def _of_others() -> Iterator[Form]:
    for module in pkgutil.iter_modules(plugins.__path__):
        if module.name in _NOT_SECRETS:
            continue
        loaded = importlib.import_module(f"{plugins.__name__}.{module.name}")
        for value in vars(loaded).values():
            if isinstance(value, type) and issubclass(value, RegexBasedDetector):
                yield from _of_detector(value)


def _of_detector(detector: type[RegexBasedDetector]) -> Iterator[Form]:
    if detector.__module__.endswith(".base"):
        return
    for rule in detector().denylist:
        # Our forms above cover the few with lookaround, which RE2 doesn't support.
        if "(?<" not in rule.pattern and "(?!" not in rule.pattern:
            flags = "(?i)" if rule.flags & 2 else ""
            yield _form("api_key", flags + rule.pattern)


_MOST_CUTS = 8


def by_form(text: str) -> Iterator[Found]:
    for form in known_forms():
        group = form.pattern.groupindex.get("s", 0)
        for match in form.pattern.finditer(text):
            start, end = match.span(group)
            end = start + len(_proven(text[start:end], form.check))
            if end > start:
                yield Found(
                    start, _whole(text, end) if form.category == "api_key" else end, form.category
                )


def _whole(text: str, end: int) -> int:
    """Extend to the end of the token, so that no part of a key is left."""
    while end < len(text) and text[end].isascii() and (text[end].isalnum() or text[end] in "_-=+/"):
        end += 1
    return end


def _proven(found: str, check: Callable[[str], bool]) -> str:
    """Return the prefix that passes the check: unrelated digits may follow a number."""
    for _ in range(_MOST_CUTS):
        if check(found):
            return found
        found = found[: max(found.rfind(" "), found.rfind("-"), 0)]
    return ""


_TOKEN = linear.compile(r"[!-~]{8,}")
_LOOSE = ".,;:!?)]}\"'`"
_MONEY = linear.compile(r"^[\w.\-+]+@[\w.\-]+$")


_HEX = linear.compile(r"(?:^|[^0-9A-Za-z])(?P<s>[0-9a-f]{32})(?:$|[^0-9A-Za-z])")
_DIGEST = linear.compile(
    r"(?i)\b(?:md5|sha|sha\d+|sha\d*sum|hash|hashes|checksum|digest|commit|etag|revision|uuid|fingerprint|torrent|"
    r"trace|trace-?id|span-?id|"
    r"request id|build|image|blob|cache|tx|txid|block)\b|提交|哈希|散列|校验和|摘要|指纹|种子|"
    r"镜像|md5"
)


def by_looks(text: str) -> Iterator[Found]:
    """Yield passwords and keys that are unlike any other text, even without a label."""
    if not _DIGEST.search(text):
        for match in _HEX.finditer(text):
            if any(map(str.isdigit, match["s"])) and any(map(str.isalpha, match["s"])):
                yield Found(match.start(1), match.end(1), "api_key")
    for match in _TOKEN.finditer(text):
        token = match[0].lstrip("(\"'`[{<")
        start = match.end() - len(token)
        stripped = token.rstrip(".,;:)\"'`]}")
        if "://" in token or _MONEY.search(stripped):
            continue
        if is_password_by_itself(stripped):
            yield Found(start, start + len(stripped), "password")
        elif is_key_by_itself(stripped.strip(_LOOSE)) and "/" not in stripped.strip("/")[:8]:
            yield Found(start, start + len(stripped), "api_key")


_FEWEST_WORDS = 12
_SEED = linear.compile(
    r"(?:(?:\d{1,2}[.):]? ?)?\b[A-Za-z]{3,8}\b[ ,，、]*[ \n,，、](?:\d{1,2}[.):]? ?)?)"
    r"{11,}[A-Za-z]{3,8}\b"
)
_HAN_SEED = linear.compile(r"(?:[\x{4e00}-\x{9fff}][ ,，、]+){11,}[\x{4e00}-\x{9fff}]")
_WALLET = linear.compile(r"(?i)助记|钱包|恢复|备份|种子|wallet|token|ledger|seed|mnemonic")
_LETTERS = linear.compile(r"[A-Za-z]+")
_DATA = Path(__file__).parent / "data" / "bip39.txt"


@cache
def seed_words() -> frozenset[str]:
    """Return the words of BIP-39: the English ones and single Chinese characters.

    https://github.com/bitcoin/bips/blob/master/bip-0039/bip-0039-wordlists.md
    """
    words = _DATA.read_text(encoding="utf-8").split()
    return frozenset(word for one in words for word in ([one] if one.isascii() else one))


def by_words(text: str) -> Iterator[Found]:
    """Yield runs of twelve or more words from the list for restoring wallets."""
    for match in _SEED.finditer(text):
        begin = match.start()
        places = [(begin + m.start(), begin + m.end()) for m in _LETTERS.finditer(match[0])]
        yield from _seeds(places, text)
    for match in _HAN_SEED.finditer(text) if _WALLET.search(text) else ():
        begin = match.start()
        places = [
            (begin + n, begin + n + 1) for n, sign in enumerate(match[0]) if sign not in " ,，、"
        ]
        yield from _seeds(places, text)


def _seeds(places: list[tuple[int, int]], text: str) -> Iterator[Found]:
    known = seed_words()
    run: list[tuple[int, int]] = []
    for start, end in [*places, (0, 0)]:
        if end and text[start:end].lower() in known:
            run.append((start, end))
            continue
        # Words that repeat, as in "very very …", restore no wallet.
        distinct = {text[begin:finish].lower() for begin, finish in run}
        if len(run) >= _FEWEST_WORDS and len(distinct) * 2 > len(run):
            yield Found(run[0][0], run[-1][1], "api_key")
        run = []
