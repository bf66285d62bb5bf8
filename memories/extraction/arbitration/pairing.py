"""A candidate beside one known memory, and what may be found about the two."""

from dataclasses import dataclass

from memories.extraction.arbitration.statement import Statement
from memories.extraction.types import Verdict

# At this cosine of the bundled embedder all pairs on one matter are in, unrelated ones are out.
SAME_MATTER = 0.55
# Two languages share no words; at this cosine an equal attribute is taken for an equal value.
SAME_ACROSS_LANGUAGES = 0.70


@dataclass(frozen=True)
class Finding:
    """How one known memory stands to the candidate; `verdict` None: they don't touch.

    `evidence` is the feature that weighed most where the learned judge spoke.
    """

    verdict: Verdict | None
    reason: str = ""
    evidence: str = ""


@dataclass(frozen=True)
class Pair:
    """A candidate's statement beside a known one, and how sure we may be of a change."""

    new: Statement
    old: Statement
    similarity: float
    corrects: bool
    decided: bool  # the speaker corrected, or told us to remember

    @property
    def overrules(self) -> bool:
        return self.decided or self.new.is_change

    @property
    def across(self) -> bool:
        return self.new.language != self.old.language


APART = Finding(None)
BESIDE = Finding(Verdict.KEEP_BOTH, "both_hold")
# Each adds to the other, but no one sentence says both well.
UNJOINED = Finding(Verdict.KEEP_BOTH, "not_joined")
