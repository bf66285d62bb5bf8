"""English: plans, what happened, and what belongs to somebody."""

from memories.extraction.rules.en_pieces import rule

# One rule, a few lines: the formatter would make ten of each.
# fmt: off
APPOINTMENTS = (
    rule("appointment", "task", 0.65, 0.9,
         r"(?:has|has got|will have|is having|got) (?:an?|my|the|two|three|some|our|"
         r"\d+)? ?(?:[\w'-]+ ){0,4}(?:appointment|interview|exam|exams|test|deadline|flight|"
         r"meeting|presentation|wedding|reunion|recital|concert|trip|surgery|checkup|"
         r"check-up|viva|defen[cs]e|audition|reservation|booking|driving test|final|finals|"
         r"midterm|conference|launch|release|match|game|race|marathon|tournament|"
         r"performance|show|date|party|visa|vacation|holiday|hearing|move|gig|exhibition|"
         r"talk|speech|lecture|webinar|project due|paper due|assignment due)\b.*", dated=True),
)

DATES_OF_THINGS = (
    rule("measured", "fact", 0.75, 0.85,
         r"(?:is|are|has been|runs|keeps going) (?:really |very |way |too |a bit |pretty |quite |"
         r"always |"
         r"slightly )*(?:high|low|up|bad|shot|terrible|poor|weak|dodgy|borderline|going)(?: .*)?$",
         who="other", data={"shape": "body"}),
    rule("deadline", "task", 0.65, 0.9,
         r"(?:is due|are due|is|starts|ends|begins|takes place|will be|is scheduled|"
         r"has been moved|was moved|got moved|has moved|expires|ships|launches|runs out|"
         r"opens|closes|has its|gets married|graduates|arrives|leaves|comes|is coming|"
         r"turns \d+|releases|goes live|goes up|renews|happens|has to be done|must be done|"
         r"needs to be done)\b.*", who="other", dated=True),
)

DATED_PLANS = (
    rule("plan", "task", 0.6, 0.85,
         r"(?:is (?:going to|about to|planning (?:to|on)|hoping to|set to|due to|"
         r"supposed to|scheduled to|determined to)|plans (?:to|on)|intends to|"
         r"has decided to|decided to|has (?:to|got to)|needs to|must|will|aims to|"
         r"has signed up (?:to|for)|signed up (?:to|for)|has booked|booked|"
         r"has registered for|registered for|is (?:flying|traveling|travelling|starting|"
         r"leaving|getting|visiting|meeting|giving|taking|going|having|hosting|running|"
         r"seeing|launching|releasing|presenting|graduating|throwing|organi[sz]ing|"
         r"attending|retiring|driving|performing|competing|opening|joining|speaking|"
         r"celebrating|picking|coming|staying|doing|returning|throwing|heading|defending|"
         r"switching)) (?!(?:you|let you|give you|talk to you|tell you|be (?:ok|fine|great)|"
         r"always|never|remember|try|check|see (?:if|what)|think|let|find|keep)\b).+", dated=True),
)

PLANS = (
    rule("plan", "task", 0.55, 0.8,
         r"(?:is (?:going to|planning (?:to|on)|hoping to|determined to|set on|"
         r"saving (?:up )?to)|plans (?:to|on)|intends to|has decided to|decided to|aims to|"
         r"is trying to|is looking to|is working to|is thinking about|is thinking of|"
         r"has been thinking about|is considering) <aim>.*"),
    rule("plan", "task", 0.55, 0.8,
         r"(?:plans|is planning|has planned|booked|has booked|is organi[sz]ing) (?:an?|my|"
         r"our|the|for an?) (?:[\w'-]+ ){0,4}(?:trip|wedding|holiday|vacation|party|move|"
         r"event|book|novel|app|website|campaign|career|tour|road trip|honeymoon|shower|"
         r"flight|reunion|fundraiser|hike|course|retreat|cruise|class|safari|show|"
         r"exhibition|album)\b.*"),
    rule("travel", "task", 0.55, 0.85,
         r"is (?:flying|traveling|travelling|moving|going|heading|visiting|going on holiday|"
         r"going on vacation) (?:to )?(?-i:[A-Z])\w+.*"),
    rule("wish", "task", 0.5, 0.8,
         r"(?:always |really |eventually |someday )?(?:wants to|hopes to|dreams of|"
         r"dreams about|would (?:really )?(?:love|like) to|has always (?:wanted|dreamed|"
         r"dreamt)(?: to| of| about)|is dying to|can't wait to|is eager to|is excited to|"
         r"is ready to|is ready to) (?:one day |someday |eventually |also |"
         r"finally )?<aim>(?! (?:you|your|it\b|that\b|this\b|there\b|some advice|advice|"
         r"better soon)).*"),
    rule("wish", "task", 0.5, 0.8,
         r"(?:dreams of|dreams about|has always dreamed of|has always dreamt of|"
         r"looks forward to|is looking forward to|would consider) (?!(?:it|that|hearing|"
         r"seeing you|seeing how|your|talking|chatting|this)\b)\w+ing .+"),
    rule("goal", "task", 0.55, 0.85, r"is to (?!(?:you|be honest|say)\b).+", who="other"),
)

