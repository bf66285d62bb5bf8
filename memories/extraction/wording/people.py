"""Find the people that a text mentions, and the person that a pronoun refers to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from foundation.text import segment
from foundation.text.word_edges import whole_words
from memories.extraction.pattern_tables import patterns, table
from memories.extraction.wording.chinese_subjects import leading_name, names, names_subject
from memories.reader.referents import Referent
from memories.screening import safe_patterns

PATTERNS = {name: safe_patterns.compile(text) for name, text in patterns("own_words").items()}
_WITHOUT_SUBJECT = ("begins_with_verb", "begins_with_their_verb", "begins_with_adjective")
_OF_A_SUBJECT = ("his", "her", "him", "hers")  # may refer to the subject of the statement
_TITLES = ("先生", "太太", "阿姨", "叔叔", "师傅", "老板")
_NAMED_IN = 4  # texts: the message, the other side's question and two earlier messages
_CLAUSES = re.compile(r"[\s，,。.!！?？;；、…]")
_GENDERS = {"several": "s", "f": "f", "m": "m", "either": "", "pet": "p"}
_NO_SUBJECT = frozenset(table("own_words")["no_subject"].split("|"))
_NO_OWNER = frozenset(table("own_words")["no_owner"].split("|"))
_NO_NAMES = frozenset(table("own_words")["no_names"].split("|"))
_SURNAMES = frozenset(table("own_words")["surnames"])


def start_of(found: safe_patterns.Match, group: str) -> int:
    return int(found.start(found.re.groupindex[group]))


def end_of(found: safe_patterns.Match, group: str) -> int:
    return int(found.end(found.re.groupindex[group]))


class Person(NamedTuple):
    start: int
    words: str
    gender: str = ""
    relation: str = ""
    name: str = ""


_SUBJECT_PRONOUN = re.compile(r"\b(s?he)(?:['’]?(?:s|d|ll))?\b", re.IGNORECASE)


def people_in(text: str, language: str) -> Iterator[Person]:
    """Yield the relatives and friends that `text` mentions."""
    if language in ("zh", "ja"):
        for found in PATTERNS[f"{language}_person"].finditer(text):
            at, name = start_of(found, "who"), (found["name"] or "")[1:]
            if PATTERNS["others_relative"].search(text[:at][-2:]):
                continue  # 她老公 ("her husband") isn't a relative of the person
            if PATTERNS["before_nickname"].search(text[:at][-8:]):
                continue  # 小名叫狗娃子 gives a nickname; it names no dog and no child
            words = found["who"] + (found["name"] or "").removeprefix("叫")
            gender = _cjk_gender(found["relation"])
            is_title = len(found["who"]) == 1 or found["who"] in _TITLES
            if is_title and at and text[at - 1] in _SURNAMES:  # 王姐, 陈叔, 张阿姨
                at, words = at - 1, text[at - 1] + words
            elif found["who"] == "先生":
                continue  # not a husband, as in 我先生
            yield Person(at, words, gender, found["relation"], name)
        return
    for found in PATTERNS["person"].finditer(text):
        at = start_of(found, "who")
        owned = found["own"] or _is_owner(found["bare"], before=text[:at])
        if owned or found["name"] or at == 0:
            name = (found["name"] or "").lstrip(", ")
            group = next(group for group in _GENDERS if found[group])
            who = found["who"] if owned else found["who"].removeprefix(found["bare"] or "").lstrip()
            at += len(found["who"]) - len(who)
            yield Person(at, f"{who} {name}".strip(), _GENDERS[group], found[group].lower(), name)


def _is_owner(word: str | None, *, before: str) -> bool:
    """Return whether a word that ends in "s" names the owner of a relative.

    For example, "dans" names an owner in "dans mum is here", but "loves" doesn't in "she loves
    mum".
    """
    if not word or word.lower() in _NO_OWNER or word.lower() in _NO_SUBJECT:
        return False
    return PATTERNS["before_owner"].search(before[-12:]) is not None


def _cjk_gender(word: str) -> str:
    if any(sign in word for sign in ("父母", "爸妈", "双胞胎", "两个", "们", "両親")):
        return "s"
    if "婿" in word or word == "先生":
        return "m"
    if any(sign in word for sign in "猫貓狗犬"):
        return "p"
    if any(sign in word for sign in "父夫公爷爸男哥弟叔舅儿子兒兄息") and not any(
        sign in word for sign in "女妻孩妈"
    ):
        return "m"
    return "f" if any(sign in word for sign in "妈媽母姐姊妹姨姑婶婆妻女奶姥嫂闺太娘姉媳") else ""


def _matches_gender(pronoun: str, person: str) -> bool:
    if pronoun in ("s", "p"):
        return pronoun == person
    return person in (pronoun, "", "p") or (not pronoun and person != "s")


def _is_vague(person: Person, pronoun: str) -> bool:
    """Return whether "he" or "she" in a later message is unlikely to refer to this person or pet.

    This applies to pets, and to people who are mentioned with "the", such as "the doctor".
    """
    is_pet = person.gender == "p"
    return pronoun in ("f", "m") and (is_pet or person.words.lower().startswith("the "))


def _antecedent(earlier: Sequence[str], pronoun: str, language: str) -> str:
    """Return the words for the person that a pronoun refers to, or an empty string.

    The person is the last person mentioned whose gender may fit. Within a text, a person who is
    known to have the pronoun's gender is preferred to a name of unknown gender. The result is empty
    if a Chinese pronoun may mean several people, or if the text has "our" with an unknown word
    ("our karen").
    """
    most = _NAMED_IN if pronoun else 2  # number of texts in which names count, not only relatives
    for number, text in enumerate(earlier):
        people = [*people_in(text, language)]
        if pronoun == "s":
            people += _two_names(text)
        elif language in ("en", "es", "fr") and pronoun != "p" and number < most:
            people += _other_names(text, people, earlier, pronoun=pronoun, language=language)
        if language == "en" and pronoun in ("f", "m") and not number:
            people += [
                Person(found.start(), found[0]) for found in PATTERNS["occupied"].finditer(text)
            ]
        if not people and language == "en" and pronoun in ("f", "m", "s"):
            people = [person._replace(gender=pronoun) for person in _own_subjects(text)]
        if not people and language == "en" and PATTERNS["our_somebody"].search(text):
            return ""
        fitting = [
            person
            for person in sorted(people)
            if _matches_gender(pronoun, person.gender)
            and not (number and _is_vague(person, pronoun))
        ]
        sure = [person for person in fitting if pronoun and person.gender == pronoun]
        meant = sure or fitting
        if language == "zh" and pronoun and _are_several(meant, text, any_clause=not sure):
            return ""
        if meant:
            return meant[-1].words
    return ""


def _own_subjects(text: str) -> Iterator[Person]:
    """Yield the people mentioned with "my" at the beginning of a clause, such as "my carer"."""
    for found in PATTERNS["own_subject"].finditer(text):
        yield Person(start_of(found, "who"), found["who"])


def _are_several(people: Sequence[Person], text: str, *, any_clause: bool) -> bool:
    """Return whether the clause that names the last of `people` names other people as well.

    With `any_clause`, people named in earlier clauses of the text count too.
    """
    last = people[-1].start if people else 0
    ends = [found.end() for found in _CLAUSES.finditer(text[:last])]
    start = 0 if any_clause else max(ends, default=0)
    return len({person.words for person in people if person.start >= start}) > 1


def _other_names(
    text: str, people: Sequence[Person], texts: Sequence[str], *, pronoun: str, language: str
) -> list[Person]:
    """Return the names in a text that aren't part of `people`."""
    names = [*plain_names(text, texts)] if language == "en" else []
    # Without a pronoun, "Ethiopian" would be mistaken for a name.
    names += [*names_in(text)] if pronoun else []
    taken = [(person.start, person.start + len(person.words)) for person in people]
    return [name for name in names if not any(start <= name.start < end for start, end in taken)]


