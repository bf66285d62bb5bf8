"""What a secret looks like. Each row finds one shape; adding a vendor's key is adding a row."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

_CN_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def always(text: str) -> bool:
    return True


def luhn(text: str) -> bool:
    """The check digit of payment cards (ISO/IEC 7812-1)."""
    digits = [int(sign) for sign in text if sign.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def chinese_identity(text: str) -> bool:
    """The check sign of GB 11643-1999, and a day of birth that exists."""
    body, check = text[:17], text[17:18].upper()
    try:
        date(int(body[6:10]), int(body[10:12]), int(body[12:14]))
    except ValueError:
        return False
    total = sum(weight * int(sign) for weight, sign in zip(_CN_WEIGHTS, body, strict=True))
    return "10X98765432"[total % 11] == check


def iban(text: str) -> bool:
    """ISO 13616: the number, its head moved to the end and letters as 10-35, is 1 modulo 97."""
    plain = "".join(sign for sign in text if sign.isalnum()).upper()
    if not 15 <= len(plain) <= 34:
        return False
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1


def social_security(text: str) -> bool:
    area, group, serial = text.replace(" ", "-").split("-")
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def mixed(text: str) -> bool:
    """Letters and digits together, as in keys and unlike words."""
    return any(sign.isdigit() for sign in text) and any(sign.isalpha() for sign in text)


def _key_like(text: str) -> bool:
    upper = any(sign.isupper() for sign in text)
    return mixed(text) and upper and any(sign.islower() for sign in text)


def _telling(text: str) -> bool:
    """Whether what stands after "password" can be one, and isn't just the next word."""
    return any(not sign.isalpha() for sign in text) or _key_like(text)


@dataclass(frozen=True)
class Shape:
    """`pattern` finds it, group "s" is the secret itself, `check` says that it is one."""

    category: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] = always


def _shape(category: str, pattern: str, check: Callable[[str], bool] = always) -> Shape:
    return Shape(category, re.compile(pattern, re.IGNORECASE | re.ASCII), check)


def _exact(category: str, pattern: str, check: Callable[[str], bool] = always) -> Shape:
    return Shape(category, re.compile(pattern, re.ASCII), check)


_PASSWORD = (
    r"(?:pass ?words?|pass ?codes?|pass ?phrases?|passwd|pwd|\bpw|\bpass(?= ?[:=])|"
    r"\bpin(?: codes?| numbers?)?\b|(?:door|gate|entry|alarm|security|access|unlock|"
    r"safe|verification|"
    r"one[- ]time|otp|2fa|sms|confirmation|locker|vault|garage) (?:code|combination|"
    r"pin)|\botp\b)"
)
_PASSWORD_ZH = (
    r"(?:密码|密碼|口令|验证码|驗證碼|动态码|校验码"
    r"|取款码|暗号|門禁碼|门禁码|安全码|PIN码|pin码|解锁码|开机码)"
)
# Words between "password" and the secret: "for the wifi at home", "of my bank".
_OF = (
    r"(?: (?:for|to|of|on|at|in) (?:(?!is\b)[\w.'@-]+ ?){1,6}?)?"
    r"(?:,? (?:there|here|again|btw|by the way|now|i use|we use|you need|you'll need))?"
)
_IS = (
    r"\s*(?:(?:is|was|=|:|：|->|are|being)\s*"
    r"(?:now |still |currently |just |simply |always )?(?:set to |changed to |called )?"
    r"|(?:changed|set|reset) (?:it )?to\s+)"
)
_IS_ZH = (
    r"(?:[^，。！？\n是为:：=]{0,12}?)"
    r"(?:就?是|为|：|:|=|改成了?|改为了?|设置?成了?|设置?为|换成了?|叫|係|系|用的?是)\s*"
)
# "my password is wrong" tells nothing.
_NO_SECRET = (
    r"(?!(?:not|too|very|so|wrong|incorrect|right|correct|invalid|expired|expiring|"
    r"required|needed|"
    r"missing|weak|strong|safe|secure|long|short|the same|same|saved|stored|kept|in|"
    r"on|at|an?|the|"
    r"being|what|why|how|where|which|who|asked|easy|hard|difficult|never|always|"
    r"good|bad|old|new|"
    r"important|hashed|encrypted|gone|lost|forgotten|working|blank|empty|something|"
    r"nothing|secret|"
    r"private|my|your|our|their|his|her|only|also|case|reset|changed|set|broken|"
    r"written|shared|"
    r"stolen|leaked|compromised|unique|random|simple|complex|complicated|different|"
    r"ok|okay|fine|"
    r"available|used|correctly|it|that|this|to|for|and|or|but|me|you|i|we|supposed|"
    r"due)\b)"
)
_NO_SECRET_ZH = (
    r"(?!什么|啥|多少|哪|谁|不|错|对的|正确|很|太|挺|我|你|他|她|这"
    r"|那|怎|用来|用于|由|必|需|可以|一样|自己|随机|空|为了|因为|有)"
)
_TOKEN = r"[^\s,，。;；、\"'“”「」<>()（）\ue000]"

