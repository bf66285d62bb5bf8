"""Just enough English grammar: who a clause is about, and what is said of them."""

import re
from dataclasses import dataclass

from memories.extraction.rules.en_verbs import third_person
from memories.extraction.rules.en_words import (
    OWNED,
    PLURALS,
    RELATION_MODIFIERS,
    RELATIONS,
)


@dataclass(frozen=True)
class Subject:
    """Who or what a predicate is said of; `label` is empty for the speaker."""

    label: str = ""
    plural: bool = False
    person: bool = True  # False for the speaker's things: "favourite colour", "exam"


SELF = Subject()

_NAME = r"[A-Z][\w'\-]{0,24}(?: [A-Z][\w'\-]{1,24})?"
_MODIFIERS = rf"(?:(?:{RELATION_MODIFIERS}|\d{{1,2}}[- ]?(?:year|month)s?[- ]old),? ){{0,3}}"
_OWNED_BY_ONE = (
    rf"(?P<relation>(?i:{_MODIFIERS}(?:{RELATIONS})))\b"
    rf"(?:,? (?:(?i:named|called),? )?(?P<name>(?!(?:I|And|But)\b){_NAME})(?P<own>'s)"
    r"?,?(?= )|(?=[ ']))"
)
_I = re.compile(r"(?:I|i)(?= |'(?:m|ve|d|ll)\b)\s?(?P<rest>.*)$", re.DOTALL)
_WE = re.compile(
    r"(?:We|we|[Mm]e and my (?P<with>\w+)|My (?P<with2>\w+) and I)(?= |')\s?(?P<rest>.*)$",
    re.DOTALL,
)
_MY_ONE = re.compile(rf"(?:[Mm]y|[Oo]ur) {_OWNED_BY_ONE}(?P<rest>.*)$", re.DOTALL)
_MY_THING = re.compile(
    r"(?:[Mm]y|[Oo]ur) (?P<thing>(?i:(?:(?:all-time |absolute |number one )?favou?rite "
    r"(?:[\w'\-]+ ){0,3}?[\w'\-]+|(?:new |old |current |next |main |first |final |"
    r"upcoming |weekly |"
    rf"monthly |daily |[a-z]+ )?(?:{OWNED})(?: (?:this|next) (?:year|month|summer|winter))?"
    rf"(?: (?:to|with|for|in|at|from|about) [\w'-]+(?: [\w'-]+){{0,4}}?)?)))(?: |(?='s (?:an?|the|"
    rf"called|named|spelled|due|on|in)\b))(?P<rest>(?:is|are|was|will|has|takes?|"
    r"starts?|ends?|leaves?|departs?|lands?|expires?|arrives?|got|goes|renews|costs?|keeps?|"
    r"'s|runs?|begins?|opens?|happens?)\b.*)$",
    re.DOTALL,
)
_POSSESSED = re.compile(
    r"^'s (?P<thing>name|birthday|favou?rite(?: [\w'\-]+){1,3}|job|wedding|school|"
    r"dog|cat|husband|wife|"
    r"son|daughter|house|nickname|phone number|breed|age|allergy)(?= )(?P<rest>.*)$",
    re.DOTALL,
)
_PRONOUN = re.compile(r"(?P<who>He|She|They|It|he|she|they|it)(?= |')\s?(?P<rest>.*)$", re.DOTALL)
# "It" may be an animal or a baby; said of a family or a friend it is something else.
_IT = re.compile(
    r"(?:\w+ )*?(?:dogs?|cats?|pupp(?:y|ies)|kittens?|pup|kitty|horse|rabbit|hamster|bird|parrot|"
    r"fish|turtle|tortoise|snake|lizard|gecko|pony|pet|baby|car|bike|house|guitar)\b",
    re.IGNORECASE,
)
_THEIR = re.compile(
    r"(?P<who>His|Her|Their|Its|his|her|their|its) (?P<thing>name|names|birthday|"
    r"job|breed|"
    r"favou?rite(?: [\w'\-]+){1,3}) (?P<rest>.*)$",
    re.DOTALL,
)


@dataclass(frozen=True)
class Parsed:
    """A clause taken apart. `predicate` is in the third person singular."""

    subject: Subject
    predicate: str
    shared: bool = False  # "we": the speaker among others
    names: tuple[str, ...] = ()


def parse_clause(clause: str, *, known: Subject | None, names: frozenset[str]) -> Parsed | None:
    """Who `clause` is about. `known` is the one person whom "she" may mean here."""
    if match := _I.match(clause):
        return Parsed(SELF, third_person(match["rest"]))
    if match := _WE.match(clause):
        return Parsed(SELF, third_person(match["rest"]), shared=True)
    if match := _MY_THING.match(clause):
        return _thing(match["thing"], match["rest"])
    if match := _MY_ONE.match(clause):
        return _relative(match)
    return _pronoun(clause, known) or _named(clause, names)


def _thing(label: str, rest: str) -> Parsed:
    plural = label.lower().endswith("s") and rest.startswith(("are", "were"))
    return Parsed(
        Subject(label[:1].lower() + label[1:], plural, person=False),
        third_person(rest, plain_form=False),
    )


def _relative(match: re.Match[str]) -> Parsed | None:
    relation, name = match["relation"].lower(), match["name"] or ""
    rest = match["rest"].strip()
    if match["own"]:
        rest = "'s " + rest
    label = f"{relation} {name}".strip()
    if owned := _POSSESSED.match(rest):
        subject = Subject(f"{label}'s {owned['thing']}", person=False)
        return Parsed(subject, third_person(owned["rest"], plain_form=False))
    plural = relation.split()[-1] in PLURALS or " and " in relation
    names = (name,) if name else ()
    return Parsed(Subject(label, plural), third_person(rest, plain_form=plural), names=names)


def _pronoun(clause: str, known: Subject | None) -> Parsed | None:
    if known is None:
        return None
    if match := _THEIR.match(clause):
        return Parsed(
            Subject(f"{known.label}'s {match['thing']}", person=False),
            third_person(match["rest"], plain_form=False),
        )
    match = _PRONOUN.match(clause)
    if match is None or (match["who"].lower() == "they") != known.plural:
        return None
    if match["who"].lower() == "it" and not _IT.match(known.label):
        return None
    return Parsed(known, third_person(match["rest"], plain_form=known.plural))


def _named(clause: str, names: frozenset[str]) -> Parsed | None:
    word = clause.partition(" ")[0].removesuffix("'s")
    if word not in names:
        return None
    rest = clause[len(word) :].strip()
    return Parsed(Subject(word), third_person(rest, plain_form=False))
