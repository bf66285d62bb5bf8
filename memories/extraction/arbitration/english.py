"""Reads one English memory: "Has a cat named Biscuit" and "I own a cat called Biscuit" alike."""

import re

from memories.extraction.arbitration.figures import take_figures
from memories.extraction.arbitration.lexicon import (
    CONCEPT_OF,
    DIETS,
    JOBS,
    LANGUAGES,
    LONGEST_ENGLISH,
    MARITAL,
    PETS,
    stem,
)
from memories.extraction.arbitration.patterns_en import (
    ADVERBS,
    DENIED,
    ENDED,
    KIN,
    NEGATIVE,
    NOT_A_NAME,
    NOW,
    PAST,
    PETS_EN,
    STOP,
    VERBS_AFTER_A_NAME,
)
from memories.extraction.arbitration.rewording_en import introduced, reworded, uncontracted
from memories.extraction.arbitration.shapes_en import PATTERNS
from memories.extraction.arbitration.statement import SINGLE_ROLES, Statement, Time
from memories.extraction.arbitration.things import THING_EN as THING
from memories.extraction.arbitration.things import relation_of

NOBODY: frozenset[str] = frozenset()
_TITLES = frozenset(["mr", "mr.", "ms", "mrs", "dr", "prof"])
_DETAIL = re.compile(
    r",|;|\b(?:at|in|on|with|for|near|since|every|from|because|who|which|that|when|while|after"
    r"|before|during|by|as|until|to|of|about|than|over)\b"
)
_SUBJECT = re.compile(
    r"^(?:(?:the )?user(?:'s)?|i|my|our|we|he|she|they|his|her|their)\b(?: also\b)? ?"
)
_KIN = re.compile(
    rf"^(?:(?P<age>older|elder|big|younger|little|kid) )?(?:best )?(?P<kin>{'|'.join(KIN)})\b"
    r"(?P<name>(?-i: [A-Z][\w-]+))?(?P<own>'s)? ?",
    re.IGNORECASE,
)
_PET = re.compile(
    rf"^(?:(?i:the |pet ))*(?P<pet>(?i:{PETS_EN}))\b(?P<name> [A-Z][\w-]+)?(?:'s)?"
    rf"|^(?P<first>[A-Z][\w-]+),? (?:the|my|her|his|is a|is my|is the) ?(?P<pet2>{PETS_EN})\b,?",
)
_NAME = re.compile(r"\b[A-Z][\w&-]*(?:['.]?\w)*")
_TRADE = re.compile(
    r"^(?:is|am|was|became|has become) an? (?:\w+ )?\w{2,}(?:ist|ician|grapher|wright|keeper)$"
)
_PLACED = re.compile(r"(?:^|\b(?:in|at|from|to|near|for|of|by|on|with) (?:the )?)$", re.IGNORECASE)
_CALENDAR = re.compile(
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|\w+days?)$"
)


def read_english(text: str) -> Statement:
    plain = reworded(text)
    denied = DENIED.search(plain)
    told = introduced(DENIED.sub(" ", plain, count=1).strip()) if denied else plain
    thing = THING.search(" ".join(ADVERBS.sub(" ", told).split()))
    subject, own_names, told = ("user", NOBODY, told) if thing else _subject(told)
    lower = told.lower()
    time, positive = _time(lower), not _negated(lower)
    bare = " ".join(ADVERBS.sub(" ", lower).split()).strip(" ,;")
    slot, groups = ("thing", _thing(thing)) if thing else _slot(bare)
    if slot.endswith("-"):
        slot, positive = slot[:-1], not positive
    return _statement(
        told, plain=plain, subject=subject, own_names=own_names, slot=slot, groups=groups,
        bare=bare, positive=positive, time=time, denied=denied.group() if denied else "",
        text=uncontracted(text).lower(),
    )  # fmt: skip


def concepts(text: str) -> frozenset[str]:
    """The content words, each by its concept where we know one, else by its stem."""
    words = [stem(word) for word in re.findall(r"[a-z][a-z+#]*(?:'[a-z]+)?", text.lower())]
    found: list[str] = []
    at = 0
    while at < len(words):
        length = next(
            (
                n
                for n in range(LONGEST_ENGLISH, 0, -1)
                if " ".join(words[at : at + n]) in CONCEPT_OF
            ),
            0,
        )
        found.append(CONCEPT_OF[" ".join(words[at : at + length])] if length else words[at])
        at += length or 1
    return frozenset(word for word in found if word not in STOP)


def _subject(told: str) -> tuple[str, frozenset[str], str]:
    """Whom it is about, the names that go with it, and what remains to be said of them."""
    own = _SUBJECT.match(told.lower())
    rest = told[own.end() :] if own else told
    kin = _KIN.match(rest)
    if kin and rest[kin.end() :]:
        who = _kin(kin)
        name = frozenset((kin["name"] or "").lower().split())
        return who, name, rest[kin.end() :]
    pet = _PET.match(rest)
    if pet and rest[pet.end() :].strip():
        said = pet["pet"] or pet["pet2"]
        species = next(iter(concepts(said)), said.lower())
        name = frozenset((pet["name"] or pet["first"] or "").lower().split())
        return species, name, rest[pet.end() :].lstrip(" ,")
    if own:
        return "user", frozenset(), rest
    return _named(rest)


def _kin(found: re.Match[str]) -> str:
    said = found["kin"].lower()
    who = KIN.get(said, said)  # "ſister" is one to a pattern that ignores case, and not to a table
    age = (found["age"] or "").lower()
    if age in ("older", "elder", "big"):
        return f"{who}.elder"
    return f"{who}.younger" if age else who


