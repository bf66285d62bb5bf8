"""English phrasings that say one thing, brought to one form before a memory is read."""

import re

from memories.extraction.arbitration.patterns_en import KIN, PETS_EN

_ANSWERS = r"(?P<what>answers|replies|responses|explanations|summaries)"
_ROLE = r"boss|manager|landlord|landlady|doctor|dentist|mentor|teacher|tutor|coach|supervisor|lead"

_INTRODUCED = re.compile(
    rf"^([A-Z][\w-]+) is (?:the user's|my|his|her|their|our) ({PETS_EN}|{'|'.join(KIN)})$"
)
# Each in its turn: what is made by one may be taken up by the next.
_BEINGS = "|".join([*KIN, PETS_EN])
_LEVELS = (
    r"(?:kindergarten|preschool|nursery|(?:first|second|third|fourth|fifth|sixth|\w+th) grade)"
)
_FORMS: tuple[tuple[str, str], ...] = (
    (r" ?\(as of [^)]*\)", ""),
    (r"^(.+) (?:is|are) (?:a |one of (?:the |\w+ )?(?:user's )?|(?:the )?user's |my |his |her )"
     r"(?:hobby|hobbies|passion|pastime|interest)s?(?: of \w+)?$", r"likes \1"),
    # whom it is about
    (rf"^([A-Z][\w-]+), (?:the user's|my|his|her|their) ({_BEINGS}),? (?=is |has |\w+s )",
     r"\2 \1 "),
    (r"\bbefore (?:(?:going|she goes|he goes|I go) to )?(?:bed|sleep(?:ing)?"
     r"|bedtime)\b", "before bed"),
    (r"\b(?:finished|completed) (?=[A-Z][\w ]+ in \d{4})", "graduated from "),
    (r"\bnever (?:been (?:abroad|outside (?:the|his|her|my) country)|left the country"
     r"|travell?ed abroad)",
     "not been abroad"),
    (r"^(.+?) is the (\w+) (?:that )?(?:the user|i|he|she) (?:hates?|dislikes?)"
     r"(?: the)? most$", r"hates \1"),
    (r"^(.+?) is the (\w+) (?:that )?(?:the user|i|he|she) (?:likes?|loves?|enjoys?)(?: the)? "
     r"(?:most|best)$",
     r"favorite \2 is \1"),
    (r"\bsleeps? (?:very |really |quite )?(?:well|soundly|like a (?:baby"
     r"|log))\b", "does not have insomnia"),
    (r"\b(?:lies awake|can not sleep|can't sleep|has trouble falling asleep)"
     r"(?: at night)?\b", "has insomnia"),
    (r"\bis an? (\w+) student at\b", r"studies \1 at"),
    (r"^([A-Z][\w-]+) (?:is|was) born (?=in |on )", r"\1 was born "),
    # what one goes without, and what one never goes without
    (r"\b(?:can not|can't|cannot) (?:eat|have|drink) (.+?) (?:because of|due to|owing to|as of)"
     r" (?:an? |the |her |his |my )?(?:\w+ )?allergy$", r"is allergic to \1"),
    (r"^((?:the )?user |i )?(?:is |eats |keeps )?(?:an? )?(\w+)[- ]free(?: diet)?\b(?! time)",
     r"\1does not eat \2"),
    (r"\b(?:avoid|steer(?:s)? clear of|stays? away from|abstains? from|refrains? from)s? "
     r"(?:eating |having |drinking |consuming )?(?=\w+(?: products?)?$)", "does not eat "),
    (r"\b(?:never|rarely) misses (?:an? |the |his |her )?", "goes to "),
    (r"\bdo(?:es)? not miss (?:an? |the |his |her )?", "goes to "),
    (r"^(?:never|no) (.+?) without (?:an? |the )?(.+)$", r"\1 only after \2"),
    (r"^(?:must|should|do|does|can|may) not (.+?) without (?:an? |the )?"
     r"(.+)$", r"\1 only after \2"),
    (r"\b(\w+ed|run|written|built) only (?:after|with|once) ", r"\1 only after "),
    # one for another
    (r"\b(?:has |have |had )?(?:traded|swapped|exchanged|replaced|ditched|dropped|left|quit)"
     r" (?:the |her |his |my |their |an? )?([^,;]+?) (?:in )?(?:for|with|by|and joined|to join)"
     r" (?:an? |the )?(?=[A-Z\w])", r"switched from \1 to "),
    (r"^(?:bought|got|uses|has) (.+?) (?:to replace|instead of|as a replacement for) (?:the "
     r"|her |his "
     r"|my |an? )?(.+)$", r"switched from \2 to \1"),
    (r"\breports? to (?=[A-Z])", "boss is "),
    (r"\bworks? under (?=[A-Z]\w+$)", "boss is "),
    (rf"\b(?:is|has been|attends|goes to|has started|started|began|starts|is now in) (?:in )?"
     rf"({_LEVELS})\b",
     r"grade is \1"),
    # measures
    (r"\b(\d)\.(\d\d) ?m(?:eters?|etres?)?\b", r"\1\2 cm"),
    (r"\bheight is (\d+) ?(?:cm|centimet\w+)\b", r"is \1 cm tall"),
    (r"\b(?:is|am) (?:down to|up to|at) (?=\d+(?:\.\d+)? ?(?:kg|kilos|lbs|pounds))", "weighs now "),
    (r"\b(\d+(?:\.\d+)?) ?(?:kilos?|kilograms?)\b", r"\1 kg"),
    # when one is at one's best
    (r"\b(?:does (?:the |his |her |their )?best work|works? (?:best|better)|is (?:most|more) "
     r"(?:productive|creative|awake))(?: late)? (?:at night|in the evening|after midnight)",
     "is a night owl"),
    (r"\b(?:does (?:the |his |her |their )?best work|works? (?:best|better)|is (?:most|more) "
     r"(?:productive|creative|awake))(?: early)? in the mornings?", "is an early riser"),
    # where a thing runs
    (r"^(.+?) (?:is|are) (?:installed|deployed|running|used) (?:on|in) (?:the |our )?(.+)$",
     r"\2 runs on \1"),
    (r"^(?:the |our )?([\w -]+ (?:server|machine|cluster|laptop|site|host|box)) runs (?=[A-Z])",
     r"\1 runs on "),
    (r"^(?:we|the team|our team|the repository|the repo|the project) (?:uses?|practi[cs]es?"
     r"|follows?"
     r"|works? with|does|do) ", "uses "),
    (r"^(?:(?:the )?user |i )?(?:is|am) (?:the |a )?(?:father|mother|parent|dad|mom) of ", "has "),
    (r"\b(?:is taking|am taking|takes?|taking) (.+?) (?:lessons|classes)", r"learning \1"),
    (r"(\d) (?:o'clock )?in the morning", r"\1 am"),
    (r"(\d) (?:o'clock )?in the (?:afternoon|evening)", r"\1 pm"),
    (r"can't|cannot", "can not"), (r"won't", "will not"), (r"n't\b", " not"),
    (r"\bi'm\b", "i am"), (r"'ve\b", " have"), (r"'re\b", " are"), (r"'ll\b", " will"),
    (r"\bcan not (?:live|do|function|start the day) without\b", "loves"),
    (r"\ba (?:\w+ )?(?:glass|cup|bottle|bit|piece|slice|lot|lots) of ", ""),
    (r"\b(it|he|she|that)'s\b", r"\1 is"),
    # being able
    (r"\b(?:(?:is|am) (?:not able|unable)|(?:does|do) not know how|never learn(?:ed|t)(?: how)?)"
     r" to\b", "can not"),
    (r"\b(?:knows? how|(?:is|am) able|(?:has |have )?learn(?:ed|t) how) to\b", "can"),
    (r"\b(?:is|am) (?:an? )?(?:(?:good|great|keen|avid|strong) )?(\w+) player\b", r"plays \1"),
    (r"\b(learn(?:s|ing)?) (?:how )?to (?:play |speak )?(?:the )?", r"\1 "),
    (r"\b(learn(?:s|ing)?) (?:play |speak )?the ", r"\1 "),
    (r"\b(?:is|am) (?:good|great|skilled|talented) at (\w+)", r"can \1"),
    # going to work, and going without
    (r"\b(?:takes?|rides?) (?:the |a )?"
     r"(bus|train|subway|metro|tram|ferry|bike) to (?:work|the office)",
     r"commutes by \1"),
    (r"\b(?:goes|go|gets|get|travels?) to (?:work|the office) (?:by|on) ", "commutes by "),
    (r"\b(?:cycles?|bikes?) to (?:work|the office)", "commutes by bike"),
    (r"\bwalks? to (?:work|the office)", "commutes on foot"),
    (r"\b(?:is|am) (?:a )?teetotal(?:l?er)?\b", "never drinks alcohol"),
    (r"\b(?:is|am) a non-?smoker\b", "never smokes"),
    (r"\bby (?:him|her|my|them)sel(?:f|ves)\b|\bon (?:his|her|my|their) own\b", "alone"),
    (r"\bsleeps? (?:in|late|until noon|till noon)\b", "is a night owl"),
    (r"\bwrites? with (?:the |his |her |my |their )?(left|right) hand", r"is \1-handed"),
    (r"\b(?:stays up|goes to bed) late\b", "is a night owl"),
    (r"\b(?:gets? up|rises?|wakes? up) early\b", "is an early riser"),
    # body and belief
    (r"\b(?:first language|mother tongue) is\b", "native language is"),
    (r"\b(?:has (?:a )?)?(?:arachnophobia|arachnophobic)\b", "afraid of spiders"),
    (r"\b(?:has (?:a )?)?(?:acrophobia|acrophobic)\b", "afraid of heights"),
    (r"\b(?:has trouble sleeping|sleeps (?:badly|poorly)|is an insomniac)\b", "has insomnia"),
    (r"\b(?:reacts badly|is sensitive) to\b", "is allergic to"),
    (r"\b(?:follows|sticks to|is on|keeps) (?:an? |the )?(\w+) diet\b", r"is \1"),
    (r"^((?:the )?user |i )?(?:is |am )?(?:an? )?(?:practi[cs]ing )?muslim$", r"\1is halal"),
    # the favorite, told from its end
    (r"^(.+?) (?:is|are) (?:the user's|my|his|her|their) (?:all-time )?favou?rite (\w+(?: \w+)?)$",
     r"favorite \2 is \1"),
    (r"^(.+?) (?:is|are) (?:the )?(?:all-time )?favou?rite (\w+(?: \w+)?)$", r"favorite \2 is \1"),
    (r"\bfavou?rite (?:drink|thing to drink)\b", "favorite beverage"),
    # who holds an office, by whatever verb; and what is paid for what
    (rf"^((?:the )?(?:{_ROLE})) is (?:called|named) (?=[A-Z])", r"\1 is "),
    (r"^(?:(?:the )?user |i )?pays? (?P<sum>[$£€]?\d[\d,.]*)(?P<when> (?:a|per|each|every) \w+)?"
     r" (?:in|for|as|on) (?:the |his |her |my )?(?P<what>rent|mortgage|insurance|tuition)"
     r"(?P<when2> (?:a|per|each|every) \w+)?$", r"\g<what> is \g<sum>\g<when>\g<when2>"),
    (r"(?<=\d\d) (?:every|each|per) (?=month$|year$|week$)", " a "),
    # wishes
    (r"\b(?:dreams? (?:of|about)|hopes? to|would (?:like|love) to|wishes to|is keen to)\b",
     "wants to"),
    (r"(?<=wants to )(?:going|go|travel(?:l?ing)?|visiting|fly|flying) (?:to )?", "visit "),
    (r"\b(?:year of birth|birth year) is (?=\d)", "was born in "),
    (r"\bis the (?:owner|proprietor) of\b", "owns"),
    # liking one thing over others
    (r"\b(?:likes?|loves?|enjoys?|prefers?) (.+?) (?:more|better|best|rather|most) "
     r"(?:than|of) (?:any other|all(?: the)?) (?:kinds? of )?(.+)$", r"favorite \2 is \1"),
    (r"\b(?:likes?|loves?|enjoys?|prefers?) (.+?) (?:more|better|rather) than (.+)$",
     r"prefers \1 over \2"),
    (r"\bwould rather (?:have )?(.+?) than (.+)$", r"prefers \1 over \2"),
    (r"\bprefers? (.+?) to (?!be\b)(.+)$", r"prefers \1 over \2"),
    # what answers should be like
    (rf"^(?:please )?(?:keep|make|write) (?:the |your |all )*{_ANSWERS} (?:\w+ )??(?P<how>\w+)$",
     r"prefers \g<how> \g<what>"),
    (rf"^(?:the )?(?:user )?(?:prefers|wants|likes) {_ANSWERS} (?:to be |that are |kept )"
     r"(?P<how>\w+)$", r"prefers \g<how> \g<what>"),
    (r"\b(prefers|wants|likes|asks for) (short|brief|concise|detailed|long|thorough|simple|plain"
     r"|formal|casual) (?:explanations|responses|replies|summaries)$", r"\1 \2 answers"),
    (rf"^{_ANSWERS} (?:should|must|have to|need to) be (?:kept )?(?P<how>\w+)$",
     r"prefers \g<how> \g<what>"),
    (r"^please (?:write|give|provide|send|use) ", "wants "),
    # everyday verbs
    (r"\b(?:spent|spends) (?:(?:his|her|their|my|the|a) )?(?:whole )?childhood in\b", "grew up in"),
    (r"\b(?:was|were|is) (?:raised|brought up) in\b", "grew up in"),
    (r"\bcan not (?:tolerate|digest)\b", "is intolerant to"),
    (r"\bskips? (breakfast|lunch|dinner)\b", r"never eats \1"),
    (r"\btakes? (.+?) for a (walk|run|ride)\b", r"\2s \1"),
    (r"\bstarted (?:an? |the )?(?:new )?job (?=as |at )", "started working "),
    (r"\bstarted working (as|at)\b", r"now works \1"),
    (r"\b(?:is|are) (?:located|situated|based) in\b", "is in"),
    # what a thing is made with, whoever says so
    (r"^(?:the user |user |we |i |our team |the team )?(?:uses?|using) (.+?) (?:as|for) "
     r"(?:the |our |its |my )*((?!now\b|work\b|years?\b|\d)[\w/ -]+)$", r"\2 runs on \1"),
    (r"^(?:the user |user |we |i )?(host|deploy)s? (?:the |our |all )*"
     r"(.+?) (on|in|at|to|with) (.+)$",
     r"\2 is \1ed \3 \4"),
    (r"^(?:the user |user |we |i )?(store|save)s? (?:the |our |all )*(.+?) (on|in|at|as) (.+)$",
     r"\2 is \1d \3 \4"),
    # a newcomer in a single place
    (rf"^(?:(?:the )?user's |my |our |the |has an? |got an? )*new ({_ROLE})\b(.*)$", r"\1\2 now"),
)  # fmt: skip
_CONTRACTIONS = tuple(
    (re.compile(form, re.IGNORECASE), to)
    for form, to in (
        (r"can't|cannot", "can not"), (r"won't", "will not"), (r"n't\b", " not"),
        (r"\bi'm\b", "i am"), (r"'ve\b", " have"), (r"'re\b", " are"),
        (r"^(?:the )?user (?!'s)", ""), (r"^i (?=am |have |do |can )", ""),
    )
)  # fmt: skip
_COMPILED = tuple((re.compile(form, re.IGNORECASE), to) for form, to in _FORMS)


def reworded(text: str) -> str:
    plain = " ".join(text.replace("’", "'").split()).strip(" .!,;")
    for form, to in _COMPILED:
        plain = form.sub(to, plain)
    return introduced(plain)


def uncontracted(text: str) -> str:
    """ "Doesn't" is "does not", and nothing else is changed."""
    plain = " ".join(text.replace("’", "'").split()).strip(" .!,;")
    for form, to in _CONTRACTIONS:
        plain = form.sub(to, plain)
    return plain


def introduced(plain: str) -> str:
    """ "Mila is my niece" says that the speaker has a niece of that name."""
    return _INTRODUCED.sub(r"has a \2 named \1", plain)
