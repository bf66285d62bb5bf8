"""Statements that are whole sentences and still tell nothing: "Wants to travel", 想学一些新技能.

A plan, an event or a habit must have at least one word of its own, beside verbs that fit anything,
words for more or less, and times. The rows below are turns of phrase that hang on what was said
before, or that are over tomorrow.
"""

import re

from memories.extraction.rules.en_words import words

# Words that fit any plan, any event and any day.
_ENGLISH_WEAK = frozenset(
    words("""
    a, an, the, and, or, of, in, on, at, to, for, with, from, by, as, into, up, out, off,
    about, around, over, than, then, is, are, was, were, be, been, being, am, has, have,
    had, do, does, did, doing, done, will, would, can, could, may, might, must, should,
    going, go, goes, went, gone, come, comes, came, coming, get, gets, got, getting, make,
    makes, made, making, take, takes, took, taking, give, gives, gave, giving, start,
    starts, started, starting, begin, begins, began, keep, keeps, put, set, want, wants,
    wanted, hope, hopes, hoping, plan, plans, planning, intend, intends, decide, decided,
    try, tries, tried, trying, think, thinks, thinking, consider, considering, look, looks,
    looking, love, loves, like, likes, enjoy, enjoys, need, needs, feel, feels, dream,
    dreams, aim, aims, eager, excited, ready, determined, able, dying, learn, learns,
    learning, learned, improve, improving, explore, exploring, experience, experiencing,
    see, sees, saw, seeing, watch, watches, watching, watched, find, finds, found, finish,
    finished, visit, visiting, end, ended, ends, become, becoming, help, helping, travel,
    travels, traveling, travelling, traveled, not, never, always, usually, often, sometimes,
    really, just, also, only, even, still, soon, eventually, someday, again, together, more,
    most, less, much, many, few, some, any, all, lot, lots, plenty, other, others, another,
    different, various, several, certain, new, old, next, last, first, good, better, best,
    great, nice, lovely, wonderful, amazing, awesome, fantastic, wicked, fun, cool, big,
    small, little, long, short, bad, terrible, worst, hard, tough, crazy, busy, rough,
    interesting, beautiful, special, important, proper, real, own, whole, thing, things,
    stuff, something, someone, people, person, way, ways, place, places, time, times, day,
    days, night, nights, evening, morning, afternoon, week, weekend, weeks, month, months,
    year, years, moment, trip, trips, adventure, adventures, vacation, holiday, skill,
    skills, difference, world, life, part, bit, kind, sort, movie, movies, film, show,
    company, job, work, office, task, goal, goals, idea, ideas, mates, lads, gang, guys,
    friends, beach, park, mountains, mall, shops, store, lunch, dinner, breakfast, brunch,
    coffee, drinks, nap, break, walk, shower, brb, rest, relax, blast, it, they, them,
    their, theirs, themself, themselves, he, she, his, her, him, who, which, that, this,
    these, those, it's, no, yes, today, tomorrow, yesterday, january, february, march,
    april, june, july, august, september, october, november, december, summer, winter,
    spring, autumn, fall
""").split("|")
)
_WORD = re.compile(r"[a-z][a-z'’-]*|[^\x00-\x7f]+", re.IGNORECASE)
_ENGLISH_HANGING = re.compile(
    r"^(?:has |have )?(?:just |recently |finally )?(?:got|gets|bought|had|has|received|finished|"
    r"went|"
    r"did|made|saw|tried|started|took|completed) (?:on )?(?:another|some|lots|a few|plenty|"
    r"so many)\b"
    r"|\b(?:make|makes|making|made) (?:all the |a (?:real |positive |big )?|"
    r"that )?(?:differences?|happen)\b"
    r"|\bmake that\b|^(?:makes?|made) (?:me|them) "
    r"|^(?:is|are|has been) (?:learning|studying|practi[sc]ing) (?:a|some) new (?:skill|language|"
    r"thing)s?"
    r"|\bnew (?:\w+ )?(?:dress|shoes?|shirts?|clothes|bag|jacket|jeans|phone case|outfit|pillow|"
    r"snacks?)\b"
    r"|^(?:is working|works|work) (?:for|at|in) (?:an?|the|my|their) (?:company|job|office|team|"
    r"firm)$"
    r"|\b(?:current|same|other|next|previous) (?:company|job|one|place|school|employer)\b"
    r"|\blike (?:my|their|the) last\b|\b(?:last|first|next|other|new|old|latest) ones?\b"
    r"|^(?:likes|enjoys|loves|likes to) shooting(?!.*\b(?:film|landscape|portrait|photo|hoops|"
    r"raw|video|wildlife|street|camera|basketball|clay|arrows))"
    r"|^(?:loves|enjoys|likes|adores) the (?-i:(?!(?:[a-z'-]+ )*(?:of|in|at|on|from|by) )"
    r"(?:[a-z'-]+ ){1,5}[a-z'-]+)$"
    r"|^(?:usually|always|often) (?:considers?|discuss(?:es)?|chooses?|thinks?)\b"
    r"|^(?:plans|wants|hopes|would|is planning)\b.*\b(?:other (?!than)|in the city$|over there)"
    r"|^(?:loves|enjoys|likes) (?:theme|moment|vibe|idea|sound|look)s?$"
    r"|^(?:is|was|are|has been) at \d|\b(?:brb|per ?cent|percent)\b"
    r"|^(?:always |usually |often )?(?:ends? up|gets?|goes) (?:\w+)?$"
    r"|\btogether(?: (?:in|on|at) [\d-]+)?$(?<!get together)"
    r"|(?:works|working|started working|is) on (?:a|an|the|my|their) (?:project|task|thing|report|"
    r"essay|"
    r"assignment|homework|code|script|bug|issue|presentation|document|file)$"
    r"|^(?:is|has been) preparing for (?:an?|the|my|their) (?:important |big )?(?:speech|meeting|"
    r"call|"
    r"presentation)$"
    r"|^(?:went|has been) to (?:a|an|the) (?:\w+ )?(?:museum|concert|beach|park|party|cinema|"
    r"gym|hospital|doctor|dentist|store|mall|zoo|farm|restaurant|cafe)(?: and .*)?"
    r"(?: recently)?$"
    r"|\b(?:did|does) (?:a|an) (?:charity |big |small )?event$|friends (?:they|i) have$"
    r"|\bget (?:conversations|things|people) (?:going|involved)"
    r"|\b(?:had a (?:great|good|nice|lovely|wicked|fun|bad|terrible|rough|long))\b"
    r"|\b(?:compliments|this way|that way|as possible|and more)\b"
    r"|\bhow to (?:shoot|edit|do|make|use|develop|process|handle|deal|compose|frame|work)$"
    r"|^(?:wants|hopes|plans|would (?:like|love)|is (?:planning|hoping|going|excited)) to (?:try|"
    r"taste|eat|see|visit|explore|experience|learn|meet|do|buy|get|make|find) (?:out )?(?:some|"
    r"more|new|the|a few|different|various|local|other|(?:as )?many)(?: (?:new|local|different|"
    r"good|great|nice|delicious|traditional|authentic|interesting|famous|other|more|fun))* "
    r"(?:foods?|dish(?:es)?|things?|places?|people|cuisines?|recipes?|snacks?|sights?|scenery|cultures?|specialt(?:y|ies)|"
    r"restaurants?|friends|skills?|activities|attractions|dishes)$",
    re.IGNORECASE,
)
_CHINESE_WEAK = re.compile(
    r"\d{4}年(?:\d{1,2}月)?(?:\d{1,2}日)?(?:那一周|那个周末|[初中底])?|早上|上午|中午|下午|傍晚|"
    r"晚上|周末|最近|有空|"
    r"一些|一点|一下|一个|一种|一门|一次|一趟|一部|一样|新的?|更多的?|不同的?|各种|其他的?|"
    r"自己的?|更好的?|美丽的?|"
    r"好好|想要|希望|打算|计划|准备|考虑|决定|正在|开始|一直|经常|通常|一般|平时|每天|会|能够?|"
    r"可以|要|想|在|去|来|做|"
    r"学习|学会?|看看?|玩玩?儿?|走走|试试|尝试|体验|提高|提升|了解|探索|旅游|旅行|游玩|出去|出门|"
    r"探险|放松|散心|休息|"
    r"技能|技术|东西|事情|知识|语言|地方|电影|风景|照片|拍|菜谱|研究|和|跟|或者?|的|了|着|过|也|"
    r"都|还|很|吧|买|吃|喝"
)
_CHINESE_HANGING = re.compile(
    r"^去了?一?[场次趟个]?(?:演唱会|音乐会|电影院|展览|博物馆|餐厅|公园)$|下次|附近|很多地方|这次|刚才|(?:她|他|它)的?号|^在?吃药|当前公司|目前公司|现在的公司|"
    r"去[^，]{1,6}了[^，]{1,8}[位个](?:老人|用户|客户|同事|朋友)|"
    r"买了?(?:一?[件双条只个顶点些])?[^，。]{0,8}(?:衣服|裙|裤|鞋|帽|外套|水果|零食|奶茶|菜)$|"
    r"^(?:一般|通常)?会?(?:考虑|配|搭配)|"
    r"^(?:已经)?(?:开|学|做|干|用|玩|打|住|养|写|练|教|弹|当|跑|喝|吃|戴|穿)(?:了|"
    r"过)?快?[\d一二两三四五六七八九十几]+多?"
    r"(?:年|个月)(?:多|半)?了?$"
)


def tells_nothing(kind: str, text: str, *, language: str, named: bool) -> bool:
    """Whether `text`, the predicate of a statement, is empty; `named`: somebody else is its "
    "subject."""
    if language == "zh":
        return _chinese(kind, text)
    return _english(kind, text, named=named)


def _english(kind: str, text: str, *, named: bool) -> bool:
    if _ENGLISH_HANGING.search(text):
        return True
    if kind not in ("task", "event", "pattern", "skill") or named:
        return False
    return all(word.lower() in _ENGLISH_WEAK for word in _WORD.findall(text))


def _chinese(kind: str, text: str) -> bool:
    if _CHINESE_HANGING.search(text):
        return True
    return kind in ("task", "event", "pattern", "skill") and not _CHINESE_WEAK.sub("", text)
