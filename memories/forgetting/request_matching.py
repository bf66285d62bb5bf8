"""Decide which memories a request to forget means: a clear match, or a list of possible ones.

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
from memories.extraction.wording.languages import language_of
from memories.extraction.wording.people import people_in
from memories.writing.similar_memories import RequestMatch

_AMONG = 10  # number of memories assumed for the rarity of a word
_LEAST = 1e-4  # probabilities of the reader model are limited to _LEAST and 1 - _LEAST
# The weights of the signals; `bench/forget_weights.py` prints them.
WEIGHTS = {
    "bias": -1.31,
    "cosine": 3.09,
    "nearer": 8.27,
    "about": 0.21,
    "preferred": 0.07,
    "covered": 4.82,
}
LIKELY = 0.5  # minimum probability at which a memory is probably meant
# Minimum probabilities for a clear match: that the memory is meant, that no other memory is meant,
# and that the request is about the memory according to the reader model alone.
_MEANT, _EXACT, _ABOUT = 0.9, 0.7, 0.5
_EXACT_IN_WORDS = 0.3  # instead of _EXACT, if the memory contains all words of the request
# A memory with fewer of the request's words needs a higher probability from the reader model.
_FEW_WORDS, _SURE_OF_FEW = 0.25, 0.95
_ALL_WORDS = 0.99  # `covered` above which a memory contains all words
_INTENDS = re.compile(
    r"\b(?:wants?|wanting|wanted to|plans?|planning|saving (?:up )?for|hop(?:e|es|ing) to"
    r"|dream\w{0,5}|thinking of|considering|intend\w{0,3}|would like|goals?)\b"
    r"|想(?![念起到])|打算|计划|希望|梦想|攒钱|目标|念头",
    re.IGNORECASE,
)
# "where I work": the request names its subject only by a question.
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
    r"|all (?:about|of|that|the|my|i|we)|every (?:memory|trace|mention)"
    r"|what(?:'s|s)? (?:i|we|you)(?:'ve| have)? (?:said|told|mentioned|know|remember)"
    r"|(?:things?|stuff|bits?) (?:i|we)(?:'ve)? (?:said|told|mentioned))\b"
    r"|全部|所有|一切|彻底|完全|通通|统统|全都|都(?:忘|删)|任何"
    r"|我(?:之前|以前|刚才?|上次)?(?:跟你|和你|对你)?(?:说|讲|提)(?:过|到)?的?.{0,12}(?:事|话|内容)"
    r"|关于[^，。！？]{1,12}的(?:事|话|内容|记忆|东西|信息)",
    re.IGNORECASE,
)
_SURE = 0.9  # minimum probability at which the reader model alone decides
_LISTED_FROM = 0.003
_NEAR = 0.24  # cosine; most unrelated short statements have a lower one
# In another language than the request, only the meaning can tell: minimum cosine, and minimum
# distance to the next memory.
_SAME_MEANING, _APART = 0.4, 0.15
_WITHIN = 8  # characters between a Chinese verb and the end of its object
_MOST_UNRELATED = 10  # unrelated memories are listed only among the first ten


@dataclass(frozen=True)
class Signals:
    """The signals that a request means a memory.

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
        """Return the value of each signal that has a weight."""
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
        """Return True if the memory has anything to do with the request."""
        return bool(self.covered) or self.cosine >= _NEAR or self.about >= pairs.PERHAPS


