"""Secrets in what people write: found, blanked out, and reported without being repeated.

The same screen stands before everything that becomes a memory, extracted or written by a client.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories.extraction.masking import SECRET
from memories.extraction.types import Refused
from memories.screening import reading
from memories.screening.finding import Span, find, joined, occurrences

MARK_EN = "[redacted]"
MARK_ZH = "[已隐去]"

_HAN = re.compile(r"[\u4e00-\u9fff]")
_COVERED = re.compile(rf"{SECRET}+")
# Words that say what the secret was; alone they are nothing to remember.
_LABEL = re.compile(
    r"\[redacted\]|\[已隐去\]|pass ?word|pass ?code|pass ?phrase|passwd|pwd|\bpin\b|"
    r"\botp\b|"
    r"\b(?:api|access|secret|private|auth|bot|client|license|recovery|seed|door|"
    r"gate|alarm|security|verification|"
    r"key|keys|token|tokens|secret|code|phrase|card|credit|debit|bank|account|"
    r"routing|sort|iban|number|"
    r"ssn|social|passport|id|cvv|cvc|visa|mastercard|amex|wifi|wi-fi|login|username|"
    r"user|email|"
    r"remember|save|store|note|please|that|my|our|the|is|was|are|for|and|its|it|"
    r"it's|this|here|a|an|"
    r"new|old|no|use|to|of|on|in|at|me|i|you|with|by|has|have|been|changed|set|now|"
    r"in case|i'm|"
    r"called|bearer|authorization|expires|exp|hey|hi|ok|okay|so|just|can|could|will|"
    r"your|"
    r"github|openai|aws|google|gmail|netflix|facebook|bank's|work|home|office|"
    r"laptop|phone|router|"
    r"computer|server|database|db|admin|root|identity|driver's|driving|licence|"
    r"license)\b|"
    r"记住|记下|记得|请|帮我|一下|我的|我们|我家|家里|银行卡|信用卡|储蓄卡|身份证|"
    r"护照|账号|帐号|账户|卡号|号码|号|"
    r"密码|密碼|口令|验证码|密钥|令牌|安全码|门禁|无线|网络|手机|电脑|邮箱|微信|"
    r"支付宝|登录|登陆|开机|解锁|"
    r"保险箱|公司|服务器|数据库|银行|用户名|取款|就是|是|为|的|我|这|那|了|和|改成|"
    r"改为|设成|设置|换成|叫|家|新|旧|"
    r"身份證|證件|证件|社保|驾照|wi-?fi|[\W_]",
    re.IGNORECASE,
)
# Why it should be kept isn't anything to keep: "…, I always forget it", 省得我老忘.
_PURPOSE = re.compile(
    r"[,，;；。.!！、\s]{1,3}(?:省得|免得|以免|以防|生怕|怕|不然|否则|别再?|老是?忘|总是?忘|因为|"
    r"到时候|方便|"
    r"以后|下次|我[老总经怕又每]|自己[老总经怕又每]|谢谢|拜托|好吗|so (?:that )?(?:i|we|you|it)\b|"
    r"because\b|"
    r"in case|i (?:always|keep|never|tend|forget|can never|blank)\b|don'?t (?:ask|let|forget|lose)|"
    r"just in case|otherwise|for (?:later|next time|safekeeping|me|when)|thanks|cheers|ok\b).*$",
    re.IGNORECASE | re.DOTALL,
)
# A statement that is only "the <whatever> code is <secret>", wherever the thing is.
_ONLY_NAMES_IT = re.compile(
    r"^[^,，。;；]{0,60}(?:pass ?word|pass ?code|pass ?phrase|\bpin\b|code|key|token|secret|"
    r"log ?in|"
    r"account|card|number|密码|口令|密钥|验证码|账号|帐号|卡号|号码|证号|码)[^,，。;；]{0,40}?"
    r"(?:\bis|\bwas|:|=|to|是|为|：|改成了?|换成了?|\s)\s*(?:\[redacted\]|"
    r"\[已隐去\])[\s.。!！,，;；了]*$",
    re.IGNORECASE,
)
_FEWEST_LEFT = 4  # signs of meaning left beside a blank, in either script


@dataclass(frozen=True)
class Screened:
    """`text` holds no secret. `drop`: beside the secret it says nothing worth keeping."""

    text: str
    refused: tuple[Refused, ...]
    drop: bool


def cover(text: str) -> str:
    """`text` with every secret covered sign for sign, so that offsets stay true."""
    return covered(text, find(text))


def covered(text: str, spans: Sequence[Span]) -> str:
    for span in spans:
        text = text[: span.start] + SECRET * (span.end - span.start) + text[span.end :]
    return text


def blanked(text: str) -> str:
    """Covered secrets as a word that a person understands, in the language of the text."""
    if SECRET not in text:
        return text
    return _COVERED.sub(MARK_ZH if _HAN.search(text) else MARK_EN, text)


def masked(text: str) -> str:
    """`text` with a mark in place of each secret, however little else it says."""
    return blanked(cover(text))


def masked_by_reading(text: str) -> str:
    """As `masked`, also of what only the reader takes for a secret: for what is derived."""
    return blanked(covered(text, reading.find(text)))


def masked_together(
    texts: Sequence[str], *, places: Sequence[Sequence[int]] = (), read: bool = False
) -> list[str]:
    """As `masked` for each; a secret told in one of them is masked in all that repeat it.

    `places` are those known of each text (`Message.secrets`); with `read` the reader looks.
    """
    found = [reading.find(text) if read else find(text) for text in texts]
    if places:
        known = [reading.at(each, text) for each, text in zip(places, texts, strict=True)]
        found = [joined([*one, *more]) for one, more in zip(found, known, strict=True)]
    told = {
        text[span.start : span.end]: span.category
        for text, spans in zip(texts, found, strict=True)
        for span in spans
    }
    if not told:
        return list(texts)
    return [
        blanked(covered(text, (*spans, *_repeated(told, text))))
        for text, spans in zip(texts, found, strict=True)
    ]


def _repeated(told: Mapping[str, str], text: str) -> Iterator[Span]:
    for said, category in told.items():
        yield from occurrences(said, text, category)


def masked_values(value: Any) -> Any:
    """JSON with a mark in place of each secret in its texts; a name may tell what a text is."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        return {masked(str(key)): _masked_under(str(key), one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [masked_values(one) for one in value]
    return value


