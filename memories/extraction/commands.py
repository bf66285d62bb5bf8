"""Orders to the memory: "remember that …" and "forget that …", in English and Chinese.

忘掉我对猫过敏这件事 addresses the memory, 忘掉那段感情吧 a person, and 把第三段删掉 is about
a text. A Chinese request to forget must mention the person's own matters or this conversation, or
address the assistant.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memcenter.lib.text import segment
from memories.extraction import masking
from memories.extraction.word_tables import compiled

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_LONGEST = 600  # signs of a sentence in which "remember" and "forget" are looked for
_P = compiled("commands")
_REMEMBER = (_P["remember_en"], _P["remember_zh"])
_ZH_FORGET = tuple(
    _P[name]
    for name in (
        *("zh_verb_first", "zh_you_forget", "zh_is_void"),
        *("zh_no_need", "zh_object_first", "zh_never_said"),
    )
)


@dataclass(frozen=True)
class Command:
    """`start` is the offset of `what` in the sentence or, from `commands`, in the message.

    `what` is empty if the previous message is meant. `todo` marks a task instead of a fact.
    """

    verb: str  # remember | forget
    what: str
    start: int
    todo: bool = False
    sentence: str = ""
    wonders: bool = False  # "forget that I live in Leeds?"


def speaks_of_forgetting(text: str) -> bool:
    """Tell whether a text has a word of forgetting, such as "erase", 删 or "lösch"."""
    return bool(_P["speaks_of_forgetting"].search(text))


def commands(covered: str) -> Iterator[Command]:
    """Return all sentences in the form of an order, even if they aren't meant as one."""
    for sentence in _SENTENCE.finditer(covered):
        text = sentence[0].strip()
        plain = segment.simplified(masking.plain(text[:_LONGEST]))
        asks = text.endswith(("?", "？"))
        for verb, question in (("remember", asks), ("forget", False)):
            order = command(plain, question=question)
            if order is None or order.verb != verb:
                continue
            wonders = asks and verb == "forget" and not _P["requests_politely"].search(plain)
            at = max(0, plain.find(order.what, order.start))
            what = text[at : at + len(order.what)]
            start = covered.index(text, sentence.start()) + at
            yield replace(order, what=what, start=start, sentence=text, wonders=wonders)


def command(sentence: str, *, question: bool = False) -> Command | None:
    """Return the order to the memory that a sentence gives, if any."""
    if not _P["hints"].search(sentence):
        return None
    asks = question or _P["asking_tail"].search(sentence) is not None
    if asks and _P["asked"].search(sentence):
        return None
    if match := _P["remind"].match(sentence):
        name = "what" if match["what"] else "todo"
        return Command("remember", match[name], match.start(name), todo=True)
    for pattern in _REMEMBER:
        if match := pattern.match(sentence):
            what = _P["asking_tail"].sub("", match["what"]).rstrip("，, ")
            if _P["only_nothing"].match(what) or (asks and _P["names_only"].fullmatch(what)):
                return None
            return Command("remember", what, match.start("what"))
    return None if _P["waved_away"].match(sentence) else _forget(sentence)


def _forget(sentence: str) -> Command | None:
    if match := _P["forget_en"].match(sentence):
        what = (match["what"] or match["kept"] or match["thing"] or "").strip(" ，。,.!！?？")
        return Command("forget", "" if _P["only_nothing"].match(what) else what, match.start())
    about = asked_in_chinese(sentence)
    return (
        None
        if about is None
        else Command("forget", "" if _P["only_nothing"].match(about) else about, 0)
    )


def asked_in_chinese(sentence: str) -> str | None:
    """Return what to forget in the sentence's words, "" for the last message, None for no
    request.
    """
    for pattern in _ZH_FORGET:
        if (match := pattern.match(sentence)) and _is_meant(match["what"], sentence):
            return re.sub(r"(?:的事情?)?(?:吧|了|啦|好吗)+$", "", match["what"]).strip(" ，。,.!！")
    return None


def _is_meant(what: str, sentence: str) -> bool:
    if _P["not_ours"].search(what) or _P["asks_how"].search(sentence):
        return False
    said = _P["zh_polite_start"].sub("", sentence)
    return not what or bool(_P["ours"].search(said) or _P["to_us"].search(sentence))
