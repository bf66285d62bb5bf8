"""English: home, work and study, family and animals."""

from memories.extraction.rules.en_pieces import rule

# One rule, a few lines: the formatter would make ten of each.
# fmt: off
HOME = (
    rule("home", "fact", 0.75, 0.9,
         r"(?:lives|is (?:currently |now )?(?:living|based|staying)|resides|stays) (?:alone|"
         r"together|with|in|at|near|on|by|outside|close|abroad|off|down|just|about|a few|"
         r"\d+ \w+ from|right)(?: (?!(?:fear|the moment|peace|harmony|it|denial)\b).+|$)"),
    rule("home", "fact", 0.75, 0.85,
         r"has (?:always |been )*(?:lived|living|been based) (?:here |alone|in|at|near|on|"
         r"with|abroad).*"),
    rule("moved", "event", 0.75, 0.9,
         r"(?:has )?(?:just |recently |finally )?(?:moved|relocated|emigrated|"
         r"immigrated) (?:(?:out|in|back|away|here|house|apartments?|home|over)\b ?)?(?:to|"
         r"from|into|in|with|of|out|back|house|apartments|together|abroad|last|on|\d)?.*"),
    rule("moving", "task", 0.7, 0.85,
         r"is (?:moving|relocating|emigrating|going to move|planning to move) (?:to|out|in|"
         r"into|back|from|house|apartments|abroad)\b.*"),
    rule("housing", "fact", 0.6, 0.85,
         r"(?:bought|rents?|is renting|owns?|just bought|has bought|is buying|built|"
         r"sold) (?:an?|my|our|the|their) (?:[\w-]+ ){0,4}(?:house|flat|apartment|condo|"
         r"cottage|farm|home|studio|room|cabin|boat|van|car|motorcycle|bike|piano|guitar|"
         r"motorbike|campervan|land|shop|restaurant|bakery|cafe|business|company)\b.*"),
    rule("household", "fact", 0.6, 0.8,
         r"shares (?:an?|my|our|the) (?:\w+ )?(?:house|flat|apartment|room|studio|"
         r"office) with .+"),
)

