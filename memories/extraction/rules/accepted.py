"""What the user accepted ("So you're vegan?" "Yes.") or answered ("Where do you live?" "Leeds.").

A claim about the user is turned round into the first person and read like any other sentence.
"""

import re
from dataclasses import dataclass

from memories.extraction.rules import zh_answers
from memories.extraction.rules.recounting import recounted

_YES = re.compile(
    r"^(?:oh |haha |well |um )?(?:yes|yeah|yep|yup|correct|right|exactly|true|"
    r"indeed|absolutely|definitely|"
    r"that'?s (?:right|correct|true|it|me)|you(?:'re| are) right|you got it|spot on|"
    r"of course|sure am|i am|i do|i have|"
    r"正解|答对了|猜对了|对头|没毛病|可不(?:是)?|bingo|是的?|对的?|对啊|没错|嗯+|正确|确实|"
    r"说得对|是啊|是呀|對|沒錯|當然是|当然是)"
    r"(?=$|[\s,，。.!！~])",
    re.IGNORECASE,
)
_BUT = re.compile(
    r"\b(?:but|except|not|no|actually|used to|though)\b|但|不过|不是|其实|只是|以前", re.IGNORECASE
)
_LONGEST_YES = 48
_LONGEST_ANSWER = 60

_EN_TURNS = (
    (re.compile(r"^are you\b", re.IGNORECASE), "I'm"),
    (
        re.compile(
            r"^do you (?=(?:live|work|have|like|love|enjoy|prefer|hate|speak|play|eat|drink|"
            r"own|study|teach|drive|avoid|run|still)\b)",
            re.IGNORECASE,
        ),
        "I ",
    ),
    (re.compile(r"^have you (?=(?:been|always|lived|worked|got)\b)", re.IGNORECASE), "I've "),
    (re.compile(r"^(?:is|are) your\b(?= (?:\w+ ){1,4})", re.IGNORECASE), ""),
    (re.compile(r"\byou're\b|\byou are\b", re.IGNORECASE), "I'm"),
    (re.compile(r"\byou've\b|\byou have been\b", re.IGNORECASE), "I've"),
    (re.compile(r"\byourself\b", re.IGNORECASE), "myself"),
    (re.compile(r"\byour\b", re.IGNORECASE), "my"),
    (re.compile(r"\byou\b", re.IGNORECASE), "I"),
)
_EN_LEAD = re.compile(
    r"^(?:(?:so|and|then|ah|oh|okay|ok|got it|i see|wait|just to (?:confirm|check|"
    r"be sure|be clear)|to confirm|"
    r"if i (?:understand|remember) correctly|let me (?:confirm|check)|am i right "
    r"that|is it (?:true|right) that|"
    r"did you say(?: that)?|you (?:said|mentioned|told me)(?: that)?|it sounds like|"
    r"sounds like|it seems(?: that| like)?|i (?:take|gather|understand|remember|"
    r"assume|guess)(?: it)?(?: that)?|"
    r"noted|understood|in other words|correct me if i'm wrong)[\s,:;—-]+)+",
    re.IGNORECASE,
)
_EN_TAIL = re.compile(
    r"(?<![,\s])[,\s]*+(?:right|correct|is that right|is that correct|don't you|aren't you|yes|"
    r"huh|then|isn't it|do you)?[?.! ]*$",
    re.IGNORECASE,
)
_ZH_LEAD = re.compile(
    r"^(?:所以|那么?|也就是说|我记得|看来|原来|听起来|这么说|好的|明白了|您是说|"
    r"你是说|你说过?|您说过?|确认一下|这样看来|我猜|嗯|哦|啊|是不是|[，,：: ])+"
)
_ZH_TAIL = re.compile(
    r"[，,]?(?:对吗|是吗|对吧|是吧|没错吧|是不是|对不对|吗|吧|呀|啊|"
    r"呢)?[？?。.！!～ ]*$"
)
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_ABOUT_USER = re.compile(r"\byou(?:r|'re|'ve)?\b|[你您]", re.IGNORECASE)
_OFFERS = re.compile(
    r"\b(?:would you|could you|can you|want|will you|should|shall|may i|like me to|"
    r"need help|have any|feel|mean|know|think|"
    r"ready|interested in (?:hearing|trying)|sure|could|might|may|try|let me|let's|"
    r"recommend|suggest\w*|if you|glad|happy|hope|thank|welcome|interesting|great)"
    r"\b|可以|建议|应该(?!是|在|有|属于)|最好|试试|不妨|记得|希望|如果|加油|相信|祝|[你您](?:想|要|"
    r"需要|愿意|觉得|知道|能|可以|会不会)|要不要|什么|怎么|哪|谁|几|多少|为什么",
    re.IGNORECASE,
)