OTHERS = (
    rule("own_date", "task", 0.65, 0.85,
         r"(?:starts|begins|graduates|finishes|retires|moves|gets married|defends) .+", who="self",
         dated=True),
    rule("promised", "task", 0.6, 0.85, r"promised (?!(?:it|that|this|not)\b).{8,}", who="self"),
    rule("expects", "task", 0.6, 0.85,
         r"(?:wants|needs|expects|is expecting) (?!(?:it|that|this|me to know)\b)(?:the|a|an|my|"
         r"our|"
         r"me to) .+ (?:by|before|until|on) .+", who="other", dated=True),
    rule("their_plan", "task", 0.55, 0.85,
         r"(?:starts|begins|graduates|finishes|arrives|moves|comes|visits|leaves|returns|"
         r"turns|flies|retires|gets (?:married|back|home)|is (?:coming|visiting|getting|"
         r"starting|moving|graduating|turning|arriving|leaving|having|due))\b.+",
         who="other", dated=True),
    rule("makes", "fact", 0.45, 0.8,
         r"(?:makes|builds|sells|develops|offers|provides|employs) (?!(?:it|me|that|this|"
         r"you|sure|sense|us|fun|everything)\b).+", who="other"),
    rule("hasnt", "fact", 0.5, 0.85,
         r"(?:doesn't (?:drive|cook|swim|own an? \w+|have (?:any )?(?:kids|children|"
         r"siblings|a car|pets|a driver's license|brothers|sisters|social media|instagram|"
         r"facebook|a tv|a smartphone))|has no (?:kids|children|siblings|pets|brothers|"
         r"sisters|sense of smell))\b(?! (?:about|that|with me|right)).*"),
)