WORK = (
    rule("job", "fact", 0.8, 0.9,
         r"(?:is|works as|has been|is working as|has been working as|became|is employed as|"
         r"is now|is training to be|is studying to be|is training to become) (?:an?|the|our|"
         r"one of the|head of|now a|my own|head|chief|senior|self-employed)? ?<job>",
         data={"shape": "job"}),
    rule("job", "fact", 0.8, 0.9,
         r"(?:works|worked(?! with)|has worked|has been working|is working) (?:as|at|in|for|"
         r"with|from home|remotely|freelance|part[- ]time|full[- ]time|nights|night shifts|"
         r"shifts|the night shift|on (?:a farm|oil|wind)|\d+ (?:hours|days))\b(?! (?:it|"
         r"that|this|the moment|progress|time|you|my (?:confidence|self|fitness|body|"
         r"skills)|me\b|him|her|them)).*"),
    rule("job", "fact", 0.75, 0.85,
         r"(?:runs|owns|manages|founded|co-founded|started|opened|is running|leads|heads|"
         r"co-owns|operates) (?:an?|my own|our|the|my|two|three) (?!(?:marathon|half|race|"
         r"mile|new book|book|series|conversation|day|day with|\d+k|fever|bath|few|lot|show|"
         r"movie|journey|car|tab)\b)(?:[\w'&-]+ ){0,4}(?:business|company|startup|shop|"
         r"store|restaurant|cafe|café|bakery|bar|farm|team|clinic|practice|agency|studio|"
         r"blog|channel|podcast|club|school|gym|firm|garage|salon|bookshop|bookstore|"
         r"department|project|charity|nonprofit|non-profit|hotel|food truck|book club|group|"
         r"band|band|foundation|initiative|gallery|newsletter)\b.*"),
    rule("job", "fact", 0.7, 0.85,
         r"(?:does|do) (?:\w+ )?(?:shift work|night shifts|nights|freelance|freelancing|"
         r"contract work|odd jobs|"
         r"gig work|agency work|consulting|admin|sales|marketing|it support|customer (?:support|"
         r"service))\b.*"),
    rule("study", "fact", 0.7, 0.85,
         r"(?:just |recently )?(?:started|finished|is in) (?:secondary school|primary "
         r"school|school|college|uni|university|nursery|kindergarten|reception|preschool|"
         r"high school|year \d+|"
         r"sixth form|medical school|law school|grad school)\b.*"),
    rule("job", "fact", 0.75, 0.85, r"teaches (?!(?:me|you|us|him|her|them)\b).+"),
    rule("newjob", "event", 0.7, 0.9,
         r"(?:has )?(?:just |finally |recently )?(?:got(?! to\b)|gotten|landed|received|"
         r"accepted|started|was offered|took|begins|starts|starting|is starting|"
         r"got offered) (?:an?|my|the|this|an amazing|as)? ?(?:[\w-]+ ){0,4}(?:job|"
         r"promotion|internship|position|role|raise|apprenticeship|offer|scholarship|"
         r"fellowship|career|degree|phd|masters|diploma|certificate|licen[sc]e|award|"
         r"residency|grant)\b.*"),
    rule("newjob", "event", 0.7, 0.9,
         r"(?:has )?(?:just |recently )?(?:(?:got|was|been) (?:promoted|laid off|fired|"
         r"made redundant|hired|accepted|admitted|furloughed|elected)|retired|resigned|"
         r"quit my job|quit|left my job|lost my job|quit (?:the|my|her|his) \w+|dropped out|"
         r"went freelance|went back to school|joined (?!you|me|in|them|us)\w+)\b.*"),
    rule("jobless", "fact", 0.65, 0.85,
         r"(?:is|has been) (?:looking for (?:an? )?(?:new )?(?:job|work|internship|"
         r"apartment|house|flat|roommate|place to live)|job hunting|out of work|unemployed|"
         r"between jobs|on (?:maternity|paternity|parental|sick|medical) leave|"
         r"on a (?:gap year|sabbatical)|freelancing|house hunting|flat hunting)\b.*"),
    rule("study", "fact", 0.75, 0.9,
         r"(?:studies|is studying|studied|majors in|is majoring in|majored in|minors in|"
         r"attends|is enrolled|enrolled|has enrolled|graduated|has graduated|"
         r"is doing (?:an?|my) (?:phd|master|msc|mba|degree|bachelor|bootcamp|"
         r"apprenticeship|internship|postdoc|residency|gcse|a-level)\w*|"
         r"has an? (?:\w+ )?(?:phd|master'?s|bachelor'?s|degree|mba|diploma|law degree|"
         r"doctorate)|is in (?:my )?(?:\w+ )?(?:year|grade|high school|college|university|"
         r"middle school|kindergarten|med school|law school|grad school|primary school|"
         r"elementary|preschool)|goes to (?:\w+ ){0,3}(?:school|university|college|"
         r"kindergarten|daycare|preschool)|is (?:a )?(?:first|second|third|fourth|"
         r"final)[- ]year)\b(?! (?:it|that|this)\b).*"),
    rule("industry", "fact", 0.6, 0.8,
         r"is in (?:the )?(?:\w+ )?(?:tech|finance|marketing|education|healthcare|"
         r"real estate|retail|hospitality|it|sales|consulting|insurance|the army|army|navy|"
         r"military|air force|film industry|construction|logistics|media|advertising|"
         r"publishing|hr)\b(?: .*)?$"),
)

