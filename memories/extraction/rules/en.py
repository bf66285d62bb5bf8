"""The English rules: what a person may say of themselves or of their people, and its worth.

PREDICATES are matched at the start of a predicate in the third person singular ("I've got a cat"
is read as "has a cat"), so that one row serves "I", "my sister" and "Anna". The first row that
fits wins: put the particular before the general. To add one, write a row, and a sentence for it in
tests/memories/extraction/test_english.py.
"""

from memories.extraction.rules.en_pieces import rule, table

CONSTRAINTS = (
    rule("allergy", "constraint", 0.95, 0.95, r"(?:is|was|seems to be) <degree>allergic to (?!<idiom>)<x>", say="is allergic to {x}"),
    rule("allergy", "constraint", 0.95, 0.9, r"has (?:an? )?(?:[\w-]+ ){0,3}(?:allerg(?:y|ies)|intolerance|sensitivity)\b(?: to .+)?"),
    rule("allergy", "constraint", 0.9, 0.9, r"(?:is|gets) (?:\w+ )?(?:intolerant|sensitive) to (?:lactose|gluten|fructose|histamine|dairy|wheat|caffeine|msg|sulfites|eggs|soy)\b.*"),
    rule("allergy", "constraint", 0.9, 0.85, r"(?:gets? (?:hives|a rash|sick|ill|anaphylaxis)|breaks? out in hives|goes into anaphylactic shock) (?:from|when \w+ eats?|if \w+ eats?|after eating) .+"),
    rule("diet", "constraint", 0.85, 0.9, r"(?:is|has been|became|turned|went) (?:an? )?(?:strict |lifelong |ethical )?(?P<x><trait>|vegan|coeliac|celiac)(?P<y> (?:for|since) [\w ]+)?(?=$|[ ,.!])", say="is {x}{y}"),
    rule("diet", "constraint", 0.85, 0.9, r"(?:only eats|keeps|eats) (?:strictly |only )?(?:kosher|halal|vegan|vegetarian|plant-based|gluten-free|organic)\b.*"),
    rule("diet", "constraint", 0.8, 0.85, r"(?:is on|follows) (?:an? )?(?:\S+ ){0,3}diet\b.*"),
    rule("meal", "pattern", 0.5, 0.8, r"(?:never|doesn't|rarely|usually doesn't) (?:eats?|haves?|has|have|skips?) (?:breakfast|lunch|dinner|supper)\b.*"),
    rule("avoid", "constraint", 0.85, 0.9, r"(?:can't|doesn't|never|no longer|shouldn't|mustn't|won't|isn't allowed to|is not allowed to|isn't supposed to) (?:eats?|drinks?|consumes?|tolerates?|digests?|touch(?:es)?|handles?(?= (?:spic|dairy|milk|alcohol|caff|gluten|lactose))) (?!(?:more|much|enough|it|that|all|a lot|well|properly|anything|out|like|another)\b)<x>"),
    rule("avoid", "constraint", 0.85, 0.85, r"(?:can't|shouldn't|mustn't|isn't allowed to|is not allowed to) have (?P<x>(?:any )?(?!(?:kids|children|it|that|more|enough|a )\b)[\w -]{3,60})$"),
    rule("avoid", "constraint", 0.85, 0.85, r"(?:can't|shouldn't|mustn't) take (?P<x>aspirin|ibuprofen|penicillin|antibiotics|nsaids|painkillers|codeine|sulfa)\b.*"),
    rule("avoid", "constraint", 0.8, 0.85, r"(?:always )?(?:avoids|abstains from|stays away from|steers clear of|has to avoid|must avoid|needs to avoid|has given up|gave up|has cut out|has quit|quit) (?P<x>(?!(?:my job|a job|job|it|that|them|him|her|this|work|doing)\b).+)"),
    rule("sober", "constraint", 0.85, 0.9, r"(?:doesn't|never|no longer|has never) (?:drinks?|smokes?|smoked|vapes?|gambles?|eats? meat)(?=$| (?:at all|anymore|any more|alcohol))"),
    rule("taboo", "constraint", 0.85, 0.85, r"(?:doesn't want|doesn't like|would rather not|prefers not|hates|never wants) (?:to (?:talk|hear|discuss|be asked|be reminded|read|be called)|talking|being called|being asked|when people) .+"),
    rule("phobia", "constraint", 0.8, 0.85, r"(?:is|has always been) <degree>(?:terrified|scared|afraid|petrified|frightened|phobic) of (?!(?:it|this|that|losing|making|what|failing|failure|accidents?|being|saying|not|the (?:future|exam|test|interview|result))\b)<x>", say="is afraid of {x}"),
    rule("phobia", "constraint", 0.8, 0.9, r"has (?:an? )?(?:\w+ )?(?:fear of|phobia)\b.*"),
    rule("limit", "constraint", 0.8, 0.8, r"(?:can't|cannot) (?:swim|drive|hear|see|walk|climb stairs|fly|lift|work|meet|do|make|sit|stand for)(?: (?:on|after|before|at all|well|in|without|during|heavy|long|for) .+|$)", who="self"),
)  # fmt: skip

