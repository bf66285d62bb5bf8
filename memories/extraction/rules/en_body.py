"""English: who somebody is, what they must not have, and their health."""

from memories.extraction.rules.en_pieces import rule

# One rule, a few lines: the formatter would make ten of each.
# fmt: off
CONSTRAINTS = (
    rule("allergy", "constraint", 0.95, 0.95,
         r"(?:is|was|seems to be|might be|may be|could be|has always been|"
         r"is also) <degree>allergic to (?!<idiom>)<x>", say="is allergic to {x}"),
    rule("allergy", "constraint", 0.95, 0.9,
         r"has (?:an? )?(?:[\w-]+ ){0,3}(?:allerg(?:y|ies)|intolerance|"
         r"sensitivity)\b(?: to .+)?"),
    rule("allergy", "constraint", 0.9, 0.9,
         r"(?:is|gets) (?:\w+ )?(?:intolerant|sensitive) to (?:lactose|gluten|fructose|"
         r"histamine|dairy|wheat|caffeine|msg|sulfites|eggs|soy)\b.*"),
    rule("allergy", "constraint", 0.9, 0.85,
         r"(?:gets? (?:hives|a rash|sick|ill|anaphylaxis)|breaks? out in hives|"
         r"goes into anaphylactic shock) (?:from|when \w+ eats?|if \w+ eats?|"
         r"after eating) .+"),
    rule("diet", "constraint", 0.85, 0.9,
         r"(?:is|has been|became|turned|went) (?:an? )?(?:strict |lifelong |"
         r"ethical )?(?P<x><trait>|vegan|coeliac|celiac)(?P<y> (?:for|since) [\w ]+)?(?=$|"
         r"[ ,.!])", say="is {x}{y}"),
    rule("diet", "constraint", 0.85, 0.9,
         r"(?:only eats|keeps|eats) (?:strictly |only )?(?:kosher|halal|vegan|vegetarian|"
         r"plant-based|gluten-free|organic)\b.*"),
    rule("avoid", "constraint", 0.8, 0.85, r"(?:can't|shouldn't|mustn't) do (?:stairs|heights|"
        r"crowds|heat)\b.*"),
    rule("diet", "constraint", 0.8, 0.85, r"(?:is on|follows) (?:an? )?(?:\S+ ){0,3}diet\b.*"),
    rule("meal", "pattern", 0.5, 0.8,
         r"(?:never|doesn't|rarely|usually doesn't) (?:eats?|haves?|has|have|"
         r"skips?) (?:breakfast|lunch|dinner|supper)\b.*"),
    rule("avoid", "constraint", 0.85, 0.9,
         r"(?:can't|doesn't|never|no longer|shouldn't|mustn't|won't|isn't allowed to|"
         r"is not allowed to|isn't supposed to) (?:eats?|drinks?|consumes?|tolerates?|"
         r"digests?|touch(?:es)?|do(?= (?:gluten|dairy|lactose|spicy|caffeine|alcohol|seafood|"
         r"nuts|wheat|milk|"
         r"meat|sugar|heights|crowds))|handles?(?= (?:spic|dairy|milk|alcohol|caff|gluten|"
         r"lactose))) (?!(?:more|much|enough|it|that|all|a lot|well|properly|anything(?! (?:with|"
         r"containing|made))|out|"
         r"like|another)\b)<x>"),
    rule("avoid", "constraint", 0.85, 0.85,
         r"(?:can't|shouldn't|mustn't|isn't allowed to|"
         r"is not allowed to) have (?P<x>(?:any )?(?!(?:kids|children|it|that|more|enough|"
         r"a )\b)[\w -]{3,60})$"),
    rule("avoid", "constraint", 0.85, 0.85,
         r"(?:can't|shouldn't|mustn't) take (?P<x>aspirin|ibuprofen|penicillin|antibiotics|"
         r"nsaids|painkillers|codeine|sulfa)\b.*"),
    rule("avoid", "constraint", 0.8, 0.85,
         r"(?:has )?(?:stopped|quit) (?:eating|drinking|smoking|vaping|using|"
         r"having) (?!(?:it|that|this)\b).+"),
    rule("avoid", "constraint", 0.8, 0.85,
         r"(?:always )?(?:avoids|abstains from|stays away from|steers clear of|has to avoid|"
         r"must avoid|needs to avoid|has given up|gave up|has cut out|has quit|"
         r"quit) (?P<x>(?!(?:my \w+|a job|job|it|that|them|him|her|this|work|doing|in|on|"
         r"last|two|three|\d+|a few|about|years?|when|school|uni\w*|college|the team)\b).+)"),
    rule("sober", "constraint", 0.85, 0.9,
         r"(?:doesn't|never|no longer|has never) (?:drinks?|smokes?|smoked|vapes?|gambles?|"
         r"eats? meat)(?=$| (?:at all|anymore|any more|alcohol))"),
    rule("taboo", "constraint", 0.85, 0.85,
         r"(?:doesn't want|doesn't like|would rather not|prefers not|hates|"
         r"never wants) (?:to (?:talk|hear|discuss|be asked|be reminded|read|be called)|"
         r"talking|being called|being asked|when people) .+"),
    rule("phobia", "constraint", 0.8, 0.85,
         r"(?:is|has always been) <degree>(?:terrified|scared|afraid|petrified|frightened|"
         r"phobic) of (?!(?:it|this|that|losing|making|what|failing|failure|accidents?|"
         r"being|saying|not|the (?:future|exam|test|interview|result))\b)<x>",
         say="is afraid of {x}"),
    rule("phobia", "constraint", 0.8, 0.9, r"has (?:an? )?(?:\w+ )?(?:fear of|phobia)\b.*"),
    rule("limit", "constraint", 0.8, 0.8,
         r"(?:can't|cannot) (?:swim|drive|hear|see|walk|climb stairs|fly|lift|work|meet|do|"
         r"make|sit|stand for)(?: (?:on|after|before|at all|well|in|without|during|heavy|"
         r"long|for) .+|$)", who="self"),
)

