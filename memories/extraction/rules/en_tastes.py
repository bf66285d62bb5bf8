"""English: skills, tastes and habits."""

from memories.extraction.rules.en_pieces import rule

# One rule, a few lines: the formatter would make ten of each.
# fmt: off
SKILLS = (
    rule("speaks", "skill", 0.6, 0.9,
         r"(?:can )?(?:speaks?|is (?:fluent|conversational|a native speaker of|"
         r"native) ?(?:in)?|understands?|is bilingual in|writes|reads|"
         r"signs) (?P<y>(?:a little|a bit of|some|fluent|basic|good|decent|rusty|ok|okay|bad|"
         r"terrible|passable|intermediate|both|"
         r"conversational|native|only|broken|near-native|mostly) )?(?P<x><language>\b.*)"),
    rule("team", "skill", 0.5, 0.85,
         r"plays (?:for|in|with) (?!(?:it|me|you|fire|them|him|her|this|that|the idea)\b).+"),
    rule("plays", "skill", 0.55, 0.9,
         r"(?:can )?(?:plays?|is playing|used to play|has played|"
         r"has been playing) (?:the )?(?P<x>(?:\w+ )?(?:guitar|piano|violin|cello|drums|"
         r"flute|bass|trumpet|saxophone|sax|ukulele|harp|clarinet|banjo|accordion|organ|"
         r"viola|keyboard|harmonica|erhu|guzheng|pipa|trombone|oboe|mandolin|chess|tennis|"
         r"football|soccer|basketball|badminton|volleyball|golf|squash|rugby|cricket|hockey|"
         r"baseball|table tennis|ping pong|softball|handball|poker|bridge|video games|"
         r"dungeons|d&d|board games|go|mahjong|minecraft|padel|pickleball|in an? \w+)\b.*)"),
    rule("skilled", "skill", 0.55, 0.85,
         r"(?:is (?:really |very |pretty |quite |fairly )?(?:good|great|skilled|experienced|"
         r"talented|proficient|an expert|excellent|best) (?:at|in|with)|knows how to|"
         r"excels at|is an expert (?:in|on)|speciali[sz]es in|has (?:\w+ ){0,3}(?:years|"
         r"decades|months) of experience|is certified|has an? (?:black belt|"
         r"driving licen[sc]e|driver's licen[sc]e|pilot's licen[sc]e|licen[sc]e|"
         r"certificate)|is trained (?:in|as)|holds an?) (?!(?:this|that|it|you)\b).+"),
    rule("cando", "skill", 0.5, 0.8,
         r"can (?:cook|bake|swim|drive|sew|knit|ski|surf|juggle|code|program|dance|sing|"
         r"draw|paint|type|ride|sail|fly|solve|fix|touch type|crochet|weld|read|write|"
         r"play) (?!(?:it|this|that|you|so|be|anything|something)\b).+", who="any"),
    rule("learned", "skill", 0.5, 0.85,
         r"(?:has )?(?:learned|learnt|taught myself|"
         r"is self-taught in) (?:how )?(?:to )?(?:play|cook|bake|swim|drive|sew|knit|ski|"
         r"surf|speak|code|program|ride|sail|draw|paint|make|fly|weld)\b(?! (?:it|that|"
         r"this)).*"),
    rule("weak", "fact", 0.4, 0.8,
         r"is (?:really |very |pretty )?(?:terrible|bad|awful|hopeless|"
         r"not (?:very )?good) (?:at|with) (?!(?:it|this|that)\b).+"),
    rule("cant", "skill", 0.45, 0.8,
         r"(?:can't|doesn't know how to|never learned to|never learnt to) (?:swim|drive|"
         r"cook|ride a bike|sing|dance|ski|skate|whistle|code|draw|drive a manual|"
         r"play \w+)\b.*"),
    rule("codes", "skill", 0.55, 0.85,
         r"(?:codes|programs|develops|writes code|knows|uses) (?:in |mainly |mostly |"
         r"primarily )*(?P<x>(?:python|java|javascript|typescript|rust|go|golang|c\+\+|c#|"
         r"ruby|php|swift|kotlin|scala|haskell|sql|linux|emacs|vim|neovim|vs code|django|"
         r"react|vue|arch|ubuntu|windows|macos|notion|obsidian|excel|matlab|photoshop|figma|"
         r"blender|android|iphone|r)\b.*)"),
)