HEALTH = (
    rule("condition", "fact", 0.8, 0.9, r"(?:has|has had|suffers from|lives with|was (?:recently |just )?diagnosed with|has been diagnosed with|is living with|struggles with|deals with|is recovering from) (?:severe |mild |chronic |bad |really bad |terrible |frequent |seasonal |some )*<condition>.*"),
    rule("condition", "fact", 0.8, 0.85, r"(?:was|has been|got) (?:recently |just |officially )?diagnosed (?:with|as) .+"),
    rule("condition", "fact", 0.75, 0.85, r"suffers from .+"),
    rule("medicine", "fact", 0.75, 0.85, r"(?:is on|takes|has to take|needs to take) (?P<x>(?:\w+ ){0,3}(?:medication|meds|insulin|antidepressants|blood thinners|statins|metformin|beta blockers|antihistamines|the pill|pills|tablets|vitamins|supplements|inhaler)\b.*)"),
    rule("aid", "fact", 0.7, 0.85, r"(?:wears|uses|needs|walks with) (?:an? )?(?:\w+ )?(?:glasses|contact lenses|contacts|hearing aids?|wheelchair|cane|crutches|braces|cpap|inhaler|walker|prosthe\w+)\b.*"),
    rule("injury", "event", 0.6, 0.8, r"(?:recently |just )?(?:broke|sprained|tore|fractured|dislocated|injured|twisted|hurt) (?:my|his|her|their|an?) (?!(?:heart|promise|leg laughing|feelings|streak)\b).+"),
    rule("surgery", "event", 0.65, 0.8, r"(?:had|underwent|is having|will have|is scheduled for|needs|has) (?:an? |my )?(?:[\w-]+ ){0,3}(?:surgery|operation|transplant|bypass|c-section|root canal)\b.*"),
    rule("sleep", "pattern", 0.5, 0.75, r"(?:has (?:always )?(?:had )?trouble sleeping|(?:only )?sleeps (?:about |around )?\d.*|is a (?:light|heavy) sleeper)\b.*"),
)  # fmt: skip

IDENTITY = (
    rule("age", "fact", 0.7, 0.9, r"(?:is|just turned|turned|will be|is turning|is about to turn|turns|will turn) (?P<x>\d{1,3}|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)(?: (?P<y>years?|months?|weeks?)[ -]old)?(?= (?:today|now|in|on|next|last|this|tomorrow|yesterday)\b|[.!,]?$)(?P<z>.*)", data={"shape": "age"}),
    rule("state", "fact", 0.7, 0.85, r"(?:is|became|has been) (?P<x><state>)(?P<y> (?:with (?:\w+ )?(?:twins|my|our|her|a|triplets)|of (?:\w+ )?(?:two|three|four|five|twins|\d)|for|since|to|in|by)\b.+)?(?:[.!]|$| (?:and|myself)\b.*)", say="is {x}{y}"),
    rule("origin", "fact", 0.7, 0.9, r"(?:is|comes|came|hails) (?:originally |actually )?from (?P<x>(?!(?:the (?:store|gym|past)|work|here|there|school)\b)(?-i:[A-Z]|the |a (?:small|tiny|big|little|village|town|family)|rural |north|south|east|west).+)"),
    rule("origin", "fact", 0.7, 0.9, r"(?:was (?:born|raised)|was born and raised|grew up|spent my childhood) .+"),
    rule("nationality", "fact", 0.7, 0.9, r"(?:is|is half|is part) (?:an? )?(?:half[- ])?(?P<x><nationality>(?:[- /]<nationality>)?)(?: by birth)?[.!]?$"),
    rule("call", "preference", 0.8, 0.9, r"(?:goes by|prefers? to be called|is called|likes to be called|prefers being called|uses) (?P<x>(?-i:[A-Z]\w+)|(?:she|he|they)/(?:her|him|them)(?: pronouns)?)\b[.!]?$"),
    rule("believes", "fact", 0.55, 0.8, r"(?:practi[sc]es|converted to|was raised|believes in) (?P<x>buddhism|islam|christianity|judaism|catholic|hinduism|god|reincarnation)\b.*"),
    rule("measure", "fact", 0.6, 0.85, r"(?:is|weighs|wears(?: a)? size) (?P<x>(?:about |around )?(?:\d+'\d+\"?|\d+ (?:feet|foot|ft) ?\d*|\d(?:\.\d+)? ?m(?:eters?|etres?)?\b|\d+ ?(?:cm|kg|lbs?|pounds|kilos|stone)\b|\d+)(?: tall| inches)?)[.!]?$"),
    rule("blood", "fact", 0.7, 0.9, r"has (?:type )?(?:AB|A|B|O)[ -]?(?:positive|negative|[+-]) blood.*"),
)  # fmt: skip

HOME = (
    rule("home", "fact", 0.75, 0.9, r"(?:lives|is (?:currently |now )?(?:living|based|staying)|resides|stays) (?:alone|together|with|in|at|near|on|by|outside|close|abroad|off|down|just|about|a few|\d+ \w+ from|right)(?: (?!(?:fear|the moment|peace|harmony|it|denial)\b).+|$)"),
    rule("home", "fact", 0.75, 0.85, r"has (?:always |been )*(?:lived|living|been based) (?:here |alone|in|at|near|on|with|abroad).*"),
    rule("moved", "event", 0.75, 0.9, r"(?:has )?(?:just |recently |finally )?(?:moved|relocated|emigrated|immigrated) (?:(?:out|in|back|away|here|house|apartments?|home|over)\b ?)?(?:to|from|into|in|with|of|out|back|house|apartments|together|abroad|last|on|\d)?.*"),
    rule("moving", "task", 0.7, 0.85, r"is (?:moving|relocating|emigrating|going to move|planning to move) (?:to|out|in|into|back|from|house|apartments|abroad)\b.*"),
    rule("housing", "fact", 0.6, 0.85, r"(?:bought|rents?|is renting|owns?|just bought|has bought|is buying|built|sold) (?:an?|my|our|the|their) (?:[\w-]+ ){0,4}(?:house|flat|apartment|condo|cottage|farm|home|studio|room|cabin|boat|van|car|motorcycle|bike|piano|guitar|motorbike|campervan|land|shop|restaurant|bakery|cafe|business|company)\b.*"),
    rule("household", "fact", 0.6, 0.8, r"shares (?:an?|my|our|the) (?:\w+ )?(?:house|flat|apartment|room|studio|office) with .+"),
)  # fmt: skip

