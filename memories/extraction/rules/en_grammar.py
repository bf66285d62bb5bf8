"""Just enough English grammar: who a clause is about, and its predicate in the third person."""

import re
from dataclasses import dataclass

from memories.extraction.rules.en_words import (
    IRREGULAR_PAST,
    MODALS,
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

_EMPTY_ADVERBS = re.compile(
    r"^(?:(?:really|also|just|actually|currently|now|still|absolutely|truly|"
    r"definitely|personally|"
    r"quite|kinda|kind of|sort of|simply|totally|genuinely|honestly|recently|"
    r"finally|certainly|"
    r"already|basically|mostly|mainly|obviously|sadly|unfortunately|luckily|"
    r"fortunately|"
    r"especially|particularly|probably|lately|officially|literally|both|all|do|too|"
    r"of course|"
    r"myself|in fact|as well|even|have just|'ve just|generally|secretly),? )+",
    re.IGNORECASE,
)
_FREQUENCY = re.compile(
    r"^((?:(?:almost |nearly )?(?:always|usually|often|sometimes|never|rarely|"
    r"normally|typically|"
    r"hardly ever|seldom|occasionally|regularly|frequently|mostly|no longer|tend to|"
    r"typically) )?)",
    re.IGNORECASE,
)
_WHOLE = (
    (re.compile(r"^'m gonna\b|^'re gonna\b|^am gonna\b|^are gonna\b|^gonna\b"), "is going to"),
    (re.compile(r"^wanna\b"), "wants to"),
    (re.compile(r"^gotta\b|^'ve gotta\b|^'ve got to\b|^have got to\b"), "has to"),
    (re.compile(r"^'ve got\b|^have got\b|^has got\b|^'s got\b"), "has"),
    (re.compile(r"^do not\b|^does not\b|^dont\b"), "doesn't"),
    (re.compile(r"^did not\b|^didnt\b"), "didn't"),
    (re.compile(r"^(?:am not|'m not|are not|'re not|is not|'s not|ain't|aren't)\b"), "isn't"),
    (re.compile(r"^have not\b|^has not\b|^'ve not\b|^haven't\b"), "hasn't"),
    (re.compile(r"^cannot\b|^can not\b|^cant\b"), "can't"),
    (re.compile(r"^will not\b|^'ll not\b"), "won't"),
    (re.compile(r"^(?:am|'m|are|'re)\b"), "is"),
    (re.compile(r"^(?:have|'ve)\b"), "has"),
    (re.compile(r"^'d (?=been|had|never)"), "had "),
    (re.compile(r"^'d\b"), "would"),
    (re.compile(r"^'ll\b"), "will"),
    (re.compile(r"^'s (?=been|had|got|lived|worked)"), "has "),
    (re.compile(r"^'s\b"), "is"),
    (re.compile(r"^were\b(?! to\b)"), "was"),
    (re.compile(r"^weren't\b"), "wasn't"),
    (re.compile(r"^don't\b"), "doesn't"),
    (re.compile(r"^do\b"), "does"),
    (re.compile(r"^go\b"), "goes"),
    (
        re.compile(
            r"^read(?= (?:a lot|lots|books|novels|mostly|mainly|every|comics|manga|fiction|"
            r"poetry|before|daily))"
        ),
        "reads",
    ),
)
_UNCHANGED = (
    MODALS
    | IRREGULAR_PAST
    | {
        "is",
        "isn't",
        "has",
        "hasn't",
        "hadn't",
        "doesn't",
        "does",
        "didn't",
        "wasn't",
        "goes",
        "born",
        "used",
        "better",
    }
)
_BASE_IN_ED = frozenset(
    ["need", "feed", "breed", "bleed", "speed", "embed", "proceed", "succeed", "exceed", "seed"]
)
_VERB = re.compile(r"^([a-z']+)(.*)$", re.IGNORECASE | re.DOTALL)


def _with_s(verb: str) -> str:
    low = verb.lower()
    if low in _UNCHANGED or (low.endswith("ed") and low not in _BASE_IN_ED):
        return verb
    if low.endswith("y") and low[-2:-1] not in ("a", "e", "i", "o", "u"):
        return verb[:-1] + "ies"
    if low.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    return verb + "s"


def _conjugated(predicate: str) -> str:
    for pattern, form in _WHOLE:
        if pattern.match(predicate):
            return pattern.sub(form, predicate, count=1)
    match = _VERB.match(predicate)
    return _with_s(match[1]) + match[2] if match else predicate


def third_person(predicate: str, *, plain_form: bool = True) -> str:
    """ "'ve got a cat" -> "has a cat"; `plain_form` says the verb is a base form ("I live")."""
    predicate = _EMPTY_ADVERBS.sub("", predicate.strip())
    often = _FREQUENCY.match(predicate)
    lead, rest = (often[1], predicate[often.end() :]) if often else ("", predicate)
    rest = _EMPTY_ADVERBS.sub("", rest)
    if lead.lower().strip() == "tend to":
        return "tends to " + rest
    if not plain_form:
        rest = _lower_contraction(rest)
        return _inner_adverbs(lead + rest)
    rest = rest[:1].lower() + rest[1:]
    return _inner_adverbs(lead + _conjugated(rest))


_OPEN_FORMS = (
    "'", "does not", "is not", "has not", "did not", "cannot", "were", "are", "have", "do", "don't",
    "aren't", "haven't",
)  # fmt: skip


def _lower_contraction(predicate: str) -> str:
    """Of a verb that already agrees with its subject, only contractions are written out."""
    if not predicate.startswith(_OPEN_FORMS):
        return predicate
    for pattern, form in _WHOLE:
        if pattern.match(predicate):
            return pattern.sub(form, predicate, count=1)
    return predicate


_AFTER_HELPER = re.compile(
    r"^((?:(?:always|usually|often|never) )?(?:is|has|has been|can|will|was|isn't|"
    r"doesn't|can't))"
    r"(?: (?:really|also|just|actually|currently|now|still|absolutely|truly|"
    r"definitely|finally|"
    r"already|recently|especially|particularly|personally|literally|totally|"
    r"quite|kind of|kinda|sort of|a bit|a little|super|so|very|extremely|pretty|always "
    r"(?=been|loved|liked|wanted|dreamed|dreamt|hated|had|enjoyed|lived)))+ ",
    re.IGNORECASE,
)


def _inner_adverbs(predicate: str) -> str:
    kept = "always " if re.match(r"^has always ", predicate, re.IGNORECASE) else ""
    return _AFTER_HELPER.sub(rf"\1 {kept}", predicate, count=1)


_PLURAL_VERBS = {
    "is": "are",
    "has": "have",
    "was": "were",
    "does": "do",
    "doesn't": "don't",
    "isn't": "aren't",
    "hasn't": "haven't",
    "wasn't": "weren't",
    "goes": "go",
}


def for_plural(predicate: str) -> str:
    """ "lives in Rome" -> "live in Rome", for "parents"."""
    match = _VERB.match(predicate)
    if match is None:
        return predicate
    verb, rest = match[1], match[2]
    if verb in _PLURAL_VERBS:
        return _PLURAL_VERBS[verb] + rest
    if verb in _UNCHANGED or not verb.endswith("s"):
        return predicate
    for ending, base in (
        ("ies", "y"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("xes", "x"),
        ("sses", "ss"),
    ):
        if verb.endswith(ending):
            return verb[: -len(ending)] + base + rest
    return verb[:-1] + rest


_NAME = r"[A-Z][\w'\-]{0,24}(?: [A-Z][\w'\-]{1,24})?"
_MODIFIERS = rf"(?:(?:{RELATION_MODIFIERS}|\d{{1,2}}[- ]?(?:year|month)s?[- ]old),? ){{0,3}}"
_OWNED_BY_ONE = (
    rf"(?P<relation>(?i:{_MODIFIERS}(?:{RELATIONS})))\b"
    rf"(?:,? (?:(?i:named|called),? )?(?P<name>(?!(?:I|And|But)\b){_NAME})(?P<own>'s)"
    r"?,?(?= )|(?=[ ']))"
)
_I = re.compile(r"(?:I|i)(?= |'(?:m|ve|d|ll)\b)\s?(?P<rest>.*)$", re.DOTALL)
_WE = re.compile(
    r"(?:We|we|Me and my (?P<with>\w+)|My (?P<with2>\w+) and I)(?= |')\s?(?P<rest>.*)$", re.DOTALL
)
_MY_ONE = re.compile(rf"(?:[Mm]y|[Oo]ur) {_OWNED_BY_ONE}(?P<rest>.*)$", re.DOTALL)
_MY_THING = re.compile(
    r"(?:[Mm]y|[Oo]ur) (?P<thing>(?i:(?:(?:all-time |absolute |number one )?favou?rite "
    r"(?:[\w'\-]+ ){0,3}?[\w'\-]+|(?:new |old |current |next |main |first |final |"
    r"upcoming |weekly |"
    rf"monthly |daily |[a-z]+ )?(?:{OWNED})(?: (?:to|with|for|in|at|from|about) "
    rf"[\w'-]+(?: [\w'-]+){{0,4}}?)?))) (?P<rest>(?:is|are|was|will|has|takes?|"
    r"starts?|ends?|"
    r"'s|runs?|begins?|opens?|happens?)\b.*)$",
    re.DOTALL,
)
_ONE_OF = re.compile(
    r"(?:[Oo]ne of my|[Aa] (?:good |close )?friend of mine|"
    rf"[Aa]n? (?P<who>{RELATIONS}) of mine) .*$",
    re.DOTALL,
)
_POSSESSED = re.compile(
    r"^'s (?P<thing>name|birthday|favou?rite(?: [\w'\-]+){1,3}|job|wedding|school|"
    r"dog|cat|husband|wife|"
    r"son|daughter|house|nickname|phone number|breed|age|allergy)(?= )(?P<rest>.*)$",
    re.DOTALL,
)
_PRONOUN = re.compile(r"(?P<who>He|She|They|It|he|she|they|it)(?= |')\s?(?P<rest>.*)$", re.DOTALL)
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
        Subject(label.lower(), plural, person=False), third_person(rest, plain_form=False)
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
    return Parsed(known, third_person(match["rest"], plain_form=known.plural))


def _named(clause: str, names: frozenset[str]) -> Parsed | None:
    word = clause.partition(" ")[0].removesuffix("'s")
    if word not in names:
        return None
    rest = clause[len(word) :].strip()
    return Parsed(Subject(word), third_person(rest, plain_form=False))
