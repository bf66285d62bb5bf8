"""Reads English: clauses in, statements that the rules took out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from memories.extraction.rules import en, en_dates
from memories.extraction.rules.en_clauses import Piece, Sentence, clauses
from memories.extraction.rules.en_grammar import (
    SELF,
    Parsed,
    Subject,
    parse_clause,
    third_person,
)
from memories.extraction.rules.en_words import IRREGULAR_PAST, RELATIONS
from memories.extraction.rules.en_wording import ours, sentence, stands_alone, trimmed
from memories.extraction.rules.passing import is_passing
from memories.extraction.rules.rule import Found, Rule, Table

_OPENER = re.compile(
    r"(?:(?:well|oh|ohh?|hey|hi|hello|hiya|yes|yeah|yep|yup|yea|no|nope|nah|sure|okay|ok|so|and|but|also|plus|"
    r"anyway|anyways|btw|by the way|besides|honestly|frankly|basically|personally|to be honest|tbh|"
    r"fyi|fun fact|for your information|for the record|just so you know|so you know|you know what|"
    r"you know|you see|as you know|the thing is|look|listen|hmm+|um+|uh+|ah+|aww?|wow|haha(?:ha)*|lol|"
    r"of course|definitely|absolutely|exactly|totally|indeed|right|true|thanks|thank you|"
    r"in fact|as a matter of fact|actually|currently|recently|lately|nowadays|these days|now|"
    r"at the moment|right now|at present|speaking of which|speaking of \w+|in general|overall|for me|as for me|"
    r"unfortunately|sadly|luckily|fortunately|thankfully|obviously|apparently|secretly|finally|"
    r"turns out|it turns out(?: that)?|good news|bad news|great news|big news|guess what|"
    r"happy to say|i (?:should|must|have to|gotta) (?:say|mention|admit|tell you|add|confess|note)(?: that)?|i mean|i'd say|"
    r"i have to say|i forgot to (?:say|mention|tell you)(?: that)?|i just want(?:ed)? (?:you )?to (?:say|mention|add|know)(?: that)?|i wanted to (?:say|mention|add|tell you)(?: that)?|"
    r"did i (?:mention|tell you)(?: that)?|let me (?:tell you|introduce myself|add)(?: that)?|"
    r"i'm (?:happy|excited|glad|proud|sad|sorry) to (?:say|report|announce|share)(?: that)?|"
    r"nice to meet you|(?:good )?(?:morning|evening|afternoon)|there|everyone|friend|buddy|mate|ai companion|ai|"
    r"first of all|first|secondly|then|since then|because|since|although|even though|though|while|as|"
    r"for context|for reference|some background|a bit about me|about me|context|note|ps|p\.s|update|"
    r"you should know(?: that)?|please note(?: that)?|note that|keep in mind(?: that)?|bear in mind(?: that)?|"
    r"the (?:truth|fact|reason) is(?: that)?|it's (?:because|just that)|that's (?:because|why)|not to mention)"
    r"(?:[\s,:!.\-–—]+|$))+",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"(?:i (?:think|guess|believe|suppose|feel like|might say|suspect|feel)(?: that)?|maybe|perhaps|"
    r"i'm pretty sure(?: that)?|i'm not sure but|possibly|i'm afraid(?: that)?)[\s,]+",
    re.IGNORECASE,
)
_CERTAIN = re.compile(
    r"(?:i (?:know|realized|realised|noticed|find|found|discovered|decided|learned|remember|hope you know)(?: that)?|"
    r"i'm (?:sure|certain)(?: that)?|it's true that)[\s,]+(?=(?:i|my|we|i'm|i've)\b)",
    re.IGNORECASE,
)
_MAYBE = re.compile(r"\b(?:might|maybe|perhaps|probably|possibly|not sure|i guess|i think)\b", re.I)
_CORRECTION = re.compile(
    r"^(?:(?:no|nope|wait|sorry|oops|hmm|oh)[\s,.!-]+)*(?:actually|correction|i meant|i mean|scratch that|"
    r"my mistake|on second thought|to correct (?:myself|that)|that'?s (?:not right|wrong|incorrect)|"
    r"i was wrong|i misspoke|not anymore|no longer|update)\b|^(?:no|nope|wait|wrong)[\s,.!]+(?=(?:it|i|my|we|that|his|her|he|she|the)\b)"
    r"|\b(?:anymore|any more|no longer|any longer|not .{2,40} but (?:rather )?|instead of|rather than my old|used to .{2,60} (?:but )?now)\b",
    re.IGNORECASE,
)
_LEAD_TIME = re.compile(
    r"((?:(?:on|in|since|for|during|around|about|at|by|starting|from) )?(?:the )?(?:last|next|this|every|each|past|coming|"
    r"yesterday|tomorrow|today|tonight|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|weekdays?|"
    r"(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th)|(?:two|three|four|five|\d+|a few|several|a couple of|an?|couple of) (?:days|weeks|months|years|year|month|week)|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|"
    r"summer|winter|the morning|the evening|mornings|evenings)[\w ]{0,24}?),? (?=(?:i|we|my|our|i'm|i've|he|she|they)\b)",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(
    rf"\b(?:my|an?|our|one) (?:[\w-]+ ){{0,3}}?(?P<relation>{RELATIONS})\b(?:,? (?:(?:called|named) )?(?P<name>[A-Z][\w-]+))?"
)
_PERSON_NAME = re.compile(r"[A-Z][a-z'\-]+(?: [A-Z][a-z'\-]+){0,2}$")
_IM_NAME = re.compile(
    r"(?:hi|hello|hey|nice to meet you|good (?:morning|evening|afternoon))\b.{0,30}?\b(?:i'm|i am|this is) "
    r"(?P<x>(?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+){0,2})$",
    re.IGNORECASE,
)
_NOT_NAMES = re.compile(r"(?i:sorry|just|not|so|very|from|back|here|good|fine|great|happy|the|an?|new|in|on|at)\b|.*(?:ing|ed)$")  # fmt: skip
# "I'll rest and study well": what follows "and" still hangs on "will".
_GOVERNS = re.compile(
    r"(?:will|would|can|could|should|might|must|may|(?:wants|has|needs|hopes|plans|tries|likes|loves|intends|"
    r"is (?:going|trying|planning|hoping|ready|able|excited)|would (?:like|love)|decided|has decided|promised?) to)\b",
    re.IGNORECASE,
)
_NOTABLE = re.compile(
    r"\b(?:interview|exams?|surgery|operation|wedding|married|engaged|birthday|graduat\w+|born|died|passed|"
    r"promoted|fired|quit|hired|accepted|job|concert|conference|marathon|race|moved|moving|bought|adopted|"
    r"diagnosed|pregnant|visa|flight|degree|offer|won|licen[sc]e|group|funeral|retire\w*|deadline|due|"
    r"appointment|launch|release|started|signed up|joined|broke|anniversary|presentation|defen[cs]e|"
    r"parade|workshop|festival|retreat|museum|published|turned)\b",
    re.IGNORECASE,
)
_ACTOR = frozenset("wants plans hopes is has decided intends aims needs must will".split())


@dataclass(frozen=True)
class Setting:
    """What the reader knows beside the words: the day, and whom it may already know."""

    today: date
    speaker: str = ""
    known: Subject | None = None
    names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Opened:
    text: str
    start: int
    hedged: bool
    corrects: bool
    time: str


def opened(piece: Piece) -> _Opened:
    """The clause without its small talk, noting whether that hedged or corrected."""
    text, start, hedged, time = piece.text, piece.start, False, ""
    corrects = bool(_CORRECTION.search(text))
    for _ in range(6):
        match = _OPENER.match(text) or _CERTAIN.match(text)
        if match is None and (match := _HEDGE.match(text)):
            hedged = True
        if match is None and not time and (match := _LEAD_TIME.match(text)):
            time = match[1]
        if match is None or match.end() >= len(text):
            break
        text, start = text[match.end() :], start + match.end()
    return _Opened(text, start, hedged or bool(_MAYBE.search(text[:60])), corrects, time)


def read(sentence_: Sentence, setting: Setting) -> Iterator[Found]:
    """All statements of one sentence, in order."""
    previous: Parsed | None = None
    corrects = False
    if named := _introduction(sentence_):
        yield named
    for piece in clauses(sentence_):
        clause = opened(piece)
        corrects = corrects or clause.corrects
        clause = replace(clause, corrects=corrects)
        parsed = _parsed(clause, piece, previous, setting)
        found = _of_clause(clause, piece, setting) or _of_predicate(clause, parsed, piece, setting)
        if found is not None:
            yield found
        previous = parsed or previous


def introduced(text: str, setting: Setting) -> Setting:
    """`setting` knowing the one person or animal that `text` spoke of last, and all names."""
    last, names = setting.known, set(setting.names)
    for match in _INTRODUCES.finditer(text):
        name = match["name"] or ""
        plural = match["relation"].lower().endswith("s")
        last = Subject(f"{match['relation'].lower()} {name}".strip(), plural)
        if name:
            names.add(name)
    return replace(setting, known=last, names=frozenset(names))


def _introduction(sentence_: Sentence) -> Found | None:
    match = _IM_NAME.match(sentence_.text)
    if match is None or _NOT_NAMES.match(match["x"]):
        return None
    row = en.CLAUSES.rules[0]
    start = sentence_.start + match.start("x")
    return Found(row, f"Name is {match['x']}", start, start + len(match["x"]), "en")


def _parsed(
    clause: _Opened, piece: Piece, previous: Parsed | None, setting: Setting
) -> Parsed | None:
    parsed = parse_clause(clause.text, known=setting.known, names=setting.names)
    if parsed is None and piece.linked and previous is not None:
        if _GOVERNS.match(previous.predicate):
            return None
        plain_form = not previous.subject.label or previous.subject.plural
        return replace(previous, predicate=third_person(clause.text, plain_form=plain_form))
    return parsed


def _of_clause(clause: _Opened, piece: Piece, setting: Setting) -> Found | None:
    for rules in (en.CLAUSES, en.INSTRUCTIONS):
        for taken in rules.matching(clause.text, who="self"):
            if found := _found(taken, clause, Parsed(SELF, clause.text), piece, setting):
                return found
    return None


def _of_predicate(
    clause: _Opened, parsed: Parsed | None, piece: Piece, setting: Setting
) -> Found | None:
    if parsed is None or not 4 < len(parsed.predicate) < 400:
        return None
    who = "other" if parsed.subject.label else "self"
    for taken in en.NO_LONGER.matching(parsed.predicate, who=who):
        if found := _found(taken, clause, parsed, piece, setting):
            return replace(found, corrects=True)
    for taken in _tables(parsed).matching(parsed.predicate, who=who):
        if found := _found(taken, clause, parsed, piece, setting):
            return found
    return None


def _tables(parsed: Parsed) -> Table:
    if parsed.subject.person:
        return en.PREDICATES
    return en.OF_FAVOURITES if "favo" in parsed.subject.label else en.OF_THINGS


def _found(
    taken: tuple[Rule, re.Match[str]],
    clause: _Opened,
    parsed: Parsed,
    piece: Piece,
    setting: Setting,
) -> Found | None:
    rule, match = taken
    predicate = _worded(rule, match)
    if clause.time and not rule.timeless:
        predicate = f"{predicate} {clause.time[:1].lower()}{clause.time[1:]}"
    predicate, when = _dated(predicate, rule, parsed, setting.today)
    if not _is_complete(predicate, parsed.subject) or (rule.dated and when is None):
        return None
    if is_passing(rule.kind, predicate, when=when, today=setting.today, notable=_NOTABLE):
        return None
    content = sentence(ours(predicate), subject=parsed.subject, speaker=setting.speaker)
    return Found(
        rule, content, clause.start, piece.end, "en",
        when=when, hedged=clause.hedged, corrects=clause.corrects,
    )  # fmt: skip


def _worded(rule: Rule, match: re.Match[str]) -> str:
    if not rule.say:
        return trimmed(match[0])
    groups = {name: value or "" for name, value in match.groupdict().items()}
    if not groups.get("y"):
        groups["x"] = trimmed(groups.get("x", ""))
    return trimmed(rule.say.format(**groups))


def _dated(
    predicate: str, rule: Rule, parsed: Parsed, today: date
) -> tuple[str, date | None]:
    if rule.timeless:
        return predicate, None
    verb = predicate.partition(" ")[0]
    past = verb in IRREGULAR_PAST or verb.endswith("ed") or rule.kind == "event"
    if re.match(r"(?:will|is \w+ing|was moved|has been moved|is getting)\b", predicate):
        past = False
    text, when = en_dates.resolve(predicate, today=today, past=past)
    if rule.data.get("shape") == "age":
        text = f"{text} (as of {today:%Y-%m})" if when is None else text
    return text, when


def _is_complete(predicate: str, subject: Subject) -> bool:
    if not 3 < len(predicate) <= 220 or en_dates.LEFT_OVER.search(predicate):
        return False
    words = predicate.split()
    if len(words) < 2 and not subject.label:
        return words[0] in ("retired", "vegan")
    return stands_alone(predicate) and words[-1].lower() not in _ACTOR
