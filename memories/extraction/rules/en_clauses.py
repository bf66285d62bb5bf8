"""English text cut into sentences and clauses, and the clauses that state nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memories.extraction.rules.masking import COVER

_SENTENCE = re.compile(
    rf"(?<![.!?…。！？])[.!?…。！？]++[\"”')\]]*+(?=\s|$|[A-Z\u4e00-\u9fff])|\n+|;\s|[{COVER}]+|"
    r"[\U0001F000-\U0001FAFF\u2600-\u27bf\ufe0f\u200d]+|\s[-–—]{1,3}\s|(?<=\w)"
    r"—(?=\w)|(?<=\w):\s(?=(?:I|I'm|I've|My|We|my|we|i)\b)|\s[:;]-?[)(DP](?=\s|$)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|prof|jr|sr|vs|etc|e\.g|i\.e|no|approx|inc|ltd|a\.m|"
    r"p\.m|u\.s|u\.k|"
    r"ph\.d)|\b[A-Z])$",
    re.IGNORECASE,
)
_CITES = re.compile(
    r"(?:sa(?:ys?|id)|wr(?:ites?|ote)|ask(?:s|ed)?|told \w+|texts?|messages?|quotes?|examples?|"
    r"sentences?|lines?|"
    r"user|bot|\w+ [A-Z]\w+|^[A-Z]\w+|title|caption|lyrics?)\W*$",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"\b(?:things?|facts?|points?|reasons?|background|context|about me|coming from|situation|deal|"
    r"problem|catch|update|news|confession|heads up|fyi|in short|basically)$",
    re.IGNORECASE,
)
_SUBJECT = (
    r"(?:I|i|I'm|im|ive|we|my|our|he|she|they|it|it's|you|your|his|her|their|this|that's|"
    r"that is|"
    r"there's|there is|there are|the|what|how|do|does|did|can|could|would|is|"
    r"are|should|shall|please|let's)"
)
_BASE = (
    "live|work|have|love|like|hate|prefer|am|play|speak|own|study|teach|moved|got|"
    "started|plan|"
    "want|can't|don't|never|enjoy|run|go|usually|always|used to|just|'m|'ve|"
    "recently|currently|"
    "joined|bought|adopted|graduated|married|became|quit|left|dislike|need|hope|"
    "drive|write|"
    "lives|works|has|loves|likes|hates|prefers|is|plays|speaks|owns|studies|"
    "teaches|wants|goes|"
    "enjoys|runs|drives|writes|doesn't|will|was born|was|grew up|can|take|takes|"
    "collect|collects|rent|still rent|still live|still work|still have|still love|still can't|"
    "volunteer|volunteers|suffer|suffers|avoid|avoids|refuse|refuses|wake|get up|sleep"
)
_CLAUSE = re.compile(
    # "she's a dentist, my aunt" says last whom it is about.
    r"(?!,\s*(?:i mean )?my (?:[\w-]+ ){0,2}?[\w-]+(?:,? i mean)?$)"
    r"(?!,?\s+and (?:i|me) (?:really )?(?:don't|do not|dont|never) (?:get|mix|agree|go)\b)"
    r"(?:,\s*+(?:and|but|so|because|although|though|while|yet|plus|then|as|since|"
    r"which is why|"
    r"or|except)?\s*+|(?<!\s)\s++(?:and|but|so|because|although|though|while|since|'cause|"
    r"cause|cuz)\s+"
    r"(?:then |now |also |that )?)"
    r"(?=(?:(?:now|also|currently|today|recently|then|"
    rf"lately),? )?{_SUBJECT}(?=[\s']|$))"
    r"|(?:,\s*+|(?<!\s)\s++)(?:and|but)\s+(?=(?:also |now |really |currently |absolutely )"
    rf"?(?:{_BASE})\s)",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"^(?:do|does|did|can|could|would|will|should|shall|is|are|am|was|were|what|where|"
    r"when|who|whose|"
    r"whom|which|why|how|have|has|any|got any|isn't|aren't|don't|doesn't|what's|"
    r"how's|where's|"
    r"any ideas?|wanna|care to|ready|you|ever|really|right|ok|okay|and you|think)\b",
    re.IGNORECASE,
)
# "Sorry, I was wrong: my sister …": the mark joins the correction to what it corrects.
CORRECTING = (
    r"(?:correction|i was wrong|i misspoke|my mistake|scratch that|"
    r"(?:i|you)(?:'ve)? (?:got|have) (?:that|it|this) wrong|"
    r"th(?:at|is)(?:'s| is) (?:wrong|incorrect|not (?:right|correct|true))|"
    r"i(?:'ve| have)?(?: just| recently)? moved|things (?:have )?changed)"
)
_JOINS = frozenset((":", "-", "--", "–", "—"))
_CORRECTS = re.compile(rf"(?:^|[\s,]){CORRECTING}\s*$", re.IGNORECASE)
# What makes a sentence a supposition, and not a statement.
_SUPPOSED = re.compile(
    r"\b(?:if (?:i|we|only|my)|i wish|we wish|as if|as though|suppose|supposing|"
    r"hypothetically|let's say|what if|imagine|pretend|would have|could have|should "
    r"have|"
    r"would've|could've|should've|in another life|in a parallel|unless|wouldn't it|"
    r"if it)\b",
    re.IGNORECASE,
)
_SARCASTIC = re.compile(
    r"\b(?:yeah,? right|oh,? (?:great|sure|joy|wonderful|fantastic|yeah|lovely)|as if|"
    r"sure,? because|because who doesn't|who doesn't love|said no one|said nobody|"
    r"how original|what a surprise|big surprise|lucky me|story of my life|just what "
    r"i needed|"
    r"just great|(?:\.\.\.|,) not$|obviously\.{3}|so much fun\.{3})(?!\w)",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:he|she|they|you|someone|somebody|people|everyone|everybody|it|who|doctor|"
    r"mom|mum|"
    r"dad|mother|father|wife|husband|boss|friend|friends|sister|brother|teacher|"
    r"[A-Z]\w+) "
    r"(?:always |once |just |often |jokingly )?(?:says?|said|tells?|told|claims?|"
    r"claimed|thinks?|"
    r"thought|believes?|believed|wrote|writes|keeps saying|joked|jokes|insists|"
    r"insisted|"
    r"swears|reckons|assumed|assumes|was like|goes like)\b(?! (?:yes|no) to)",
)
_REPORT_OF_ME = re.compile(
    r"\b(?:says?|said|claims?|claimed|thinks?|thought|believes?|told|telling|tells|"
    r"swears|"
    r"insists|joked|jokes|convinced|assumed|assumes|reckons|like)\b[^,]{0,20}\b(?:i|"
    r"i'm|i've|my|we)\b",
    re.IGNORECASE,
)


# "I'm vegan, plan my meals": what follows the comma asks for something.
_REQUEST = re.compile(
    r",\s*(?:so |then |now |and )?(?:please |just |quickly |kindly )?(?:"
    r"(?:suggest|recommend|explain|summari[sz]e|brainstorm|proofread|rewrite|remind me|tell me|"
    r"any (?:\w+ )?(?:advice|tips?|ideas?|suggestions?|recommendations?|thoughts)|"
    r"give me|show me|help me|teach me|walk me through|advise|come up with)\b|"
    r"(?P<also_done>make|write|give|plan|draft|create|find|generate|list|describe|design|prepare|"
    r"propose|build|compare|pick|choose|outline|put together|translate|send|get|polish|edit|fix|"
    r"check|review|improve|shorten|correct|rephrase|format|convert|solve|debug)"
    r" (?:me|us|a|an|the|some|my|this|that|it|\d+|ideas|tips)\b)",
    re.IGNORECASE,
)
# "I like to bake, write a diary and paint" tells what is done.
_DOINGS = re.compile(
    r"\b(?:(?:like|love|enjoy|want|need|have|has|got|hope|used|prefer|supposed)s? to|usually|"
    r"always|often|every|normally|typically|sometimes|each|will|can)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Sentence:
    text: str
    start: int
    question: bool


@dataclass(frozen=True)
class Piece:
    """A clause with its place in the message.

    `linked`: it continues the clause before. `asks`: it asks for something, and states nothing.
    """

    text: str
    start: int
    linked: bool = False
    asks: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def sentences(text: str) -> Iterator[Sentence]:
    begin = 0
    for match in _SENTENCE.finditer(text):
        if match[0].startswith(".") and _is_abbreviation(text, match.start()):
            continue
        if match[0].strip() in _JOINS and _CORRECTS.search(text[begin : match.start()][-40:]):
            continue
        if match[0][0] == ":" and _cites(text[max(0, match.start() - 24) : match.start()]):
            continue
        yield from _sentence(text, begin, match.start(), "?" in match[0] or "？" in match[0])
        begin = match.end()
    yield from _sentence(text, begin, len(text), False)


def _cites(lead: str) -> bool:
    """Whether what follows the colon may be somebody's words, or words to work on."""
    return bool(_CITES.search(lead)) and not _ANNOUNCES.search(lead)