HEALTH = (
    rule("prone", "fact", 0.7, 0.85,
         r"(?:often |always |regularly |sometimes )?gets? (?:really |very |bad |terrible |awful |"
         r"horrible |"
         r"chronic |severe )*(?:migraines|headaches|heartburn|panic attacks|hives|nosebleeds|"
         r"sinus infections|"
         r"travel ?sick|car ?sick|sea ?sick|motion sick\w*|air ?sick|cold sores)\b.*"),
    rule("condition", "fact", 0.8, 0.9,
         r"(?:has|has had|suffers from|lives with|was (?:recently |just )?diagnosed with|"
         r"has been diagnosed with|is living with|struggles with|deals with|"
         r"is recovering from) (?:severe |mild |chronic |bad |really bad |terrible |"
         r"frequent |seasonal |some )*<condition>.*"),
    rule("condition", "fact", 0.8, 0.85,
         r"(?:was|has been|got) (?:recently |just |officially )?diagnosed (?:with|as) .+"),
    rule("condition", "fact", 0.75, 0.85, r"suffers from .+"),
    rule("medicine", "fact", 0.75, 0.85,
         r"(?:is on|takes|has to take|needs to take) (?P<x>(?:\w+ ){0,3}(?:medication|meds|"
         r"insulin|antidepressants|blood thinners|statins|metformin|beta blockers|"
         r"antihistamines|the pill|pills|tablets|vitamins|supplements|inhaler)\b.*)"),
    rule("medicine", "fact", 0.75, 0.85,
         r"was prescribed (?!(?:it|that|this|them|something|rest|a holiday)\b).+"),
    rule("aid", "fact", 0.7, 0.85,
         r"(?:wears|uses|needs|walks with) (?:an? )?(?:\w+ )?(?:glasses|contact lenses|"
         r"contacts|hearing aids?|wheelchair|cane|crutches|braces|cpap|inhaler|walker|"
         r"prosthe\w+)\b.*"),
    rule("injury", "event", 0.6, 0.8,
         r"(?:recently |just )?(?:broke|sprained|tore|fractured|dislocated|injured|twisted|"
         r"hurt) (?:my|his|her|their|an?) (?!(?:heart|promise|leg laughing|feelings|"
         r"streak)\b).+"),
    rule("surgery", "event", 0.65, 0.8,
         r"(?:had|underwent|is having|will have|is scheduled for|needs|has) (?:an? |"
         r"my )?(?:[\w-]+ ){0,3}(?:surgery|operation|transplant|bypass|c-section|"
         r"root canal)\b.*"),
    rule("sleep", "pattern", 0.5, 0.75,
         r"(?:has (?:always )?(?:had )?trouble sleeping|(?:only )?sleeps (?:about |"
         r"around )?\d.*|is a (?:light|heavy) sleeper)\b.*"),
)