def _two_names(text: str) -> Iterator[Person]:
    """Yield pairs of people that "they" may mean, such as "Kofi and Ama"."""
    for found in PATTERNS["two_names"].finditer(text):
        if not _NO_NAMES & {found["first"], found["second"]}:
            yield Person(start_of(found, "who"), found["who"], "s")


_OWN_NAME = ("我是", "我叫", "叫我", "我名叫", "我的名字是", "我的名字叫")


def _with_chinese_names(text: str, people: Sequence[Person]) -> list[Person]:
    """Return the people and the Chinese names in a text.

    A name right after a relation belongs to that person, as in 我弟弟阿强 ("my brother A-Qiang").
    The speaker's own name, as in 我是何小满 ("I'm He Xiaoman"), is left out, since no third-person
    pronoun refers to it.
    """
    found = {person.start + len(person.words): person for person in people}
    taken = {at for end, person in found.items() for at in range(person.start, end)}
    called = dict(names(text))
    called |= {at: name for at in found if (name := leading_name(text[at:]))}
    for at, name in sorted(called.items()):
        end = at + len(name)
        is_own = text[:at].endswith(_OWN_NAME) and text[end : end + 1] != "的"
        if at not in taken and not is_own:
            person = found.pop(at, Person(at, ""))
            found[end] = person._replace(words=person.words + name, name=name)
    return sorted(found.values())


