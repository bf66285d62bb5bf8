"""How an English memory is worded: short, standing alone, in the present third person."""

import re

from memories.extraction.rules.en_grammar import Subject
from memories.extraction.rules.en_verbs import for_plural
from memories.extraction.rules.en_words import RELATIONS
from memories.extraction.rules.masking import COVER, SECRET

_CUT = re.compile(
    rf"[{COVER}].*"
    r"| (?:because|'cause|cuz|although|even though|though|so that|whereas|while|"
    r"since (?:i|it|he|she|they|that|the)\b|"
    r"unless|until i|but|so (?:i|we|that|if|it|he|she|they|my)|which|and (?:it|that|"
    r"this|then|so|i|we|he|she|they|"
    r"there|honestly|feel|felt|feeling|was|were|am|would|think|wish|hope to get "
    r"some|don't know)|"
    r"if|as (?:i|it|a way|they|we|you|there)|when(?:ever)? (?:i'm|i|it|we|they|he|"
    r"she|you)|where (?:i|we|they|he|she|you)|"
    r"the way|how (?:it|they)|that (?:makes?|always|really|i|we|you|is|was|keeps?|"
    r"brings?|has|have|help\w*))\b.*"
    r"| (?:--?|–|—) .*|:\s.*| \(.*?\)|; .*"
    r"|, (?:which|who|where|especially|even|not|thank|thanks|right|too|though|haha|"
    r"lol|you know|but|"
    r"it|it's|and (?:it|that|i|we)|i|so|just|like i|etc|ha|since|as (?!well as)|you|"
    r"for example|such as|thus|making|hoping|and sometimes|and (?:[\w ]{1,30} )"
    r"?(?:can|is|are|will|was)|"
    r"mainly|mostly|what|how|do|always have|never have|always has|no matter|and "
    r"(?:then|feel|was|am|have|also|really|don't)|because|[a-z]+ing (?:it|them|that)"
    r")\b.*",
    re.IGNORECASE | re.DOTALL,
)
_FLUFF = re.compile(
    r"(?:(?<![\s,])[\s,]+(?:too|as well|these days|nowadays|lately|recently|right now|now|at "
    r"the moment|"
    r"currently|so much|a lot|very much|though|haha|lol|please|by the way|btw|"
    r"actually|honestly|"
    r"anyway|obviously|already|of course|to be honest|tbh|fyi|you know|you see|"
    r"really|again|"
    r"soon|somehow|at the end of the day|if that helps|for sure|if possible|maybe|"
    r"etc|and stuff|"
    r"or something|or so|i think|i guess|i believe|for now|after all|atm|rn|ever|in "
    r"general|yet|"
    r"and|or|with|to|the|a|some|just|also|then|even|that|today only|"
    r"\N{GRINNING FACE}|xd|<3|all the time now|and all|and so on|and more|so far))"
    r"+[\s.!,~]*$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r",\s*(?:my )?(?:friend|buddy|mate|man|dude|guys|folks|everyone)$", re.IGNORECASE
)
_MINE = (
    (re.compile(r"\b(?:my|our) own\b", re.IGNORECASE), "their own"),
    (re.compile(r"\b(?:my|our)\b", re.IGNORECASE), "their"),
    (re.compile(r"\b(?:myself|ourselves)\b", re.IGNORECASE), "themself"),
    (re.compile(r"\bmine\b", re.IGNORECASE), "theirs"),
    (re.compile(r"\bme\b"), "them"),
    (re.compile(r"\bI'm\b"), "they're"),
    (re.compile(r"\bI've\b"), "they've"),
    (re.compile(r"\bI'd\b"), "they'd"),
    (re.compile(r"\b(?:I|i)\b(?!')(?= [a-z])"), "they"),
)
# Words that need something outside the sentence to mean anything.
_POINTING = re.compile(
    r"\b(?:it|it's|its|this|these|those|he|she|him|they'?l*|here|there|there's|you|"
    r"your|yours|you're|"
    r"you've|yourself|me|us|we|we're|thing|things|stuff|something|someone|somewhere|"
    r"ones|one of|"
    r"the one|the ones|same|such|do so|doing so|that's|latter|former|aforementioned|any way|"
    r"what|how(?! to\b)|"
    r"another one|i'll|we'll|above|following)\b|\bthat(?: one)?$|\b(?:at|in|on|to|"
    r"of|about|with|like|for|"
    r"do|does|did|from|and|after|before|over|been) that\b",
    re.IGNORECASE,
)
_THIRD = re.compile(r"\b(?:her|his|them|their)\b", re.IGNORECASE)
_RELATION = re.compile(
    rf"\b(?:{RELATIONS}|people|folks|women|men|students?|kids|person|girl|boy|woman|"
    r"man|someone|"
    r"patients|clients|animals|books|films|movies|songs?)\b",
    re.IGNORECASE,
)
MARK = "[redacted]"
_SECRETS = re.compile(rf"{SECRET}+")


def trimmed(text: str) -> str:
    """The predicate without what follows from it, comments it, or only fills."""
    text = _ADDRESS.sub("", _CUT.sub("", text, count=1).rstrip(" .!"))
    text = re.sub(r" here(?= (?:from|for|since|with|in \d|on|last|\w+ years ago))", "", text)
    previous = ""
    while text != previous:
        previous = text
        text = _FLUFF.sub("", text).strip(
            " \t,.!?;:~-–—…\"'" if text.count('"') % 2 else " \t,.!?;:~-–—…"
        )
    return text


def stands_alone(text: str) -> bool:
    """Whether nothing in `text` points outside it. "Her" may point at "sister"."""
    if _POINTING.search(text):
        return False
    third = _THIRD.search(text)
    return third is None or bool(_RELATION.search(text[: third.start()]))


def ours(text: str) -> str:
    """ "my" -> "their", for a statement that is read as one about the speaker."""
    for pattern, words in _MINE:
        text = pattern.sub(words, text)
    return text


def sentence(predicate: str, *, subject: Subject, speaker: str) -> str:
    """ "is allergic to nuts" -> "Allergic to nuts", "Sister is …", "Caroline is …"."""
    predicate = _SECRETS.sub(MARK, re.sub(r"\s+", " ", predicate)).strip()
    if not subject.label:
        return f"{speaker} {predicate}" if speaker else _headless(predicate)
    if subject.plural:
        predicate = for_plural(predicate)
    whole = f"{subject.label} {predicate}"
    return f"{speaker}'s {whole}" if speaker and not _is_name(subject.label) else _capital(whole)


def _is_name(label: str) -> bool:
    return label[:1].isupper()


def _headless(predicate: str) -> str:
    """Without "is" before an adjective: "Allergic to …", but "Is an only child"."""
    if re.match(
        r"is (?!(?:an?|the|one|not|no|in|on|at|from|into|due|\d+|their|half|my|head)\b)"
        r"\w+(?!ing\b)",
        predicate,
    ):
        word = predicate.split(" ")[1]
        if not word.endswith("ing"):
            predicate = predicate[3:]
    if predicate.startswith("is from "):
        predicate = predicate[3:]
    return _capital(predicate)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
