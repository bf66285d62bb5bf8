"""The English rules: what a person may say of themselves or of their people, and its worth.

PREDICATES are matched at the start of a predicate in the third person singular ("I've got a cat"
is read as "has a cat"), so that one row serves "I", "my sister" and "Anna". The first row that
fits wins: put the particular before the general. To add one, write a row, and a sentence for it in
tests/memories/extraction/test_english.py.
"""

from memories.extraction.rules.en_body import CONSTRAINTS, HEALTH, IDENTITY
from memories.extraction.rules.en_doings import (
    APPOINTMENTS,
    DATED_PLANS,
    DATES_OF_THINGS,
    EVENTS,
    NEGATED_NOW,
    OTHERS,
    PLANS,
    THINGS,
)
from memories.extraction.rules.en_life import FAMILY, HOME, WORK
from memories.extraction.rules.en_pieces import rule, table
from memories.extraction.rules.en_tastes import FAVOURITES, HABITS, SKILLS, TASTES

PREDICATES = table(
    *CONSTRAINTS,
    *HEALTH,
    *IDENTITY,
    *HOME,
    *WORK,
    *FAMILY,
    *SKILLS,
    *TASTES,
    *APPOINTMENTS,
    *DATED_PLANS,
    *HABITS,
    *PLANS,
    *OTHERS,
    *EVENTS,
)
OF_THINGS = table(*DATES_OF_THINGS, *PLANS[-1:], *THINGS)
OF_FAVOURITES = table(*FAVOURITES)
NO_LONGER = table(*NEGATED_NOW)

_NAME = r"(?P<x>(?-i:[A-Z])[\w'\-]+(?: (?-i:[A-Z])[\w'\-.]+){0,3})"
_STYLE = (
    r"(?:short|brief|concise|direct|detailed|simple|formal|informal|casual|friendly|polite|plain|"
    r"long|"
    r"honest|structured|technical|to the point|in bullet points|bullet points|step by step)"
)
INTRODUCTION = rule("name", "fact", 0.9, 0.95, r".*", say="name is {x}")