def signals_of(
    subject: str, met: Sequence[RequestMatch], probabilities: Mapping[int, float]
) -> list[Signals]:
    """Return the signals of each memory, most probable first.

    `probabilities` maps each memory's id to the reader model's probability that the request is
    about the memory.
    """
    asked = set(segment.terms(subject))
    terms = {one.pk: asked & set(segment.terms(one.content)) for one in met}
    held = Counter(term for each in terms.values() for term in each)
    rarity = {t: max(0.0, math.log((_AMONG + 1) / max(1, held[t]))) for t in asked}
    whole = sum(rarity.values()) or 1.0
    found = []
    for one in met:
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

    If any memory is related to the request, the best of the unrelated memories are listed too,
    because the signals often miss an indirect request ("my clean date" for "Sober since June").
    """
    if not any(one.is_related for one in ranked):
        return []
    return [
        one.meant
        for place, one in enumerate(ranked)
        if one.about >= pairs.PERHAPS
        or (one.probability >= _LISTED_FROM and (one.is_related or place < _MOST_UNRELATED))
    ]


def is_translation(subject: str, one: Signals) -> bool:
    """Return True if a memory in another language probably says what the request names.

    The pair head and shared words tell little across languages, so such a memory is offered as
    likely but isn't a clear match.
    """
    is_foreign = _is_chinese(subject) != _is_chinese(one.meant.content)
    return is_foreign and one.cosine >= _SAME_MEANING and one.nearer >= _APART


def _is_chinese(text: str) -> bool:
    return language_of(text) == "zh"


def says_most(subject: str, meant: RequestMatch, *, met: Sequence[RequestMatch]) -> bool:
    """Return True if the memory contains most of the words of a request.

    If a memory contains exactly half of the words, every word must occur in some of the compared
    memories; otherwise the user probably never said the other half. The condition exists because
    the memory is ticked before the user chooses, and the model that compares two texts is often
    wrong if they share fewer words.
    """
    asked = set(segment.terms(subject))
    shared = 2 * len(_named_in(meant.content, asked))
    if shared != len(asked):
        return shared > len(asked)
    return asked <= {term for one in met for term in _named_in(one.content, asked)}


def _named_in(text: str, terms: Collection[str]) -> set[str]:
    own = set(segment.terms(text))
    return {term for term in terms if term in own or _stands_apart(term, text)}


def _stands_apart(term: str, text: str) -> bool:
    """Return True if a Chinese verb and its object stand apart in the text: 养蜂 in 养了两箱蜂."""
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

    The probabilities must show that this memory is meant and no other, and the reader model must
    not prefer another memory. In addition, the memory must share more words with the request than
    any other memory ("forget coffee" is never clear if two memories mention coffee), and the reader
    model must be sure if these are few. The request must not name its subject by a question ("where
    I work"), and neither text may name a relative whom the other doesn't name. Unless the reader
    model is sure, the memory also must not deny or intend what the request states as a fact.
    """
    if not ranked or _ASKS.search(request):
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


def asks_for_everything(request: str) -> bool:
    """Return True for a request such as "forget everything about Ana" or "what I said about it"."""
    return _EVERYTHING.search(request.replace("’", "'")) is not None


def _is_of_someone_else(request: str, memory: str) -> bool:
    """Return True if one of the two texts names a relative whom the other doesn't name.

    "My tattoo" doesn't mean "My mum hates tattoos". The relative's name is enough: "Rhys's job"
    means "My partner Rhys is a nurse".
    """
    asked, named = _relatives(request), _relatives(memory)
    if asked.keys() & named.keys():
        return False
    known = [_is_named(name, memory) for name in asked.values()]
    return not all([*known, *(_is_named(name, request) for name in named.values())])


def _is_named(name: str, text: str) -> bool:
    return bool(name) and name.lower() in text.lower()


def _says_something_else(request: str, memory: str) -> bool:
    """Return True if the memory is a denial or an intention and the request isn't.

    "Forget my car" doesn't mean "Is saving for a car". But "the emoji rule" may mean "Never wants
    emojis", so the caller skips this check if the reader model is sure.
    """
    return any(
        says(memory) and not says(request)
        for says in (pairs.denies, lambda text: bool(_INTENDS.search(text)))
    )


def _relatives(text: str) -> dict[str, str]:
    """Return the relatives in the text by relation, with their names if these are given."""
    return {
        _SAME_RELATIVE.get(one.relation, one.relation): one.name
        for one in people_in(text, language_of(text))
        if one.relation
    }