_ANSWERS = (
    (
        re.compile(r"what(?:'s| is| should i call) (?:your (?:first )?name|you)\b", re.IGNORECASE),
        "My name is {x}",
    ),
    (
        re.compile(
            r"where do you (?:currently )?live|where are you (?:based|living|located)|"
            r"(?:which|what) city do you live",
            re.IGNORECASE,
        ),
        "I live in {x}",
    ),
    (
        re.compile(r"where are you (?:originally )?from|where do you come from", re.IGNORECASE),
        "I'm from {x}",
    ),
    (
        re.compile(
            r"what do you do\b(?! (?:for fun|to relax|in your|when|on))|what(?:'s| is) your "
            r"(?:job|profession|occupation)",
            re.IGNORECASE,
        ),
        "I work as {x}",
    ),
    (re.compile(r"how old are you", re.IGNORECASE), "I'm {x}"),
    (
        re.compile(
            r"how old(?: is|'s) your (?P<y>(?:\w+ ){0,2}?(?:dog|cat|wife|husband|son|daughter|"
            r"partner|sister|brother|baby|mother|father|mum|mom|dad|grandson|granddaughter|niece|nephew|"
            r"horse|puppy|kitten|kid|child|girl|boy|twins))\b",
            re.IGNORECASE,
        ),
        "My {y} is {x}",
    ),
    (
        re.compile(
            r"(?:what|which) (?:\w+ ){1,2}do you (?:use|prefer using|work with)", re.IGNORECASE
        ),
        "I use {x}",
    ),
    (
        re.compile(
            r"what (?:kind|breed|sort) of (?P<y>dog|cat|pet|car|bike) (?:do you have|is it)",
            re.IGNORECASE,
        ),
        "My {y} is a {x}",
    ),
    (re.compile(r"what (?:instruments?|sports?) do you play", re.IGNORECASE), "I play {x}"),
    (
        re.compile(r"what do you (?:study|major in)|what(?:'s| is) your major", re.IGNORECASE),
        "I study {x}",
    ),
    (re.compile(r"what languages? do you speak", re.IGNORECASE), "I speak {x}"),
    (re.compile(r"what do you drive", re.IGNORECASE), "I drive {x}"),
    (re.compile(r"你(?:会|在学|学过)什么乐器"), "我会{x}"),
    (re.compile(r"你(?:的)?(?P<y>手机|电脑|车)(?:是|用)(?:的)?(?:是)?什么"), "我的{y}是{x}"),
    (re.compile(r"你(?P<y>儿子|女儿|孩子|弟弟|妹妹)(?:今年)?(?:多大|几岁|上几年级)"), "我{y}{x}"),
    (re.compile(r"你(?:大学|本科|研究生)?(?:是)?(?:学|读)(?:的)?(?:是)?什么专业"), "我的专业是{x}"),
    (re.compile(r"(?:什么|哪些?)[^，。？]{0,4}(?:忌口|过敏)"), "我对{x}过敏"),
    (
        re.compile(r"what(?:'s| is) your (?P<y>favou?rite [\w ]{2,30})\?", re.IGNORECASE),
        "My {y} is {x}",
    ),
    (
        re.compile(
            r"(?:what are your hobbies|what do you (?:like|enjoy) (?:to do|doing)|what do "
            r"you do for fun)",
            re.IGNORECASE,
        ),
        "I like {x}",
    ),
    (
        re.compile(
            r"(?:what are you allergic to|(?:any|have) (?:food )?allergies|are you allergic "
            r"to anything)",
            re.IGNORECASE,
        ),
        "I'm allergic to {x}",
    ),
    (
        re.compile(
            r"what(?:'s| is) your (?P<y>dog|cat|wife|husband|son|daughter|partner|pet|baby|"
            r"sister|brother)'s name|what(?:'s| is) (?:his|her|its) name",
            re.IGNORECASE,
        ),
        "My {y} is called {x}",
    ),
    (re.compile(r"你叫什么|你的名字|怎么称呼|您贵姓|叫什么名字"), "我叫{x}"),
    (re.compile(r"你(?:现在|目前)?住在?(?:哪|什么)|你在哪(?:个城市|里生活|里住)"), "我住在{x}"),
    (re.compile(r"你(?:是哪里人|是哪儿人|来自哪|老家(?:在|是)?哪)"), "我来自{x}"),
    (re.compile(r"你(?:是做什么|做什么工作|的职业|的工作是)"), "我是{x}"),
    (re.compile(r"你(?:今年)?(?:多大|几岁|多少岁)"), "我今年{x}"),
    (re.compile(r"你最喜欢(?:的(?P<y>[^，。？是]{1,8}))是什么"), "我最喜欢的{y}是{x}"),
    (re.compile(r"你(?:平时)?(?:有什么爱好|的爱好|喜欢做什么|的兴趣)"), "我喜欢{x}"),
    (re.compile(r"(?:对什么过敏|有(?:没有)?(?:什么)?过敏)"), "我对{x}过敏"),
)
_LEADS = re.compile(
    r"^(?:(?:yes|yeah|yep|well|hm+|um|oh|just|probably|mostly|"
    r"(?:has |have )?(?:just |only )?(?:turned|turning)|about|around|nearly|almost|"
    r"coming up on|是的?|嗯+|对|有的?|一直(?:都)?是|"
    r"都|就是)[,， ]*)+(?=\S)",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:an?|the) ", re.IGNORECASE)