EVENTS = (
    rule("proposed", "event", 0.75, 0.85, r"was proposed to by .+"),
    rule("achieved", "event", 0.55, 0.85,
         r"(?:has )?(?:just |recently |finally )?(?:won|passed|failed|earned|achieved|"
         r"finished|completed|graduated|published|released|launched|founded|opened|ran|"
         r"climbed|received|was awarded|got (?:accepted|into (?=(?-i:[A-Z])|"
         r"(?:the )?(?:\w+ )?(?:team|program\w*|college|university|med\w*|law|grad\w*|art|"
         r"film) ?)|admitted|approved|certified|published|my|our|his|her)|got an? (?:tattoo|"
         r"offer|place|scholarship|promotion|car|puppy|new)) (?!(?:it|this|that|away|out|step|part|"
         r"into|late|errands|some|to|work|up|a bit|my (?:coffee|lunch|dinner|breakfast|work|"
         r"homework)|by|off|over|in|for (?:a|the)|through)\b).{3,}"),
    rule("joined", "event", 0.55, 0.85,
         r"(?:has )?(?:just |recently |finally )?(?:signed up|enrolled|registered|joined|"
         r"applied|started (?:a|an|my|the|learning|taking|going|doing|volunteering|working|"
         r"seeing|dating|playing)|began|took up|took (?=(?:my|our|the) (?:\w+ ){0,2}(?:kids|"
         r"fam|family|son|daughter|children|first step)|an? (?:\w+ ){0,3}(?:class|course|"
         r"job|trip|exam|test|position)\b)|became|set up|switched (?:to|from|jobs)|"
         r"converted|bought|sold|adopted|subscribed|was elected|was promoted|"
         r"retook|swapped (?=.+ for )) (?!(?:it|this|that|some|me|him|her|them|a (?:look|break|"
         r"walk|nap|shower|"
         r"pic|picture|photo|lot|bit|moment|while|deep|coffee|few|chance|course of|long|"
         r"bath)|the (?:photo|pic|picture|time|chance|bus|train)|place|lots|milk|groceries|"
         r"all|to feel|feeling|many|pics|photos|pictures|care|part|time|my (?:kids|dog|son|"
         r"daughter|family)|in|on|off|over|notes|food|lunch|after|by|as)\b).{4,}"),
    rule("went", "event", 0.45, 0.8,
         r"(?:has )?(?:just |recently )?(?:went (?:to|on)|visited|attended|travel+ed to|"
         r"got back from|came back from|returned from|hosted|organi[sz]ed|ran|"
         r"participated in|took part in|volunteered at|performed (?:at|in)|spoke at|gave a|"
         r"has been to|traveled to|flew to|spent \w+ (?:\w+ )?in|did an?|has visited|"
         r"has traveled|took (?:my|our) (?:\w+ ){0,2}(?:kids|family|son|daughter|wife|"
         r"husband|mom|dad) to) (?:.*\b(?:concert|conference|wedding|group|museum|festival|"
         r"parade|class|workshop|show|race|retreat|exhibition|exhibit|ceremony|funeral|"
         r"graduation|rally|march|marathon|seminar|meetup|course|gala|fundraiser|convention|"
         r"event|camping|road trip|trip|vacation|holiday|tour|cruise|hike|council|talk|"
         r"speech|gathering|reunion|party|meeting|hospital|shelter|charity|5k|10k|triathlon|"
         r"tournament|audition|interview|bootcamp|counsel\w+|play|opera|ballet|zoo|aquarium|"
         r"theme park|national park|mountains?|beach|farm)\b|(?-i:(?:the |see )?[A-Z])\w+).*",
         data={"shape": "event"}),
    rule("met", "event", 0.45, 0.75,
         r"(?:has )?(?:just |recently )?(?:met|reconnected with|befriended|"
         r"made friends with) (?P<x>(?:my|an?|some) .+|(?-i:[A-Z])\w+.*)", dated=True),
    rule("had", "event", 0.4, 0.75,
         r"(?:had|threw|celebrated|saw|watched|made|painted|wrote|built|planted|baked|"
         r"donated|lost|broke|found|started|tried|crashed|caught|survived|experienced|"
         r"organi[sz]ed|presented|performed|ended|was in|got hit) (?!(?:it|this|that|"
         r"some time|a (?:lot|great time|good time|blast|bit|good|great|nice)|to|so|fun|no|"
         r"some|my (?:coffee|lunch|dinner|breakfast)|lunch|dinner|breakfast|coffee|enough|"
         r"much|how|what|up)\b).{4,}", dated=True),
    rule("never", "fact", 0.45, 0.85,
         r"has never (?:been to|been on|had an?|learned|eaten|owned|travell?ed|left|lived|"
         r"ridden|driven|married|broken|smoked|tried) (?!(?:it|that|this|one)\b).+"),
    rule("used_to", "fact", 0.5, 0.85,
         r"used to (?!(?:it|think|feel|believe|say|tell|ask|joke|be (?:so|really|very|scared|"
         r"afraid))\b).+"),
)

THINGS = (
    rule("thing", "fact", 0.65, 0.85,
         r"(?:is|are|was|has been|will be|means) (?!(?:not|so|very|too|great|good|bad|fine|"
         r"ok|okay|amazing|awesome|really|going|getting|killing|over|the best|just|more|"
         r"better|worse|hard|tough|terrible|full|always|important|to (?:you|see)|packed|"
         r"swamped|what|that|how|because|a mess|a bit|a lot|here|there|safe|where|when|"
         r"pretty|broken|busy|crazy|stable|doing|boring|growing|starting|done|"
         r"delayed|cancell?ed|late|coming|dying|dead|slow|down|missing|stuck|leaking|freezing|"
         r"about you)\b)(?P<x>.{2,140})", who="other", data={"shape": "thing"}),
)

NEGATED_NOW = (
    rule("no_longer", "fact", 0.65, 0.85,
         r"(?:(?:is|has|can|does|are) )?no longer \w+.*|(?:doesn't|isn't|hasn't|can't|"
         r"don't) .{2,80} (?:any ?more|"
         r"any longer)$"),
)
# fmt: on
