"""What can be counted in a clause without understanding it, beside its vector.

The plain features say who speaks of whom, when, and how earnestly. The words and word pairs
(characters and pairs of them in Chinese) are hashed into `BUCKETS` numbers (Weinberger et al.,
"Feature Hashing for Large Scale Multitask Learning", ICML 2009): no word list has to be kept.
"""

import itertools
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BUCKETS = 2048
# What is larger weighs more under the same penalty: chosen by cross-validation.
_VECTOR_SCALE, _WORDS_SCALE = 4.0, 3.0
Vectors = NDArray[np.float32]

# fmt: off
_ENGLISH = {
    "i": r"\bi\b|\bi['’]?(?:m|ve|d|ll)\b|\bim\b|\bive\b",
    "opens_with_i": r"^(?:and |but |so |also |honestly,? |well,? )?i(?:\b|['’])|^im\b|^ive\b",
    "my": r"\b(?:my|our|mine|me)\b",
    "we": r"\bwe\b|\bus\b|\bwe['’]",
    "you": r"\b(?:you|your|u|ur|yours)\b|\byou['’]",
    "they": r"\b(?:he|she|they|him|her|his|them|their)\b",
    "kin": r"\b(?:mum|mom|mam|mother|dad|father|son|daughter|wife|husband|partner|sister|brother|"
           r"cousin|aunt|uncle|niece|nephew|gran|nan|grandma|grandpa|boyfriend|girlfriend|fianc\w+|"
           r"kids?|child\w*|twins|friend|boss|colleague|roommate|flatmate|neighbou?r|dog|cat)s?\b",
    "stranger": r"^(?:the|some|a|an|one|one of|that|those|these|this|there)\b",
    "nobody": r"^(?:it|there|that|this|what|who)\b|^(?:it|that)['’]s\b",
    "past": r"\b(?:was|were|had|did|went|got|came|took|made|met|lost|won|broke|\w{3,}ed)\b",
    "perfect": r"\b(?:have|has|['’]ve) (?:been|had|got|just|always|never|\w+ed)\b",
    "future": r"\b(?:will|going to|gonna|['’]ll|tomorrow|tonight|next|by the|due|until|before)\b",
    "must": r"\b(?:need|must|have to|has to|got to|gotta|should|supposed to|mustn['’]?t)\b",
    "can_not": r"\b(?:can['’]?t|cannot|can not|couldn['’]?t|not allowed|never|no|without|don['’]?t|"
               r"doesn['’]?t|won['’]?t|avoid|only)\b",
    "might": r"\b(?:might|maybe|perhaps|probably|could|would|wouldn['’]?t|['’]d|one day|someday)\b",
    "supposed": r"\b(?:if|imagine|suppose|say i|what if|let['’]s say|pretend|assuming|"
                r"hypothetical\w*"
                r"|wish|were i|had i)\b",
    "liking": r"\b(?:love|like|prefer|hate|can['’]?t stand|favou?rite|enjoy|fan|rather|into|adore|"
              r"loathe|dislike|sucker|obsessed|mad about|crazy about|not one for|care for)s?\b",
    "rhythm": r"\b(?:every|each|always|usually|most|weekly|daily|once a|twice a|times a|often|"
              r"on (?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b|\w+days\b",
    "now": r"\b(?:now|right now|rn|today|tonight|atm|at the moment|this (?:morning|evening|"
           r"afternoon)|just|again|currently)\b",
    "joke": r"\b(?:lol|lmao+|haha\w*|basically|literally|apparently|legally|officially|yeah|oh|"
            r"sure|obviously|sarcasm|jk|kidding)\b",
    "play": r"\b(?:character|pretend|roleplay|rp|story|once upon|let['’]s play|act as|you be|oc|"
            r"campaign|scene|novel|imagine|as (?:queen|king|captain))\b",
    "quote": r"[\"“”«»]|\b(?:says?|said|goes|wrote|writes|reads|lyric|sings?|quote|sign|poster)\b",
    "client": r"\b(?:patient|client|customer|guest|resident|caller|tenant|applicant|participant|"
              r"user|pupil|claimant|student of mine|the bride)s?\b",
    "opinion": r"\b(?:i think|i reckon|i believe|imo|should be|overrated|in my opinion|people|"
               r"nobody|everyone|the government|these days)\b",
    "asks": r"^(?:what|why|how|when|where|who|which|do|does|did|is|are|can|could|would|will|should|"
            r"any|whats|hows|have you|has)\b|\?\s*$",
    "orders": r"^(?:please |pls |kindly )?(?:write|tell|give|help|explain|make|list|find|"
              r"show|draft|"
              r"translate|check|fix|find|name|read|let|work out|summar\w+|proofread|shorten)\b|"
              r"\b(?:i need you|i want you|i['’]d like you|can you|could you|for me)\b",
    "greets": r"\b(?:thanks?|thank you|cheers|bless|bye|hello|hi|gotcha|ok|okay|cool|nice|glad|"
              r"sorry|congrats|awesome|proud of you|appreciate|makes sense|fair)\b",
    "vague": r"\b(?:things?|stuff|something|some|somehow|a lot|more|better|different|life)\b",
    "points": r"\b(?:it|that|this|those|these|there|here|one)\b",
    "work": r"\b(?:work\w*|job|teach\w*|nurse|shift|office|company|studying|degree|school|uni)\b",
}
_CHINESE = {
    "i": r"我(?!们)|俺|本人|咱",
    "opens_with_i": r"^(?:其实|而且|不过|对了|反正|说实话|因为)?[，, ]?(?:我|俺|咱)",
    "my": r"我的|我家|我们家|咱家|我[妈爸爹娘哥姐弟妹爷奶老女儿丈媳]",
    "we": r"我们|咱们|咱俩|我俩",
    "you": r"你|您",
    "they": r"他|她|它",
    "kin": r"[妈爸爹娘哥姐弟妹爷奶]|外[公婆]|姥|老公|老婆|媳妇|丈夫|妻子|儿子|女儿|闺女|孩子|娃|"
           r"对象|男朋?友|女朋?友|同事|同学|室友|舍友|闺蜜|哥们|朋友|领导|老板|猫|狗",
    "stranger": r"^(?:有人|有个|有位|某|那个|这个|这位|那位|别人|人家|一个|隔壁|网上|新闻)",
    "nobody": r"^(?:这|那|它|今天|天气|外面)",
    "past": r"了|过|昨|前[天年]|去年|上[个周]|刚|当时|那年|以前",
    "perfect": r"一直|已经|从小|好几年|[年月]了|多年|至今",
    "future": r"明天|后天|下[个周]|要|会|打算|准备|计划|马上|快要|之前|以前|截止|号",
    "must": r"得|必须|需要|一定要|该|务必|非得|记得",
    "can_not": r"不能|不可以|不许|不准|不得|别|不吃|不喝|过敏|忌|只能|最多|以内|没法|不行|"
               r"不了|从不",
    "might": r"可能|也许|说不定|大概|没准|或许|将来|有一天|哪天|看情况",
    "supposed": r"如果|假如|要是|万一|假设|的话|想象|但愿|要不是|倘若|即使|就算",
    "liking": r"喜欢|爱[吃喝看听玩]|讨厌|最爱|偏[爱好]|宁愿|宁可|不爱|受不了|迷上|烦|"
              r"更[爱喜]|钟意|中意|迷",
    "rhythm": r"每|天天|经常|常|一般|总是|平时|通常|习惯|都会|周[一二三四五六日末]|固定|"
              r"雷打不动|老",
    "now": r"现在|今天|今晚|刚刚|此刻|这会儿|正在|又|等会|待会|目前",
    "joke": r"哈哈|笑死|开玩笑|逗你|呵呵|才怪|狗头|emo|救命|本(?:宝宝|仙女|大爷)|属实|简直|怕不是",
    "play": r"扮演|角色|剧情|假装|你演|我演|小说|故事|设定|人设|从前|世界观|副本|本王|朕|在下",
    "quote": r"[“”\"『「」』《》]|说|写道|歌词|台词|唱|名言|原话|念",
    "client": r"病人|患者|客户|顾客|用户|住户|租客|乘客|家属|学生家长|来访者|当事人|\d+床",
    "opinion": r"我觉得|我认为|应该|现在的?(?:人|年轻人|社会)|大家|人们|国内|这届|个人感觉",
    "asks": r"吗|呢[？?]?$|什么|怎么|为什么|哪|谁|几[点个]|多少|是不是|有没有|能不能|"
            r"[?？]\s*$|啥|咋",
    "orders": r"^(?:请|麻烦|帮|给我|写|翻译|推荐|解释|讲|列|教|总结|查)|帮我|给我(?:写|讲|"
              r"来|列|推)",
    "greets": r"谢|哈喽|你好|晚安|早安|好的|好嘞|明白|懂了|收到|不好意思|辛苦|再见|拜|"
              r"厉害|原来如此|嗯|哦",
    "vague": r"一些|有点|东西|事情|某些|更好|改变|生活|人生|加油|努力|随便|有空",
    "points": r"这|那|它|此",
    "work": r"上班|工作|公司|学校|大学|读|专业|医院|老师|程序员|干活|打工|班|厂",
}
# fmt: on
NAMES = (
    *_ENGLISH,
    *("chinese", "short", "long", "figures", "names", "upper", "excited", "dots"),
)
_COMPILED = {
    "en": [re.compile(one, re.IGNORECASE) for one in _ENGLISH.values()],
    "zh": [re.compile(_CHINESE[name]) for name in _ENGLISH],
}
_WORD = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?|[\"“?!]", re.IGNORECASE)
_SIGN = re.compile(r"[\u4e00-\u9fff]|[a-z0-9]+", re.IGNORECASE)
_NUMBER = re.compile(r"\d|[一二两三四五六七八九十百千]+(?=[个只岁年月号点天元块])")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")


