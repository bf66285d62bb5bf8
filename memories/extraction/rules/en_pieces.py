"""The pieces of grammar that rows of en.py name in angle brackets."""

from collections.abc import Mapping
from typing import Any

from memories.extraction.rules.en_words import (
    CONDITIONS,
    DISLIKED_BY_ALL,
    IDIOM_OBJECTS,
    JOBS,
    LANGUAGES,
    NATIONALITIES,
    RELATION_MODIFIERS,
    RELATIONS,
    STATES,
    TRAITS,
)
from memories.extraction.rules.rule import Rule, Table, compile_pattern

# "I love you", "I like how that sounds": taste of the moment, or of the talk itself.
_NO_TASTE = (
    r"(?!(?:you|your|it|its|this|that|these|those|them|him|her|how|what|when|where|"
    r"why|who|the way|"
    r"everything|anything|something|nothing|all of|all the|seeing you|hearing|"
    r"chatting with|"
    r"talking (?:to|with) you|to (?:see|hear|know|ask|share|talk|chat|say|think|"
    r"hear|discuss|tell|"
    r"thank|point|add|mention|believe)|here|there|the (?:idea|sound|look|suggestion|"
    r"advice|color|"
    r"colors|colours?|photo|picture|pic|vibe|energy|enthusiasm|new|concept|fact|"
    r"thought|"
    r"support|feeling|one|ones)\b|both|another|more|some|any|a lot|to be honest|"
    r"seeing (?:how|the|your)|"
    r"watching (?:them|you)|being (?:able|here)|lot|spending time with (?:you|them)|"
    r"my (?:new|fam)|"
    r"where|when|each|such|sharing|having you|every (?:moment|minute)|our (?:chats?|"
    r"talks?)|a (?:good|nice|"
    r"little|bit)|the (?!(?:beach|sea|ocean|mountains?|outdoors|rain|snow|cold|heat|"
    r"countryside|city|theat\w+|cinema|opera|ballet|winter|summer|spring|autumn|"
    r"fall|forest|desert|blues|gym|guitar|piano|violin|beatles|night|dark|"
    r"wilderness|woods|water)\b)[\w'-]+(?: most| best)?[.!]?$|that's|talking about|"
    r"discussing)\b)"
)
_DOING = (
    r"(?:learn(?:ing)?|study(?:ing)?|practi[sc]ing|training|preparing|working|"
    r"writing|building|"
    r"saving|developing|taking|teaching|playing|volunteering|coding|programming|"
    r"painting|"
    r"drawing|collecting|running|swimming|dancing|singing|doing|dating|seeing|"
    r"married|vegan|"
    r"vegetarian|living|renting|growing|gardening|cooking|baking|knitting|making|"
    r"designing|"
    r"researching|renovating|trying|attending|going|reading|looking into|looking for|"
    r"into|using|creating|exploring|photographing|climbing|hiking|cycling|biking|"
    r"fishing|sailing|surfing|skiing|mentoring|fostering|raising|applying|blogging|"
    r"interning)"
)
PIECES: Mapping[str, str] = {
    "x": r"(?P<x>\S.{0,200})",
    "object": rf"{_NO_TASTE}(?P<x>\S.{{1,160}})",
    "liking": rf"(?!(?:{DISLIKED_BY_ALL})\b){_NO_TASTE}(?P<x>\S.{{1,160}})",
    "idiom": rf"(?:{IDIOM_OBJECTS})\b",
    "job": (
        r"(?P<x>(?:(?!(?:of|who|that|and|bit|lot|big|huge|fan|the|to|a|an|learning|"
        r"considering|seeing|"
        r"looking|being|becoming|thinking|meeting|dating|not|like|afraid|proud|married|"
        rf"helping)\b)[\w'&/.+-]+ ){{0,4}}?(?:{JOBS})"
        r"(?:(?: and (?:an? )?[\w -]{3,30})?(?: (?:at|for|in|with|from|on|of|by|"
        r"specializing|"
        r"specialising|who|working|turned|studying|here) .{1,100})?)?)[.!]?$"
    ),
    "relation": rf"(?:{RELATIONS})",
    "modifiers": rf"(?:(?:{RELATION_MODIFIERS}|\w+-year-old) )*",
    "condition": rf"(?:{CONDITIONS})\b",
    "nationality": rf"(?:{NATIONALITIES})",
    "language": rf"(?:{LANGUAGES})",
    "trait": rf"(?:{TRAITS})",
    "state": rf"(?:{STATES})",
    "often": r"(?:(?:almost |nearly )?(?:always|usually|often|normally|typically|regularly|"
    r"frequently) )",
    "degree": (
        r"(?:(?:really|very|so|super|quite|pretty|totally|extremely|absolutely|deeply|"
        r"incredibly|"
        r"highly|severely|deathly|mildly|terribly|a bit|a little|slightly|kind of|such|"
        r"always been|"
        r"especially|particularly|also) )*"
    ),
    "doing": _DOING,
    "duration": r".{1,120}?\b(?:for (?:about |over |almost |nearly |more than |the (?:last|past)"
    r" )?(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twenty|several|"
    r"many|a few|a couple of|some) (?:\w+ )?(?:years?|months?|weeks?|decades?|"
    r"semesters?)|since (?!then|we)\w+.{0,40})",
    "number": r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|a|an)",
    "rhythm": (
        r"(?:every ?(?:single |other |second )?(?:day|night|morning|evening|afternoon|"
        r"week|weekend|month|year|"
        r"summer|winter|spring|fall|autumn|weekday|monday|tuesday|wednesday|thursday|"
        r"friday|saturday|"
        r"sunday|christmas|\d+ (?:days|weeks|months|hours))|each (?:day|night|morning|"
        r"week|month|year)|"
        r"(?:once|twice|(?:two|three|four|five|six|\d+|a few|several) times) (?:a|per|"
        r"every|each) (?:day|week|"
        r"month|year)|on (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
        r"weekday|weekend)s"
        r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days|(?:mon|tues|wednes|thurs|fri|satur|sun)day "
        r"(?:(?:morning|afternoon|evening|night)s|(?:to|through) \w+day)|daily|at weekends|"
        r"on the weekends|nightly|weekly|"
        r"most (?:days|nights|weekends|mornings|evenings)|in the mornings?|in the "
        r"evenings|at night|"
        r"before (?:bed|work|breakfast)|after (?:work|dinner|lunch)|(?:\d+|an?|two|"
        r"three|four|half an) "
        r"(?:hours?|minutes) (?:a|per|every) (?:day|week|night))\b"
    ),
    "aim": (
        r"(?:visit|travel|go (?:to|on|back|hiking|backpacking|camping|skiing|diving|"
        r"scuba)|move|learn|become|buy|start|run|write|open|study|lose|get (?:a |an |"
        r"into|"
        r"married|my|fit|better at|in shape|certified|back)|climb|quit|build|adopt|own|"
        r"publish|retire|"
        r"improve|save|apply|launch|finish|complete|teach|work (?:as|in|at|for|abroad|"
        r"with|remotely)|"
        r"take (?:a|up|part|an|the|my)|try (?!it|that|this|to|some of|your|out|them)"
        r"(?:a |an )?\w+|play|"
        r"live|pursue|volunteer|raise|create|make (?:a|an|my)|read (?!it|more|them)|"
        r"join|attend|change (?:jobs?|my|careers?)|switch|graduate|"
        r"have (?:a |an |kids|children|my own)|be (?:a|an)|set up|found|reduce|master|"
        r"develop|"
        r"explore|participate|compete|sign up|hike|ride|sail|renovate|sell|foster|"
        r"enroll?|plant|"
        r"stop|grow|record|perform|draw|paint|experience|see (?:the|a)|watch the|expand|"
        r"drive|"
        r"become|help (?!you|me)|do (?:a|an|my)|give (?:a|up)|earn|own|train|host|throw|"
        r"organi[sz]e|spend|"
        r"celebrate|speak|cut down|shoot|stay (?:in|at)|continue|go into|get|broaden|"
        r"major|return)\b"
    ),
}


def rule(
    code: str, kind: str, importance: float, confidence: float, pattern: str, **more: Any
) -> Rule:
    return Rule(
        f"en.{code}", kind, importance, confidence, compile_pattern(pattern, PIECES), **more
    )


def table(*rows: Rule) -> Table:
    return Table(rows)