# fmt: off
# Whole clauses, where the subject isn't the speaker or there is none.
CLAUSES = table(
    rule("birthday", "fact", 0.7, 0.9,
         r"it(?:'s| is) my (?:\w+ )?birthday (?P<x>today|tomorrow|(?:on |this |next )\w+day)$",
         say="has a birthday {x}"),
    rule("weekday", "pattern", 0.5, 0.85,
         r"(?P<x>(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekends|mornings|evenings) (?:are|"
         r"is) (?:always |usually )?(?:for|reserved for|all about) (?!(?:me|you|it|that)\b).+)",
         say="{x}"),
    rule("fragment", "pattern", 0.5, 0.8,
         r"(?P<x>(?!(?:i|we|you|he|she|it|they|this|that|there|the|these|those|who|what|how|why|when|"
         r"where|is|are|was|do|does|did|can|could|let's|if|same|not|no|just|only|thanks?|my|our|his|"
         r"her|their|write|send|give|tell|remind|post|show|ask|add|use|try|take|apply|repeat|call|"
         r"generate|translate|drink|eat|mix|stir|water|do|make|go|check|news|rain|meetings?|bills?|deadlines?|traffic)\b)"
         r"(?:[a-z][\w'-]* ){1,3}(?:every (?:single )?(?:morning|evening|night|day|mon|tues|wednes|"
         r"thurs|fri|satur|sun|week|month|year|summer|winter)\w*|(?:once|twice|three times|"
         r"four times|\d times) a (?:day|week|month|year))(?: (?:before|after|with|at|in|for) "
         r"[\w' ]{2,30})?)(?:,.*)?$", say="{x}"),
    rule("deadline", "task", 0.65, 0.85,
         r"(?P<x>(?:the|our|this) (?!(?:one|thing|movie|film|show|game|"
         r"book)\b)(?:[\w'-]+ ){1,6}?(?:is|"
         r"are|'s) (?:due|scheduled|happening|taking place|on) .+)", say="{x}", dated=True),
    rule("gathering", "pattern", 0.55, 0.85,
         r"(?P<x>(?:(?:the|our) )?(?:[\w'-]+ ){0,3}(?:club|class|classes|choir|practice|"
         r"rehearsals?|"
         r"therapy|training|stand-?up|meetings?|lessons?|group|league|church|service|yoga|band|"
         r"team "
         r"call|sync|game night|poker night) (?:meets|is|are|starts|runs|happens|takes place|"
         r"gathers) .*<rhythm>.*)", say="{x}"),
    rule("dislikes", "preference", 0.6, 0.85,
         r"(?:really |definitely )?not (?:really |exactly |much of )?(?:an? (?:big |"
         r"huge )?)?fan of <liking>", say="isn't a fan of {x}"),
    rule("into", "preference", 0.55, 0.85,
         r"(?:big|huge|massive) fan of <object>", say="is a fan of {x}"),
    rule("advised", "constraint", 0.85, 0.85,
         r"my (?:doctor|gp|dentist|therapist|physio|cardiologist|dermatologist|nutritionist|"
         r"dietitian|specialist) (?:has )?(?:told|asked|advised|warned|"
         r"wants) me (?P<x>(?:not )?to .+)", say="was told by a doctor {x}"),
    rule("name", "fact", 0.9, 0.95,
         r"(?:my (?:full |first |real |given )?name(?:'s| is)|i go by|(?:please |just |"
         r"you can |people |everyone |friends |my friends |they |feel free to )+calls? me|"
         rf"i'm called) {_NAME}(?: (?:by the way|btw|and .*))?$",
         say="name is {x}", data={"shape": "name"}),
    rule("nickname", "fact", 0.85, 0.9,
         rf"(?:please |pls |plz |just )*call me {_NAME}"
         r"(?: from now on| instead| rather than .+|,? not .+)?$",
         say="prefers to be called {x}"),
    rule("favourite", "preference", 0.65, 0.9,
         r"(?P<x>(?!(?:it|this|that|which|what|who|he|she|they|one|those|"
         r"these)\b)[\w'\"“”&-]++(?: [\w'\"“”&-]++){0,7}?) (?:is|are|"
         r"has always been) (?:probably |definitely |one of )?my (?:all-time |"
         r"absolute )?(?P<y>favou?rites?(?: [\w-]+){1,3})$", say="{y} is {x}"),
    rule("best", "preference", 0.6, 0.85,
         r"(?P<x>(?!(?:it|this|that|which|what|who|he|she|they|one|those|"
         r"these)\b)[\w'\"“”&-]++(?: [\w'\"“”&-]++){0,7}?) (?:is|are|"
         r"has always been) (?:probably |definitely |one of )?my (?:all-time |"
         r"absolute )?(?:favou?rites?|faves?|fav)$", say="likes {x} best", data={"shape": "best"}),
    rule("allergy", "constraint", 0.95, 0.9,
         r"(?:severely |deathly |very )?allergic to (?!<idiom>)(?P<x>.+)",
         say="is allergic to {x}"),
    rule("allergy", "constraint", 0.9, 0.85,
         r"(?P<x>[\w ]{3,40}) (?:gives? me (?:hives|a rash|migraines|heartburn)|"
         r"makes? me (?:sick|ill|break out|nauseous|throw up))(?: .*)?$",
         say="gets ill from {x}", data={"shape": "best"}),
    rule("given", "event", 0.5, 0.8,
         r"(?:just|recently|finally) (?P<x>(?:got|started|moved|adopted|bought|finished|"
         r"signed up|joined|passed|graduated|quit|retired|became|had a baby|returned|"
         r"came back) .+)", say="{x}"),
)

