"""A plan that got its date in a later turn: "We're going to Kyoto." … "It's on May 3rd." """

from __future__ import annotations

import re
from datetime import date, datetime, time

from memories.extraction import sensitive
from memories.extraction.joint.types import Gathered, Heard
from memories.extraction.rules import en_dates, masking, zh_dates
from memories.extraction.rules.reading import language_of
from memories.extraction.types import Candidate

_DATED_KINDS = frozenset(["task", "plan", "event"])
_LONGEST = 80  # characters; a date that settles a plan is said shortly
_CONFIDENCE = 0.75
_ASKS = re.compile(
    r"\b(?:when|what (?:day|date|time)|which (?:day|date))\b[^?]*\?"
    r"|(?:什么时候|何时|哪天|哪一天|几号|几月|日期|什么时间)[^？?]*[？?]",
    re.IGNORECASE,
)
_SETTLES = re.compile(
    r"^(?:(?:ok(?:ay)?|so|oh|yes|well|and|好的?|嗯|对了|哦)[,，\s]*)*"
    r"(?:it(?:['’]s| is| will be|['’]ll be| starts| begins)\b"
    r"|(?:that|the (?:trip|flight|meeting|interview|exam|wedding|move|party|race|concert|"
    r"appointment|visit))(?:['’]s| is| will be|['’]ll be| starts)\b"
    r"|(?:we|i)(?:['’]re|['’]m|['’]ll| are| am| will)? (?:leav|fly|go|start|mov|depart)\w*\b"
    r"|(?:时间|日期|日子)?(?:是|就?定在|定了|改到|安排在)|我?(?:们)?.{0,12}(?:出发|动身|启程|走|开始)[。！!]?$)",
    re.IGNORECASE,
)
_NOT_SURE = re.compile(
    r"\?|？|\b(?:maybe|perhaps|not|might|if)\b|n['’]t\b|可能|也许|不|没|如果", re.IGNORECASE
)


def settled_in(later: Heard) -> date | None:
    """The day that a turn gives to something said before it, or None."""
    said = later.text.user
    own = masking.own_words(sensitive.cover(said.text)).strip()
    if not own or len(own) > _LONGEST or _NOT_SURE.search(own):
        return None
    if not (_SETTLES.match(own) or _ASKS.search(later.text.before_assistant)):
        return None
    resolve = zh_dates.resolve if language_of(own) == "zh" else en_dates.resolve
    _, day = resolve(own, today=said.spoken_at.date(), past=False)
    return day if day and day >= said.spoken_at.date() else None


def dated(plan: Candidate, day: date, *, earlier: int, later: Heard) -> Gathered | None:
    """The plan with its day; it needs both turns. None where it has one or can't have one."""
    if plan.kind not in _DATED_KINDS or plan.data.get("date"):
        return None
    said = later.text.user
    chinese = plan.language == "zh"
    when = f"，时间是{zh_dates.written(day)}" if chinese else f" on {day.isoformat()}"
    moment = datetime.combine(day, time(), tzinfo=said.spoken_at.tzinfo)
    candidate = Candidate(
        kind=plan.kind,
        content=plan.content.rstrip(" .。") + when,
        importance=plan.importance,
        confidence=min(plan.confidence, _CONFIDENCE),
        quote=said.text.strip(),
        quote_start=len(said.text) - len(said.text.lstrip()),
        data={"date": day.isoformat()},
        occurred_at=moment if plan.kind == "event" else None,
        corrects=True,  # the plan without a day is what it takes the place of
        language=plan.language,
        reasons=("dated_later",),
    )
    return Gathered(candidate, later.turn, needs=(earlier,))