def _named(rest: str) -> tuple[str, frozenset[str], str]:
    first, _, after = rest.partition(" ")
    possessive = first.endswith("'s")
    name = first.removesuffix("'s")
    second = after.split(" ")[0].lower()
    ordinary = name.lower() in NOT_A_NAME or stem(name) in CONCEPT_OF
    if ordinary or not (name[:1].isupper() and name.isalpha()):
        return "user", frozenset(), rest
    if possessive:
        kin = _KIN.match(after)
        who = f"{name.lower()}:{_kin(kin)}" if kin else name.lower()
        return who, frozenset(), after[kin.end() :] if kin else after
    if second in VERBS_AFTER_A_NAME or (second.endswith("s") and not name.lower().endswith("s")):
        return name.lower(), frozenset(), after
    return "user", frozenset(), rest


def _time(lower: str) -> Time:
    if ENDED.search(lower):
        return Time.ENDED
    if PAST.search(lower):
        return Time.PAST
    return Time.NOW if NOW.search(lower) else Time.PLAIN


def _negated(lower: str) -> bool:
    return len(NEGATIVE.findall(lower)) % 2 == 1


def _thing(found: re.Match[str]) -> dict[str, str]:
    """What belongs to a thing, by which verb, without the words of time."""
    return {key[0]: value.lower() for key, value in found.groupdict().items() if value}


def _slot(bare: str) -> tuple[str, dict[str, str]]:
    for slot, pattern in PATTERNS:
        found = pattern.search(bare)
        if found:
            said = {key[0]: value for key, value in found.groupdict().items() if value}
            return slot, said | {"rest": bare[found.end() :]}
    return "", {}


def _statement(
    told: str, *, plain: str, subject: str, own_names: frozenset[str], slot: str,
    groups: dict[str, str], bare: str, denied: str, positive: bool, time: Time, text: str,
) -> Statement:  # fmt: skip
    figures, without = take_figures(bare)
    value = take_figures(groups["v"])[1] if "v" in groups else without
    value, _, against = _contrast(value) if slot == "like" else (value, "", "")
    main, detail = _split(value.replace(",", " and ") if slot == "like" else value)
    being = slot in ("kin", "pet")
    names = frozenset(groups.get("n", "").split()) | own_names | _names(told, placed=not being)
    if (
        slot in ("", "is")
        and subject in SINGLE_ROLES
        and not main & JOBS
        and main
        and main <= _stems(names)
    ):
        slot, main = "role", main - _TITLES
    elif slot in ("", "is", "major", "job"):
        slot, main = _by_value(slot, main)
        slot = "job" if slot == "" and _TRADE.match(bare) else slot
    if slot == "blood":
        main = frozenset(value.split()[:1])
    if slot in ("kin", "pet", "marital"):
        # Where no pattern took it ("Divorce lawyer"), nothing follows: the value is all of it.
        rest = groups.get("rest", "")
        detail |= concepts(take_figures(rest)[1]) - names - _stems(names)
    if slot == "name" and subject != "user":
        slot, main, subject, names = _introduces(subject, names | main)
    return Statement(
        language="en", plain=plain, subject=subject, slot=slot,
        topic=concepts(groups.get("t", "")), main=main, detail=detail, figures=figures,
        names=names, against=concepts(against), positive=positive, time=time, corrects=bool(denied),
        denied=concepts(denied), relation=relation_of(groups.get("r", "")),
        text=text,
    )  # fmt: skip


def _introduces(
    subject: str, names: frozenset[str]
) -> tuple[str, frozenset[str], str, frozenset[str]]:
    """ "The cat is called Biscuit" says of the user that they have a cat of that name."""
    owner, _, who = subject.rpartition(":")
    slot = "pet" if who in PETS else "kin"
    return slot, frozenset([who.split(".")[0]]), owner or "user", names - {who}


def _by_value(slot: str, main: frozenset[str]) -> tuple[str, frozenset[str]]:
    """What "is vegan" or "is a nurse" tells only shows in the value."""
    if slot == "major":
        return ("learns" if main <= LANGUAGES else "major"), main
    if slot == "" and main & MARITAL and not main <= MARITAL:
        return slot, main  # "Wedding singer", "Divorce lawyer"
    for name, values in (("diet", DIETS), ("marital", MARITAL), ("job", JOBS)):
        if main & values and (slot in ("is", "job") or name != "job"):
            return name, main
    return slot if slot != "is" else "", main


def _stems(names: frozenset[str]) -> frozenset[str]:
    return concepts(" ".join(sorted(names))) | names


def _contrast(value: str) -> tuple[str, str, str]:
    return re.sub(r" (?:over|to|rather than|instead of|more than) ", "\0", value).partition("\0")


def _split(value: str) -> tuple[frozenset[str], frozenset[str]]:
    head = _DETAIL.split(value.strip(), maxsplit=1)[0]
    main = concepts(head)
    whole = concepts(value)
    return (main, whole - main) if main else (whole, frozenset())


def _names(told: str, *, placed: bool = True) -> frozenset[str]:
    """`placed`: those that follow "in", "at" and the like too, which name no being."""
    found = (
        name
        for name in _NAME.finditer(told)
        if name.start() and (placed or not _PLACED.search(told[: name.start()]))
    )
    words = {name.group().lower().removesuffix("'s") for name in found}
    return frozenset(word for word in words if word not in STOP and not _CALENDAR.match(word))