# "I live in" and "near Porto": one of the two says where.
_DOUBLED = re.compile(
    r"(?<=live )in (?=(?:just |right )?(?:near|outside|around|in|on|at|by|close to|next to|"
    r"not far|north|south|east|west|with|off)\b)|(?<=I'm )from (?=from\b)|"
    r"(?<=I work )as (?=(?:at|for|in)\b)|(?<=住)在(?=在)|来自(?=来自)",
    re.IGNORECASE,
)
# "Do you eat dairy?" "No, lactose intolerant."
_ASKED_WHETHER = re.compile(
    r"\bdo you (?:still )?(?P<said>(?:eat|drink|smoke|drive|cook|play|speak|own|have)\b"
    r"(?: (?!with\b|think\b)[\w'-]+){0,4})\?\s*$",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"^(?:no|nope|nah|never)(?:$|,\s*(?:i'm |im )?(?P<why>[\w -]{3,40})$)", re.IGNORECASE
)
_WHY = re.compile(
    r"(?:(?:\w+[- ])?intolerant|allergic(?: to .+)?|vegan|vegetarian|coeliac|celiac|diabetic|"
    r"pregnant|muslim|teetotal|asthmatic)$",
    re.IGNORECASE,
)
# "A whippet, she's called Juno": the answer ends where a new clause begins.
_GOES_ON = re.compile(r",\s+(?=(?:and |but )?(?:she|he|it|they|i|we|i'm|my)\b)", re.IGNORECASE)
_NOT_AN_ANSWER = re.compile(
    r"^[嗯恩哦噢喔啊呀哈好行对]+[的吧呀啊了]?$|^(?:ok|okay|hm+|mm+|uh)\b|\b(?:i|i'm|my|no|not|none|nothing|why|what|who|how|you|your|don't|secret|"
    r"guess|thanks|thank|hi|hello|yes|yeah|maybe|sorry|"
    r"later|tell|depends|nowhere|never|it|that|this|is|are)\b|[我你您不没谁吗呢？?]|"
    r"什么|为什么|秘密|保密|随便|谢|好的|是的|都",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Turned:
    """A sentence in the first person, made of what the assistant said; `quote` is its source."""

    text: str
    quote: str
    start: int
    reason: str  # accepted | answer


def accepted_claim(said: str, before: str) -> Turned | None:
    """The last claim about the user in `before`, if `said` agrees with it."""
    if not before or len(said) > _LONGEST_YES or not _YES.match(said.strip()) or _BUT.search(said):
        return None
    last = list(_SENTENCE.finditer(before[-600:]))[-2:]
    claims = [match for match in last if len(match[0]) < 160 and _is_claim(match[0])]
    if not claims:
        return None
    quote = claims[-1][0].strip()
    return Turned(_turned(quote), quote, before.rindex(quote), "accepted")


def _is_claim(sentence: str) -> bool:
    return bool(_ABOUT_USER.search(sentence)) and not _OFFERS.search(sentence)


def _turned(claim: str) -> str:
    if re.search(r"[你您]", claim):
        bare = _ZH_TAIL.sub("", _ZH_LEAD.sub("", claim))
        return re.sub(r"[你您]", "我", bare)
    bare = _EN_TAIL.sub("", _EN_LEAD.sub("", claim))
    for pattern, words in _EN_TURNS:
        bare = pattern.sub(words, bare)
    return bare


def answered(said: str, before: str) -> Turned | None:
    """A short reply to the assistant's last question, as a sentence of the user's."""
    if text := recounted(said, before[-200:]):
        return Turned(text, said.strip(), said.index(said.strip()), "answer")
    reply = _LEADS.sub("", said.strip()).strip("。.!！~ ")
    reply = (
        re.split(r"[,，;；]\s*(?!and\b)", reply, maxsplit=1)[0].strip() if "，" in reply else reply
    )
    reply = _GOES_ON.split(reply, maxsplit=1)[0].strip()
    if not before or not 0 < len(reply) <= _LONGEST_ANSWER or len(reply.split()) > 7:
        return None
    question = before[-200:]
    if "你" in question or "您" in question:
        return _known(reply, question, said) or _in_chinese(reply, question, said)
    return _known(reply, question, said) or _declined(said, question)


def _declined(said: str, question: str) -> Turned | None:
    asked, no = _ASKED_WHETHER.search(question), _DECLINED.match(said.strip().rstrip(".! "))
    if asked is None or no is None:
        return None
    why = f", I'm {no['why']}" if no["why"] and _WHY.match(no["why"]) else ""
    text = f"I don't {asked['said']}{why}"
    return Turned(text, said.strip(), said.index(said.strip()), "answer")


def _in_chinese(reply: str, question: str, said: str) -> Turned | None:
    text = zh_answers.turned(reply, question)
    return Turned(text, reply, said.index(reply), "answer") if text else None


def _known(reply: str, question: str, said: str) -> Turned | None:
    """By the table of questions."""
    if _NOT_AN_ANSWER.search(reply):
        return None
    for pattern, statement in _ANSWERS:
        if match := pattern.search(question):
            groups = {name: value or "" for name, value in match.groupdict().items()}
            if "{y}" in statement and not groups.get("y"):
                return None
            bare = _ARTICLE.sub("", reply) if " a {x}" in statement else reply
            text = _DOUBLED.sub("", statement.format(x=bare, **groups))
            return Turned(text, reply, said.index(reply), "answer")
    return None