WORK = (
    rule("job", "fact", 0.8, 0.9, r"(?:is|works as|has been|is working as|has been working as|became|is employed as|is now|is training to be|is studying to be|is training to become) (?:an?|the|our|one of the|head of|now a|my own|head|chief|senior|self-employed)? ?<job>", data={"shape": "job"}),
    rule("job", "fact", 0.8, 0.9, r"(?:works|worked|has worked|has been working|is working) (?:as|at|in|for|with|from home|remotely|freelance|part[- ]time|full[- ]time|nights|night shifts|shifts|the night shift|on (?:a farm|oil|wind)|\d+ (?:hours|days))\b(?! (?:it|that|this|the moment|progress|time|you|my (?:confidence|self|fitness|body|skills)|me\b|him|her|them)).*"),
    rule("job", "fact", 0.75, 0.85, r"(?:runs|owns|manages|founded|co-founded|started|opened|is running|leads|heads|co-owns|operates) (?:an?|my own|our|the|my|two|three) (?!(?:marathon|half|race|mile|new book|book|series|conversation|day|day with|\d+k|fever|bath|few|lot|show|movie|journey|car|tab)\b)(?:[\w'&-]+ ){0,4}(?:business|company|startup|shop|store|restaurant|cafe|café|bakery|bar|farm|team|clinic|practice|agency|studio|blog|channel|podcast|club|school|gym|firm|garage|salon|bookshop|bookstore|department|project|charity|nonprofit|non-profit|hotel|food truck|book club|group|band|band|foundation|initiative|gallery|newsletter)\b.*"),
    rule("job", "fact", 0.75, 0.85, r"teaches (?!(?:me|you|us|him|her|them)\b).+"),
    rule("newjob", "event", 0.7, 0.9, r"(?:has )?(?:just |finally |recently )?(?:got|gotten|landed|received|accepted|started|was offered|took|begins|starts|starting|is starting|got offered) (?:an?|my|the|this|an amazing|as)? ?(?:[\w-]+ ){0,4}(?:job|promotion|internship|position|role|raise|apprenticeship|offer|scholarship|fellowship|career|degree|phd|masters|diploma|certificate|licen[sc]e|award|residency|grant)\b.*"),
    rule("newjob", "event", 0.7, 0.9, r"(?:has )?(?:just |recently )?(?:(?:got|was|been) (?:promoted|laid off|fired|made redundant|hired|accepted|admitted|furloughed|elected)|retired|resigned|quit my job|quit|left my job|lost my job|quit (?:the|my|her|his) \w+|dropped out|went freelance|went back to school|joined (?!you|me|in|them|us)\w+)\b.*"),
    rule("jobless", "fact", 0.65, 0.85, r"(?:is|has been) (?:looking for (?:an? )?(?:new )?(?:job|work|internship|apartment|house|flat|roommate|place to live)|job hunting|out of work|unemployed|between jobs|on (?:maternity|paternity|parental|sick|medical) leave|on a (?:gap year|sabbatical)|freelancing|house hunting|flat hunting)\b.*"),
    rule("study", "fact", 0.75, 0.9, r"(?:studies|is studying|studied|majors in|is majoring in|majored in|minors in|attends|is enrolled|enrolled|has enrolled|graduated|has graduated|is doing (?:an?|my) (?:phd|master|msc|mba|degree|bachelor|bootcamp|apprenticeship|internship|postdoc|residency|gcse|a-level)\w*|has an? (?:\w+ )?(?:phd|master'?s|bachelor'?s|degree|mba|diploma|law degree|doctorate)|is in (?:my )?(?:\w+ )?(?:year|grade|high school|college|university|middle school|kindergarten|med school|law school|grad school|primary school|elementary|preschool)|goes to (?:\w+ ){0,3}(?:school|university|college|kindergarten|daycare|preschool)|is (?:a )?(?:first|second|third|fourth|final)[- ]year)\b(?! (?:it|that|this)\b).*"),
    rule("industry", "fact", 0.6, 0.8, r"is in (?:the )?(?:\w+ )?(?:tech|finance|marketing|education|healthcare|real estate|retail|hospitality|it|sales|consulting|insurance|the army|army|navy|military|air force|film industry|construction|logistics|media|advertising|publishing|hr)\b(?: .*)?$"),
)  # fmt: skip