def _is_abbreviation(text: str, dot: int) -> bool:
    return _ABBREVIATION.search(text[max(0, dot - 8) : dot]) is not None


def _sentence(text: str, begin: int, end: int, question: bool) -> Iterator[Sentence]:
    raw = text[begin:end]
    stripped = raw.strip(" \t\r,.:()*•-")
    if stripped and len(stripped) <= 1200:
        yield Sentence(stripped, begin + raw.index(stripped), question)


def clauses(sentence: Sentence) -> Iterator[Piece]:
    """The clauses of a sentence that may state something about the speaker."""
    if _SARCASTIC.search(sentence.text):
        return
    pieces = list(_pieces(sentence))
    if sentence.question:
        pieces = _before_the_question(pieces)
    reported = False
    for piece in pieces:
        reported = reported or _is_report(piece.text)
        if not (reported or piece.asks or _SUPPOSED.search(piece.text)):
            yield piece
        if re.match(r"if\b", piece.text, re.IGNORECASE) or _SUPPOSED.search(piece.text):
            return


def _pieces(sentence: Sentence) -> Iterator[Piece]:
    begin, linked = 0, False
    for match in _CLAUSE.finditer(sentence.text):
        yield from _piece(sentence, begin, match.start(), linked)
        begin, linked = match.end(), True
    yield from _piece(sentence, begin, len(sentence.text), linked)


