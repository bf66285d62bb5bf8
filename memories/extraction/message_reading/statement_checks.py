"""Check the statements that the reader model finds against the words around them.

The words in and around a statement can show that the statement is only a question (我爸生日好久,
"when is my dad's birthday"), is taken back ("just kidding"), or is cut off in the middle of a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import rjieba

from memories.extraction.message_reading.heard_message import HeardMessage, orders_of
from memories.extraction.pattern_tables import compiled
from memories.extraction.wording.chinese_subjects import is_noun_phrase
from memories.reader import Statement

_P = compiled("statement_checks")
_BREAKS = "，,。.!！?？;；、\n \t"
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_CLAUSE = re.compile(r"[，,;；\s]+")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_PARTICLES = "了着过的"  # no Chinese statement begins with them
_LETTER = re.compile(r"[^\W_]")
_HAN_SIGN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_REACTION = re.compile(r"(?:只要)?一?[吃喝碰闻沾摸吸](?:到|了|上|着|一口|一下|一点|点儿?){0,2}就")
_ONLY_NOT = re.compile(r"(?:不是|not )[^\s,，。.!！?？]{1,12}")
_PRONOUN = re.compile("[我俺咱他她它牠佢]")
_FEWEST_CHARACTERS, _FEWEST_WORDS = 4, 2  # of a Chinese statement, and of another one
_MOST_AROUND = 3  # maximum number of further characters in a sentence that is one statement
_CLAUSE_AROUND = 200  # characters before and after a statement that may belong to its clause
_ENDS = ("", "。", "!", "！", "?", "？", "\n")  # characters before and after a sentence
_NEAR = 24  # characters read before and after a statement


def check_statements(statements: Sequence[Statement], text: str) -> tuple[Statement, ...]:
    """Extend the statements to whole words, and mark statements that aren't worth keeping."""
    ends = [0, *(statement.end for statement in statements)]
    whole = [
        _whole(statement, text, floor=floor)
        for statement, floor in zip(statements, ends, strict=False)
    ]
    return tuple(_marked(_join_parts(whole, text), text))


def _join_parts(statements: Sequence[Statement], text: str) -> list[Statement]:
    """Join statements that aren't understandable separately.

    A short "not X" is joined with the statement before it, because together they are a correction:
    我女朋友叫小闵 and 不是小敏 ("My girlfriend is called 小闵", "not 小敏"). A Chinese time clause
    is joined with the statement after it: 开会的时候 and 我只喝茶 ("in meetings", "I only drink
    tea"). A bodily reaction is joined with its cause: 我吃不了虾 and 一吃就起疹子 ("I can't eat
    prawns", "I get a rash when I do").
    """
    found: list[Statement] = []
    for statement in statements:
        between = text[found[-1].end : statement.start] if found else "."
        is_next = not between.strip(" ,，")
        if is_next and text[found[-1].start : found[-1].end].endswith("的时候"):
            found[-1] = replace(statement, start=found[-1].start)
        elif is_next and _REACTION.match(text, statement.start, statement.end):
            found[-1] = replace(found[-1], end=statement.end)
        elif is_next and _ONLY_NOT.fullmatch(text[statement.start : statement.end]):
            shares = {**found[-1].shares, "change": {"none": 0.0, "corrects": 1.0, "ends": 0.0}}
            found[-1] = replace(found[-1], end=statement.end, shares=shares)
        else:
            found.append(statement)
    return found


def is_only_question(text: str) -> bool:
    """Return whether each sentence of a message is a question, even without a question mark."""
    sentences = [found[0].strip() for found in _SENTENCE.finditer(text) if found[0].strip()]
    return bool(sentences) and all(map(_is_question, sentences))


def _is_fragment(statement: Statement, text: str) -> bool:
    """Return whether a statement is only a word or a few characters out of a longer phrase.

    Such a statement isn't understandable by itself.
    """
    words = text[statement.start : statement.end]
    before, after = text[: statement.start], text[statement.end :]
    if not _HAN_SIGN.search(words):
        around = before.rstrip(" ")[-1:], after.lstrip(" ")[:1]
        return len(words.split()) < _FEWEST_WORDS and any(map(_LETTER.match, around))
    # In Chinese, spaces separate clauses: 我妈下个月来 她晕车. An event needs a subject: 走了.
    pairs = (before[-1:], words[:1]), (words[-1:], after[:1])
    is_within = any(all(map(_LETTER.match, pair)) for pair in pairs)
    is_within |= statement.best("kind") == "event" and not _PRONOUN.match(words.strip())
    return len(words.strip(_BREAKS)) < _FEWEST_CHARACTERS and is_within


def own_statements(
    message: HeardMessage, *, handled: Sequence[tuple[int, int]] = ()
) -> list[Statement]:
    """Return the complete statements, except those to be forgotten or overlapping `handled`."""
    unwanted = [order.start for order in orders_of(message, "forget") if order.what]
    return [
        statement
        for statement in message.reading.statements
        if not _is_fragment(statement, message.said.text)
        and not any(statement.start <= at < statement.end for at in unwanted)
        and not any(statement.start < end and start < statement.end for start, end in handled)
    ]


def _is_question(sentence: str) -> bool:
    if sentence.endswith(("?", "？")) or _P["asks_in_english"].search(sentence):
        return True
    last = _CLAUSE.split(sentence.rstrip("。.!！ "))[-1]
    return _P["asks_in_chinese"].search(last) is not None