def names_in(text: str) -> Iterator[Person]:
    """Yield names: capitalised words, except places, months and weekdays.

    At the beginning of a sentence, where any word is capitalised, a word counts as a name only if a
    verb follows.
    """
    for found in PATTERNS["name"].finditer(text):
        at, words = start_of(found, "who"), found["who"]
        before = text[:at].rstrip(" ")
        begins = before[-1:] in ("", *'.!?:…\n"“¿¡-')
        if (
            PATTERNS["place"].search(before[-8:])
            or _NO_NAMES & {(last := words.split()[-1]), last.removesuffix("s")}
            or words.lower() in segment.ENGLISH_STOP_WORDS
        ):
            continue
        if not begins or PATTERNS["first_name"].search(text[at:]) or PATTERNS["ours"].search(words):
            yield Person(at, words, name=words.split(" ", 1)[-1])


def plain_names(text: str, texts: Sequence[str]) -> Iterator[Person]:
    """Yield the names at the beginning of a clause, even in lower case, as in "oisin is 4".

    A name directly followed by "s" without an apostrophe ("oisins 4") counts only if one of `texts`
    also contains the name without the "s". This rule excludes words such as "plus" and "lives".
    """
    for found in PATTERNS["plain_name"].finditer(text):
        words = found["who"]
        if words.lower() in _NO_SUBJECT or words.lower() in segment.ENGLISH_STOP_WORDS:
            continue
        alone = re.compile(rf"\b{re.escape(words)}\b", re.IGNORECASE)
        if not found["bare"] or any(alone.search(other) for other in texts):
            yield Person(start_of(found, "who"), words, name=words)


_PREDICATE = re.compile(r"^(?:就是|也是|是|当|當|做)(?!我)")


# A function that takes the start and end of a pronoun in a message, and returns the words to which
# the pronoun may refer, most probable first.
Referents = Callable[[int, int], Sequence[Referent]]
_SURE = 0.3  # minimum probability of the words for a person that a pronoun refers to
_SURER = 0.45  # the same for words that no pattern recognises as a person
_MARGIN = 2.0  # minimum ratio of their probability to the probability of other words
_OWNED = re.compile(r"(?i)\b(?:(?:my|our|ma|mi)\s(?:[\w'’-]+\s){0,2}|(?:me|the)\s)$")
_EDGES = re.compile(r"['’]s$|^[同跟和给給找让讓带帶]|[是的在住说說要也都会會有考发發]$")
_JOINS = str.maketrans("", "", " '’-")  # signs that names may contain
_MENTION = 40  # maximum number of characters of the words for a person


def nothing_referred_to(start: int, end: int) -> Sequence[Referent]:
    """Return no words. This is the default if no function finds the words a pronoun refers to."""
    return ()


