"""Find commands ("remember that …", "forget that …"), and claims that the user agrees to.

Not every sentence with a word for forgetting is such a command. In Chinese, 忘掉我对猫过敏这件事
("forget that I'm allergic to cats") is one, but 忘掉那段感情吧 ("forget that love affair") is said
to a person, and 把第三段删掉 ("delete the third paragraph") is about a text. Therefore, a Chinese
request to forget must mention the person's own matters or this conversation, or address the
assistant.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from foundation.text import segment
from memories.extraction import masking
from memories.extraction.pattern_tables import compiled
from memories.extraction.types import Quotation
from memories.screening import secret_search

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_BRIEF_WORDS, _BRIEF_SIGNS = 12, 20  # longest brief request, in words and in Chinese characters
_LONGEST = 600  # characters of a sentence that are searched for "remember" and "forget"
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
    """A command to the memory service; `what` is the text to remember or to forget.

    If `commands` returns the command, `start` is the offset of `what` in the message. If `command`
    returns it, `what` is in the sentence at the offset `start` or later. `what` is empty if the
    previous message is meant. `todo` marks a task instead of a fact. `brief` marks a short message
    that may be a request to forget, but isn't worded clearly. `wonders` marks a request to forget
    that is phrased as a question.
    """

    verb: str  # remember | forget
    what: str
    start: int
    todo: bool = False
    sentence: str = ""
    wonders: bool = False  # "forget that I live in Leeds?"
    brief: bool = False  # "forget coffee"


def speaks_of_forgetting(text: str) -> bool:
    """Return whether a text contains a word for forgetting, such as "erase" or 删 ("delete")."""
    return bool(_P["speaks_of_forgetting"].search(text))


def only_asks_to_recall(text: str) -> bool:
    """Return whether a text asks what is remembered, without any word for forgetting."""
    rest = _P["asks_to_recall"].sub("", text)
    return rest != text and not speaks_of_forgetting(rest)


def only_asks_not_to_forget(text: str) -> bool:
    """Return whether a text asks not to forget something, without other words of forgetting."""
    plain = masking.plain(text)
    rest = _P["not_to_forget"].sub("", plain)
    return rest != plain and not speaks_of_forgetting(rest)


def may_not_be_order(text: str) -> bool:
    """Return whether a part of the text asks not to forget, or may ask if something was forgotten.

    Examples are "forget my boss, and don't forget the rent" and 我的生日你忘了？ ("have you
    forgotten my birthday?").
    """
    plain = masking.plain(text)
    return any(_P[name].search(plain) for name in ("not_to_forget", "may_ask_if_forgotten"))


def without_openers(text: str) -> str:
    """Replace openers such as "I forgot to tell you" by spaces, so that offsets stay valid."""
    return _P["opener"].sub(lambda found: " " * len(found[0]), text)


def asks_not_to_mention(text: str) -> bool:
    """Return whether a message asks not to mention something; such a request erases nothing."""
    return mention_wish(text) is not None


def mention_wish(text: str) -> tuple[int, int] | None:
    """Return the span of a request not to mention something ("stop bringing up my ex"), or None."""
    found = _P["dont_mention"].search(masking.plain(text))
    return found.span("wish") if found else None


def is_form_of_address(text: str) -> bool:
    """Return whether a text says how the person wants to be addressed, such as "call me Lan"."""
    return _P["address"].match(text.strip()) is not None


def commands(covered: str) -> Iterator[Command]:
    """Yield a command for each sentence that is worded as a command.

    `covered` is the message with its secrets, code and quoted lines covered. The caller must check
    whether the person means the command. If no sentence is worded as a command, yield the whole
    message if it is a brief request to forget.
    """
    if found := list(_orders(covered)):
        yield from found
        return
    text = covered.strip()
    plain = segment.simplified(masking.plain(text))
    if (what := brief_request(plain)) is not None:
        start = covered.index(text)
        at = plain.index(what)
        own = text[at : at + len(what)]
        yield Command("forget", own, start + at, sentence=text, brief=True)


def brief_request(message: str) -> str | None:
    """Return what a short message asks to forget, or None if it isn't a request to forget.

    "Forget coffee" and 把车忘掉 ("forget the car") could also be said to a person, so the user is
    asked before anything is forgotten.
    """
    if len(message) > _LONGEST or _P["waved_away"].match(message):
        return None
    is_chinese = bool(_P["han"].search(message))
    size = len(message) if is_chinese else len(message.split())
    if size > (_BRIEF_SIGNS if is_chinese else _BRIEF_WORDS):
        return None
    match = _P["zh_brief" if is_chinese else "brief_en"].match(message)
    if match is None:
        return None
    what = (match["what"] or match["named"]).strip(" ，,").removeprefix("把")
    names = ("not_ours", "zh_brief_not_ours") if is_chinese else ("brief_not_ours",)
    is_other = any(_P[name].search(what) for name in names) or _P["only_nothing"].match(what)
    return None if is_other else what


def _orders(covered: str) -> Iterator[Command]:
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
    """Return the command that a sentence gives to the memory service, or None.

    `question` means that the sentence ended with a question mark, so some wordings don't count.
    """
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
    if (order := _remember_before(sentence)) is not None:
        return order
    if _P["waved_away"].match(sentence) or only_asks_not_to_forget(sentence):
        return None
    return _forget(sentence)


def _remember_before(sentence: str) -> Command | None:
    """Return the command of a Chinese sentence that ends with "remember it", or None.

    In 周五考试，别忘了 ("exam on Friday, don't forget"), the text to remember is 周五考试.
    """
    after = _P["remember_zh_after"].search(sentence)
    what = sentence[: after.start()].strip() if after else ""
    if not what.strip("记住下来一 ，,") or _P["only_nothing"].match(what):
        return None
    return Command("remember", what, sentence.index(what))


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
    """Return what a Chinese sentence asks to forget, or None if it isn't a request to forget.

    An empty string means the previous message.
    """
    for pattern in _ZH_FORGET:
        if (match := pattern.match(sentence)) and _is_meant(match["what"], sentence):
            return re.sub(r"(?:的事情?)?(?:吧|了|啦|好吗)+$", "", match["what"]).strip(" ，。,.!！")
    return None


def _is_meant(what: str, sentence: str) -> bool:
    if _P["not_ours"].search(what) or _P["asks_how"].search(sentence):
        return False
    request = _P["zh_polite_start"].sub("", sentence)
    return not what or bool(_P["ours"].search(request) or _P["to_us"].search(sentence))


_CLAIMS = compiled("accepted_claims")
_LONGEST_YES = 48


def accepted_claim(said: str, before: str) -> Quotation | None:
    """Return the last claim about the user in the message `before`, if the reply `said` agrees.

    Return None if the reply doesn't agree, or if the claim contains a secret.
    """
    if (
        not before
        or len(said) > _LONGEST_YES
        or not _CLAIMS["agrees"].match(said.strip())
        or _CLAIMS["but"].search(said)
    ):
        return None
    last = list(_SENTENCE.finditer(before[-600:]))[-2:]
    claims = [
        match
        for match in last
        if len(match[0]) < 160
        and _CLAIMS["about_user"].search(match[0])
        and not _CLAIMS["no_claim"].search(match[0])
    ]
    quote = claims[-1][0].strip() if claims else ""
    return (
        Quotation(quote, before.rindex(quote)) if quote and not secret_search.find(quote) else None
    )


_BREAK = re.compile(r"[,.!?;:\n，。！？；：、…—()（）]+|(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])")
_LONGEST_REQUEST = 60
_DONT_KEEP = compiled("dont_keep")


def asks_not_to_store(text: str) -> bool:
    """Return whether any clause of the text asks not to store the message."""
    plain = text.replace("’", "'")
    clauses = (" ".join(clause.split()) for clause in _BREAK.split(plain))
    return any(
        _DONT_KEEP["en"].fullmatch(clause) or _DONT_KEEP["zh"].fullmatch(clause)
        for clause in clauses
        if 0 < len(clause) <= _LONGEST_REQUEST
    )
