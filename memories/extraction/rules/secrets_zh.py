"""What secrets look like in Chinese sentences: numerals in words, spaced digits, doors of homes.

The rows see plain and simplified characters. They come after those of secrets.py.
"""

import re
from collections.abc import Callable

from memories.extraction.rules.secrets import Shape, always, chinese_identity, mixed

_PASSWORD = (
    r"(?:(?:支付|取款|交易|登录|登陆|开机|锁屏|解锁|门锁|门禁|保险[箱柜]|动态|初始|管理员)?密码|"
    r"口令|暗号|"
    r"(?:验证|短信|校验|动态|取件|提货|提取|解压|授权|激活|恢复|备用|邀请|兑换|锁屏|开锁|解锁|"
    r"开机|取款|门禁|安全)码|"
    r"(?<![A-Za-z])(?:PIN|pin|Pin)(?![A-Za-z])码?)"
)
_WORDS = r"[零〇一二三四五六七八九幺两壹贰叁肆伍陆柒捌玖]"
_LINK = (
    r"(?:[^，。！？\n\d]{0,10}?(?:就?是|为|还是|都是|一直是|就设的?是?|设的|设成|改成|改为|换成|"
    r"用的|叫|:|：|=))?"
    r"[ \"“「]{0,2}"
)
# 密码要8位, 密码改过3次, 密码用了2019年那个: numbers that are none.
_COUNTED = r"(?![\d]*\s?(?:年|月|日|位|次|个|天|分|遍|点|块|元|人|层|条|把|秒|小时|种|万|%))"
_NUMBERED = r"(?:\d{1,5}|[一二三四五六七八九十百]{1,4})"


def _identity(text: str) -> bool:
    return chinese_identity(re.sub(r"[ -]", "", text))


def _of_a_home(text: str) -> bool:
    """A door or a stairwell, not only a street with its number."""
    return any(word in text for word in "室房户元栋幢") or "号楼" in text


def _shape(category: str, pattern: str, check: Callable[[str], bool] = always) -> Shape:
    return Shape(category, re.compile(pattern), check)


CHINESE_SHAPES: tuple[Shape, ...] = (
    _shape(
        "identity_number",
        r"(?<!\d)(?P<s>[1-9]\d{5}[ -]?\d{4}[ -]?\d{4}[ -]?\d{3}[\dXx])(?![\dA-Za-z])",
        _identity,
    ),
    _shape(
        "identity_number",
        r"(?:身份证|证件号|医保|健保|居住证|台胞证|回乡证|通行证|军官证|警官证|护照|驾照|驾驶证|"
        r"社保|税号|签证号)"
        r"[^A-Za-z\d，。\n]{0,10}(?P<s>[A-Z]{0,3}\d(?:[ -]?[\dA-Z]){6,19})(?![\dA-Za-z])",
    ),
    _shape("card", r"(?:背面|后面|卡背)[^\d，。\n]{0,8}(?P<s>\d{3,4})(?!\d)"),
    _shape(
        "api_key",
        r"(?:密钥|秘钥|私钥|令牌|授权码|(?<![A-Za-z])(?:token|key|secret|AK|SK|AppSecret|"
        r"appsecret))"
        r"[^A-Za-z\d，。！？\n]{0,6}(?P<s>[A-Za-z0-9_./+=~-]{12,500})",
    ),
    _shape(
        "api_key",
        r"(?:助记词|恢复短语|恢复词)[^A-Za-z\n]{0,6}(?P<s>(?:[a-z]{3,9}[ ,，]+){5,23}[a-z]{3,9})",
    ),
    _shape(
        "password",
        r"(?<![A-Za-z])(?:admin|root|administrator|管理员)\s?[/:：]\s?(?P<s>[!-~]{4,40})",
    ),
    _shape("password", rf"{_PASSWORD}{_LINK}(?P<s>{_WORDS}{{4,14}})"),
    _shape(
        "password",
        rf"{_PASSWORD}{_LINK}(?P<s>[\d一二三四五六七八九十]{{1,2}}个{_WORDS}(?!"
        rf"月|人|字|位))",
    ),
    _shape(
        "password",
        rf"{_PASSWORD}{_LINK}(?P<s>(?:[左右][转拧]?[\d零一二三四五六七八九十]+(?"
        rf":圈|格)?[，, ]?){{2,6}})",
    ),
    _shape("password", rf"{_PASSWORD}{_LINK}{_COUNTED}(?P<s>\d(?:[ -]{{0,2}}\d){{3,11}})(?!\d)"),
    _shape(
        "password",
        rf"{_PASSWORD}[^，。！？\n]{{0,16}}?{_COUNTED}"
        r"(?P<s>(?=[!-~]{0,30}\d)[A-Za-z0-9!@#$%^&*_.+-]{4,40})(?![年月日位次个天分遍点块元人])",
    ),
    _shape(
        "password",
        rf"{_PASSWORD}[^。！？\n]{{0,24}}[，,]\s?(?P<s>[A-Za-z0-9!@#$%^&*_.+-]{{6,40}})(?=$|"
        rf"[\s，。！])",
        mixed,
    ),
    _shape(
        "address",
        rf"(?<=[路街道巷弄里园苑村庭城府院区寓厦同镇湾])(?P<s>{_NUMBERED}(?:号院|号楼|号|弄|栋|"
        rf"幢|座|期)"
        rf"(?:[^，。；！？\s\d]{{0,6}}?{_NUMBERED}[A-Z]?(?:号楼|号院|栋|幢|座|单元|楼|层|门|号|"
        rf"室|房|户)?){{1,4}})",
        _of_a_home,
    ),
)
