import numpy as np
import pytest

from memories.retrieval import signals
from memories.retrieval.signals import Corpus

DOCUMENTS = [["cat", "black"], ["cat", "cat", "dog"], ["dog"], []]


def test_scores_are_those_of_the_formula() -> None:
    counts = signals.count_terms(["cat"], DOCUMENTS)
    scores = signals.bm25(counts, corpus=signals.corpus_of(counts))
    weight = np.log1p((4 - 2 + 0.5) / (2 + 0.5))
    norm = 0.9 * (0.6 + 0.4 * 2 / 1.5)
    assert scores[0] == pytest.approx(weight * 1.9 / (1 + norm))
    assert scores[1] > scores[0] and scores[2] == scores[3] == 0


def test_documents_may_hold_only_the_matching_terms_when_the_length_is_told() -> None:
    whole = signals.count_terms(["dog"], DOCUMENTS)
    part = signals.count_terms(["dog"], [[], ["dog"], ["dog"], []], lengths=[2, 3, 1, 0])
    assert (whole.frequency == part.frequency).all() and (whole.length == part.length).all()


def test_a_known_corpus_says_how_rare_a_word_is_outside_the_pool() -> None:
    counts = signals.count_terms(["cat", "dog"], DOCUMENTS)
    known = Corpus(total=1_000, average_length=9.0, document_frequency={"cat": 900})
    merged = signals.corpus_of(counts, known=known)
    assert merged == Corpus(1_000, 9.0, {"cat": 900, "dog": 2})
    common, rare = signals.idf(["cat", "dog"], corpus=merged)
    assert 0 < common < 0.2 < rare


def test_the_share_counts_rare_words_for_more_and_absent_ones_for_half() -> None:
    counts = signals.count_terms(["cat", "black", "zebra"], DOCUMENTS)
    share = signals.matched_share(counts, corpus=signals.corpus_of(counts))
    assert 1 > share[0] > share[1] > share[2] == 0
    everything = signals.count_terms(["cat", "black"], DOCUMENTS)
    assert signals.matched_share(everything, corpus=signals.corpus_of(everything))[0] == 1


def test_a_rare_word_says_less_the_more_texts_have_it() -> None:
    counts = signals.count_terms(["black", "cat"], DOCUMENTS)
    corpus = signals.corpus_of(counts)
    assert signals.rare_match(counts, corpus=corpus, terms=["black"]).tolist() == [1, 0, 0, 0]
    assert 0 < signals.rare_match(counts, corpus=corpus, terms=["cat"])[0] < 1
    assert signals.rare_match(counts, corpus=corpus, terms=[]).tolist() == [0, 0, 0, 0]


def test_nothing_to_look_for_or_in_is_no_error() -> None:
    for terms, documents in (([], DOCUMENTS), (["cat"], []), ([], [])):
        counts = signals.count_terms(terms, documents)
        corpus = signals.corpus_of(counts)
        assert not signals.bm25(counts, corpus=corpus).any()
        assert not signals.matched_share(counts, corpus=corpus).any()
        assert not signals.rare_match(counts, corpus=corpus, terms=terms).any()
