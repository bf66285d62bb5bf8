""" "Don't keep this" and 「别记」: a person asks that a message isn't learned from.

Each clause is read by itself, and only a short one: reading takes no longer on a long message.
"""

import re

_BREAK = re.compile(r"[,.!?;:\n，。！？；：、…—()（）]+")
_LONGEST = 60
_POLITE_EN = (
    r"(?:(?:please|pls|and|but|so|also|just|kindly|hey|ok|okay|oh|actually"
    r"|can you|could you|would you) )?"
)
_MEMORY_EN = r"(?:your |the |my )?(?:memory|memories|records?|file|notes?)"
_EN = re.compile(
    rf"{_POLITE_EN}{_POLITE_EN}(?:"
    r"(?:don'?t|do not|never|no need to) (?:ever )?"
    r"(?:keep|save|store|record|log|remember|memori[sz]e|note|learn|write down|put|add)"
    r"(?: any of)? (?:this|that|it|these|those|what i (?:say|said|just said|tell you)"
    r"|the following|my last message)(?: one| message| part| down| here| now| please| either)?"
    rf"(?: (?:in|to|into|from|for|on) {_MEMORY_EN})?"
    r"|(?:this is |this stays |that's |keep (?:this|that|it) )?(?:strictly )?off the record"
    rf"|keep (?:this|that|it) out of {_MEMORY_EN})",
    re.IGNORECASE,
)
_POLITE_ZH = (
    r"(?:请|請|麻烦|拜托|你|您|千万|也|都|就|先|可|但|那|这次|这|这个|这条|这句|这句话|这些|这段"
    r"|这段话|这件事|这事|以上|以下|下面的?|接下来的?|刚才的?|刚刚的?|上面的?|我说的)"
)
_ZH = re.compile(
    rf"{_POLITE_ZH}{{0,4}}(?:别|別|不要|唔好|唔使|不用|不必|无需|勿|请勿)"
    r"(?:再|给我|帮我|替我|把(?:这|它|这个|这条|这些|这句话|这件事))?"
    r"(?:记|記|记住|記住|记下|记下来|记录|记录下来|记进记忆|记到记忆里|记在心里|保存|保存下来"
    r"|存|存下来|留存|写进记忆|放进记忆)"
    r"(?:这|这个|这条|这些|这句|这句话|这件事|这段话|它|我说的)?(?:了|啊|哦|喔|呀|吧|哈|啦)?"
)


def is_asked_not_to(text: str) -> bool:
    """Whether one of its clauses asks not to keep what is said."""
    plain = text.replace("’", "'")
    clauses = (" ".join(one.split()) for one in _BREAK.split(plain))
    return any(
        _EN.fullmatch(one) or _ZH.fullmatch(one) for one in clauses if 0 < len(one) <= _LONGEST
    )