FAMILY = (
    rule("pet", "fact", 0.7, 0.9, r"(?:has|has had|owns|adopted|has adopted|got|just got|rescued|just adopted|recently adopted|bought|is adopting|fosters|welcomed) (?:an?|one|two|three|four|five|six|my|some|\d+|another|this|our)? ?(?:(?!(?:love|thing|passion|fear|lot|lots|way|house|trip|job|picture|photo|time|name)\b)[\w'-]+ ){0,5}?(?:dogs?|cats?|pupp(?:y|ies)|pups?|kittens?|rabbits?|bunn(?:y|ies)|parrots?|hamsters?|guinea pigs?|horses?|pony|ponies|goldfish|fish|turtles?|tortoises?|budgies?|ferrets?|lizards?|geckos?|snakes?|chickens|hens|goats?|cows|sheep|bees|ducks|iguana|retrievers?|labradors?|poodles?|corgis?|huskies|husky|beagles?|bulldogs?|terriers?|dachshunds?|collies?|shepherds?|chihuahuas?|pugs?|spaniels?|dalmatians?|greyhounds?|axolotls?|canary|canaries|cockatiels?|tarantula|pets?)\b(?! (?:person|lover|food|park|allerg|shelter|nap|video|sitter|day|poisoning|tattoo|show)).*"),
    rule("family", "fact", 0.7, 0.9, r"(?:has|has got|had|adopted|is raising|raises|gave birth to|is expecting|just had|is having|welcomed) (?:an?|one|two|three|four|five|six|seven|my|no|\d+|another|our|identical|twin)? ?(?:[\w'-]+ ){0,4}?(?:kids?(?!')|children(?!')|child|sons?|daughters?|brothers?|sisters?|siblings?|twins|babies|baby(?= (?:boy|girl|son|daughter|in|on|last|next|due|named|called)|$)|grandkids|grandchildren|grandsons?|granddaughters?|boyfriend|girlfriend|wife|husband|partner|fianc[eé]e?|stepson|stepdaughter|stepkids|nieces?|nephews?|cousins?|roommates?|flatmates?|housemates?|teenagers|triplets|boys?(?= (?:named|called|and)|$)|girls?(?= (?:named|called|and)|$))\b(?! (?:stuff|things|time|problems|issues|voice|who needs)).*"),
    rule("named", "fact", 0.75, 0.9, r"(?:is|are) (?:called|named) (?P<x>(?-i:[A-Z\"“]).*)", who="other"),
    rule("marriage", "event", 0.75, 0.9, r"(?:has )?(?:just |recently |finally )?(?:got|is getting|gets|is|was|are|are getting) (?:married|engaged|divorced|separated|remarried)\b.*"),
    rule("marriage", "event", 0.75, 0.85, r"(?:has been (?:married|together|divorced|single|dating|engaged|widowed)|proposed to|broke up|split up|is dating|started dating|met my (?:wife|husband|partner|boyfriend|girlfriend)|married) .+"),
    rule("birth", "event", 0.75, 0.85, r"(?:is (?:expecting|pregnant|due)|was born|gave birth)(?= (?!you|it|that|too much|a (?:call|package|delivery))|$).*"),
    rule("loss", "event", 0.7, 0.85, r"(?:has )?(?:recently |just |sadly )?(?:died|passed away|passed(?= (?:last|in|on|when|two|a))|was killed)\b.*", who="other"),
    rule("loss", "event", 0.7, 0.85, r"lost my (?P<x><modifiers><relation>)\b(?! (?:in the|at the|while)).*"),
    rule("relation", "fact", 0.65, 0.85, r"is (?:my|our) (?P<x><modifiers><relation>)\b.*", who="other", say="is their {x}"),
    rule("kin", "fact", 0.6, 0.85, r"(?:is an? (?:mother|father|mom|mum|dad|parent|grandmother|grandfather) (?:of|to) .+|is the (?:eldest|oldest|youngest|middle child|only \w+)\b.*)"),
)  # fmt: skip

SKILLS = (
    rule("speaks", "skill", 0.6, 0.9, r"(?:can )?(?:speaks?|is (?:fluent|conversational|a native speaker of|native) ?(?:in)?|understands?|is bilingual in|writes|reads|signs) (?P<y>(?:a little|a bit of|some|fluent|basic|good|decent|both|conversational|native|only|broken|near-native|mostly) )?(?P<x><language>\b.*)"),
    rule("plays", "skill", 0.55, 0.9, r"(?:can )?(?:plays?|is playing|used to play|has played|has been playing) (?:the )?(?P<x>(?:\w+ )?(?:guitar|piano|violin|cello|drums|flute|bass|trumpet|saxophone|sax|ukulele|harp|clarinet|banjo|accordion|organ|viola|keyboard|harmonica|erhu|guzheng|pipa|trombone|oboe|mandolin|chess|tennis|football|soccer|basketball|badminton|volleyball|golf|squash|rugby|cricket|hockey|baseball|table tennis|ping pong|softball|handball|poker|bridge|video games|dungeons|d&d|board games|go|mahjong|minecraft|padel|pickleball|in an? \w+)\b.*)"),
    rule("skilled", "skill", 0.55, 0.85, r"(?:is (?:really |very |pretty |quite |fairly )?(?:good|great|skilled|experienced|talented|proficient|an expert|excellent|best) (?:at|in|with)|knows how to|excels at|is an expert (?:in|on)|speciali[sz]es in|has (?:\w+ ){0,3}(?:years|decades|months) of experience|is certified|has an? (?:black belt|driving licen[sc]e|driver's licen[sc]e|pilot's licen[sc]e|licen[sc]e|certificate)|is trained (?:in|as)|holds an?) (?!(?:this|that|it|you)\b).+"),
    rule("cando", "skill", 0.5, 0.8, r"can (?:cook|bake|swim|drive|sew|knit|ski|surf|juggle|code|program|dance|sing|draw|paint|type|ride|sail|fly|solve|fix|touch type|crochet|weld|read|write|play) (?!(?:it|this|that|you|so|be|anything|something)\b).+", who="any"),
    rule("cant", "skill", 0.45, 0.8, r"(?:can't|doesn't know how to|never learned to|never learnt to) (?:swim|drive|cook|ride a bike|sing|dance|ski|skate|whistle|code|draw|drive a manual|play \w+)\b.*"),
    rule("codes", "skill", 0.55, 0.85, r"(?:codes|programs|develops|writes code|knows|uses) (?:in |mainly |mostly |primarily )*(?P<x>(?:python|java|javascript|typescript|rust|go|golang|c\+\+|c#|ruby|php|swift|kotlin|scala|haskell|sql|linux|emacs|vim|neovim|vs code|django|react|vue|arch|ubuntu|windows|macos|notion|obsidian|excel|matlab|photoshop|figma|blender|android|iphone|r)\b.*)"),
)  # fmt: skip

