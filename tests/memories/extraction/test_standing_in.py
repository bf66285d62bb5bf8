from __future__ import annotations

import pytest

from memories.extraction.arbitration.verdicts import BundledArbiter
from memories.extraction.chat_model.fallback import (
    StandInArbiter,
    StandInExtractor,
    StandInSummarizer,
)
from memories.extraction.summary import ExtractiveSummarizer
from tests.chat_server import refused, said
from tests.memories.extraction.modelling import (
    LEEDS,
    NOW,
    SAYS_TEA,
    TEA,
    YORK,
    Model,
    heard,
)
from tests.memories.extraction.readings import statement

TALK = [("user", "I plan a trip to Kyoto in May."), ("assistant", "Lovely!")]


def test_the_bundled_methods_stand_in_where_the_model_fails(
    model: Model, caplog: pytest.LogCaptureFixture
) -> None:
    model.answers(refused(500))
    model.told.hears("I live in Leeds.", statement("I live in Leeds.", "I live in Leeds"))
    extractor = StandInExtractor(model.extractor, bundled=model.bundled)
    (found,) = extractor.extract(heard("I live in Leeds.")).candidates
    assert (found.content, found.reasons[-1]) == ("I live in Leeds", "bundled_stood_in")
    arbiter = StandInArbiter(model.arbiter, bundled=BundledArbiter(model.head))
    model.head.says(LEEDS.content, YORK.content, "newer", 0.5)
    decision = arbiter.arbitrate(YORK, [LEEDS], now=NOW)
    assert (decision.target_id, decision.reasons[-1]) == (LEEDS.id, "bundled_stood_in")
    summarizer = StandInSummarizer(model.summarizer, bundled=ExtractiveSummarizer())
    assert "Kyoto" in summarizer.summarize("", TALK, max_tokens=60)
    assert caplog.text.count("stands in") == 3
    assert "Leeds" not in caplog.text


def test_nobody_stands_in_for_a_model_that_answers(model: Model) -> None:
    model.proposes(TEA)
    extractor = StandInExtractor(model.extractor, bundled=model.bundled)
    assert extractor.extract(heard(SAYS_TEA)).candidates[0].reasons == ("model",)
    arbiter = StandInArbiter(model.arbiter, bundled=BundledArbiter(model.head))
    model.answers(said({"verdict": "REPLACE", "id": "m1"}))
    assert arbiter.arbitrate(YORK, [LEEDS], now=NOW).reasons == ("model",)
    summarizer = StandInSummarizer(model.summarizer, bundled=ExtractiveSummarizer())
    model.answers(said({"summary": "By the model."}))
    assert summarizer.summarize("", TALK, max_tokens=60) == "By the model."
