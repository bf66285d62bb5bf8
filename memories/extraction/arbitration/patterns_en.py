"""The English words that turn a statement: whom it is about, when it holds, whether it does."""

import re

from memories.extraction.arbitration.wordlists import words

KIN = {
    "sister": "sister", "brother": "brother", "mother": "mother", "mom": "mother", "mum": "mother",
    "father": "father", "dad": "father", "wife": "wife", "husband": "husband", "son": "son",
    "daughter": "daughter", "girlfriend": "girlfriend", "boyfriend": "boyfriend",
    "partner": "partner", "grandmother": "grandmother", "grandma": "grandmother",
    "grandfather": "grandfather", "grandpa": "grandfather", "aunt": "aunt", "uncle": "uncle",
    "cousin": "cousin", "friend": "friend", "colleague": "colleague", "coworker": "colleague",
    "boss": "boss", "roommate": "roommate", "flatmate": "roommate", "neighbor": "neighbor",
    "neighbour": "neighbor", "child": "child", "kid": "child", "baby": "child", "niece": "niece",
    "nephew": "nephew", "parents": "parents", "fiance": "fiance", "manager": "boss",
    "landlord": "landlord", "landlady": "landlord", "mentor": "mentor", "tutor": "tutor",
    "supervisor": "boss", "spouse": "spouse", "fiancee": "fiance",
}  # fmt: skip
PETS_EN = (
    "golden retriever|labrador|poodle|corgi|husky|ragdoll|cat|kitten|dog|puppy|bird|parrot"
    "|rabbit|bunny|hamster|fish|turtle|horse|snake|pet"
)

STOP = words(
    """
    day week month year a an the is are am was were be been being do doe did has have had having
    got get and or
    also but of to in on at for with by from as that this these those it its my your his her
    their our i me he she they them we us you user own realli veri quit much so too some any
    just now current like love enjoy prefer own there here than then will would can could
    should may play drink eat eaten ate goe go went everi each might about into out up one
    ones's time per name call known thing kind lot certain
    """
)
VERBS_AFTER_A_NAME = words(
    """
    is was has had can will does did and used no never also just moved works lives likes loves
    quit became got would should
    """
)
NOT_A_NAME = words(
    """
    nickname the a an has is was lives works likes loves prefers wants needs hates dislikes
    enjoys plays speaks uses drinks eats owns goes runs reads studies name birthday age phone
    email favorite favourite allergic sister brother cat dog no not never does do did used
    moved got had quit stopped switched always often usually currently now recently avoids
    keeps takes drives writes sleeps wakes gets hometown deadline project meeting please use
    call answer reply wife husband born grew originally lived worked became started finished
    this that it there home job car thinks believes feels hopes plans wears trains practices
    collects watches listens smokes doesn can could will would should must may today replies
    answers emails meetings everyone weighs knows understands follows celebrates suffers makes
    takes cooks bakes sings swims cycles travels visits teaches learns mother father son
    daughter partner also only all both most some few many every each after before since while
    during if when whenever traded swapped replaced bought sold cancelled canceled relocated
    married passed failed graduated joined left returned retired lost found broke met saw
    went spent ate drank wrote read made built taught tests commits logs deploys backups
    no reports returns subscribes volunteers helps dreads adores wakes goes comes gets rides
    still always already rarely seldom sometimes mostly mainly hardly probably maybe soon later
    recently previously formerly originally once almost nearly today tonight tomorrow someone
    somebody nobody everybody barely ever occasionally constantly absolutely really actually
    currently even exactly finally generally honestly normally perhaps simply strictly together
    turns holds needs owes pays rents shares smokes spends stays struggles studies tends treats
    votes walks washes wins worries sees says sends sells raises quits parks owns orders opens
    carries closes commutes climbs calls brings avoids attends argues adopts acts
    """
)


def _any(*words: str) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(words) + r")\b")


PAST = _any(
    r"used to", "formerly", "previously", r"in the past", r"^lived", r"^worked", r"^studied",
    r"^loved", r"^liked", r"as a child", r"until (?:last|recently|\d{4})", r"^was an?",
    r"once (?:lived|worked|had)",
)  # fmt: skip
ENDED = _any(
    r"no longer", r"not\b.{1,40}\bany ?more", "stopped", "quit", r"gave up", r"given up",
    r"^left", "resigned", r"passed away", "died", "sold",
    r"got rid of", r"gave away", r"dropped out", "cancell?ed",
    r"broke up", "outgrew",
)  # fmt: skip
NOW = _any(
    "now", "currently", r"these days", "nowadays", "recently", "moved", "moving", "relocated",
    "switched", "changed", "became", r"has become", "turned", "instead", r"from now on", "again",
    "actually", "rescheduled", "postponed", "extended", "pushed", "upgraded", "replaced",
    r"got (?:married|divorced|engaged|promoted|a new|an?)", "started", r"today", "new", "anymore",
    r"(?:has|have|was|were) (?:been )?(?:rewritten|migrated|ported|converted|renamed|moved)",
    r"(?:went|is|has gone) (?:up|down) to", r"has (?:grown|shrunk|dropped|risen|increased)",
    r"down to", r"by now", "returned", r"went back",
    r"just", r"brought forward", r"since (?:then|last)", r"at the moment", "joined",
)  # fmt: skip
NEGATIVE = _any(
    r"no longer", "not", "never", "stopped", "quit", r"gave up", r"given up", "avoids?", "refuses?",
    r"no(?= (?:children|kids|pets?|siblings|allerg\w+|meat|coffee|alcohol|sugar|car|emojis?))",
    "nor", "neither", "hardly",
)  # fmt: skip
# Words of time, degree and politeness: they colour a statement and don't belong to its value.
ADVERBS = _any(
    r"no longer", r"used to", "formerly", "previously", "now", "currently", r"these days",
    "nowadays", "recently", "just", "instead", r"from now on", "again", "actually", "anymore",
    r"any more", "not", "never", "do(?:es)?", "did", "really", "very", "quite", "also", "always",
    "usually", "often", "absolutely", "still", "please", "originally", r"at the moment", "already",
    "generally", "mostly", "sometimes", "definitely", "so much", r"a lot(?: of)?",
    r"lots of", r"all the time", "constantly", "regularly", "frequently", "typically", "normally",
    "particularly", r"at (?:his|her|my|their) best", "by now", "most of all",
    r"for a living", r"by profession", "deeply", "strongly", "severely", "highly", "extremely",
    "stopped", "quit", r"gave up", r"given up", "neither", r"started(?= eating| drinking| smoking)",
    "today", r"last (?:week|month|year)",
    r"in the past", "once(?= lived| worked)", "avoids?", "refuses? to", "hardly",
)  # fmt: skip
# What a correction takes back: "Lives in Suzhou, not Hangzhou", "is not 29 but 30".
DENIED = re.compile(
    r"(?:,| -|;|,? and) not (?:an? |the )?(?:in |at |as |on |from |named |called )?[^,;]+$"
    r"|(?<!\bis)(?<!\bam)(?<!\bare)(?<!\bdoes)(?<!\bdo) not (?:in )?[A-Z][\w.-]+$"
    r"|(?:,| and)? (?:never|instead of|rather than) [A-Z][\w.-]+$"
    r"|(?<=[sS]witched )from [^,;]+?(?= to )|(?<=[cC]hanged )from [^,;]+?(?= to )"
    r"|(?<=[mM]oved )from [^,;]+?(?= to )|\bnot (?:an? |the )?[^,;]{1,40}?,? but "
)