TASTES = (
    rule("favourite", "preference", 0.65, 0.9, r"(?:is|are|has (?:always )?been|will always be|would be|has to be) (?P<x>(?!(?:that|this|it|when|how|the (?:one|first|second|last)|probably when|definitely)\b)\S.{1,120})", who="other", data={"shape": "favourite"}),
    rule("prefers", "preference", 0.65, 0.9, r"(?:would )?(?:much |really )?(?:prefers?|rather (?:have|drink|eat|read|watch|work|use|walk|take)|favou?rs?|likes? .{2,60} (?:more|better) than) <object>"),
    rule("cannot_stand", "preference", 0.65, 0.9, r"(?:can't|cannot) (?:really )?(?:stand|bear|abide) <liking>"),
    rule("dislikes", "preference", 0.6, 0.9, r"(?:really |absolutely |kind of )?(?:doesn't|never|didn't ever) (?:really |particularly |much |actually |even |ever )?(?:likes?|enjoys?|cares? for|loves?) <liking>"),
    rule("dislikes", "preference", 0.6, 0.9, r"(?:hates|dislikes|detests|loathes|despises|has always hated|is not a fan of|isn't (?:really |much of |a big |a huge |much |exactly )*(?:an? )?(?:fan of|into|keen on|fond of)|has an aversion to|is not (?:into|keen on|fond of)) <liking>"),
    rule("likes", "preference", 0.55, 0.9, r"(?:has (?:always|long) (?:loved|liked|enjoyed|adored)|(?:always )?(?:loves|likes|enjoys|adores|appreciates a good|fancies|digs|has a (?:soft spot|passion|weakness|love|thing|sweet tooth|preference) for)) <liking>"),
    rule("sweet_tooth", "preference", 0.5, 0.9, r"has a (?:serious |huge |big )?sweet tooth.*"),
    rule("into", "preference", 0.55, 0.9, r"(?:is|has (?:always )?been|'s been) <degree>(?:into|fond of|crazy about|obsessed with|keen on|passionate about|interested in|addicted to|mad about|a (?:big |huge |massive |diehard |lifelong |long-time |real )?(?:fan of|lover of|sucker for|believer in)|hooked on|partial to) <object>"),
    rule("fan", "preference", 0.55, 0.9, r"is (?:an? )?(?:big |huge |massive |diehard |lifelong |real |proud |avid |keen |passionate |total |amateur |hobby )*(?P<x>(?:[\w'-]+ ){0,3}[\w'-]+ (?:fan|lover|enthusiast|aficionado|addict|nerd|geek|buff|supporter|collector|junkie|person|hobbyist)|(?:avid |keen |passionate )?(?:reader|runner|gamer|hiker|cyclist|swimmer|climber|gardener|bookworm|foodie|birdwatcher|birder|knitter|skier|surfer|traveler|traveller|collector|singer))\b(?! (?:of yours|too bad)).*"),
    rule("supports", "preference", 0.5, 0.85, r"(?:supports|roots for|follows|collects|is a supporter of) (?!(?:you|me|my|him|her|them|the idea|that|this|it|each|your|us|their)\b)<x>"),
    rule("interest", "preference", 0.5, 0.85, r"(?:has an interest|takes an interest|is (?:really )?curious) (?:in|about) (?!(?:this|that|it|what|how|your)\b).+"),
)  # fmt: skip

