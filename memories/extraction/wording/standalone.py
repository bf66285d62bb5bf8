"""Decide whether a statement is understandable without the conversation in which it was made.

"I keep bees" and "vegetarian" stand alone. "She's a nurse" doesn't say who is meant, and "every
Tuesday" and "15 colonies" don't say what happens or whose they are. Only the wording is checked, in
English and Chinese. Statements in other languages count as standing alone.
"""

from __future__ import annotations

import re

from memories.extraction.masking import ADDED_DATE, ADDITION, without_additions
from memories.extraction.wording.chinese_subjects import (
    begins_with_noun,
    is_noun_phrase,
    is_only_place_time_or_pronoun,
    leading_name,
)
from memories.extraction.wording.languages import language_of
from memories.extraction.wording.people import PATTERNS, names_in, people_in

_READ = 200  # maximum number of characters read of a statement
_FIRST_PERSON = re.compile(
    r"(?i)\b(?:i|im|ive|id|i['’](?:m|ve|d|ll)|my|mine|me|we|our|us|myself)\b"
)
_LEAD = r"(?i)^(?:(?:and|but|so|now|also|well|then|because|though|although|yes|no),? )*"
_POINTS_BACK = re.compile(
    _LEAD + r"(?:he|she|it|they|his|her|hers|its|their|theirs|him|them|this|that|these|those"
    r"|hes|shes|theyre|one|both|there)\b"
)
_ABOUT_HIM_OR_HER = re.compile(r"(?i)^(?:[^\W\d_]+ ){1,2}(?:him|her|he|she|his)\b")
_PART = re.compile(
    _LEAD + r"(?:about |around |only |just |at least |almost |nearly )*"
    r"(?:[\d$€£]|an? |the |some |any |every|each |once\b|twice\b|daily\b|weekly\b|monthly\b"
    r"|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|few|several|many|more) "
    r"|(?:of|at|in|on|with|for|from|since|until|till|by|to|than|as|after|before|during) "
    r"|(?:who|whose|which|where|when|while|if|and|or|but|because)\b"
    r"|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sat|sun)(?:days?)?\b"
    r"|(?:morning|evening|afternoon|night|weekend)s?\b"
    r"|(?:yesterday|today|tonight|tomorrow|now|then|yes|no|ok)$)"
)
# A sentence about the user whose predicate is missing: "I don't", "me too", "I'm not 34".
_ONLY_SELF = re.compile(
    r"(?i)^(?:i|we|me)(?:['’]?(?:m|ve|d|re)| (?:am|are|was|were|do|did|have|had|can|could|would"
    r"|will|ca|wo))?(?:(?:n['’]?t| not| never)(?: [\d.,]+)?)?(?: (?:too|also|either|neither))?$"
)
# "Left one, not the right one" doesn't say what kind of thing is meant.
_SOME_ONE = re.compile(
    r"(?i)^(?:(?:no|not|the|that|this|which|my|your),? ){0,3}[a-z]+ ones?"
    r"(?:$|[,.;]| (?:no|not|and|or|but|instead|please)\b)"
)
_PREDICATE = re.compile(
    r"(?i)\b(?:is|are|was|were|am|has|have|had|does?|did|can|could|will|would|shall|should|must"
    r"|may|might|needs?|wants?|gets?|got|goes|went|makes?|made|[a-z]+n['’]?t)\b|[a-z]['’]s [a-z]"
)
_ZH_SELF = re.compile(r"[我俺咱]|自己|本人")
# Words that may precede the predicate of a statement about the user: 我不是34, 我也没有, 不要两个.
_ZH_BEFORE_PREDICATE = re.compile(
    r"^(?:[我俺咱](?:[们們家])?)?(?:[不没沒是有要也都就还還才只]|可以|应该|應該)+"
)
_ZH_POINTS_BACK = re.compile(r"^(?:[他她它牠佢]|[这那這](?:[个個是种種件位人也就])|其中|是)")
# A name before its predicate: "Otis wants", "rohan cant", "Wiremu's birthday".
_NAMED_FIRST = re.compile(
    r"[A-Z][^\W\d_]{1,30} (?!\d)[^\W\d_]|[A-Z][^\W\d_]{1,30}['’]s "
    r"|(?i:[a-z]{1,30} (?:is|has|cant|wont|isnt|doesnt|had) )"
)


def stands_alone(text: str, *, of_other: bool = False) -> bool:
    """Return whether a memory's text is understandable by itself.

    `of_other` means that the statement is about somebody other than the user; then the text must
    name that person.
    """
    text = " ".join(text.split())[:_READ]
    lead = ADDITION.match(text)
    if lead and not ADDED_DATE.match(text):
        return True  # the addition names the subject or the question
    plain = without_additions(text).strip()
    language = language_of(plain)
    if language == "zh":
        return _stands_in_chinese(plain, text, of_other=of_other)
    return language != "en" or _stands_in_english(plain, text, of_other=of_other)


def _stands_in_english(plain: str, text: str, *, of_other: bool) -> bool:
    is_named = _names_somebody(plain, "en") or _names_pronoun(text)
    if _POINTS_BACK.match(plain):
        return _names_pronoun(text)
    if not is_named and (_ONLY_SELF.match(plain) or _SOME_ONE.match(plain)):
        return False
    if is_named or _FIRST_PERSON.search(plain):
        return is_named or not _ABOUT_HIM_OR_HER.match(plain)
    if _ABOUT_HIM_OR_HER.match(plain):
        return False
    if of_other:
        return _PART.match(plain) is None and _NAMED_FIRST.match(plain) is not None
    return _PART.match(plain) is None or _PREDICATE.search(plain) is not None


def _stands_in_chinese(plain: str, text: str, *, of_other: bool) -> bool:
    if _ZH_POINTS_BACK.match(plain):
        return _names_pronoun(text)
    if _lacks_predicate(plain):
        return False
    if _names_somebody(plain, "zh") or _ZH_SELF.search(plain):
        return True
    if PATTERNS["fragment_zh"].search(plain) or is_noun_phrase(plain):
        return False
    return not of_other or begins_with_noun(plain)


def _lacks_predicate(plain: str) -> bool:
    """Return whether a text begins like 我不是 ("I'm not") and no predicate follows.

    Only a place, a time, an amount or nothing at all follows.
    """
    lead = _ZH_BEFORE_PREDICATE.match(plain)
    rest = plain[lead.end() :].strip(" ,，。.!！") if lead else plain
    # 90后 ("born in the 1990s") says more than a time.
    return (
        lead is not None
        and not rest.endswith(("后", "後"))
        and (
            PATTERNS["fragment_zh"].search(rest) is not None or is_only_place_time_or_pronoun(rest)
        )
    )


def _names_somebody(text: str, language: str) -> bool:
    if any(True for _ in people_in(text, language)):
        return True
    return bool(leading_name(text)) if language == "zh" else any(True for _ in names_in(text))


def _names_pronoun(text: str) -> bool:
    """Return whether an addition says who is meant, as in "she [my sister] is a nurse"."""
    return any(not ADDED_DATE.match(found[0]) for found in ADDITION.finditer(text))
