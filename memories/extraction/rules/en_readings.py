"""English: the plain statements behind a roundabout sentence.

"My cousin who lives in Perth is a vet" says "My cousin lives in Perth" and "My cousin is a vet".
Each row finds one way of speaking; its texts are read by the rules like any other clause. To add a
way of speaking, write a row, and a sentence for it in tests/memories/extraction/.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memories.extraction.rules.en_pieces import PIECES
from memories.extraction.rules.en_verbs import for_plural
from memories.extraction.rules.en_words import JOBS, RELATIONS
from memories.extraction.rules.rule import compile_pattern

_PLACES = (
    r"(?:hospital|clinic|school|nursery|university|college|office|company|firm|shop|store|"
    r"restaurant|cafe|café|bar|pub|lab|library|bank|hotel|factory|warehouse|museum|theat(?:er|re)|"
    r"studio|agency|farm|pharmacy|salon|gym|kitchen|garage|startup|newspaper|charity|shelter|"
    r"airport|station|practice|bakery|bookshop|bookstore|surgery|supermarket|care home)"
)
_FINITE = (
    r"(?:is|was|has|had|just|got|gets|works|worked|loves?|likes?|hates?|lives?|lived|teaches|"
    r"studies|plays|runs|owns|can't|doesn't|never|always|moved|married|started|died|passed away|"
    r"speaks|can|does|drives|wants|graduated|turned|turns|keeps|makes|says|thinks|cooks|comes|came|"
    r"visits|called|gave|sent|will|told)"
)
_NOT_A_THING = (
    r"(?!(?:it|this|that|these|those|he|she|they|we|you|i|there|what|which|who|so|and|the one|"
    r"today|work|someone|something|everything|anything)\b)"
)
_THING = rf"(?P<x>{_NOT_A_THING}[A-Za-z][\w'& -]{{2,40}}?)"
_DOCTOR = (
    r"\b(?:(?:my|the|our) )?(?:doctor|doc|gp|cardiologist|dermatologist|specialist|nutritionist|"
    r"dietitian|psychiatrist|neurologist|physio|dentist|nurse|consultant)(?:'s| just| has|"
    r" finally)*"
    r" (?:says|said|told me|thinks|confirmed|found(?: out)?|reckons)(?: that)? "
)
_PIECES = dict(PIECES) | {
    "places": _PLACES,
    "finite": _FINITE,
    "thing": _THING,
    "doctor": _DOCTOR,
    "jobs": rf"(?:{JOBS})",
    "kin": rf"(?P<who><modifiers>(?:{RELATIONS})(?: (?-i:[A-Z][a-z]+))?)".replace(
        "<modifiers>", PIECES["modifiers"]
    ),
}


@dataclass(frozen=True)
class Reading:
    """`texts` are filled from the groups; a group named `base` is put into its plain form.

    `near`: one of these stands in every clause that the pattern finds; looking for them is cheap.
    """

    near: frozenset[str]
    pattern: re.Pattern[str]
    texts: tuple[str, ...]


def _row(near: str, pattern: str, *texts: str) -> Reading:
    return Reading(frozenset(near.split("|")), compile_pattern(pattern, _PIECES), texts)


# fmt: off
READINGS = (
    _row(" who|that", r"\b(?:my|our) <kin>,? (?:who|that)(?P<a>(?:'s)? .+?),? (?P<b><finite> .+)$",
         "my {who}{a}", "my {who} {b}"),
    _row(" who", r"\b(?:my|our) <kin>,? who(?P<a>(?:'s| <finite>) .+)$", "my {who}{a}"),
    _row(" i work| i teach| i volunteer| i study| we work| we teach| we study",
         r"\bthe (?P<x>(?:[\w'-]+ ){0,2}?<places>),? (?:where|that|in which) (?:i|we) "
         r"(?P<v>work|teach|volunteer|study)\b", "i {v} at a {x}"),
    _row(" i work| i teach| i volunteer", r"\bat the (?P<x>(?:[\w'-]+ ){0,2}?<places>) i "
         r"(?P<v>work|teach|volunteer)(?: (?:at|in|for))?\b",
         "i {v} at a {x}"),
    _row(" i work| i teach| i volunteer", r"\bthe (?P<x>(?:[\w'-]+ ){0,2}?<places>) i (?P<v>work|"
         r"teach|volunteer) (?:at|in|for)\b",
         "i {v} at a {x}"),
    _row("sa|told|think|confirm|found|reckon", r"<doctor>(?P<x>(?:i(?:'m|'ve)? (?:have|got|am|"
         r"borderline|pre-?diabetic|allergic|anaemic|"
         r"anemic|low|deficient)|i'm|i've got|my) .+)$", "{x}"),
    _row("sa|told|think|confirm|found|reckon", r"<doctor>(?:i|to|me to) ?(?:need to|have to|"
         r"should|must|'ve got to|had to|ought to)? ?"
         r"(?:stay away from|avoid|stop eating|stop drinking|cut out|lay off|steer clear of|"
         r"give up) (?P<x>.+)$", "i must avoid {x}"),
    _row("sa|told|think|confirm|found|reckon", r"<doctor>i (?P<x>(?:can't|cannot|shouldn't|"
         r"mustn't) (?:eat|drink|have|take|do|lift) .+)$",
         "i {x}"),
    _row("put me|started me|prescribed me", r"\b(?:my |the |our )?(?:doctor|doc|gp|specialist|"
         r"cardiologist|psychiatrist|neurologist|dermatologist|consultant|nurse)(?: has| just|"
         r" finally)* (?:(?:put|started) me (?:back )?on|prescribed me) "
         r"(?P<x>(?!(?:hold|the spot|a waiting|the list|notice)\b)[\w -]{3,40}?)"
         r"(?P<y> (?:last|this|in|on|since|two|three|a) [^,]*)?(?:,.*)?$",
         "i was prescribed {x}{y}"),
    _row("proposed to me", r"(?P<x>(?-i:[A-Z][a-z]+)|"
         r"my <relation>(?: (?-i:[A-Z][a-z]+))?) (?:finally |just )?"
         r"proposed to me(?P<y>.*)$", "i was proposed to by {x}{y}"),
    _row("my ", r"^(?:he|she)(?P<a>(?:'s| is| has| works| lives| loves|"
         r" hates) .+?),? \(?(?:i mean )?my <kin>(?:,? i mean)?$",
         "my {who}{a}"),
    _row("my ", r"^(?:his|her) (?P<x>birthday|name|job|favou?rite \w+|allergy)(?P<a>(?:'s| is) .+?)"
         r",? \(?(?:i mean )?my <kin>'s(?:,? i mean)?$", "my {who}'s {x}{a}"),
    _row("there's no way|ain't no way|no way i", r"no way (?:that )?i(?:'m| am) (?:eatin[g']?|"
         r"drinkin[g']?|"
         r"touchin[g']?) (?P<x>[\w -]{3,40}?)(?:,.*)?$", "i don't eat {x}"),
    _row(" more than", r"^i (?:love|like|enjoy) (?P<x>[\w' -]{3,40}?) "
         r"(?:much |way |far |a lot )?more than (?P<y>[\w' -]{3,40})$", "i prefer {x} to {y}"),
    _row("where", r"\b(?:in|from|near|to|around|of) (?P<x>(?-i:[A-Z])[\w-]+),? where (?:i|"
         r"we) (?:both )?(?P<v>live|work|"
         r"grew up|study)\b", "i {v} in {x}"),
    _row("into", r"\bit(?:'s| is) (?P<x>[\w -]{3,40}?) (?:that )?i(?:'m| am)(?: really)? into\b",
         "i'm into {x}"),
    _row("it", r"\bit(?:'s| is) (?P<x>[\w -]{3,40}?) (?:that )?i (?:really )?(?P<v>like|love|"
         r"prefer|hate|play|teach|"
         r"study)$", "i {v} {x}"),
    _row("nothing beats", r"\bnothing beats (?P<x>(?!that|this|it\b|"
         r"a good laugh).+?)(?: if you ask me)?$", "i love {x}"),
    _row(" is my ", r"^(?P<x>(?!it\b|this|that)[\w' -]{3,40}) is my (?P<y>comfort|go-to|"
         r"happy place|guilty pleasure|all-time)"
         r"(?P<z>(?: \w+){0,2})$", "my favourite {y}{z} is {x}"),
    _row("my ", r"\bmy (?P<x><language>) (?:is|'s) (?P<y>decent|good|ok|okay|rusty|basic|fluent|"
         r"terrible|passable|"
         r"intermediate|bad)\b", "i speak {y} {x}"),
    _row("day", r"^(?P<d>(?:mon|tues|wednes|thurs|fri|satur|sun)day)s? (?:is|are) (?:always |"
         r"usually )?(?:my |our )?"
         r"(?P<x>[\w -]{3,24}? (?:day|night|time|morning))(?: for (?:me|us))?$",
         "i have {x} every {d}"),
    _row("as a", r"(?:^|[ ,])as (?P<x>an? (?:(?!language|large)[\w-]+ ){0,3}?<jobs>)(?=,| (?:i|we|"
         r"my)\b)"
         r"(?!,? i (?:was|had|used|went|lived|\w+ed)\b)", "i'm {x}", "{rest}"),
    _row("as someone", r"(?:^|[ ,])as someone (?:with|who has|who suffers from) (?P<x>[^,]+?)(?=,|"
         r" i\b| my\b)",
         "i have {x}", "{rest}"),
    _row("as someone", r"(?:^|[ ,])as someone who (?P<base>(?:works|lives|hates|loves|never|can't|"
         r"doesn't|grew|"
         r"is|speaks|runs|plays|studies|teaches) [^,]+?)(?=,| i\b| my\b)", "i {base}", "{rest}"),
    _row("and |& ", r"^<thing> (?:and|&) (?:i|me) (?:really |just )?(?:do not|don't|dont|"
         r"never) (?:get along|"
         r"get on|mix|agree|go together)", "i don't get along with {x}"),
    _row("my ", r"^<thing> (?:isn't|aren't|(?:is|are|'s) (?:really |just |"
         r"definitely )*not) (?:really |exactly |quite )*"
         r"my (?:thing|cup of tea|jam|scene|bag)\b", "i'm not into {x}"),
    _row("my ", r"^<thing> (?:is|are|'s) (?:more |totally |really |so |very much |"
         r"definitely )*my (?:thing|cup of tea|jam|"
         r"scene|bag)\b", "i'm into {x}"),
    _row("nothing for me", r"^<thing> (?:do|does) (?:absolutely )?nothing for me",
         "i don't like {x}"),
    _row(" me", r"^<thing> (?:grosses? me out|makes? me gag|creeps? me out|gives? me the creeps|"
         r"leaves? me cold)", "i can't stand {x}"),
    _row("catch me", r"\b(?:you(?:'ll| will) never|you won't) catch me (?P<x>(?:eating|drinking|"
         r"wearing|watching|"
         r"running|doing|using|going to|at) .+)$", "i don't like {x}"),
    _row("touch", r"\bi(?:'d| would)(?:n't| not)? (?:never |not )?touch (?P<x>.+?) (?:with a|"
         r"if you)",
         "i can't stand {x}"),
    _row(" without", r"\bi (?:could|can) (?:happily |easily )?(?:live|do) without (?P<x>.+)$",
         "i don't care for {x}"),
    _row("never", r"\bi(?:'ve| have)? never (?:really )?(?:saw|see|seen|understood|got|get|"
         r"gotten) the (?:appeal|"
         r"point|hype) (?:of|about|with|in|behind) (?P<x>.+)$", "i don't care for {x}"),
    _row(" over ", r"^(?:it's |give me |i'll take |i'd (?:pick|choose|take) |always )?<thing> over "
         r"(?P<y>[\w' -]{2,30}?)(?: (?:any ?day|any ?time|always|every time)(?: of the week)?)"
         r"(?: for me)?(?=$|[,.!])", "i prefer {x} to {y}"),
    _row(" over ", r"^(?:give me|i'll take|i'd (?:pick|choose|"
         r"take)) <thing> over (?P<y>[\w' -]{2,30})$",
         "i prefer {x} to {y}"),
    _row("", r"^(?P<x>(?:early |late )?(?:mornings?|evenings?|nights?|weekends?|"
         r"afternoons?)) (?:are|is) "
         r"(?:usually )?when i (?P<y>.+)$", "i usually {y} in the {x}"),
    _row("raised|brought", r"\b(?:my|our) <kin> (?:basically |mostly |pretty much )?(?:raised|"
         r"brought) (?:me|us)\b",
         "i was raised by my {who}"),
    _row("promise", r"\bi(?:'m| am)? ?(?:have )?(?:promised?) (?:my |"
         r"the )?(?P<who>[\w ]{2,20}?) (?:that )?"
         r"(?:i'd|i would|i'll) (?P<x>.+)$", "i promised {who} to {x}"),
)
# Without "I", as people type at the beginning of a message or after a full stop.
FRAGMENTS = (
    _row("", r"^(?P<x>been (?:<state>|living|working|studying|learning|playing|doing|dating|"
         r"married|vegan|"
         r"vegetarian|running|practi\w+|taking|teaching|together)\b.*)", "i've {x}"),
    _row("", r"^(?P<x>(?:grew up|moved (?:to|from|here|out|in)|used to|can't stand|cannot stand|"
         r"cant stand|"
         r"hate (?!is|was)|hated|dislike|never (?:eat|drink|touch)|got (?:an?|two|three|four|my|"
         r"married|engaged)|"
         r"have (?:two|three|four|five)|work (?:as|at|for|nights)|live (?:in (?-i:[A-Z])|"
         r"with (?:my|two|"
         r"three))|only (?:eat|drink|ever)|gave up|quit (?:smoking|drinking|sugar)|"
         r"stopped (?:eating|drinking|smoking)|(?:broke|fractured|sprained|"
         r"tore|dislocated) my|had (?:surgery|an operation|my (?:appendix|tonsils|gallbladder|"
         r"wisdom))|got (?:"
         r"promoted|laid off|fired|accepted|into (?-i:[A-Z]))|passed my|quit my job|adopted (?:a|"
         r"two)|can't (?:eat|drink|have|do)|don't (?:eat|drink)|dont (?:eat|drink)) .+)", "i {x}"),
    _row("", r"^(?P<x>(?:born|raised|brought up) (?:in|and|on|by) .+)", "i was {x}"),
    _row("", r"^(?P<x>(?:living in (?-i:[A-Z])|working (?:as|at|for) |training for |"
         r"learning (?:<language>|to "
         r"(?:drive|cook|swim|code|knit|sew|ski|surf|play|speak))\b|studying (?!is|was|can|for)|"
         r"married (?:to an? |with|for )|"
         r"vegan|vegetarian|colou?rblind|left.handed|diabetic|retired|divorced|pregnant).*)",
         "i'm {x}"),
    _row("", r"^(?P<x>(?:having (?:a baby|twins|a boy|a girl|surgery)|expecting (?:a|twins|our|"
         r"my)|getting "
         r"(?:married|divorced)|moving (?:to|in with|house)|flying to|starting (?:an?|my|at|"
         r"uni\w*|school)|"
         r"retiring)\b.+)", "i'm {x}"),
    _row("", r"^(?P<x>(?:dad|mum|mom|grandma|grandpa|nan|gran|hubby|mother|father)(?:'s| is| was|"
         r" has| works| "
         r"lives| died| passed) .+)", "my {x}"),
    _row("here", r"^(?P<x>(?:[\w-]+ ){0,2}?(?:<jobs>|(?:mom|mum|dad|mother|father|"
         r"parent) of [\w ]{1,20}?))"
         r" here\b", "i'm a {x}"),
    _row("here", r"^(?P<x><trait>|diabetic|celiac|coeliac|vegan) here\b", "i'm {x}"),
)
# fmt: on
_ALL = (*READINGS, *FRAGMENTS)
_NEAR = frozenset().union(*(row.near for row in _ALL))
_CONTRACTIONS = (
    (re.compile(r"\b[Ii]m\b(?! (?:pei|memoriam))"), "I'm"),
    (re.compile(r"\b[Ii]ve\b"), "I've"),
    (re.compile(r"^(?:i|I)d (?=rather|love|like|prefer)"), "I'd "),
    (re.compile(r"\b(d|D)ont\b"), r"\1on't"),
    (re.compile(r"\b(c|C)ant\b"), r"\1an't"),
    (re.compile(r"\b(d|D)oesnt\b"), r"\1oesn't"),
    (re.compile(r"\b(w|W)ont\b"), r"\1on't"),
    (re.compile(r"\b(i|I)snt\b"), r"\1sn't"),
    (re.compile(r"\b(a|A)rent\b"), r"\1ren't"),
    (re.compile(r"\b(d|D)idnt\b"), r"\1idn't"),
    (re.compile(r"\bu\b"), "you"),
    (
        re.compile(
            r"\b[Mm]e (?=mam|mum|mom|dad|da|nan|gran|brother|sister|wife|missus|son|daughter)"
        ),
        "my ",
    ),
    (re.compile(r"\balergic\b|\ballergc\b|\balergick\b"), "allergic"),
    (re.compile(r"\balwys\b|\balwayz\b"), "always"),
    (re.compile(r"\bjst\b"), "just"),
    (re.compile(r"\b(?:yrs|yr)\b"), "years"),
    (re.compile(r"\bmths\b"), "months"),
    (re.compile(r"\bgf\b"), "girlfriend"),
    (re.compile(r"\bbf\b"), "boyfriend"),
    (re.compile(r" (?:n|&) "), " and "),
    (re.compile(r"\bcuz\b|\bcos\b|\bbc\b"), "because"),
    (re.compile(r"\b(?:rlly|rly)\b"), "really"),
)
_TYPED = re.compile(
    r"\b(?:me|n|al+ergi?ck?|alway?[sz]|alwys|jst|[gb]f|im|ive|id|dont|cant|doesnt|wont|isnt|arent|"
    r"didnt|u|cuz|cos|bc|rlly|rly|yrs?|mths)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:[Mm]y|[Oo]ur) (?P<who>(?:(?:older|elder|younger|eldest|youngest|little|big|twin|baby|"
    r"oldest) )?(?:son|daughter|wife|husband|partner|boyfriend|girlfriend|fianc[eé]e?|sister|"
    r"brother|"
    r"dog|cat|puppy|kitten|horse|rabbit|hamster|niece|nephew|grandson|granddaughter|stepson|"
    r"stepdaughter)),? (?P<name>(?!(?:I|And|But|God|Mr|Mrs|Dr|Christmas|Easter|Monday|Tuesday|"
    r"Wednesday|Thursday|Friday|Saturday|Sunday)\b)[A-Z][a-z]{1,14})\b"
)
_CONTINUES = re.compile(
    r",? (?:and (?=(?:\w+(?:s|ed|'t)|have|can|am|was|do|still|never|always|making|i|we|my)\b)|but|"
    r"so (?!much|far|many|long|often|called|on\b|that)|which|because|cause|since|although|"
    r"though|whereas|while|just (?:text|tell|give|send|show|make|keep)|please|pls|lol|haha|lmao|"
    r"tbh|"
    r"btw|also|meanwhile|still)\b.*|[,(;].*",
    re.IGNORECASE,
)


def typed_out(text: str) -> str:
    """ "im", "dont", "u": as they would be spelt."""
    if not _TYPED.search(text):
        return text
    for pattern, words in _CONTRACTIONS:
        text = pattern.sub(words, text)
    return text


def readings(text: str, *, linked: bool) -> Iterator[str]:
    """The statements behind the first roundabout way of speaking that fits."""
    low = text.lower()
    seen = {word for word in _NEAR if word in low}
    for row in READINGS if linked else _ALL:
        if not row.near.isdisjoint(seen) and (match := row.pattern.search(text)):
            groups = {name: _open_is(value or "") for name, value in match.groupdict().items()}
            groups["rest"] = text[match.end() :].strip(" ,")
            if "base" in groups:
                groups["base"] = for_plural(groups["base"])
            for words in row.texts:
                yield words.format(**groups)
            return


def _open_is(text: str) -> str:
    """After the name it is put behind, "'s 11" would look like something owned."""
    return f" is{text[2:]}" if text.startswith("'s ") else text


def named_in_passing(text: str) -> Iterator[str]:
    """ "We're picking our son Leo up" says what the son is called."""
    if "my " not in (low := text.lower()) and "our " not in low:
        return
    for match in _NAMED.finditer(text):
        yield f"my {match['who']} is called {match['name']}"


def shortened(text: str) -> str:
    """The clause up to where another begins."""
    return _CONTINUES.sub("", text, count=1).strip()
