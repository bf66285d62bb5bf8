"""What belongs to a thing: "The API returns XML", 「日志保存在本地」.

People like and own many things; a thing is stored in one place and returns one format. So two
values by one and the same verb are in each other's way.
"""

import re

# By which words a value is given, and what they have in common.
_RELATIONS_EN = {
    "runs on": (
        r"runs? on|(?:is|are) (?:built|written|made|implemented) (?:with|in|on|using)"
        r"|(?:is|are) (?:based|powered) (?:on|by)|relies on"
    ),
    "hosted on": r"(?:is|are) (?:hosted|deployed|served) (?:on|at|by|in|from|to|with)",
    "stored in": r"(?:is|are) (?:stored|kept|saved|recorded|held|logged|written)"
                 r" (?:in|as|at|on|to)",
    "returns": r"returns?|outputs?|responds? with|emits?",
    "set to": r"(?:is|are) (?:set|limited|fixed|configured) (?:to|at|as)|defaults? to",
    "lasts": r"lasts?|takes? (?=\d)|expires? (?:after|in)",
    "listens on": r"listens? on|(?:is|are) exposed on",
    "made by": r"(?:is|are) (?:managed|maintained|owned|led|run|made) by|belongs to",
    "formatted": r"(?:is|are) (?:formatted|indented|encoded|sorted|named|signed|licensed)"
                 r" (?:with|by|in|as|under|using|to)",
    "held": r"(?:is|are|takes?) (?:held|place|scheduled|planned) (?:in|on|at|for)",
    "opens": r"opens? at|starts? at|begins? at",
    "closes": r"closes? at|ends? at",
    # A change tells of the new value only; it may be any of the above.
    "": r"(?:was|were|has been|have been|got|is|are) (?:\w+ )?"
        r"(?:upgraded|migrated|moved|ported|switched|rewritten|changed|extended|shortened)"
        r" (?:to|in)",
}  # fmt: skip
_RELATIONS_ZH = {
    "runs on": r"(?:运行|跑|搭建|构建)(?:在|于)|基于|用的?是|用的(?!人)|使用的?是"
    r"|采用的?是?|用(?=[a-z])",
    "hosted on": r"(?:部署|托管|放)在|是放在",
    "stored in": r"(?:存储?|保存|存放|记录)(?:在|为|成|到)|用(?=[^，,]{1,6}(?:存|记录)$)",
    "returns": r"返回的?是?|输出的?是?",
    "set to": r"(?:设置?|限制?|固定)(?:为|成|在)|默认(?:是|为)",
    "located": r"(?:就|设|开|坐落|安排|定)?在(?![学读写等做看找准备考用于周星礼每早晚上下中年月日])"
    r"(?=[\u4e00-\u9fff]{2})",
    "lasts": r"(?:保留|持续|有效期(?:是|为)?)",
    "listens on": r"监听在?",
    "made by": r"由(?=.+(?:负责|维护|管理)$)|归",
    "": r"(?:已经?|刚)?(?:升级|[搬改移挪](?=[到成为至])|迁移|迁|切换|改用|改写)(?:到|成|为|至)?了?",
}
_T_EN = (
    r"(?:(?:the|all|our|my|user's|each|every) )*(?P<t>(?!(?:i|we|he|she|they|user|it|who|which)\b)"
    r"(?![\w ]*(?:deadline|due|birthday|address)\b)"
    r"[A-Za-z0-9][\w.+#/-]*(?: (?!(?:is|are|that|which|and)\b)[\w.+#/-]+){0,3}?)"
)


def _any(relations: dict[str, str]) -> str:
    return "|".join(relations.values())


THING_EN = re.compile(
    rf"^{_T_EN} (?:must (?:always )?be |should (?:always )?be |now |always )?"
    rf"(?P<r>{_any(_RELATIONS_EN)}) (?P<v>.+)$",
    re.IGNORECASE,
)
THING_ZH = (
    r"^(?P<t>[^，,在用是了就]{2,10}?)(?:一律|统一|都|全部|均|必须)?"
    rf"(?P<r>{_any(_RELATIONS_ZH)})了?(?P<v>[^，,]+?)(?:的|上|里)?(?:[，,](?P<d>.+))?$"
)
_KNOWN = tuple(
    (name, re.compile(form, re.IGNORECASE))
    for relations in (_RELATIONS_EN, _RELATIONS_ZH)
    for name, form in relations.items()
)


def relation_of(words: str) -> str:
    """The name of the relation that these words stand for; of a change, none."""
    found = (name for name, form in _KNOWN if form.fullmatch(words))
    return next(found, "other") if words else ""
