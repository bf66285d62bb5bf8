"""Ways of speaking Chinese, sign for sign in the standard language: so the rules can read them.

我喺旺角返工 is read as 我在旺角上班; the memory keeps the person's own words. Every row is as long
as what it stands for: offsets stay true.
"""

import re

from memories.extraction.rules.masking import simplified

# Signs that only Cantonese writes: without one of them 係 and 食 are left alone.
_CANTONESE = re.compile(
    r"[喺唔嘅咗冇佢哋嗰嚟啲嘢搵攰瞓睇揸諗谂嗌啱]|(?<![關关体體干幹聯联])係(?![數列])|鍾意|钟意|屋企|返工|而家|阿媽|我係|細佬|家姐"
)
_CANTONESE_ROWS = {
    "我哋": "我们",
    "你哋": "你们",
    "佢哋": "他们",
    "鍾意": "喜欢",
    "钟意": "喜欢",
    "中意": "喜欢",
    "屋企": "家里",
    "而家": "现在",
    "聽日": "明天",
    "听日": "明天",
    "尋日": "昨天",
    "寻日": "昨天",
    "今日": "今天",
    "舊年": "去年",
    "旧年": "去年",
    "出年": "明年",
    "返工": "上班",
    "收工": "下班",
    "返學": "上学",
    "讀書": "读书",
    "邊度": "哪里",
    "边度": "哪里",
    "乜嘢": "什么",
    "點解": "为何",
    "點樣": "怎样",
    "啱啱": "刚刚",
    "成日": "整天",
    "日日": "天天",
    "朝早": "早上",
    "夜晚": "晚上",
    "淨係": "只是",
    "净系": "只是",
    "諗住": "打算",
    "谂住": "打算",
    "個仔": "儿子",
    "个仔": "儿子",
    "個女": "女儿",
    "个女": "女儿",
    "細佬": "弟弟",
    "细佬": "弟弟",
    "家姐": "姐姐",
    "細妹": "妹妹",
    "阿媽": "妈妈",
    "阿妈": "妈妈",
    "阿爸": "爸爸",
    "老豆": "爸爸",
    "老細": "老板",
    "老细": "老板",
    "讀緊": "在读",
    "读紧": "在读",
    "學緊": "在学",
    "学紧": "在学",
    "做緊": "在做",
    "做紧": "在做",
    "準備緊": "在准备",
    "唔好": "不要",
    "唔使": "不用",
    "食齋": "吃素",
    "食斋": "吃素",
    "敏感": "过敏",
    "識得": "会说",
    "识得": "会说",
}
_CANTONESE_SIGNS = str.maketrans("喺唔嘅咗冇佢睇食飲揸憎搵瞓係", "在不的了没他看吃喝开恨找睡是")
# Other regions. A row may look at what stands around it.
_REGIONAL = (
    (re.compile(r"俺们?(?=家|爸|妈|爹|娘|媳妇|老公|[^，。])"), {"俺们": "我们", "俺": "我"}),
    (re.compile(r"阿拉(?!伯|斯加)"), {"阿拉": "我们"}),
    (re.compile(r"(?<![\u4e00-\u9fff])侬"), {"侬": "你"}),
    (re.compile(r"欢喜(?=吃|喝|看|听|去|的|[^，。]{0,3}(?:菜|茶))"), {"欢喜": "喜欢"}),
    (
        re.compile(r"(?<=[可就最贼老我都])(?:得意|稀罕)(?=[^，。的地洋]{1})"),
        {"得意": "喜欢", "稀罕": "喜欢"},
    ),
    (re.compile(r"(?<=[我家人里在就都儿])搁(?![置浅板下着])(?=[\u4e00-\u9fff]{2})"), {"搁": "在"}),
    (re.compile(r"屋头"), {"屋头": "家里"}),
    (re.compile(r"没得(?=[\u4e00-\u9fff])"), {"没得": "没有"}),
    (re.compile(r"寻思"), {"寻思": "打算"}),
    (re.compile(r"咱(?!们|俩|说|就是说)"), {"咱": "我"}),
    (re.compile(r"婆娘|老汉(?=[是在])"), {"婆娘": "老婆", "老汉": "爸爸"}),
    (
        re.compile(r"伢儿|伢子|娃儿|细伢|细路"),
        dict.fromkeys(("伢儿", "伢子", "娃儿", "细伢", "细路"), "孩子"),
    ),
    (re.compile(r"幺儿|妹儿"), {"幺儿": "儿子", "妹儿": "妹妹"}),
    (re.compile(r"晓得"), {"晓得": "知道"}),
    (re.compile(r"啥子|啷个"), {"啥子": "什么", "啷个": "怎么"}),
    (re.compile(r"今儿|明儿|昨儿"), {"今儿": "今天", "明儿": "明天", "昨儿": "昨天"}),
)
_REGIONAL_HINT = re.compile(
    r"[俺侬搁咱]|阿拉|欢喜|得意|稀罕|屋头|没得|寻思|婆娘|老汉|幺儿|妹儿|伢儿|伢子|娃儿|细伢|细路|晓得|啥子|啷个|[今明昨]儿"
)
_CANTONESE_WORD = re.compile("|".join(sorted(_CANTONESE_ROWS, key=len, reverse=True)))


_DAYS = {
    "聽日": "明天",
    "听日": "明天",
    "尋日": "昨天",
    "寻日": "昨天",
    "舊年": "去年",
    "旧年": "去年",
    "出年": "明年",
}
_DAY = re.compile("|".join(_DAYS))


def dated_plainly(text: str) -> str:
    """Days that only one region names so, as everybody does: they become dates."""
    return _DAY.sub(lambda match: _DAYS[match[0]], text)


def standard(text: str) -> str:
    """`text` in simplified characters and standard words; as long as `text`."""
    if _CANTONESE.search(text):
        text = _CANTONESE_WORD.sub(lambda match: _CANTONESE_ROWS[match[0]], text)
        text = re.sub("(?<=[关關])[系係]", "系", text).translate(_CANTONESE_SIGNS)
    text = simplified(text)
    if _REGIONAL_HINT.search(text):
        for pattern, rows in _REGIONAL:
            text = pattern.sub(lambda match, rows=rows: rows[match[0]], text)  # type: ignore[misc]
    return text