def _meant(referents: Sequence[Referent], pronoun: str, language: str) -> str:
    """Return the words for the person to whom a pronoun probably refers, or an empty string.

    Words that don't fit the pronoun's gender are skipped. The result is empty if two fitting
    mentions are nearly equally probable.
    """
    fitting: list[tuple[str, float]] = []
    for text, start, end, probability in referents:
        if probability < _SURE:
            break
        words, gender, is_known = _mention(text, start, end, language)
        fits = gender in (pronoun, "") or (gender == "p" and pronoun != "s")
        if words and fits and (is_known or probability >= _SURER):
            fitting.append((words, probability))
    if not fitting:
        return ""
    first, most = fitting[0]
    others = (share for words, share in fitting if words not in first and first not in words)
    return first if most >= _MARGIN * max(others, default=0) else ""


def _mention(text: str, start: int, end: int, language: str) -> tuple[str, str, bool]:
    """Return the words for a person, their gender, and whether a pattern recognises the person.

    `text[start:end]` is a part of these words. They are empty if this part is a pronoun or can't be
    a name.
    """
    people = [*people_in(text, language)]
    if language == "zh":
        people = _with_chinese_names(text, people)
    elif language in ("en", "es", "fr"):
        people += names_in(text)
    for person in people:
        if person.start < end and start < person.start + len(person.words):
            return person.words.removeprefix("And "), person.gender, True
    if language not in ("zh", "ja"):
        start, end = whole_words(text, start, end, is_letter=str.isalpha, most=_MENTION)
        owned = _OWNED.search(text[max(0, start - _MENTION) : start])
        start -= len(owned[0]) if owned else 0
    words = _EDGES.sub("", text[start:end]).strip(" ,.!?;:，。！？、'’\"“”()（）")
    of_nobody = words.lower() in _NO_SUBJECT or words.lower() in segment.ENGLISH_STOP_WORDS
    is_name = words.translate(_JOINS).isalpha()
    if of_nobody or not is_name or len(words) > _MENTION or pronoun_in(words, language)[2]:
        return "", "", False
    relatives = people_in(f"my {words}", language) if language == "en" else ()
    return words, next((relative.gender for relative in relatives), ""), False


def named_person(
    text: str,
    earlier: Sequence[str],
    *,
    language: str,
    whose: str,
    referents: Referents = nothing_referred_to,
    at: int = 0,
) -> list[tuple[int, str]]:
    """Return words in brackets for the person that a statement refers to, and where to insert them.

    The result is a list with at most one pair of a position and the words. The position is after
    the first pronoun, or at the start of a statement about a relative whom it doesn't name.
    `referents` finds the words to which a pronoun in the message may refer, and `at` is the
    position of the statement in the message.
    """
    cjk = language in ("zh", "ja")
    # In Chinese, "is a teacher" describes a person without naming the person.
    is_predicate = language == "zh" and _PREDICATE.match(text.strip()) is not None
    named = [] if is_predicate else [person.start for person in people_in(text, language)]
    named += [] if cjk or language == "de" else [person.start for person in names_in(text)]
    start, end, gender = pronoun_in(text, language)
    if gender:
        is_named = any(at < start for at in named) or (
            language == "en"
            and text[start:end].lower() in _OF_A_SUBJECT
            and _names_its_subject(text[:start])
        )
        if gender in ("p", "s"):
            nearby = earlier[:1] if gender == "p" else earlier  # "it" rarely means a pet
            who = "" if is_named else _antecedent(nearby, gender, language)
        else:
            who = "" if is_named else _meant(referents(at + start, at + end), gender, language)
        return [(end, f"{'' if cjk else ' '}[{who}]")] if who else []
    if (
        whose != "related"
        or named
        or PATTERNS["starts_anew"].search(text)
        or PATTERNS["ours"].search(text)
    ):
        return []
    if not cjk and not any(PATTERNS[name].search(text) for name in _WITHOUT_SUBJECT):
        return []  # "oisin is 4" names somebody, even though the name wasn't found above
    said = earlier[0].rpartition("\n")[2]
    if language == "zh":
        name = leading_name(text)
        if not name and names_subject(text):
            return []  # 现在是小杨帮我看店 names its own subject, 小杨
        who = _relation_of(name, earlier) if name else _name_before(said)
        if name or who or not said.strip():
            # The first statement of a message names its own subject.
            return [(0, f"[{who}]")] if who else []
    # Text before the statement in the same line takes precedence over earlier messages.
    nearby = [said] if said.strip() else list(earlier[1:])
    who = _antecedent(nearby, "", language)
    if not who and language == "en":
        who = _last_subject(said, earlier)
    return [(0, f"[{who}]" if cjk else f"[{who}:] ")] if who else []