@dataclass(frozen=True)
class Clause:
    """A clause as said."""

    text: str
    language: str = "en"


def matrix(clauses: Sequence[Clause], vectors: Vectors) -> Vectors:
    """One row a clause: its vector, its plain features, its hashed words, brought to like sizes.

    `vectors` are of length 1, one row a clause.
    """
    plain = np.stack([_plain(clause) for clause in clauses])
    hashed = np.stack([_hashed(clause) for clause in clauses])
    return np.hstack([vectors * _VECTOR_SCALE, plain, hashed * _WORDS_SCALE]).astype(np.float32)


def _plain(clause: Clause) -> Vectors:
    text = clause.text
    seen = [bool(pattern.search(text)) for pattern in _COMPILED[clause.language]]
    length = len(text) * (3 if clause.language == "zh" else 1)
    rest = [
        clause.language == "zh",
        length < 20,
        length > 80,
        bool(_NUMBER.search(text)),
        bool(_NAME.search(text)),
        text.isupper(),
        text.endswith(("!", "！")),
        "..." in text or "…" in text,
    ]
    return np.array([*seen, *rest], dtype=np.float32)


def _hashed(clause: Clause) -> Vectors:
    counts = np.zeros(BUCKETS, dtype=np.float32)
    for gram in _grams(clause):
        counts[zlib.crc32(gram.encode()) % BUCKETS] = 1.0
    length = float(np.linalg.norm(counts))
    return counts / length if length else counts


def _grams(clause: Clause) -> Iterator[str]:
    pattern = _SIGN if clause.language == "zh" else _WORD
    signs = ["^", *pattern.findall(clause.text.lower().replace("’", "'")), "$"]
    yield from signs[1:-1]
    for first, second in itertools.pairwise(signs):
        yield f"{first} {second}"
