"""The exact address of a home: a street with its house number and door."""

from __future__ import annotations

from collections.abc import Iterator

from memories.screening import linear
from memories.screening.secret_forms import Found

_NUMBERED = r"(?:\d{1,5}|[一二三四五六七八九十百]{1,4})"
_HOME = linear.compile(
    rf"[路街道巷弄里园苑村庭城府院区寓厦同镇湾](?P<s>{_NUMBERED}(?:号院|号楼|号|弄|栋|幢|座|期)"
    rf"(?:[^，。；！？\s\d]{{0,6}}?{_NUMBERED}[A-Z]?(?:号楼|号院|栋|幢|座|单元|楼|层|门|号|室|房|"
    rf"户)?){{1,4}})"
)


# The address of a shop or an office is allowed; a user's home address isn't.
_OWN = linear.compile(r"住|家|地址|收货|寄到|送到我")


def homes(text: str) -> Iterator[Found]:
    if not _OWN.search(text):
        return
    for match in _HOME.finditer(text):
        said = match["s"]
        if any(word in said for word in "室房户元栋幢") or "号楼" in said:
            yield Found(match.start(1), match.end(1), "address")