HABITS = (
    rule("habit", "pattern", 0.5, 0.85, r"(?:(?!was\b|did\b|went\b|will\b|should\b|would\b)[a-z]+(?:s|'t|\b)) (?:.{1,110} )?<rhythm>.*"),
    rule("habit", "pattern", 0.5, 0.8, r"<often>(?!(?:is|feels?|gets? (?:so )?(?:nervous|anxious|sad)|has (?:a hard|trouble|been)|thinks?|wonders?|wants?|finds?|forgets?|says?|tells?|here|there|happy|knows?|going|appreciates?|remembers?|dream|hears?|supports?|end|look)\b)\S+ .+"),
    rule("habit", "pattern", 0.5, 0.85, r"(?:gets up|wakes up|goes to (?:bed|sleep)|has (?:lunch|dinner|breakfast)|starts work|finishes work|commutes?) (?:at|around|by|before|after|early|late|very|to|for).*"),
    rule("habit", "pattern", 0.5, 0.8, r"(?:has a habit of|is used to|tends to|makes a point of|is in the habit of|has made it a habit to|likes to start) (?!(?:it|this|that|feel|get (?:nervous|anxious)|overthink)\b).+"),
    rule("sport", "pattern", 0.5, 0.8, r"(?:goes|does|practi[sc]es|trains|volunteers|meditates|journals|swims|runs|cycles|hikes|lifts|jogs|knits|bakes|gardens|paints|composts|attends|collects|surfs|skis|crochets|skateboards|fosters) (?!(?:to (?:the|a|an|my|see|show|bed|sleep)\b|it|that|this|so|not|well|on|away|into|through|by|without|out|home|back|into)\b).+"),
    rule("drives", "fact", 0.45, 0.8, r"(?:drives|rides|commutes by|cycles to|takes the (?:bus|train|subway|tube|metro)|walks to) (?!(?:me|you|him|her|them|us)\b)(?:an? |to )?.+"),
    rule("ongoing", "pattern", 0.55, 0.85, r"(?:has been) (?!(?:a while|feeling|thinking|having|so|wondering|procrastinating|meaning|busy)\b)<doing> <duration>.*"),
    rule("ongoing", "task", 0.5, 0.8, r"(?:is|has been|started|is trying to|began|has started|has begun|has recently started|recently started|is busy)(?: recently| lately)? (?:learning|to learn|learn|studying(?= for)|practi[sc]ing|training (?:for|to)|preparing (?:for|to)|working on|writing (?:a|an|my|the)|building (?:a|an|my|our|the)|saving (?:up |money )?(?:for|to)|developing (?:a|an|my|our|the)|planning (?:a|an|my|our|to|on|for|the)|renovating|organi[sz]ing (?:a|an|my|our|the)|researching|applying (?:for|to)|looking to|quit(?:ting)? smoking|lose weight|losing weight|restoring|revising for|remodeling|redecorating|considering (?:moving|changing|switching|going back|adopting|buying|becoming|a career|a new job|finding a new job|getting|running)|thinking (?:of|about) (?:moving|changing|switching|going back|adopting|buying|becoming|getting|starting|quitting|traveling|travelling|joining|working|running)|dreaming of|interning|translating|doing (?:yoga|ballet|karate|judo|pilates|crossfit|kickboxing|taekwondo|pottery|ceramics|photography|volunteer|my (?:thesis|dissertation|phd))|taking (?:\w+ ){0,3}(?:classes|class|lessons|course|courses)|teaching|volunteering|fostering|mentoring|running (?:a|an|my|for)|attending|going to (?:therapy|the gym|physio|counsel|church|evening classes)|seeing a (?:therapist|counsell?or|physio\w*)|growing|playing|making (?:a|an|my own)|designing|coaching|into) (?!(?:it|this|that|how to (?:solve|handle|feel))\b).+"),
    rule("media", "preference", 0.4, 0.75, r"(?:is|has been|started|recently started|just started|just finished|finished|has just finished|recently finished|read|recently read|watched|recently watched)(?: recently| lately| currently)? (?:re-?reading|reading|watching|re-?watching|listening to|playing|following|binge-?watching|bingeing) (?P<x>(?:(?:a|an|the|this) (?:[\w'-]+ ){0,6}(?:called|named|titled|by) )?(?:[\"“*]|(?-i:[A-Z])|(?:the|a|an) (?-i:[A-Z])).+)"),
)  # fmt: skip

PLANS = (
    rule("appointment", "task", 0.65, 0.9, r"(?:has|has got|will have|is having|got) (?:an?|my|the|two|three|some|our|\d+)? ?(?:[\w'-]+ ){0,4}(?:appointment|interview|exam|exams|test|deadline|flight|meeting|presentation|wedding|reunion|recital|concert|trip|surgery|checkup|check-up|viva|defen[cs]e|audition|reservation|booking|driving test|final|finals|midterm|conference|launch|release|match|game|race|marathon|tournament|performance|show|date|party|visa|vacation|holiday|hearing|move|gig|exhibition|talk|speech|lecture|webinar|project due|paper due|assignment due)\b.*", dated=True),
    rule("deadline", "task", 0.65, 0.9, r"(?:is due|are due|is|starts|ends|begins|takes place|will be|is scheduled|has been moved|was moved|got moved|has moved|expires|ships|launches|runs out|opens|closes|has its|gets married|graduates|arrives|leaves|comes|is coming|turns \d+|releases|goes live|happens|has to be done|must be done|needs to be done)\b.*", who="other", dated=True),
    rule("plan", "task", 0.6, 0.85, r"(?:is (?:going to|about to|planning (?:to|on)|hoping to|set to|due to|supposed to|scheduled to|determined to)|plans (?:to|on)|intends to|has decided to|decided to|has (?:to|got to)|needs to|must|will|aims to|has signed up (?:to|for)|signed up (?:to|for)|has booked|booked|has registered for|registered for|is (?:flying|traveling|travelling|starting|leaving|getting|visiting|meeting|giving|taking|going|having|hosting|running|seeing|launching|releasing|presenting|graduating|throwing|organi[sz]ing|attending|retiring|driving|performing|competing|opening|joining|speaking|celebrating|picking|coming|staying|doing|returning|throwing|heading|defending|switching)) (?!(?:you|let you|give you|talk to you|tell you|be (?:ok|fine|great)|always|never|remember|try|check|see (?:if|what)|think|let|find|keep)\b).+", dated=True),
    rule("plan", "task", 0.55, 0.8, r"(?:is (?:going to|about to|planning (?:to|on)|hoping to|determined to|set on|saving (?:up )?to)|plans (?:to|on)|intends to|has decided to|decided to|aims to|is trying to|is looking to|is working to|is thinking about|is thinking of|has been thinking about|is considering) <aim>.*"),
    rule("plan", "task", 0.55, 0.8, r"(?:plans|is planning|has planned|booked|has booked|is organi[sz]ing) (?:an?|my|our|the|for an?) (?:[\w'-]+ ){0,4}(?:trip|wedding|holiday|vacation|party|move|event|book|novel|app|website|campaign|career|tour|road trip|honeymoon|shower|flight|reunion|fundraiser|hike|course|retreat|cruise|class|safari|show|exhibition|album)\b.*"),
    rule("travel", "task", 0.55, 0.85, r"is (?:flying|traveling|travelling|moving|going|heading|visiting|going on holiday|going on vacation) (?:to )?(?-i:[A-Z])\w+.*"),
    rule("wish", "task", 0.5, 0.8, r"(?:always |really |eventually |someday )?(?:wants to|hopes to|dreams of|dreams about|would (?:really )?(?:love|like) to|has always (?:wanted|dreamed|dreamt)(?: to| of| about)|is dying to|can't wait to|is eager to|is excited to|is ready to|is ready to) (?:one day |someday |eventually |also |finally )?<aim>(?! (?:you|your|it\b|that\b|this\b|there\b|some advice|advice|better soon)).*"),
    rule("wish", "task", 0.5, 0.8, r"(?:dreams of|dreams about|has always dreamed of|has always dreamt of|looks forward to|is looking forward to|would consider) (?!(?:it|that|hearing|seeing you|seeing how|your|talking|chatting|this)\b)\w+ing .+"),
    rule("goal", "task", 0.55, 0.85, r"is to (?!(?:you|be honest|say)\b).+", who="other"),
)  # fmt: skip

