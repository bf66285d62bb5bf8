"""What the person accepted: "So you're vegan?" "Yes." The claim is the assistant's sentence."""

import re
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Claim:
    """A sentence of the assistant about the person, where it stands in what was said before."""

    quote: str
    start: int


def accepted_claim(said: str, before: str) -> Claim | None:
    """The last claim about the person in `before`, if `said` agrees with it."""
    if not before or len(said) > _LONGEST_YES or not _YES.match(said.strip()) or _BUT.search(said):
        return None
    last = list(_SENTENCE.finditer(before[-600:]))[-2:]
    claims = [match for match in last if len(match[0]) < 160 and _is_claim(match[0])]
    if not claims:
        return None
    quote = claims[-1][0].strip()
    return Claim(quote, before.rindex(quote))


def _is_claim(sentence: str) -> bool:
    return bool(_ABOUT_USER.search(sentence)) and not _OFFERS.search(sentence)
