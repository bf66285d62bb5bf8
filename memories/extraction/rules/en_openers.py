"""How people begin an English sentence: small talk, hedges, corrections, times."""

import re
from dataclasses import dataclass

from memories.extraction.rules.en_clauses import CORRECTING, Piece

_OPENER = re.compile(
    r"(?:(?:yo+|bruh|dude|omg|ugh|gosh|lmao|fr|ngl|rn|tbf|right so|ok so|well|oh|ohh?|hey|hi|"
    r"hello|hiya|yes|yeah|yep|yup|yea|no|nope|nah|sure|"
    r"okay|ok|so|and|but|also|plus|"
    r"anyway|anyways|btw|by the way|besides|honestly|frankly|basically|personally|"
    r"to be honest|tbh|"
    r"fyi|fun fact|for your information|for the record|just so you know|so you know|"
    r"you know what|"
    r"you know|you see|as you know|the thing is|look|listen|hmm+|um+|uh+|ah+|aww?|"
    r"wow|haha(?:ha)*|lol|"
    r"of course|definitely|absolutely|exactly|totally|indeed|right|true|thanks|"
    r"thank you|"
    r"in fact|as a matter of fact|actually|currently|recently|lately|nowadays|these "
    r"days|now|"
    r"at the moment|right now|at present|speaking of which|speaking of \w+|in "
    r"general|overall|for me|as for me|"
    r"unfortunately|sadly|luckily|fortunately|thankfully|obviously|apparently|"
    r"secretly|finally|"
    r"turns out|it turns out(?: that)?|good news|bad news|great news|big news|guess "
    r"what|"
    r"happy to say|i (?:should|must|have to|gotta) (?:say|mention|admit|tell you|"
    r"add|confess|note)(?: that)?|i mean|i'd say|"
    r"i have to say|i forgot to (?:say|mention|tell you)(?: that)?|i just want(?:ed)"
    r"? (?:you )?to (?:say|mention|add|know)(?: that)?|i wanted to (?:say|mention|"
    r"add|tell you)(?: that)?|"
    r"did i (?:mention|tell you)(?: that)?|let me (?:tell you|introduce myself|add)"
    r"(?: that)?|"
    r"i'm (?:happy|excited|glad|proud|sad|sorry) to (?:say|report|announce|share)"
    r"(?: that)?|"
    r"nice to meet you|(?:good )?(?:morning|evening|afternoon)|there|everyone|"
    r"friend|buddy|mate|ai companion|ai|"
    r"first of all|first|secondly|then|since then|because|since|although|even "
    r"though|though|while|as|"
    r"for context|for reference|some background|a bit about me|about me|context|"
    r"note|ps|p\.s|update|"
    r"you should know(?: that)?|please note(?: that)?|note that|keep in mind(?: "
    r"that)?|bear in mind(?: that)?|"
    r"the (?:truth|fact|reason) is(?: that)?|it's (?:because|just that)|that's "
    r"(?:because|why)|not to mention)"
    r"(?:[\s,:!.\-–—]+|$))+",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"(?:i (?:think|guess|believe|suppose|feel like|might say|suspect|feel)(?: that)"
    r"?|maybe|perhaps|"
    r"i'm pretty sure(?: that)?|i'm not sure but|possibly|i'm afraid(?: that)?)[\s,]+",
    re.IGNORECASE,
)
_CERTAIN = re.compile(
    r"(?:i (?:know|realized|realised|noticed|find|found|discovered|decided|learned|"
    r"remember|hope you know)(?: that)?|"
    r"i'm (?:sure|certain)(?: that)?|it's true that)[\s,]+(?=(?:i|my|we|i'm|i've)\b)",
    re.IGNORECASE,
)
_MAYBE = re.compile(r"\b(?:might|maybe|perhaps|probably|possibly|not sure|i guess|i think)\b", re.I)
ACTUALLY = re.compile(r"^(?:well|oh|so|and|but|hmm)?[\s,]*actually\b", re.IGNORECASE)
_CORRECTION = re.compile(
    r"^(?:(?:no|nope|wait|sorry|oops|hmm|oh)[\s,.!-]+)+actually\b|^(?:(?:no|nope|"
    r"wait|sorry|oops|hmm|oh)[\s,.!-]+)*(?:correction|i meant|i mean|scratch that|"
    r"my mistake|on second thought|to correct (?:myself|that)|that'?s (?:not right|"
    r"wrong|incorrect)|"
    r"i was wrong|i misspoke|not anymore|no longer|update)\b|^(?:no|nope|wait|wrong|"
    r"sorry|oops)$|^(?:no|nope|wait|wrong)[\s,.!]+(?=(?:it|i|my|we|that|his|her|he|"
    r"she|the)\b)"
    r"|\b(?:anymore|any more|no longer|any longer|not .{2,40} but (?:rather )?|"
    r"instead of|rather than my old|used to .{2,60} (?:but )?now)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(rf"{CORRECTING}\s*[:–—-]+\s*", re.IGNORECASE)
_LEAD_TIME = re.compile(
    r"((?:(?:once|twice|(?:two|three|four|five|\d+) times) (?:a|an|every|each|per) \w+|"
    r"most (?:days|nights|mornings|evenings|afternoons|weeks|weekends|years|summers|winters))|"
    r"(?:(?:on|in|since|for|during|around|about|at|by|starting|from) )?(?:the )"
    r"?(?:last|next|this|every|each|past|coming|"
    r"yesterday|tomorrow|today|tonight|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|"
    r"weekends?|weekdays?|"
    r"(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th)|(?:two|three|four|five|\d+|a few|several|"
    r"a couple of|an?|couple of) (?:days|weeks|months|years|year|month|week)|"
    r"january|february|march|april|may|june|july|august|september|october|november|"
    r"december|"
    r"summer|winter|the morning|the evening|mornings|evenings)[\w ]{0,24}?),? "
    r"(?=(?:i|we|my|our|i'm|i've|he|she|they)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Opened:
    text: str
    start: int
    hedged: bool
    corrects: bool
    time: str


def opened(piece: Piece) -> Opened:
    """The clause without its small talk, noting whether that hedged or corrected."""
    text, start, hedged, time = piece.text, piece.start, False, ""
    corrects = bool(_CORRECTION.search(text))
    for _ in range(6):
        if (match := _JOINED.match(text)) and match.end() < len(text):
            text, start, corrects = text[match.end() :], start + match.end(), True
        match = _OPENER.match(text) or _CERTAIN.match(text)
        if match is None and (match := _HEDGE.match(text)):
            hedged = True
        if match is None and not time and (match := _LEAD_TIME.match(text)):
            time = match[1]
        if match is None or match.end() >= len(text):
            break
        text, start = text[match.end() :], start + match.end()
    return Opened(text, start, hedged or bool(_MAYBE.search(text[:60])), corrects, time)