EVENTS = (
    rule("achieved", "event", 0.55, 0.85, r"(?:has )?(?:just |recently |finally )?(?:won|passed|failed|earned|achieved|finished|completed|graduated|published|released|launched|founded|opened|ran|climbed|received|was awarded|got (?:accepted|into|admitted|approved|certified|published|my|our|his|her)|got an? (?:tattoo|offer|place|scholarship|promotion|car|puppy|new)) (?!(?:it|this|that|away|out|into|late|errands|some|to|work|up|a bit|my (?:coffee|lunch|dinner|breakfast|work|homework)|by|off|over|in|for (?:a|the)|through)\b).{3,}"),
    rule("joined", "event", 0.55, 0.85, r"(?:has )?(?:just |recently |finally )?(?:signed up|enrolled|registered|joined|applied|started (?:a|an|my|the|learning|taking|going|doing|volunteering|working|seeing|dating|playing)|began|took up|became|set up|switched (?:to|from|jobs)|converted|bought|sold|adopted|subscribed|was elected|was promoted|retook|took) (?!(?:it|this|that|some|me|him|her|them|a (?:look|break|walk|nap|shower|pic|picture|photo|lot|bit|moment|while|deep|coffee|few|chance|course of|long|bath)|the (?:photo|pic|picture|time|chance|bus|train)|place|lots|milk|groceries|all|to feel|feeling|many|pics|photos|pictures|care|part|time|my (?:kids|dog|son|daughter|family)|in|on|off|over|notes|food|lunch|after|by|as)\b).{4,}"),
    rule("went", "event", 0.45, 0.8, r"(?:has )?(?:just |recently )?(?:went (?:to|on)|visited|attended|travel+ed to|got back from|came back from|returned from|hosted|organi[sz]ed|ran|participated in|took part in|volunteered at|performed (?:at|in)|spoke at|gave a|has been to|traveled to|flew to|spent \w+ (?:\w+ )?in|did an?|has visited|has traveled|took (?:my|our) (?:\w+ ){0,2}(?:kids|family|son|daughter|wife|husband|mom|dad) to) (?:.*\b(?:concert|conference|wedding|group|museum|festival|parade|class|workshop|show|race|retreat|exhibition|exhibit|ceremony|funeral|graduation|rally|march|marathon|seminar|meetup|course|gala|fundraiser|convention|event|camping|road trip|trip|vacation|holiday|tour|cruise|hike|council|talk|speech|gathering|reunion|party|meeting|hospital|shelter|charity|5k|10k|triathlon|tournament|audition|interview|bootcamp|counsel\w+|play|opera|ballet|zoo|aquarium|theme park|national park|mountains?|beach|farm)\b|(?-i:(?:the |see )?[A-Z])\w+).*", data={"shape": "event"}),
    rule("met", "event", 0.45, 0.75, r"(?:has )?(?:just |recently )?(?:met|reconnected with|befriended|made friends with) (?P<x>(?:my|an?|some) .+|(?-i:[A-Z])\w+.*)", dated=True),
    rule("had", "event", 0.4, 0.75, r"(?:had|threw|celebrated|saw|watched|made|painted|wrote|built|planted|baked|donated|lost|broke|found|started|tried|crashed|caught|survived|experienced|organi[sz]ed|presented|performed|ended|was in|got hit) (?!(?:it|this|that|some time|a (?:lot|great time|good time|blast|bit|good|great|nice)|to|so|fun|no|my (?:coffee|lunch|dinner|breakfast)|lunch|dinner|breakfast|coffee|enough|much|how|what|up)\b).{4,}", dated=True),
    rule("used_to", "fact", 0.5, 0.85, r"used to (?!(?:it|think|feel|believe|be (?:so|really|very|scared|afraid))\b).+"),
)  # fmt: skip

THINGS = (
    rule("thing", "fact", 0.65, 0.85, r"(?:is|are|was|has been|will be|means) (?!(?:not|so|very|too|great|good|bad|fine|ok|okay|amazing|awesome|really|going|getting|killing|over|the best|just|more|better|worse|hard|tough|terrible|full|always|important|to (?:you|see)|packed|swamped|what|that|how|because|a mess|a bit|a lot|here|there|safe|where|when|pretty|broken|busy|crazy|stable|doing|boring|growing|starting|done|about you)\b)(?P<x>.{2,140})", who="other", data={"shape": "thing"}),
)  # fmt: skip

NEGATED_NOW = (
    rule("no_longer", "fact", 0.65, 0.85, r"no longer \w+.*|(?:doesn't|isn't|hasn't|can't|don't) .{2,80} (?:any ?more|any longer)$"),
)  # fmt: skip