# What a person asks of the assistant for good: only with a word that says so, or about its style.
INSTRUCTIONS = table(
    rule("taboo", "constraint", 0.8, 0.85,
         r"(?:please )?(?:never|don't ever|do not ever|don't|do not|"
         r"stop) call(?:ing)? me (?P<x>(?!back|later|at|when|tomorrow|today|on|again|"
         r"tonight|now|in|after|before)\b.+)", say="doesn't want to be called {x}"),
    rule("style", "preference", 0.75, 0.85,
         r"(?:please )?(?:keep|make) (?:your |the |all |all your )?(?:answers?|repl(?:y|"
         r"ies)|responses?|explanations?|"
         rf"messages?) (?P<x>(?:\w+,? (?:and )?){{0,2}}{_STYLE}\b.*)", say="prefers {x} answers"),
    rule("style", "preference", 0.75, 0.85,
         r"when(?:ever)? you (?:give|write|show|send|"
         r"draft)(?: me)? (?P<w>[\w ]{3,30}?),? (?:please )?(?:always )?"
         r"(?P<x>(?:use|keep|make|add|avoid|include|skip|write|start|put) .+)",
         say="wants the assistant to {x} for {w}"),
    rule("style", "preference", 0.75, 0.85,
         r"(?:please )?(?:always|from now on,?(?: please)?|"
         r"in (?:the )?future,?(?: please)?) (?P<x>(?:answer|reply|respond|write|speak|talk|"
         r"use|explain|give|include|call|address|start|end|keep|show|convert|format|ask|"
         r"check|be|add|cite)\b.+)", say="wants the assistant to always {x}"),
    rule("taboo", "constraint", 0.85, 0.85,
         r"(?:please )?(?:never|don't ever|do not ever|from now on,? (?:don't|never)|"
         r"always avoid|stop) (?P<x>(?:mention(?:ing)?|bring(?:ing)? up|suggest(?:ing)?|"
         r"recommend(?:ing)?|call(?:ing)? me|talk(?:ing)? about|us(?:e|ing)|ask(?:ing)?|"
         r"sugarcoat\w*|apologi[sz](?:e|ing)|add(?:ing)?|start(?:ing)?|say(?:ing)?|"
         r"offer(?:ing)?|us(?:e|ing)|writ(?:e|ing)|send(?:ing)? me|includ(?:e|ing)|giv(?:e|"
         r"ing) me) .+)", say="doesn't want the assistant to {x}", data={"shape": "base"}),
    rule("taboo", "constraint", 0.8, 0.8,
         r"(?:please )?(?:don't|do not) (?P<x>(?:use|add|include) (?:any )?(?:emojis?|"
         r"bullet points|markdown|slang|jargon|swear words|exclamation marks|tables|"
         r"headings|abbreviations|filler)\b.*|call me (?!back|later|at|when|tomorrow|crazy|"
         r"stupid).+|sugarcoat .+|mention .+ (?:again|anymore|any more))",
         say="doesn't want the assistant to {x}"),
    rule("style", "preference", 0.75, 0.85,
         r"(?:please )?(?:answer|reply|respond|speak|write|talk) (?:to me )?(?:only |"
         r"always )?(?P<x>in <language>)(?: from now on| always| please)?$",
         say="wants answers {x}"),
    rule("style", "preference", 0.75, 0.85,
         r"i(?:'d| would) (?:much )?(?:rather|prefer it if) you (?P<x>(?:answered|explained|wrote|"
         r"spoke|used|"
         r"gave|kept|asked|called|replied|didn't|stuck|told|showed|skipped|started) .+)",
         say="would rather the assistant {x}"),
    rule("call", "preference", 0.8, 0.9,
         rf"(?:please |you can |just |feel free to )*call me {_NAME}(?: from now on| instead|"
         r" please)?$", say="prefers to be called {{x}}".replace("{{", "{").replace("}}", "}")),
)
# fmt: on
