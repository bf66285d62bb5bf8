from bench.same_answers import differences

BEFORE = [{"asked": {"query": "tea"}, "found": [["mem_1", 0.5], ["mem_2", 0.25]], "block": ["b"]}]


def changed(**more: object) -> list[dict[str, object]]:
    return [{**BEFORE[0], **more}]


def test_the_same_answers_are_the_same_to_a_millionth() -> None:
    assert differences(BEFORE, BEFORE) == []
    assert differences(BEFORE, changed(found=[["mem_1", 0.5000005], ["mem_2", 0.25]])) == []


def test_another_score_order_block_or_question_is_told() -> None:
    for one in (
        changed(found=[["mem_1", 0.50001], ["mem_2", 0.25]]),
        changed(found=[["mem_2", 0.25], ["mem_1", 0.5]]),
        changed(found=[["mem_1", 0.5]]),
        changed(block=["other"]),
        changed(asked={"query": "coffee"}),
        [],
    ):
        assert len(differences(BEFORE, one)) == 1
