"""Decide which memories a request to forget means: a clear match, or a list of possible matches.

A logistic regression over a few signals gives each memory the probability that it is meant. The
weights were fitted to requests that the reader model was not trained on; `bench/forget_weights.py`
fits them again.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from foundation.text import segment
from memories.extraction.arbitration import pairs
from memories.extraction.requests.commands import may_not_be_order
from memories.extraction.wording.chinese_subjects import names
from memories.extraction.wording.languages import language_of
from memories.extraction.wording.people import names_in, people_in
from memories.writing.similar_memories import RequestMatch

_AMONG = 10  # total number of memories that is assumed when computing how rare a word is
_LEAST = 1e-4  # probabilities of the reader model are limited to _LEAST and 1 - _LEAST
# The weights of the signals; `bench/forget_weights.py` prints them.
WEIGHTS = {
    "bias": 0.85,
    "cosine": -1.68,
    "nearer": 6.59,
    "about": 0.41,
    "preferred": 0.31,
    "covered": 1.24,
}
# Minimum probability at which a memory is probably meant: for most requests, and for requests that
# ask to forget everything about a topic.
_LIKELY, _LIKELY_OF_ALL = 0.7, 0.5
# Up to these probabilities, the reader model is sure that a memory isn't meant.
_DENIED, _DENIED_OF_ALL = 0.1, 0.05
# Minimum probabilities for a clear match: that the memory is meant, that it is the only one meant,
# and that the request is about the memory according to the reader model alone.
_MEANT, _EXACT, _ABOUT = 0.9, 0.7, 0.5
_EXACT_IN_WORDS = 0.3  # instead of _EXACT, if the memory contains all words of the request
# If `covered` is less than _FEW_WORDS, `about` must be at least _SURE_OF_FEW.
_FEW_WORDS, _SURE_OF_FEW = 0.5, 0.95
_ALL_WORDS = 0.99  # `covered` above which a memory contains all words
_INTENDS = re.compile(
    r"\b(?:wants?|wanting|wanted to|plans?|planning|saving (?:up )?for|hop(?:e|es|ing) to"
    r"|dream\w{0,5}|thinking of|considering|intend\w{0,3}|would like|goals?)\b"
    r"|想(?![念起到])|打算|计划|希望|梦想|攒钱|目标|念头",
    re.IGNORECASE,
)
# Matches a request that names its subject only as a question, such as "where I work".
_ASKS = re.compile(
    r"\b(?:where (?:i|we|he|she|they|my)(?! (?:said|told|mentioned|wrote))|how (?:much|many|old) "
    r"|who (?:i|my)\b)|在哪|哪里|哪儿|是谁|跟谁|和谁|多少钱",
    re.IGNORECASE,
)
_SAME_RELATIVE = {
    **dict.fromkeys(("dad", "papa", "daddy"), "father"),
    **dict.fromkeys(("mum", "mom", "mam", "mama", "mummy"), "mother"),
    **dict.fromkeys(("爸爸", "父亲", "老爸", "我爸"), "爸"),
    **dict.fromkeys(("妈妈", "母亲", "老妈", "我妈"), "妈"),
    **dict.fromkeys(("媳妇", "妻子", "太太", "爱人"), "老婆"),
    **dict.fromkeys(("丈夫", "先生"), "老公"),
}
_EVERYTHING = re.compile(
    r"\b(?:completely|entirely|altogether|totally|everything|anything|whatever"
    r"|all (?:about|of|that|the|my|i|we|to do)|every (?:memory|trace|mention)"
    r"|what(?:'s|s)? (?:i|we|you)(?:'ve| have)? (?:said|told|mentioned|know|remember)"
    r"|(?:things?|stuff|bits?) (?:i|we)(?:'ve)? (?:said|told|mentioned))\b"
    r"|全部|所有|一切|彻底|完全|通通|统统|全都|都(?:忘|删)|任何"
    r"|我(?:之前|以前|刚才?|上次)?(?:跟你|和你|对你)?(?:说|讲|提)(?:过|到)?的?.{0,12}(?:事|话|内容)"
    r"|关于[^，。！？]{1,12}的(?:事|话|内容|记忆|东西|信息)",
    re.IGNORECASE,
)
_OF = ("'", "的")  # follow a relative if the next words name a possession ("my brother's car")
# Matches a clause that names memories to keep: "keep everything else about Noah".
_KEEPS = re.compile(
    r"\b(?:keep|else|stay|leave|rest|except|apart from)\b|保留|留着|留下|其他|其它|别的|除了",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[^,.!?;:\n，。！？；：、…—]+")
_SURE = 0.9  # minimum probability at which the reader model alone decides
_LISTED_FROM = 0.003
_MANY_WORDS = 0.3  # `covered` from which a memory is always listed
_NEAR = 0.24  # cosine; most unrelated short statements are below it
# If a memory isn't in the language of the request, only the meaning can be compared: minimum
# cosine, and minimum lead over the most similar other memory.
_SAME_MEANING, _APART = 0.4, 0.15
_WITHIN = 8  # maximum characters from the end of a Chinese verb to the end of its object
_MOST_UNRELATED = 10  # an unrelated memory is listed only if it ranks among the first ten


@dataclass(frozen=True)
class Signals:
    """The evidence that a request means a particular memory.

    `cosine` is the similarity to the request, and `nearer` is this similarity minus the highest
    similarity of the other memories. `about` is the reader model's probability that the request is
    about the memory, and `preferred` is its logit minus the highest logit of the other memories.
    `covered` is the share of the request's words that the memory contains, weighted by their rarity
    (0 to 1).
    """

    meant: RequestMatch
    cosine: float
    about: float
    covered: float
    nearer: float = 0.0
    preferred: float = 0.0

    @property
    def logit(self) -> float:
        about = min(max(self.about, _LEAST), 1 - _LEAST)
        return math.log(about / (1 - about))

    @property
    def values(self) -> dict[str, float]:
        """Map the name of each weight to the value that is multiplied by the weight."""
        return {
            "bias": 1.0,
            "cosine": self.cosine,
            "nearer": self.nearer,
            "about": self.logit,
            "preferred": self.preferred,
            "covered": self.covered,
        }

    @property
    def probability(self) -> float:
        """Return the probability that the request means the memory."""
        score = sum(WEIGHTS[name] * value for name, value in self.values.items())
        return 1 / (1 + math.exp(-score))

    @property
    def has_all_words(self) -> bool:
        """Return True if the memory contains all words of the request."""
        return self.covered > _ALL_WORDS

    @property
    def is_related(self) -> bool:
        """Return True if the memory shares a word with the request or may be similar to it."""
        return bool(self.covered) or self.cosine >= _NEAR or self.about >= pairs.PERHAPS


def signals_of(
    subject: str, matches: Sequence[RequestMatch], probabilities: Mapping[int, float]
) -> list[Signals]:
    """Return the signals of each memory, most probable first.

    `probabilities` maps each memory's id to the reader model's probability that the request is
    about the memory.
    """
    asked = set(segment.terms(subject))
    terms = {one.pk: asked & set(segment.terms(one.content)) for one in matches}
    held = Counter(term for each in terms.values() for term in each)
    rarity = {t: max(0.0, math.log((_AMONG + 1) / max(1, held[t]))) for t in asked}
    whole = sum(rarity.values()) or 1.0
    found = []
    for one in matches:
        covered = sum(rarity[term] for term in terms[one.pk]) / whole
        found.append(Signals(one, one.similarity, probabilities[one.pk], covered))
    nearest = sorted((one.cosine for one in found), reverse=True)[:2]
    surest = sorted((one.logit for one in found), reverse=True)[:2]
    compared = [
        replace(
            one,
            nearer=one.cosine - _best_other(one.cosine, nearest),
            preferred=one.logit - _best_other(one.logit, surest),
        )
        for one in found
    ]
    return sorted(compared, key=lambda one: -one.probability)


def _best_other(own: float, best: Sequence[float]) -> float:
    if len(best) < 2:
        return 0.0
    return best[1] if own == best[0] else best[0]


def possible_matches(ranked: Sequence[Signals]) -> list[RequestMatch]:
    """Return the memories that the request may mean, most probable first.

    The list is empty if no memory is related to the request. Otherwise, the most probable unrelated
    memories are listed too, because the signals often miss an indirect request ("my clean date" for
    "Sober since June").
    """
    if not any(one.is_related for one in ranked):
        return []
    return [
        one.meant
        for place, one in enumerate(ranked)
        if one.about >= pairs.PERHAPS
        or one.covered >= _MANY_WORDS
        or (one.probability >= _LISTED_FROM and (one.is_related or place < _MOST_UNRELATED))
    ]


def probable_matches(subject: str, ranked: Sequence[Signals], *, said: str) -> list[RequestMatch]:
    """Return the memories that the request probably means, most probable first.

    These memories are preselected for the user. A memory must be probable enough, must share a word
    with the request or be similar to it, and the reader model must not be sure that the memory
    isn't meant. If the request (`said`) asks to forget everything about a topic, a lower
    probability is enough, and memories that contain the topic (`_is_of_topic`) are included too.
    Memories in another language with the same meaning (`is_translation`) are always included.
    """
    topics = _topics_of_everything(subject, said)
    least = _LIKELY_OF_ALL if topics else _LIKELY
    return [
        one.meant
        for one in ranked
        if _is_probable(one, least) or is_translation(subject, one) or _is_of_topic(one, topics)
    ]


def _is_probable(signals: Signals, least: float) -> bool:
    is_near = signals.covered > 0 or signals.cosine >= _NEAR
    return is_near and signals.probability >= least and signals.about > _DENIED


def _is_of_topic(signals: Signals, topics: Mapping[str, bool]) -> bool:
    """Return True if the memory contains one of the topics.

    A topic that isn't a name doesn't count if the reader model is sure that the memory isn't meant.
    """
    return any(
        (is_name or signals.about > _DENIED_OF_ALL) and _contains(topic, signals.meant.content)
        for topic, is_name in topics.items()
    )


def _contains(topic: str, text: str) -> bool:
    if _is_chinese(topic) and topic in text:
        return True
    asked = segment.content_terms(topic)
    return bool(asked) and asked <= _named_in(text, asked)


def _topics_of_everything(subject: str, said: str) -> dict[str, bool]:
    """Return the topics about which the request asks to forget everything.

    Each topic is mapped to True if it is a person's name. For "everything about my brother Iain",
    the topic is only "Iain", because other memories about him may not say "brother".
    """
    clauses = [one for one in _CLAUSE.findall(_plain(said)) if not _KEEPS.search(one)]
    wide = [one for one in clauses if asks_for_everything(one)]
    asked = [clause for clause in subject.split(", ") if any(_plain(clause) in one for one in wide)]
    if not asked:
        return {}
    people = _names_in(said)
    return {topic: topic in people for topic in map(_without_relation, asked)}


def _without_relation(clause: str) -> str:
    """Return only the name if a clause is a relation with a name, otherwise the whole clause.

    For example, return "Iain" for "my brother Iain".
    """
    for one in people_in(clause, language_of(clause)):
        relation = one.words.removesuffix(one.name)
        before, _, rest = clause.partition(relation)
        words = rest.lower().split()
        is_name = words and not rest.startswith(_OF) and not segment.content_terms(before)
        if is_name and segment.ENGLISH_STOP_WORDS.isdisjoint(words):
            return rest.strip()
    return clause


def _names_in(text: str) -> set[str]:
    people = names_in(text)
    return {one.words for one in people} | {name for _, name in names(text)}


def is_translation(subject: str, signals: Signals) -> bool:
    """Return True if the memory is in another language and its meaning is similar to the request.

    Only the vectors are compared, because the reader model and shared words are unreliable across
    languages. Such a memory is listed as likely, but isn't a clear match for this reason alone.
    """
    is_foreign = _is_chinese(subject) != _is_chinese(signals.meant.content)
    return is_foreign and signals.cosine >= _SAME_MEANING and signals.nearer >= _APART


def _is_chinese(text: str) -> bool:
    return language_of(text) == "zh"


def _named_in(text: str, terms: Collection[str]) -> set[str]:
    own = set(segment.terms(text))
    return {term for term in terms if term in own or _stands_apart(term, text)}


def _stands_apart(term: str, text: str) -> bool:
    """Return True if a two-character Chinese term is split into verb and object in the text.

    For example, 养蜂 ("keep bees") is split in 养了两箱蜂 ("kept two hives of bees").
    """
    return (
        len(term) == 2
        and _is_chinese(term)
        and any(
            term[1] in text[place : place + _WITHIN]
            for place, character in enumerate(text, start=1)
            if character == term[0]
        )
    )


def clear_match(request: str, ranked: Sequence[Signals]) -> RequestMatch | None:
    """Return the memory that the request clearly means, or None.

    The probabilities must show that only this memory is meant, and the reader model must not prefer
    another memory. In addition, the memory must share more words with the request than any other
    memory ("forget coffee" is never clear if two memories mention coffee). If the memory contains
    less than half of the request's words, the reader model must be sure. The request must not name
    its subject as a question ("where I work"), ask not to forget something, or perhaps only ask
    whether something is forgotten (`may_not_be_order`). The request and the memory must not be
    about different people (`_is_of_someone_else`). Unless the reader model is sure, a memory that
    denies something or states an intention matches only a request that does so too.
    """
    if not ranked or _ASKS.search(request) or may_not_be_order(request):
        return None
    best, others = ranked[0], ranked[1:]
    alone = best.probability * math.prod(1 - one.probability for one in others)
    exact = _EXACT_IN_WORDS if best.has_all_words else _EXACT
    if best.probability < _MEANT or alone < exact or best.about < _ABOUT:
        return None
    if best.preferred < 0 or (best.covered < _FEW_WORDS and best.about < _SURE_OF_FEW):
        return None
    if best.covered <= max((one.covered for one in others), default=0.0):
        return None
    memory = best.meant.content
    if _is_of_someone_else(request, memory):
        return None
    return None if best.about < _SURE and _says_something_else(request, memory) else best.meant


def says_what_to_keep(request: str) -> bool:
    """Return True for a request such as "forget my debts, but keep the one to Shay"."""
    return _KEEPS.search(_plain(request)) is not None


def asks_for_everything(request: str) -> bool:
    """Return True for a request such as "forget everything about Ana" or "what I said about it"."""
    return _EVERYTHING.search(_plain(request)) is not None


def _plain(text: str) -> str:
    return text.replace("’", "'")


def _is_of_someone_else(request: str, memory: str) -> bool:
    """Return True if one text mentions a relative whom the other doesn't mention.

    For example, "my tattoo" doesn't mean "My mum hates tattoos". A relative may be mentioned only
    by name: "Rhys's job" can mean "My partner Rhys is a nurse". Return False if both texts mention
    the same relation.
    """
    asked, named = _relatives(request), _relatives(memory)
    if asked.keys() & named.keys():
        return False
    known = [_is_named(name, memory) for name in asked.values()]
    return not all([*known, *(_is_named(name, request) for name in named.values())])


def _is_named(name: str, text: str) -> bool:
    return bool(name) and name.lower() in text.lower()


def _says_something_else(request: str, memory: str) -> bool:
    """Return True if the memory states a denial or an intention and the request states none.

    "Forget my car" doesn't mean "Is saving for a car". But "the emoji rule" may mean "Never wants
    emojis", so the caller skips this check if the reader model is sure.
    """
    return any(
        says(memory) and not says(request)
        for says in (pairs.denies, lambda text: bool(_INTENDS.search(text)))
    )


def _relatives(text: str) -> dict[str, str]:
    """Map the relation of each relative in the text to the relative's name, or to "" if unnamed."""
    return {
        _SAME_RELATIVE.get(one.relation, one.relation): one.name
        for one in people_in(text, language_of(text))
        if one.relation
    }