def _marked(statements: Sequence[Statement], text: str) -> Iterator[Statement]:
    for number, statement in enumerate(statements):
        said = text[statement.start : statement.end].strip()
        after = text[statement.end : statement.end + _NEAR]
        others = statements[number + 1].start if number + 1 < len(statements) else len(text)
        if _P["joking"].search(after) and statement.end <= others:
            yield marked_not_worth_keeping(statement, said="joked")
        elif (
            _is_asked(said, after)
            or _is_whole_question(statement, text)
            or _is_rest_of_question(statement, text)
            or _P["asks_who"].search(said)
        ):
            yield marked_not_worth_keeping(statement)
        else:
            yield statement


def marked_not_worth_keeping(statement: Statement, **answers: str) -> Statement:
    """Return the statement marked as not worth keeping.

    `answers` also sets labels of other heads of the reader model, such as `said="joked"`.
    """
    shares = dict(statement.shares)
    for head, answer in {"keep": "no", **answers}.items():
        shares[head] = {label: float(label == answer) for label in shares[head]}
    return replace(statement, shares=shares)


def _is_asked(said: str, after: str) -> bool:
    """Return whether a Chinese statement is part of a question.

    An example is 我对花生过敏 ("I'm allergic to peanuts") in 我对花生过敏吗 ("am I allergic …?").
    A noun followed by 呢 is also a question: 小敏呢 ("and Xiaomin?").
    """
    if not _HAN.search(said):
        return False
    if after.startswith("呢") and is_noun_phrase(said):
        return True
    return bool(_P["asks_at_end"].search(said) or _P["asks_after"].search(after))


def _is_whole_question(statement: Statement, text: str) -> bool:
    """Return whether a statement is a Chinese sentence of one clause that asks something.

    Further questions may follow it: 我外婆在哪儿住 好多岁了 ("where does Grandma live, how old …").
    """
    first, last = _clause(text, statement.start, statement.end, floor=0)
    sentence = text[first:last]
    following = _SENTENCE.match(text, last + 1)
    rest = _CLAUSE.split(following[0])[0] if following else ""
    is_whole = text[first - 1 : first] in _ENDS
    is_whole &= text[last : last + 1] in _ENDS or bool(_P["asks_in_chinese"].search(rest))
    is_whole &= len(sentence) - (statement.end - statement.start) <= _MOST_AROUND
    asks = is_whole and _HAN.search(sentence) and _P["asks_within"].search(sentence)
    return bool(asks) and not _P["no_question"].search(sentence)


def _is_rest_of_question(statement: Statement, text: str) -> bool:
    """Return whether a statement is the beginning or the rest of an English question.

    For example, "where does" and "my brother live" are the two parts of "where does my brother
    live?".
    """
    before = text[max(0, statement.start - _NEAR) : statement.start]
    begun = before[max(before.rfind(sign) for sign in ".!?\n") + 1 :].lstrip()
    rest = text[statement.end : statement.end + _NEAR]
    opened = _P["begins_question"].match(f"{begun}{text[statement.start : statement.end]}{rest}")
    if opened is None or opened.end() < len(begun):
        return False
    is_within = len(begun) + statement.end - statement.start <= opened.end()
    return is_within or rest.lstrip(" ")[:1] in ("", "?", "\n")


def _whole(statement: Statement, text: str, *, floor: int) -> Statement:
    """Extend a statement to whole words, and to the name after "call me".

    The model cuts some Chinese words in two: in 豆豆钢琴课是周日 ("Doudou's piano lesson is on
    Sunday") it finds only 课是周日. The start also moves back over nouns that directly precede the
    word, such as the owner 豆豆. If a statement begins with a particle, its start moves to the
    start of the clause. The start never moves before `floor`, the end of the previous statement.
    """
    start, end = statement.start, statement.end
    while start < end and text[start].isspace():
        start += 1
    first, last = _clause(text, start, end, floor=floor)
    if _P["address_without_name"].search(text[start:end]):
        name = _P["name_after_address"].match(text, end)
        return replace(statement, start=start, end=name.end() if name else end)
    if not _HAN.match(text, start) or start == first:
        return replace(statement, start=start)
    words = list(_words(text, first, last))
    start = first if text[start] in _PARTICLES else _word_start(words, start)
    ends = [at for at, _, _ in words if at >= end]
    is_cut = end < last and _HAN.match(text, end) and _HAN.match(text, end - 1)
    return replace(statement, start=start, end=min(ends, default=end) if is_cut else end)


def _clause(text: str, start: int, end: int, *, floor: int) -> tuple[int, int]:
    """Return the start of the clause at `start`, and the end of the clause at `end`.

    At most `_CLAUSE_AROUND` characters before and after are searched.
    """
    floor, last = max(floor, start - _CLAUSE_AROUND), min(len(text), end + _CLAUSE_AROUND)
    first = max([floor, *(text.rfind(sign, floor, start) + 1 for sign in _BREAKS)])
    ends = [at for sign in _BREAKS if (at := text.find(sign, end, last)) >= 0]
    return first, min(ends, default=last)


def _words(text: str, first: int, last: int) -> Iterator[tuple[int, int, str]]:
    """Yield the end, start and part of speech (in this order) of each word in a range."""
    at = first
    for word, tag in rjieba.tag(text[first:last]):
        yield at + len(word), at, tag
        at += len(word)


def _word_start(words: Sequence[tuple[int, int, str]], start: int) -> int:
    """Return the start of the word that contains `start`, or of nouns directly before this word.

    If a word begins at `start` itself, return `start`.
    """
    before = [word for word in words if word[1] < start]
    if not before or before[-1][0] == start:
        return start
    start = before.pop()[1]
    while before and before[-1][2].startswith("n"):
        start = before.pop()[1]
    return start
