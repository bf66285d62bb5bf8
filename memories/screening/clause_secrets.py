"""Secrets that span a whole clause: answers, agreed words, expiry dates, described spellings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memories.screening import linear
from memories.screening.labelled import common_words
from memories.screening.linear import Pattern
from memories.screening.secret_forms import Found

_HAN = r"\x{3400}-\x{9fff}"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_YEAR = r"(?:20)?\d\d|(?:twenty|thirty)(?:[ -](?:twenty|thirty))?(?:[ -][a-z]{3,5})?"
_NUMERAL = r"[\d〇零一二三四五六七八九十]"


@dataclass(frozen=True)
class Clause:
    """`pattern` finds the secret, group "s", in a text in which `about` matches anywhere."""

    category: str
    about: Pattern
    pattern: Pattern


def _clause(category: str, about: str, pattern: str) -> Clause:
    return Clause(category, linear.compile(f"(?i){about}"), linear.compile(f"(?i){pattern}"))


_ASKED = (
    r"(?:security|secret|challenge) q|\b(?:they|it|that|who) asks?\b|"
    r"\basks? (?:me|when|about|for)\b|\breset|\bquestion about|\bon (?:the|my) account|"
    r"\bbank|\bverify"
)
_ASKED_ZH = r"密保|安全问题|验证问题|提示问题|找回|(?:银行|客服|系统)问|问[：:]|问我"
_CARD = (
    r"\bcards?\b|\bvisa\b|\bamex\b|mastercard|\bcv[vc]2?\b|\bdebit\b|信用卡|银行卡|储蓄卡|卡号|卡背|"
    r"后三[码位]"
)
_CLAUSES = (
    _clause(
        "password",
        r"密码|口令",
        rf"(?:密码|口令) ?[：:是] ?(?P<s>[{_HAN}]{{1,8}}(?: +[{_HAN}]{{1,8}}){{1,8}})",
    ),
    _clause(
        "api_key",
        r"助记词|恢复词",
        rf"(?:助记词|恢复词)[：: 是]{{0,3}}(?P<s>(?:[{_HAN}] ){{8,24}}[{_HAN}])",
    ),
    _clause(
        "password",
        r"\b(?:it|mine|password|pw|login|account)\b",
        r"\b(?:changed?|went|switched|reset) (?:it |mine |that )?from "
        r"(?P<s>[a-z]{4,20}\d{4,8}) to\b",
    ),
    _clause("password", r"改成|换成", r"从 ?(?P<s>[a-z]{4,20}\d{4,8}) ?(?:改|换)成"),
    _clause(
        "password",
        r"gate|door|alarm|box|lock|keypad",
        r"\b(?:gate|door|alarm|key ?box|lock ?box|padlock|locker|keypad)\b[^!?\n]{0,50}?"
        r"(?:\b(?:hit|press|dial|punch|enter|roll it to|set to) |[*#])[*#]?"
        r"(?P<s>\d{4,8}|\d\d-\d\d(?:-\d\d)?)\b",
    ),
    _clause("password", r"duress", r"\bduress [a-z ]{0,12}(?:is|:) ?(?P<s>\d[\d\-]{2,8})"),
    _clause("password", r"柜|锁", r"(?:柜子?|锁) ?(?P<s>\d{1,2}-\d{1,2}-\d{1,2})"),
    _clause(
        "password",
        r"(?:backup|recovery|scratch) codes?|备用码|恢复码",
        r"(?:codes?|码)[^\n]{0,80}\n(?P<s>(?:[a-z\d][a-z\d]{3,5}[ \-]?[a-z\d]{4,6} *\n?){1,16})",
    ),
    _clause(
        "password",
        r"[念验码]|短信|客服",
        r"收到(?:了|一个)? ?(?P<s>\d{4,8})(?:$|[，。, \n！？])",
    ),
    _clause(
        "password",
        _ASKED,
        r"\b(?:maiden name|(?:first|childhood|best|favou?rite|oldest) [a-z]+|pet(?:'?s)? name|"
        r"name of [a-z' ]{2,24}|born in)\b[^.!?\n]{0,60}?"
        r"(?:\b(?:is|was|answer|answered|put|say|said|type|wrote)\b|[:>=])[ \"“']*"
        r"(?P<s>[^.!?\n,;\"”]{3,60})",
    ),
    _clause(
        "password",
        _ASKED_ZH,
        r"(?:姓名|名字|小学|中学|学校|宠物|班主任|老师|出生地|老家|偶像|喜欢的?|第一[只辆个次])"
        r"[^。！？\n]{0,14}?(?:我?都?就?(?:填|写|答|说|设)的?是?|答案?[：:是]?|是|叫)"
        rf"(?P<s>[A-Za-z{_HAN}][^。！？，,？?\n]{{1,20}})",
    ),
    _clause(
        "password",
        r"密保|安全问题",
        r"[？?] ?(?:答(?:案)?[：:是]?|填|写)?"
        r"(?P<s>[^。！？，,?\n答填写][^。！？，,?\n]{1,20})(?:$|[。，,\n])",
    ),
    _clause(
        "password",
        r"\b(?:pick(?:s|ing)?[ -]?(?:up|the kids)|alarm|asks? for|kids?|sitter|stranger|let (?:you|"
        r"them|her|him) in|collect)\b",
        r"\b(?:the|our) word\b[^.!?\n]{0,40}?(?:,? it'?s\b|\bis\b|[:,]) [\"“']?"
        r"(?P<s>[^.!?\n,;\"”]{3,40})",
    ),
    _clause(
        "password",
        r"密码|口令",
        r"(?:设|用|拿|把)(?P<s>[^，。！？\s]{3,24}?)(?:当作?|做|作为)[^，。！？\n]{0,10}(?:密码|口令)",
    ),
    _clause(
        "password",
        r"每次|弹窗|登|进",
        r"都(?:打|填|输入?|用) ?(?P<s>[A-Za-z][!-~]{2,20}[_\d!@#$%^&*][!-~]{0,20})",
    ),
    _clause(
        "password",
        r"\bnetwork\b|\bwi-?fi\b|\bssid\b|hotspot|无线|热点|连",
        r"(?:network|wi-?fi|ssid|hotspot|无线|热点|连) ?[:：]? ?[!-.0-~]{2,30} / "
        r"(?P<s>[!-~]{6,40})",
    ),
    _clause(
        "password",
        r"\b(?:log|sign)(?:ged|s)?[ -]?(?:in|on|into)\b",
        r"\b(?:as|with|using) [\w.@\-]{2,40}(?:,? and|,? then|,| /) "
        r"(?P<s>[A-Za-z][!-~]{2,20}[_\d!@#$%^&*][!-~]{0,20})",
    ),
    _clause(
        "password", r"暗[语号]|口令", rf"(?:对|说|问)?(?:暗[语号]|口令)，(?P<s>[{_HAN}]{{2,10}})"
    ),
    _clause(
        "card",
        _CARD,
        rf"\b(?:exp(?:ir(?:es?|y|ing|ation))?(?: date)?|valid (?:thru|until|till|through|to)|"
        rf"good (?:thru|until|till))\b[ .:,]*(?:is |on |in |at )?"
        rf"(?P<s>{_MONTH}[ ,/\-]*(?:of )?(?:{_YEAR})|\d{{1,2}}[ /.\-]+(?:20)?\d\d)",
    ),
    _clause(
        "card",
        _CARD,
        rf"(?:到期日?|有效期限?|期限)[：: 是为到至在]{{0,3}}(?P<s>{_NUMERAL}{{1,4}}[年/\-.]?"
        rf"{_NUMERAL}{{1,4}}月?)",
    ),
    _clause("card", _CARD, rf"(?P<s>{_NUMERAL}{{2,4}}年{_NUMERAL}{{1,3}}月)底?(?:到期|过期|为止)"),
    _clause(
        "password",
        r"门|柜|锁",
        r"(?:大门|后门|前门|院门|单元门|楼下门?|门锁|柜子|车库|里面那道|外面那道|门口) ?(?:的)?"
        r"(?P<s>\d{4,8}#?)(?:$|[，。,；; \n#])",
    ),
)

_LABEL = linear.compile(
    r"(?i)\b(?:pass ?-?(?:word|code|phrase)s?|p/?wd?|pswd|passwd|pw|pin)\b|密码|口令|暗码|\bmima\b"
)
_SPELLING = linear.compile(
    r"(?i)\b(?:incl(?:uding|\.)?|with|and|plus|mind) (?:the |its |all |both )?(?:spaces?|brackets?|"
    r"quotes|punctuation|commas?|dots?|dash(?:es)?|accents?|emoji|smiley)\b|"
    r"\bspaces? (?:count|included|too|matters?)\b|\bsmiley\b|\ball (?:one word|"
    r"(?:lower|upper) ?case|caps|small)\b|\bcapital [a-z]\b|\b(?:lower|upper) ?case\b|"
    r"\bno spaces?\b|"
    r"空格|标点|括号|全形|半角|大写|小写|笑脸|下划线|感叹号|感歎號|连写|首字母|谐音|"
    r"(?:后面|前面|最后)(?:再|一个)?[加跟是]|然后再?加|再加|除了"
)
_RULES = linear.compile(
    r"(?i)\b(?:must|need|needs|needed|require[sd]?|requirements?|should|policy|policies|rules?|"
    r"at least|manager|why|how|what|every|does|do|can'?t|won'?t|demands?|wants|forces?|insists?|"
    r"without|contain|allowed?)\b|要求|必须|至少|需要|不能|应该|规定|策略|为什么|怎么|什么|吗|呢|"
    r"还得|非要|得有|要有|包含|区分|[?？]$|一般|推荐|不许|允许|强度|如何|老|总"
)
_LINE = linear.compile(r"[^\n]+")
_LONGEST = 160


def clauses(text: str) -> Iterator[Found]:
    for clause in _CLAUSES:
        if not clause.about.search(text):
            continue
        for match in clause.pattern.finditer(text):
            said = match["s"]
            if clause.category == "card" or said.isdigit() or _may_be_one(said):
                yield Found(match.start(1), match.end(1), clause.category)
    yield from _described(text)


def _may_be_one(said: str) -> bool:
    if "\u3400" <= said[0] <= "\u9fff":
        return common_words.NO_VALUE_ZH.search(said) is None
    first = said.split()[0].lower() if said.split() else ""
    return first not in common_words.NO_VALUE and first not in common_words.FUNCTION_WORDS


def _described(text: str) -> Iterator[Found]:
    """Yield the rest of the line after a label, if the line describes how the secret is spelled."""
    for line in _LINE.finditer(text):
        said = line[0].rstrip()
        if len(said) > _LONGEST or not _is_described(said):
            continue
        if label := _LABEL.search(said):
            start = label.end()
            while start < len(said) and said[start] in " :：=是为,，?？":
                start += 1
            if len(said) - start >= 4:
                yield Found(line.start() + start, line.start() + len(said), "password")


def _is_described(line: str) -> bool:
    """Whether the line tells how a secret is spelled, rather than a rule for secrets."""
    spelling = _SPELLING.search(line)
    return spelling is not None and _RULES.search(line[: spelling.end()]) is None
