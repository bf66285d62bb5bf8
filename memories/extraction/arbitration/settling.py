"""The rules first; where they have no strong evidence, the learned judge."""

import re

from memcenter.lib.stopwords import ENGLISH
from memories.extraction.arbitration.comparing import compare
from memories.extraction.arbitration.pair_judge import Judged, decide, judge, tells_more
from memories.extraction.arbitration.pairing import BESIDE, Finding, Pair
from memories.extraction.types import Verdict

# What the rules say when they found nothing that decides.
_OPEN = frozenset(["", "both_hold", "not_joined"])
# The rules' "contradicts" may rest on wording alone; so sure must the judge be to lift it.
_SURE_IT_IS_THE_SAME = 0.85
# Within a sentence; "I" is no name.
_CAPITALISED = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")


def settle(pair: Pair) -> Finding:
    """How the known statement stands to the new one, and what that rests on."""
    finding = compare(pair)
    if finding.verdict is Verdict.SKIP and _names_something_new(pair):
        return BESIDE
    if pair.across or not (is_open(finding) or _is_contested(finding)):
        return finding
    return settled(pair, finding, judge(pair, finding))


def _names_something_new(pair: Pair) -> bool:
    """The rules pass over stop words: to them "Works with Go" says no more than "Works"."""
    known = set(_CAPITALISED.findall(pair.old.plain))
    named = [word for word in _CAPITALISED.findall(pair.new.plain) if word not in known]
    return any(word.lower() in ENGLISH for word in named) and pair.new.language == "en"


def settled(pair: Pair, finding: Finding, judged: Judged) -> Finding:
    if is_open(finding):
        return decide(pair, finding, judged)
    surely = judged.shares["same"] >= _SURE_IT_IS_THE_SAME and not tells_more(pair)
    if _is_contested(finding) and surely:
        return Finding(Verdict.SKIP, "judged_same", judged.evidence["same"])
    return finding


def is_open(finding: Finding) -> bool:
    return finding.reason in _OPEN


def _is_contested(finding: Finding) -> bool:
    return finding.verdict is Verdict.REVIEW
