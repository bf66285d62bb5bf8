"""English verbs: the third person of what "I" said, and the plain form for several people."""

import re

from memories.extraction.rules.en_words import IRREGULAR_PAST, MODALS

_EMPTY_ADVERBS = re.compile(
    r"^(?:(?:really|also|just|actually|currently|now|still|absolutely|truly|"
    r"definitely|personally|"
    r"quite|kinda|kind of|sort of|simply|totally|genuinely|honestly|recently|"
    r"finally|certainly|"
    r"already|basically|mostly|mainly|obviously|sadly|unfortunately|luckily|"
    r"fortunately|"
    r"especially|particularly|probably|lately|officially|literally|both|all|too|"
    r"do(?= (?:like|love|have|want|need|work|live|play|eat|drink|own|speak|enjoy|prefer|hate|know|"
    r"believe|think|use|drive|read|care|not|try|get|go|still|also|really)\b)|"
    r"of course|"
    r"myself|in fact|as well|even|have just|'ve just|generally|secretly),? )+",
    re.IGNORECASE,
)
_FREQUENCY = re.compile(
    r"^((?:(?:almost |nearly )?(?:only ever|only|always|usually|often|sometimes|never|rarely|"
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


_SECOND_VERB = re.compile(
    r" and (eat|drink|cook|read|watch|play|make|take|work|run|swim|sleep|walk|drive|write|listen|"
    r"go|do|train|bake|draw|study|clean|call|visit)\b"
)


_BASE_IN_S = ("ss", "us", "is", "as", "os")


def is_third_person(verb: str) -> bool:
    """Whether a verb already has its ending: "hates", but not "discuss" or "focus"."""
    return len(verb) > 3 and verb.endswith("s") and not verb.endswith(_BASE_IN_S)


def _with_s(verb: str) -> str:
    low = verb.lower()
    if low in _UNCHANGED or (low.endswith("ed") and low not in _BASE_IN_ED):
        return verb
    if is_third_person(low):
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
    if lead:  # what happens often happens now: "I usually read", "I usually run and swim"
        rest = _SECOND_VERB.sub(lambda match: f" and {_with_s(match[1])}", rest, count=1)
        if rest.startswith("read "):
            return _inner_adverbs(f"{lead}reads {rest[5:]}")
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