FAVOURITES = (
    rule("favourite", "preference", 0.65, 0.9,
         r"(?:is|are|has (?:always )?been|will always be|would be|"
         r"has to be) (?P<x>(?!(?:that|this|it|when|how|the (?:one|first|second|last)|"
         r"probably when|definitely)\b)\S.{1,120})", who="other", data={"shape": "favourite"}),
)

TASTES = (
    rule("prefers", "preference", 0.65, 0.9,
         r"(?:would )?(?:much |really )?(?:prefers?|rather (?:be|have|drink|eat|read|watch|"
         r"work|use|walk|take)|favou?rs?|likes? .{2,60} (?:more|better) than) <object>"),
    rule("cannot_stand", "preference", 0.65, 0.9,
         r"(?:can't|cannot) (?:really )?(?:stand|bear|abide) <liking>"),
    rule("dislikes_when", "preference", 0.55, 0.85,
         r"(?:hates|dislikes|can't stand|can't bear|doesn't like) (?:it )?when (?P<x>.+)",
         say="dislikes when {x}"),
    rule("dislikes", "preference", 0.6, 0.85,
         r"(?:doesn't|never) (?:really )?(?:get|gets|got) (?:along|on) (?:well )?with (?!people|my|"
         r"(?:him|her|them|you)\b)<liking>"),
    rule("dislikes", "preference", 0.6, 0.9,
         r"(?:really |absolutely |kind of )?(?:doesn't|never|didn't ever) (?:really |"
         r"particularly |much |actually |even |ever )?(?:likes?|enjoys?|cares? for|"
         r"loves?) <liking>"),
    rule("dislikes", "preference", 0.6, 0.9,
         r"(?:hates|dislikes|detests|loathes|despises|has always hated|is not a fan of|"
         r"isn't (?:really |much of |a big |a huge |the biggest |much |exactly |particularly |"
         r"too |that |super )*(?:an? )?(?:fan of|into|"
         r"keen on|fond of)|has an aversion to|is not (?:into|keen on|fond of)) <liking>"),
    rule("likes", "preference", 0.55, 0.9,
         r"(?:has (?:always|long) (?:loved|liked|enjoyed|adored)|(?:always )?(?:loves|likes|"
         r"enjoys|adores|appreciates a good|fancies|digs|has a (?:soft spot|passion|"
         r"weakness|love|thing|sweet tooth|preference) for)) <liking>"),
    rule("tolerates", "preference", 0.4, 0.8,
         r"(?:doesn't|don't) (?:really )?mind (?!(?:if|when|that|it|waiting|you|me|the (?:wait|"
         r"delay))\b)<object>"),
    rule("when_doing", "pattern", 0.5, 0.8,
         r"(?:listens to|watches|drinks|eats|wears|reads|chews|plays) (?!(?:it|that|this|them|"
         r"your|you)\b)<x> "
         r"(?:when(?:ever)?|while|before|after) .+"),
    rule("sweet_tooth", "preference", 0.5, 0.9, r"has a (?:serious |huge |big )?sweet tooth.*"),
    rule("into", "preference", 0.55, 0.9,
         r"(?:is|has (?:always )?been|'s been) <degree>(?:into|fond of|crazy about|"
         r"obsessed with|keen on|passionate about|interested in|addicted to|mad about|"
         r"a (?:big |huge |massive |diehard |lifelong |long-time |real )?(?:fan of|lover of|"
         r"sucker for|believer in)|hooked on|partial to) <object>"),
    rule("fan", "preference", 0.55, 0.9,
         r"is (?:an? )?(?:big |huge |massive |diehard |lifelong |real |proud |avid |keen |"
         r"passionate |total |amateur |hobby )*(?P<x>(?:[\w'-]+ ){0,3}[\w'-]+ (?:fan|lover|"
         r"enthusiast|aficionado|addict|nerd|geek|buff|supporter|collector|junkie|person|"
         r"hobbyist)|(?:avid |keen |passionate )?(?:reader|runner|gamer|hiker|cyclist|"
         r"swimmer|climber|gardener|bookworm|foodie|birdwatcher|birder|knitter|skier|surfer|"
         r"traveler|traveller|collector|singer))\b(?! (?:of yours|too bad)).*"),
    rule("drink", "preference", 0.5, 0.85,
         r"(?:takes|likes|drinks) my (?:coffee|tea|steak|eggs|whisky) .+"),
    rule("reads", "preference", 0.5, 0.8,
         r"(?:only ever|only) (?:drinks?|eats?|wears?|uses?|watches|reads?|buys?|listens? to|"
         r"cooks?|"
         r"shops? at|drives?|takes?) (?!(?:it|that|this|them|your|a few|one)\b).+"),
    rule("reads", "preference", 0.5, 0.8,
         r"only ever (?!(?:had|been|seen|met|wanted|said)\b)[a-z]+s? .+"),
    rule("doesnt", "preference", 0.45, 0.8,
         r"(?:doesn't|don't) (?:really |usually |ever |even )?(?:watch|read|use|own|wear|cook|"
         r"follow|celebrate|play|"
         r"buy|do social media)\b(?! (?:it|this|that|them|much|enough|the)\b) ?<liking>"),
    rule("reads", "preference", 0.5, 0.8,
         r"(?:mostly |mainly |only )?(?:reads|watches|listens to|eats|drinks|cooks|"
         r"bakes) (?:a lot of|lots of|mostly|mainly|tons of|plenty of|only|a ton of|"
         r"too much|so much) (?!(?:it|that|this|them|your)\b).+"),
    rule("supports", "preference", 0.5, 0.85,
         r"(?:supports|roots for|follows|collects|is a supporter of) (?!(?:you|me|my|him|"
         r"her|them|the idea|that|this|it|each|your|us|their)\b)<x>"),
    rule("interest", "preference", 0.5, 0.85,
         r"(?:has an interest|takes an interest|is (?:really )?curious) (?:in|"
         r"about) (?!(?:this|that|it|what|how|your)\b).+"),
)