def _masked_under(name: str, value: Any) -> Any:
    """{"password": "hunter2"} tells it by the name."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        lead = f"{name}: "
        spans = find(f"{lead}{value}")
        if any(span.end > len(lead) for span in spans):
            return masked(f"{lead}{value}").removeprefix(lead)
    return masked_values(value)


def says_nothing(text: str) -> bool:
    """Whether a blanked text only says that there was a secret: "my password is [redacted]"."""
    told = _PURPOSE.sub("", text)
    if not is_redacted(told):
        told = text
    return len(_LABEL.sub("", told)) < _FEWEST_LEFT or bool(_ONLY_NAMES_IT.match(told))


def says_nothing_but_secrets(text: str) -> bool:
    """As `says_nothing`, for any text: without a blank it says what it says."""
    return is_redacted(text) and says_nothing(text)


def is_redacted(text: str) -> bool:
    """Whether a secret was blanked out of it."""
    return MARK_EN in text or MARK_ZH in text


def screen(text: str) -> Screened:
    """What may be kept of `text`; the reply never contains a secret."""
    spans = reading.find(text)
    if not spans:
        return Screened(text=text, refused=(), drop=False)
    kept = blanked(covered(text, spans))
    drop = says_nothing(kept)
    return Screened(text=kept, refused=refusals(spans, kept=not drop), drop=drop)


def refusals_of(text: str) -> tuple[Refused, ...]:
    """What is reported of a text that is stored with its secrets masked."""
    return refusals(find(text), kept=True)


def refusals(spans: tuple[Span, ...], *, kept: bool) -> tuple[Refused, ...]:
    """One for each kind of secret, not for each secret."""
    categories = dict.fromkeys(span.category for span in spans)
    return tuple(Refused(category=category, redacted=kept) for category in categories)