FAMILY = (
    rule("pet", "fact", 0.7, 0.9,
         r"(?:has|has had|owns|adopted|has adopted|got|just got|rescued|just adopted|"
         r"recently adopted|bought|is adopting|fosters|welcomed) (?:an?|one|two|three|four|"
         r"five|six|my|some|\d+|another|this|our)? ?(?:(?!(?:love|thing|passion|fear|lot|"
         r"lots|way|house|trip|job|picture|photo|time|name)\b)[\w'-]+ ){0,5}?(?:dogs?|cats?|"
         r"pupp(?:y|ies)|pups?|kittens?|rabbits?|bunn(?:y|ies)|parrots?|hamsters?|"
         r"guinea pigs?|horses?|pony|ponies|goldfish|fish|turtles?|tortoises?|budgies?|"
         r"ferrets?|lizards?|geckos?|snakes?|chickens|hens|goats?|cows|sheep|bees|ducks|"
         r"iguana|retrievers?|labradors?|poodles?|corgis?|huskies|husky|beagles?|bulldogs?|"
         r"terriers?|dachshunds?|collies?|shepherds?|chihuahuas?|pugs?|spaniels?|"
         r"dalmatians?|greyhounds?|axolotls?|canary|canaries|cockatiels?|tarantula|"
         r"pets?)\b(?! (?:person|lover|food|park|allerg|shelter|nap|video|sitter|day|"
         r"poisoning|tattoo|show)).*"),
    rule("family", "fact", 0.7, 0.9,
         r"(?:has|has got|had(?= (?:an?|our|my|twins|identical) ?(?:\w+ )?(?:baby|son|"
         r"daughter|twins|boy|girl|child))|adopted|is raising|raises|gave birth to|"
         r"is expecting|just had|is having|welcomed) (?:an?|one|two|three|four|five|six|"
         r"seven|my|no|\d+|another|our|identical|twin)? ?(?:[\w'-]+ ){0,4}?(?:kids?(?!')|"
         r"children(?!')|child|sons?|daughters?|brothers?|sisters?|siblings?|twins|babies|"
         r"baby(?= (?:boy|girl|son|daughter|in|on|last|next|due|named|called)|$)|grandkids|"
         r"grandchildren|grandsons?|granddaughters?|boyfriend|girlfriend|wife|husband|"
         r"partner|fianc[eé]e?|stepson|stepdaughter|stepkids|nieces?|nephews?|cousins?|"
         r"roommates?|flatmates?|housemates?|teenagers|triplets|boys?(?=,| (?:named|called|"
         r"and)|$)|girls?(?=,| (?:named|called|and)|$))\b(?! (?:stuff|things|time|problems|"
         r"issues|voice|who needs)).*"),
    rule("naming", "fact", 0.7, 0.85, r"named (?:my|our) <modifiers><relation> (?-i:[A-Z]).*"),
    rule("named", "fact", 0.75, 0.9,
         r"(?:is|are) (?:called|named) (?P<x>(?-i:[A-Z\"“]).*)", who="other"),
    rule("marriage", "event", 0.75, 0.9,
         r"(?:has )?(?:just |recently |finally )?(?:got|is getting|gets|is|was|are|"
         r"are getting) (?:married|engaged|divorced|separated|remarried)\b.*"),
    rule("marriage", "event", 0.75, 0.85,
         r"(?:has been (?:married|together|divorced|single|dating|engaged|widowed)|"
         r"proposed to|is dating|started dating|met my (?:wife|husband|"
         r"partner|boyfriend|girlfriend)|married) .+"),
    rule("marriage", "event", 0.75, 0.85,
         r"(?:has )?(?:just |recently |finally )?(?:broke|broken|split) up(?: .+|$)"),
    rule("birth", "event", 0.75, 0.85,
         r"(?:is (?:expecting|pregnant|due)|was born|gave birth)(?= (?!you|it|that|too much|"
         r"a (?:call|package|delivery))|$).*"),
    rule("loss", "event", 0.7, 0.85,
         r"(?:has )?(?:recently |just |sadly )?(?:died|passed away|passed(?= (?:last|in|on|"
         r"when|two|a))|was killed)\b.*", who="other"),
    rule("loss", "event", 0.7, 0.85,
         r"lost my (?P<x><modifiers><relation>)\b(?! (?:in the|at the|while)).*"),
    rule("relation", "fact", 0.65, 0.85,
         r"is (?:my|our) (?P<x><modifiers><relation>)\b.*", who="other", say="is their {x}"),
    rule("kin", "fact", 0.6, 0.85,
         r"(?:is an? (?:mother|father|mom|mum|dad|parent|grandmother|grandfather) (?:of|"
         r"to) .+|is the (?:eldest|oldest|youngest|middle child|only \w+)\b.*)"),
)
# fmt: on