IDENTITY = (
    rule("age", "fact", 0.7, 0.9,
         r"(?:is|just turned|turned|will be|is turning|is about to turn|turns|"
         r"will turn) (?P<x>\d{1,2}(?:, \d{1,2})*,? and \d{1,2}|\d{1,3}|twenty|thirty|forty|"
         r"fifty|sixty|seventy|eighty|ninety|one|two|three|four|five|six|seven|eight|nine|"
         r"ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|"
         r"nineteen)(?: (?P<y>years?|months?|weeks?)[ -]old)?(?= (?:today|now|with|in|on|next|"
         r"last|this|tomorrow|yesterday)\b|[.!,]?$)(?P<z>.*)", data={"shape": "age"}),
    rule("absent", "fact", 0.45, 0.8, r"is neither (?!(?:here|this|that)\b).+ nor .+"),
    rule("state", "fact", 0.5, 0.85,
         r"isn't (?:really |much of |exactly )*(?P<x><state>|an? [\w-]+ person)(?: at all)?(?=$|"
         r"[ ,.!])", say="isn't {x}"),
    rule("state", "fact", 0.7, 0.85,
         r"(?:is|became|has been) (?P<x><state>|\w+ (?:months|"
         r"weeks) pregnant)(?P<y> (?:with (?:\w+ )?(?:twins|my|our|her|"
         r"a|triplets)|of (?:\w+ )?(?:two|three|four|five|twins|\d)|for|since|to|in|"
         r"by)\b.*)?(?:[.!]|$| (?:and|myself)\b.*)", say="is {x}{y}"),
    rule("origin", "fact", 0.7, 0.9,
         r"(?:is|comes|came|hails) (?:originally |actually )?from (?P<x>(?!(?:the (?:store|"
         r"gym|past)|work|here|there|school)\b)(?-i:[A-Z]|the |a (?:small|tiny|big|little|"
         r"village|town|family)|rural |north|south|east|west).+)"),
    rule("origin", "fact", 0.7, 0.9,
         r"(?:was (?:born|raised)|was born and raised|grew up|spent my childhood) .+"),
    rule("nationality", "fact", 0.7, 0.9,
         r"(?:is|is part) (?:an? )?(?P<x>(?:half[- ])?<nationality>(?:(?:[- /]|"
         r",? (?:and )?half[- ])<nationality>)?)(?: by birth)?[.!]?$"),
    rule("call", "preference", 0.8, 0.9,
         r"(?:goes by|prefers? to be called|is called|likes to be called|"
         r"prefers being called|uses) (?P<x>(?-i:[A-Z]\w+)|(?:she|he|they)/(?:her|him|"
         r"them)(?: pronouns)?)\b[.!]?$", who="self"),
    rule("believes", "fact", 0.55, 0.8,
         r"(?:practi[sc]es|converted to|was raised|believes in) (?P<x>buddhism|islam|"
         r"christianity|judaism|catholic|hinduism|god|reincarnation)\b.*"),
    rule("measure", "fact", 0.6, 0.85,
         r"(?:is|weighs|wears(?: a)? size) (?P<x>(?:about |around )?(?:\d+'\d+\"?|"
         r"\d+ (?:feet|foot|ft) ?\d*|\d(?:\.\d+)? ?m(?:eters?|etres?)?\b|\d+ ?(?:cm|kg|lbs?|"
         r"pounds|kilos|stone)\b|\d+)(?: tall| inches)?)[.!]?$"),
    rule("blood", "fact", 0.7, 0.9,
         r"has (?:type )?(?:AB|A|B|O)[ -]?(?:positive|negative|[+-]) blood.*"),
)
# fmt: on