def _last_subject(said: str, earlier: Sequence[str]) -> str:
    """Return the person whom the last "he" or "she" in `said` refers to, or else the pronoun.

    Return "" if `said` contains neither pronoun. In "shes mad on puffins and cant have dairy", the
    second statement has no subject of its own; without an added subject, it would seem to be about
    the user.
    """
    *_, pronoun = ["", *(found[1].lower() for found in _SUBJECT_PRONOUN.finditer(said))]
    return (pronoun and _antecedent(earlier, "f" if pronoun == "she" else "m", "en")) or pronoun


def _names_its_subject(before: str) -> bool:
    """Return whether an English statement seems to begin with a name in lower case.

    `before` is the statement up to its first pronoun. In "ruaridh broke his arm", "his" refers to
    "ruaridh" and not to somebody in an earlier message.
    """
    first, _, rest = before.strip().lower().partition(" ")
    may_be_verb = first.endswith("s") and not rest[:1].isdigit()  # "talks in his sleep"
    return bool(
        rest
        and first.isalpha()
        and not may_be_verb
        and not PATTERNS["begins_no_name"].search(first)
        and first not in _NO_SUBJECT
        and first not in _NO_OWNER
        and first not in _NO_NAMES
        and not any(PATTERNS[name].search(before) for name in _WITHOUT_SUBJECT)
        and not PATTERNS["first_person_en"].search(before)
    )


def lacks_name(text: str, language: str) -> bool:
    """Return whether an English text begins with "he" or "she" and doesn't say who is meant."""
    if language != "en":
        return False
    start, end, gender = pronoun_in(text, language)
    if gender not in ("f", "m") or start or text[end:].lstrip()[:1] == "[":
        return False
    return not any(people_in(text, language)) and not PATTERNS["named"].search(text)


def _relation_of(name: str, earlier: Sequence[str]) -> str:
    """Return how an earlier text describes a named person, or "": 我闺蜜 ("my best friend")."""
    for text in earlier:
        before = text.partition(name)[0] if name in text else ""
        for person in people_in(before, "zh"):
            if PATTERNS["before_name"].search(before[person.start + len(person.words) :]):
                return person.words
    return ""


def _name_before(said: str) -> str:
    """Return the name at the beginning of the last clause that mentions a person.

    Return an empty string if this clause mentions a relative or friend, or if there is no name.
    """
    for clause in reversed(_CLAUSES.split(said)):
        if _PREDICATE.match(clause.strip()):
            continue
        if any(True for _ in people_in(clause, "zh")):
            return ""
        if name := leading_name(clause):
            return name
    return ""


# In some dialects, "them" means "those": "can't wear them latex gloves".
_THOSE = re.compile(
    r" (?!and |or |but |all |both |when |if |because |every |to |too |at |on |for )[a-z]{4,} "
)


def pronoun_in(text: str, language: str) -> tuple[int, int, str]:
    """Return the range of the first third-person pronoun, and a code for its gender.

    The codes are f, m, s (several) and p (pets and "it"). Return `(0, 0, "")` if there is none.
    """
    found = PATTERNS[f"pronoun_{language}"].search(text)
    if found is None or PATTERNS["no_pronoun"].search(
        text[max(0, found.start()) :].lower().strip()
    ):
        return 0, 0, ""
    gender = next(group for group in "fmsp" if found.groupdict().get(group))
    if found["all"].lower() == "them" and _THOSE.match(text, end_of(found, "all")):
        return 0, 0, ""
    return start_of(found, "all"), end_of(found, "all"), gender
