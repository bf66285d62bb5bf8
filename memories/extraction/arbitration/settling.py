"""The rules first; where they have no strong evidence, the learned judge."""

import re

from memcenter.lib.stopwords import ENGLISH
from memories.extraction.arbitration.attributes import may_be_two
from memories.extraction.arbitration.comparing import compare
from memories.extraction.arbitration.pair_judge import Judged, decide, judge, tells_more
from memories.extraction.arbitration.pairing import BESIDE, Finding, Pair
from memories.extraction.arbitration.statement import Time
from memories.extraction.types import Verdict

# What the rules say when they found nothing that decides.
_OPEN = frozenset(["", "both_hold", "not_joined"])
# Such a change is one of what holds now.
_NEWER = frozenset(["newer_value", "judged_newer", "judged_conflict"])
_TODAY = re.compile(
    r"\b(?:now|these days|nowadays|currently|instead|switched|moved|until|but)\b"
    r"|现在|如今|目前|后来|后改|改成|改为|换成|转行|搬到|但"
)
# How much or how often one may do what one does: "can't run two days in a row".
_LIMIT = re.compile(
    r"\b(?:not|cannot|never) .*\b(?:in a row|more than|at once|too (?:much|many)"
    r"|on an empty stomach)\b"
    r"|[不别](?:能|可以?|宜|要|该|应该|准|许)?(?:连着|连续|接连|超过|一次性|空腹|太多|过量)"
)
_LIMITING = _NEWER | {"contradicts"}
# The rules' "contradicts" may rest on wording alone; so sure must the judge be to lift it.
_SURE_IT_IS_THE_SAME = 0.85
# Within a sentence; "I" is no name.
_CAPITALISED = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")


def settle(pair: Pair) -> Finding:
    """How the known statement stands to the new one, and what that rests on."""
    finding = _settle(pair)
    if finding.reason in _NEWER and (_is_only_of_the_past(pair) or may_be_two(pair)):
        return BESIDE
    return BESIDE if finding.reason in _LIMITING and _is_only_a_limit(pair) else finding


def _is_only_a_limit(pair: Pair) -> bool:
    """Whoever may not do it without a break does it, and the other one says so."""
    limits = [bool(_LIMIT.search(said.text)) for said in (pair.new, pair.old)]
    does = [said.holds for said in (pair.new, pair.old)]
    return limits[0] != limits[1] and does[limits[0]]


def _settle(pair: Pair) -> Finding:
    finding = compare(pair)
    if finding.verdict is Verdict.SKIP and _names_something_new(pair):
        return BESIDE
    if pair.across or not (is_open(finding) or _is_contested(finding)):
        return finding
    return settled(pair, finding, judge(pair, finding))


def _is_only_of_the_past(pair: Pair) -> bool:
    """What used to be is no value of today, whichever of the two tells of it."""
    past = [
        said.time is Time.PAST and not _TODAY.search(said.text) for said in (pair.new, pair.old)
    ]
    both_tell_of_something = pair.new.positive and pair.old.positive
    return past[0] != past[1] and both_tell_of_something and not pair.decided


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