SHAPES: tuple[Shape, ...] = (
    _exact(
        "api_key",
        r"(?P<s>-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,6000}?(?:-----END "
        r"[A-Z ]{0,30}PRIVATE KEY-----|\Z))",
    ),
    _exact(
        "api_key",
        r"(?<![A-Za-z0-9])(?P<s>(?:sk|pk|rk)[-_](?:live|test|proj|ant|or|svcacct)"
        r"?[-_]?[A-Za-z0-9_-]{16,256})",
    ),
    _exact(
        "api_key",
        r"(?<![A-Za-z0-9])(?P<s>(?:gh[pousr]_|github_pat_|glpat-|xox[abposr]-|hf_|npm_|"
        r"pypi-|shpat_|dop_v1_|mc_|r8_|gsk_|tvly-|whsec_|SG\.|EAACEdEose0cBA|ya29\.|"
        r"lin_api_|figd_|nvapi-|xai-)[A-Za-z0-9_.-]{12,255})",
    ),
    _exact(
        "api_key",
        r"(?<![A-Za-z0-9])(?P<s>(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}|"
        r"AIza[A-Za-z0-9_-]{30,40}|LTAI[A-Za-z0-9]{12,24}|AKID[A-Za-z0-9]{13,40})"
        r"(?![A-Za-z0-9])",
    ),
    _exact(
        "api_key",
        r"(?"
        r"<![A-Za-z0-9])(?P<s>eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{4,6000}(?:\.[A-Za-z0-9_-]{0,2000})"
        r"?)",
    ),
    _shape("api_key", r"\b(?:bearer|authorization:? basic)\s+(?P<s>[A-Za-z0-9_.~+/=-]{12,2000})"),
    _shape("password", r"[a-z][a-z0-9+.-]{1,20}://[^\s:@/]{1,80}:(?P<s>[^\s:@/]{1,120})@"),
    _shape(
        "api_key",
        r"(?:api[- _]?keys?|secret[- _]?keys?|access[- _]?keys?|private[- _]?keys?|"
        r"access[- _]?tokens?|auth(?:entication)?[- _]?tokens?|refresh[- _]?tokens?|"
        r"bot[- _]?tokens?|client[- _]?secrets?|\btokens?|\bsecrets?|license key|"
        r"recovery (?:key|code|phrase)|seed phrase|"
        rf"webhook secret){_OF}{_IS}[\"'“`]?(?P<s>[A-Za-z0-9_./+=~-]{{8,500}})",
        mixed,
    ),
    _shape(
        "api_key",
        r"(?:seed|recovery|mnemonic|secret) (?:phrase|"
        rf"words){_OF}{_IS}[\"'“`]?(?P<s>(?:[a-z]{{3,9}}[ ,]+){{5,23}}[a-z]{{3,9}})",
    ),
    _shape(
        "api_key",
        r"(?:密钥|密鑰|令牌|秘钥|私钥|助记词|access ?key|api ?key|apikey|token|secret)"
        r"[^，。！？\n是为:：=]{0,10}(?:就?是|为|：|:|"
        r"=)\s*[\"'“]?(?P<s>[A-Za-z0-9_./+=~-]{8,500})",
    ),
    _exact(
        "api_key",
        r"(?<![A-Za-z0-9_/+=.-])(?P<s>[A-Za-z0-9_+/-]{32,512}={0,2})(?![A-Za-z0-9_/+])",
        _key_like,
    ),
    _shape("card", r"(?<![\d.])(?P<s>[2-6]\d(?:[ -]?\d){11,17})(?![\d])", luhn),
    _shape(
        "card",
        r"(?:card(?: number| no\.?| num)?|visa|mastercard|amex|debit card|credit card|"
        r"银行卡号?|信用卡号?|卡号|储蓄卡号?|借记卡号?)[^\d\n]{0,16}(?P<s>\d(?:[ -]?\d)"
        r"{11,18})(?!\d)",
    ),
    _shape(
        "card",
        r"(?:\bcvv2?|\bcvc2?|\bcsc|security code|安全码|后三码|"
        r"背面三位)[^\d\n]{0,12}(?P<s>\d{3,4})(?!\d)",
    ),
    _exact("identity_number", r"(?<!\d)(?P<s>[1-9]\d{16}[\dXx])(?![\dA-Za-z])", chinese_identity),
    _shape(
        "identity_number",
        r"(?:身份证|身份證|证件号|證件號)[^\d，。\n]{0,12}(?P<s>\d{14,17}[\dXx])(?!\d)",
    ),
    _shape(
        "identity_number", r"(?<![\d-])(?P<s>\d{3}[- ]\d{2}[- ]\d{4})(?![\d-])", social_security
    ),
    _shape(
        "identity_number",
        r"(?:\bssn|social security(?: number|"
        r" no\.?)?)[^\d\n]{0,16}(?P<s>\d{3}[- ]?\d{2}[- ]?\d{4})(?!\d)",
    ),
    _shape(
        "identity_number",
        r"(?:passport|driver'?s? licen[sc]e|driving licen[sc]e|national id|national "
        r"insurance|id card|tax id|\bnin\b|\bnino\b|护照|驾照|驾驶证|社保|港澳通行证|"
        r"护照号|税号)(?: ?(?:number|no\.?|num|号码|号|编号))?"
        r"(?: (?:for|on|to|of) (?:[\w'-]+ ?){1,4}?)?[^A-Za-z\d\n]{0,4}(?:is|"
        r"was|:|是|为|"
        r"：)?\s{0,2}(?P<s>(?=[A-Z]{0,3}[ -]?\d)[A-Z]{0,3}[ -]?\d(?:[ -]?[A-Z\d]){5,17})"
        r"(?![A-Za-z\d])",
    ),
    _exact(
        "bank_account",
        r"(?<![A-Za-z0-9])(?P<s>[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8})(?![A-Za-z0-9])",
        iban,
    ),
    _shape(
        "bank_account",
        r"(?:account (?:number|no\.?|num)|acct\.?(?: no\.?)?|bank account|checking "
        r"account|savings account|routing(?: number)?|sort code|\biban|swift code|"
        r"银行账[号户]|银行帐[号户]|账号|帐号|账户|开户行?账?号|对公账户|汇款账[号户]|"
        r"公积金账?号|銀行帳[號戶]|帳號)[^\d\n，。]{0,24}(?P<s>[A-Z]{0,4}\d(?:[ -]?\d)"
        r"{5,30})(?!\d)",
    ),
    _shape("password", rf"{_PASSWORD}{_OF}{_IS}[\"'“`](?P<s>[^\"'”`\n]{{1,80}})[\"'”`]"),
    _shape(
        "password",
        rf"{_PASSWORD}{_OF}{_IS}{_NO_SECRET}(?"
        rf"P<s>{_TOKEN}{{2,80}}(?<![.!?:])(?: [a-z]{{2,12}}(?= [a-z]{{2,12}}| ?[.!\n]|$)"
        rf"(?<!\band)(?<!\bbut)(?<!\bso)(?<!\bfor)){{0,7}})",
    ),
    _shape(
        "password",
        rf"{_PASSWORD} (?:(?:for|to|of|on) (?:\w+ ){{1,4}})?(?P<s>{_TOKEN}{{4,64}})"
        r"(?<![.!?:,])",
        _telling,
    ),
    _shape(
        "password",
        r"\b(?:user(?:name)?|login|log in|email)\b[^\n]{0,60}?[,;/ ]\s*(?:pass|pw|pwd|"
        r"password)\s*[:=]?\s+"
        rf"{_NO_SECRET}(?P<s>{_TOKEN}{{4,64}})(?<![.!?:,])",
        _telling,
    ),
    _shape(
        "password",
        rf"{_PASSWORD}[^\n]{{0,80}}?(?:\bit'?s|\bit is|\bso|=|->|"
        rf":)\s+[\"'“]?(?P<s>(?=[^\s]{{0,40}}\d)"
        rf"(?=[^\s]{{0,40}}[A-Za-z]){_TOKEN}{{5,64}})(?<![.!?:,])",
        mixed,
    ),
    _shape(
        "password",
        r"(?<![^\s\"'“])(?P<s>(?=[^\s]{0,60}[\d!@#$%^&*])[^\s\"'“”，。]{4,64}) "
        r"(?:is|was) (?:my|our|the) (?:[\w-]+ ){0,4}(?:password|passcode|pin|pwd|"
        r"passphrase|api key|token|door code)\b",
    ),
    _shape(
        "password",
        r"(?:log ?in|user(?:name)?|credentials?|account)[^\n,.;]{0,40}(?:/|:| and | "
        r"with )\s*(?:pass(?:word)?|pwd|pw)?\s*[:=/]?\s*(?P<s>(?=[^\s]{0,40}\d)"
        r"(?=[^\s]{0,40}[A-Za-z])[^\s,.;，。]{6,64})(?![\w@])",
        _telling,
    ),
    Shape(
        "password",
        re.compile(rf"{_PASSWORD_ZH}{_IS_ZH}[\"'“「『](?P<s>[^\"'”」』\n]{{1,60}})[\"'”」』]"),
    ),
    Shape(
        "password",
        re.compile(
            rf"(?:{_PASSWORD_ZH}|(?:wifi|WiFi|Wi-Fi|wi-fi|"
            rf"无线网?)?密码){_IS_ZH}{_NO_SECRET_ZH}(?P<s>[A-Za-z0-9!-/:-@\[-`{{-~]{{2,80}}|"
            rf"[\u4e00-\u9fff]{{2,12}}(?=[，。！\s]|$))"
        ),
    ),
    Shape(
        "password", re.compile(rf"(?:{_PASSWORD_ZH})\s*(?P<s>[A-Za-z0-9!-+\-/:-@\[-`{{-~]{{4,80}})")
    ),
    Shape(
        "password",
        re.compile(
            rf"(?<![A-Za-z0-9])(?P<s>[A-Za-z0-9!@#$%^&*._-]{{4,64}})\s?(?:就?是)(?:我|我们|"
            rf"咱)(?:家)?的?[^，。！？\n]{{0,10}}(?:{_PASSWORD_ZH}|密钥|令牌)"
        ),
    ),
)
