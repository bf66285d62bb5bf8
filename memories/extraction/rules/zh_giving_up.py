"""Chinese: 我以前抽烟，后来戒了 says what was given up only in its first half."""

import re

_BARE = re.compile(
    r"(?:后来|后面|之后)?(?P<when>(?:现在|如今|最近|已经|早就?|终于|都|也|又|就|才|[去前今]年|上个月|今年初|"
    r"\d{4}年)*)(?:把它)?(?P<gave>戒了|戒掉了|不抽了|不喝了)$"
)
_WHAT = re.compile(r"抽烟|吸烟|抽电子烟|喝酒|酗酒|喝奶茶|喝咖啡|喝可乐|打游戏|熬夜|吃糖")
_THINGS = {
    "抽烟": "烟", "吸烟": "烟", "抽电子烟": "电子烟", "喝酒": "酒", "酗酒": "酒", "喝奶茶": "奶茶",
    "喝咖啡": "咖啡", "喝可乐": "可乐", "打游戏": "游戏", "熬夜": "熬夜", "吃糖": "糖",
}  # fmt: skip


def given_up(clause: str, before: str, *, who: str) -> str:
    """The clause with what the one before it was about, said of my `who` or of me; else nothing."""
    bare, what = _BARE.match(clause), _WHAT.search(before)
    if bare is None or what is None:
        return ""
    return f"我{who}{bare['when']}戒了{_THINGS[what.group()]}"
