"""A number that a person puts right: "You have two sons?" "Three, actually." 你有两个儿子？三个."""

import re

from memories.extraction.rules.en_words import RELATIONS
from memories.extraction.rules.zh_words import KIN, PETS

_NUMBER = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}|an?)"
_ASKED = re.compile(
    rf"\byou(?:'ve got| have| own| keep) {_NUMBER} "
    rf"(?P<what>(?:[a-z-]+ )?(?:{RELATIONS}|car|bike|job|house|flat)s?)"
    r"(?:,? (?:right|correct|don't you|is that right))?\?\s*$",
    re.IGNORECASE,
)
_REPLY = re.compile(
    rf"(?:(?:no|nope|actually|it's|well|oh)[,.]? )*(?P<n>{_NUMBER})"
    r"(?:,? (?:actually|now|in fact))?",
    re.IGNORECASE,
)
_ASKED_ZH = re.compile(
    r"[你您](?:家里?)?(?P<has>有|养了?|领养了?)[一两二三四五六七八九十\d]+(?P<of>[个只条匹位])"
    rf"(?P<what>{KIN}|{PETS}|车|房子)(?:[，,]?(?:吗|吧|对吗|对吧|是吧|是吗))*[？?]\s*$"
)
_REPLY_ZH = re.compile(
    r"(?:(?:不是?|不对|没有?|其实|应该|现在)[，, ]?)*(?:是)?"
    r"(?P<n>[一两二三四五六七八九十\d]+)(?P<of>[个只条匹位])(?:了|啊|呢|啦|哦|才对)*"
)


def recounted(reply: str, question: str) -> str:
    """The statement with the number of the reply, in the first person; empty if it is none."""
    reply = reply.strip(" .!。！~")
    if (asked := _ASKED.search(question)) and (told := _REPLY.fullmatch(reply)):
        what = asked["what"].strip()
        several = told["n"].lower() not in ("one", "1", "a", "an")
        plural = f"{what}s" if several and not what.endswith(("s", "children")) else what
        return f"Actually, I have {told['n'].lower()} {plural}"
    asked, told = _ASKED_ZH.search(question), _REPLY_ZH.fullmatch(reply)
    if asked and told and asked["of"] == told["of"]:
        return f"我{asked['has']}{told['n']}{told['of']}{asked['what']}"
    return ""
