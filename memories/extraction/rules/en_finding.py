"""English: from a rule that matched to a worded, dated statement that passes the guards."""

import re
from datetime import date

from memories.extraction.rules import en_dates
from memories.extraction.rules.en_clauses import Piece
from memories.extraction.rules.en_complete import is_complete
from memories.extraction.rules.en_grammar import Parsed
from memories.extraction.rules.en_home import is_news_of_home
from memories.extraction.rules.en_introducing import Setting
from memories.extraction.rules.en_openers import ACTUALLY, Opened
from memories.extraction.rules.en_wording import ours, sentence, trimmed
from memories.extraction.rules.en_words import IRREGULAR_PAST
from memories.extraction.rules.passing import is_passing
from memories.extraction.rules.rule import Found, Rule, guarded_as
from memories.extraction.rules.vague import tells_nothing

_NOTABLE = re.compile(
    r"\b(?:interview|exams?|surgery|operation|wedding|married|engaged|birthday|"
    r"graduat\w+|born|died|passed|"
    r"promoted|fired|quit|hired|accepted|job|concert|conference|marathon|race|moved|"
    r"moving|bought|adopted|"
    r"diagnosed|pregnant|visa|flight|degree|offer|won|licen[sc]e|group|funeral|"
    r"retire\w*|deadline|due|"
    r"appointment|launch|release|started|signed up|joined|broke|anniversary|"
    r"presentation|defen[cs]e|"
    r"parade|workshop|festival|retreat|museum|published|turned)\b",
    re.IGNORECASE,
)
# True of the day that it was said on.
_SPAN = re.compile(
    r"(?:^|, |and )(?:is|has been|been) (?:sober|clean|smoke-free|alcohol-free|single|vegan|"
    r"vegetarian|married|divorced|off \w+) (?:for )?(?:about |over |almost |nearly |more than )?"
    r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twenty|\w+teen)"
    r"(?: and a half)? (?:days|weeks?|months?|years?)$"
)
_CHANGEABLE = ("fact", "event", "constraint", "task")
_EVERY_YEAR = ("birthday", "anniversary", "date of birth", "birthdate")


# "We always have pizza on Friday" means every Friday, and no date.
_HABITUAL = re.compile(r"(?:always|usually|normally|generally|typically|never|rarely|tends to)\b")
_WEEKDAY = re.compile(r"(?<=\bon )((?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b", re.IGNORECASE)


def found(
    taken: tuple[Rule, re.Match[str]],
    clause: Opened,
    parsed: Parsed,
    piece: Piece,
    setting: Setting,
) -> Found | None:
    """The memory that a rule makes of the clause; None where a guard refuses it."""
    rule, match = taken
    predicate = _worded(rule, match)
    timeless = rule.timeless or parsed.subject.label.endswith(_EVERY_YEAR)
    if clause.time and not timeless:
        predicate = f"{predicate} {clause.time[:1].lower()}{clause.time[1:]}"
    if _HABITUAL.match(predicate):
        predicate = _WEEKDAY.sub(r"\1s", predicate)
    predicate, when = (
        (predicate, None) if timeless else _dated(predicate, rule, parsed, setting.today)
    )
    if not is_complete(predicate, parsed.subject) or (rule.dated and when is None):
        return None
    if tells_nothing(guarded_as(rule), predicate, language="en", named=bool(parsed.subject.label)):
        return None
    if is_passing(guarded_as(rule), predicate, when=when, today=setting.today, notable=_NOTABLE):
        return None
    content = sentence(ours(predicate), subject=parsed.subject, speaker=setting.speaker)
    return Found(
        rule,
        content,
        clause.start,
        piece.end,
        "en",
        when=when,
        hedged=clause.hedged,
        corrects=clause.corrects
        or is_news_of_home(content, clause.text, when, setting.today)
        or (rule.kind in _CHANGEABLE and bool(ACTUALLY.search(piece.text))),
    )


def _worded(rule: Rule, match: re.Match[str]) -> str:
    if not rule.say:
        return trimmed(match[0])
    groups = {name: value or "" for name, value in match.groupdict().items()}
    if (
        rule.data.get("shape") == "best"
        and groups["x"][1:].islower()
        and not groups["x"].startswith("I")
    ):
        groups["x"] = groups["x"][0].lower() + groups["x"][1:]
    if not groups.get("y"):
        groups["x"] = trimmed(groups.get("x", ""))
    return trimmed(rule.say.format(**groups))


def _dated(predicate: str, rule: Rule, parsed: Parsed, today: date) -> tuple[str, date | None]:
    verb = predicate.partition(" ")[0]
    present = verb.endswith("s") and verb not in ("was", "has", "is")
    told = verb in IRREGULAR_PAST or verb.endswith("ed")
    past = (told and rule.code != "en.promised") or (rule.kind == "event" and not present)
    if re.match(
        r"(?:will|is \w+ing|was moved|has been moved|is getting|is due|is expecting)\b", predicate
    ):
        past = False
    text, when = en_dates.resolve(predicate, today=today, past=past)
    if when is None and _SPAN.search(text):
        text = f"{text} (as of {today:%Y-%m})"
    if rule.data.get("shape") == "age":
        text = f"{text} (as of {today:%Y-%m})" if when is None else text
    return text, when