def _piece(sentence: Sentence, begin: int, end: int, linked: bool) -> Iterator[Piece]:
    raw = sentence.text[begin:end]
    told = _told(raw)
    for at, part, asks in ((0, raw[:told], False), (told, raw[told:], True)):
        if stripped := part.strip(" ,.:\t"):
            start = sentence.start + begin + at + part.index(stripped)
            yield Piece(stripped, start, linked, asks)


def _told(clause: str) -> int:
    """Where a request begins in a clause, or its end."""
    asked = _REQUEST.search(clause)
    if asked is None:
        return len(clause)
    goes_on = _DOINGS.search(clause[: asked.start()]) or " and " in clause[asked.end() :]
    return len(clause) if asked["also_done"] and goes_on else asked.start()


def _before_the_question(pieces: list[Piece]) -> list[Piece]:
    """ "I'm a nurse, do you know …?" states its first clause; "I live where?" states nothing."""
    for index, piece in enumerate(pieces):
        asks = piece.asks or _QUESTION.match(piece.text)
        if index and asks and not re.match(r"right$|ok$|okay$", piece.text):
            return pieces[:index]
    return []


# What a doctor finds is the person's own condition, told by way of a report.
_DIAGNOSIS = re.compile(
    r"\b(?:doctor|doc|gp|cardiologist|dermatologist|specialist|nutritionist|dietitian|psychiatrist|"
    r"neurologist|physio|dentist|nurse|consultant)\b.{0,20}\b(?:says?|said|told me|thinks|"
    r"confirmed|"
    r"found|reckons)\b.{0,8}\b(?:i|i'm|i've|im|ive|my|to)\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\b(?:told|asked|advised|warned|wants) me (?:not )?to (?:avoid|stop|cut|quit|"
    r"take|eat|drink|limit|lose|wear|rest|reduce|exercise|not|give)\b",
    re.IGNORECASE,
)


def _is_report(clause: str) -> bool:
    if _ADVICE.search(clause) or _DIAGNOSIS.search(clause):
        return False
    return bool(_REPORTED.search(clause)) or bool(
        re.match(r"(?i)(?:he|she|they|you|people|everyone|my|the|some|[a-z]+ says)\b", clause)
        and _REPORT_OF_ME.search(clause)
    )