HABITS = (
    rule("amount", "pattern", 0.5, 0.85,
         r"(?:drinks|eats|smokes|reads|walks|runs|writes|sleeps|works|watches|cycles|swims|makes|"
         r"gets) (?:about |around "
         r"|like |at least |roughly |almost )*(?:\d+|two|three|four|five|six|seven|eight|nine|ten|"
         r"a dozen|half a|too "
         r"many) [\w ]{2,24} (?:a|per|every|each) (?:day|week|night|month|year)\b.*"),
    rule("never", "pattern", 0.5, 0.8,
         r"(?:never|rarely|hardly ever|seldom) (?:replies|answers|checks|reads|works|drives|uses|"
         r"buys|watches|wears|"
         r"goes|travels|cooks|sleeps|takes|leaves|opens|shops|flies|orders|posts|naps|snoozes|"
         r"skips) (?!(?:it|this|"
         r"that|out|wrong|well)\b).+"),
    rule("habit", "pattern", 0.5, 0.85,
         r"(?:(?!(?:goes|does|plays|tries|doesn't go|meets|goes out|goes there) (?:often|"
         r"a few|once|twice|every|three|two|on \w+days|daily|most)\b|was\b|did\b|went\b|"
         r"will\b|should\b|would\b|is (?!at|in|on|off|up|out|home|away|free|open)|"
         r"has (?:had|a headache)|feels?\b|thinks?\b|wants\b|hopes\b)[a-z]+(?:s|'t|"
         r"\b)) (?:.{1,110} )?<rhythm>.*"),
    rule("habit", "pattern", 0.5, 0.8,
         r"<often>(?!(?:is|feels?|gets? (?:so )?(?:nervous|anxious|sad)|has (?:a hard|"
         r"trouble|been)|thinks?|wonders?|wants?|finds?|forgets?|says?|tells?|here|there|"
         r"happy|knows?|going|appreciates?|remembers?|dream|hears?|supports?|end|"
         r"look)\b)\S+ .+"),
    rule("habit", "pattern", 0.5, 0.85,
         r"(?:writes|restores|brews|builds|makes|designs|composes|collects|repairs|paints|draws|"
         r"plays|reads|sews|"
         r"carves|records) (?!(?:it|this|that|sure|sense|me)\b)(?:.+ (?:in my (?:spare|free) time|"
         r"as a hobby|for fun|"
         r"on the side)|(?:[\w-]+ ){0,2}(?:novels|poetry|poems|songs|short stories|furniture|"
         r"pottery|guitars|"
         r"beer|jewell?ery|clothes|model \w+)\b.*)"),
    rule("habit", "pattern", 0.5, 0.85,
         r"(?:gets up|wakes up|goes to (?:bed|sleep)|has (?:lunch|dinner|breakfast)|"
         r"starts work|finishes work|commutes?) (?:at|around|by|before|after|early|late|"
         r"very|to|for).*"),
    rule("habit", "pattern", 0.5, 0.8,
         r"(?:has a habit of|is used to|tends to|makes a point of|is in the habit of|"
         r"has made it a habit to|likes to start) (?!(?:it|this|that|feel|get (?:nervous|"
         r"anxious)|overthink)\b).+"),
    rule("sport", "pattern", 0.5, 0.8,
         r"(?:goes|does|practi[sc]es|trains|volunteers|meditates|journals|swims|runs|cycles|"
         r"hikes|lifts|jogs|knits|bakes|gardens|paints|composts|attends|collects|surfs|skis|"
         r"crochets|skateboards|fosters) (?!(?:to (?:the|a|an|my|see|show|bed|sleep)\b|it|"
         r"that|this|so|not|well|often|a few|once|twice|on|away|into|through|by|without|out|"
         r"home|back|into)\b).+"),
    rule("drives", "fact", 0.45, 0.8,
         r"(?:drives|rides|commutes by|cycles to|takes the (?:bus|train|subway|tube|metro)|"
         r"walks to) (?!(?:me|you|him|her|them|us)\b)(?:an? |to )?.+"),
    rule("ongoing", "pattern", 0.55, 0.85,
         r"(?:has been) (?!(?:a while|feeling|thinking|having|so|wondering|procrastinating|"
         r"meaning|busy)\b)<doing> <duration>.*"),
    rule("ongoing", "task", 0.5, 0.8,
         r"(?:is|has been|started|is trying to|began|has started|has begun|"
         r"has recently started|recently started|is busy)(?: recently| lately)? (?:learning|"
         r"to learn|learn|studying(?= for)|practi[sc]ing|training (?:for|to)|"
         r"preparing (?:for|to)|working on|writing (?:a|an|my|the)|building (?:a|an|my|our|"
         r"the)|saving (?:up |money )?(?:for|to)|developing (?:a|an|my|our|the)|"
         r"planning (?:a|an|my|our|to|on|for|the)|renovating|organi[sz]ing (?:a|an|my|our|"
         r"the)|researching|applying (?:for|to)|looking to|quit(?:ting)? smoking|"
         r"lose weight|losing weight|restoring|revising for|remodeling|redecorating|"
         r"considering (?:moving|changing|switching|going back|adopting|buying|becoming|"
         r"a career|a new job|finding a new job|getting|running)|thinking (?:of|"
         r"about) (?:moving|changing|switching|going back|adopting|buying|becoming|getting|"
         r"starting|quitting|traveling|travelling|joining|working|running)|dreaming of|"
         r"interning|translating|doing (?:yoga|ballet|karate|judo|pilates|crossfit|"
         r"kickboxing|taekwondo|pottery|ceramics|photography|volunteer|my (?:thesis|"
         r"dissertation|phd))|taking (?:\w+ ){0,3}(?:classes|class|lessons|course|courses)|"
         r"teaching|volunteering|fostering|mentoring|running (?:a|an|my|for)|attending|"
         r"going to (?:therapy|the gym|physio|counsel|church|evening classes)|"
         r"seeing a (?:therapist|counsell?or|physio\w*)|growing|playing|designing|coaching|"
         r"into) (?!(?:it|this|that|how to (?:solve|handle|feel))\b).+"),
    rule("media", "preference", 0.4, 0.75,
         r"(?:is|has been|started|recently started|just started|just finished|finished|"
         r"has just finished|recently finished|read|recently read|watched|"
         r"recently watched)(?: recently| lately| currently)? (?:re-?reading|reading|"
         r"watching|re-?watching|listening to|playing|following|binge-?watching|"
         r"bingeing) (?P<x>(?:(?:a|an|the|this) (?:[\w'-]+ ){0,6}(?:called|named|titled|"
         r"by) )?(?:[\"“*]|(?-i:[A-Z])|(?:the|a|an) (?-i:[A-Z])).+)"),
)
# fmt: on