PREDICATES = table(
    *CONSTRAINTS, *HEALTH, *IDENTITY, *HOME, *WORK, *FAMILY, *SKILLS, *TASTES[1:], *PLANS[:1],
    *PLANS[2:3], *HABITS, *PLANS[3:], *EVENTS,
)  # fmt: skip
OF_THINGS = table(*PLANS[1:2], *PLANS[8:], *THINGS)
OF_FAVOURITES = table(TASTES[0])
NO_LONGER = table(*NEGATED_NOW)

_NAME = r"(?P<x>(?-i:[A-Z])[\w'\-]+(?: (?-i:[A-Z])[\w'\-.]+){0,3})"
# Whole clauses, where the subject isn't the speaker or there is none.
CLAUSES = table(
    rule("name", "fact", 0.9, 0.95, rf"(?:my (?:full |first |real |given )?name(?:'s| is)|i go by|(?:please |just |you can |people |everyone |friends |my friends |they |feel free to )+calls? me|i'm called) {_NAME}(?: (?:by the way|btw|and .*))?$", say="name is {x}", data={"shape": "name"}),
    rule("nickname", "fact", 0.85, 0.9, rf"(?:please )?call me {_NAME}(?: from now on| instead)?$", say="prefers to be called {x}"),
    rule("favourite", "preference", 0.65, 0.9, r"(?P<x>(?!(?:it|this|that|which|what|who|he|she|they|one|those|these)\b)(?:[\w'\"“”&-]+ ?){1,8}?) (?:is|are|has always been) (?:probably |definitely |one of )?my (?:all-time |absolute )?(?P<y>favou?rites?(?: [\w-]+){1,3})$", say="{y} is {x}"),
    rule("best", "preference", 0.6, 0.85, r"(?P<x>(?!(?:it|this|that|which|what|who|he|she|they|one|those|these)\b)(?:[\w'\"“”&-]+ ?){1,8}?) (?:is|are|has always been) (?:probably |definitely |one of )?my (?:all-time |absolute )?(?:favou?rites?|faves?|fav)$", say="likes {x} best", data={"shape": "best"}),
    rule("allergy", "constraint", 0.95, 0.9, r"(?:severely |deathly |very )?allergic to (?!<idiom>)(?P<x>.+)", say="is allergic to {x}"),
    rule("allergy", "constraint", 0.9, 0.85, r"(?P<x>[\w ]{3,40}) (?:gives? me (?:hives|a rash|migraines|heartburn)|makes? me (?:sick|ill|break out|nauseous|throw up))(?: .*)?$", say="gets ill from {x}"),
    rule("given", "event", 0.5, 0.8, r"(?:just|recently|finally) (?P<x>(?:got|started|moved|adopted|bought|finished|signed up|joined|passed|graduated|quit|retired|became|had a baby|returned|came back) .+)", say="{x}"),
)  # fmt: skip

# What a person asks of the assistant for good: only with a word that says so, or about its style.
_STYLE = (
    r"(?:short|brief|concise|direct|detailed|simple|formal|informal|casual|friendly|polite|plain|long|"
    r"honest|structured|technical|to the point|in bullet points|bullet points|step by step)"
)
INSTRUCTIONS = table(
    rule("style", "preference", 0.75, 0.85, rf"(?:please )?(?:keep|make) (?:your |the |all |all your )?(?:answers?|repl(?:y|ies)|responses?|explanations?|messages?) (?P<x>(?:\w+,? (?:and )?){{0,2}}{_STYLE}\b.*)", say="prefers {x} answers"),
    rule("style", "preference", 0.75, 0.85, r"(?:please )?(?:always|from now on,?(?: please)?|in (?:the )?future,?(?: please)?) (?P<x>(?:answer|reply|respond|write|speak|talk|use|explain|give|include|call|address|start|end|keep|show|convert|format|ask|check|be|add|cite)\b.+)", say="wants the assistant to always {x}"),
    rule("taboo", "constraint", 0.85, 0.85, r"(?:please )?(?:never|don't ever|do not ever|from now on,? (?:don't|never)|always avoid|stop) (?P<x>(?:mention(?:ing)?|bring(?:ing)? up|suggest(?:ing)?|recommend(?:ing)?|call(?:ing)? me|talk(?:ing)? about|us(?:e|ing)|ask(?:ing)?|sugarcoat\w*|apologi[sz](?:e|ing)|add(?:ing)?|start(?:ing)?|say(?:ing)?|offer(?:ing)?|us(?:e|ing)|writ(?:e|ing)|send(?:ing)? me|includ(?:e|ing)|giv(?:e|ing) me) .+)", say="doesn't want the assistant to {x}", data={"shape": "base"}),
    rule("taboo", "constraint", 0.8, 0.8, r"(?:please )?(?:don't|do not) (?P<x>(?:use|add|include) (?:any )?(?:emojis?|bullet points|markdown|slang|jargon|swear words|exclamation marks|tables|headings|abbreviations|filler)\b.*|call me (?!back|later|at|when|tomorrow|crazy|stupid).+|sugarcoat .+|mention .+ (?:again|anymore|any more))", say="doesn't want the assistant to {x}"),
    rule("style", "preference", 0.75, 0.85, r"(?:please )?(?:answer|reply|respond|speak|write|talk) (?:to me )?(?:only |always )?(?P<x>in <language>)(?: from now on| always| please)?$", say="wants answers {x}"),
    rule("call", "preference", 0.8, 0.9, rf"(?:please |you can |just |feel free to )*call me {_NAME}(?: from now on| instead| please)?$", say="prefers to be called {{x}}".replace("{{", "{").replace("}}", "}")),
)  # fmt: skip
