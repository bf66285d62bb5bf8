import json

import pytest

from bench.api import CLIENTS, Measured, our_calls, report
from ops.models import User
from tests.memcenter.rest.client import Api

OURS = ("empty", "turns", "context", "search", "list", "add", "store")


@pytest.mark.django_db
def test_every_call_that_is_measured_is_answered(product_key: str) -> None:
    calls = our_calls(["Likes green tea."])
    assert set(calls) == set(OURS)
    for name in OURS[1:]:  # the empty one is there in the bench's own settings only
        path, body = calls[name](1)
        url = path if path.startswith("/api") else f"http://testserver{path}"
        answer = Api(product_key).call("post" if body else "get", url, body)
        assert answer.status_code in (200, 201), (name, answer.content)
    assert User.objects.count() == 3


def test_each_call_is_told_as_a_multiple_of_the_empty_one_and_beside_mem0(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def table(names: tuple[str, ...], seconds: float) -> dict[str, dict[int, Measured]]:
        return {
            name: {clients: Measured([seconds], 1 / seconds) for clients in CLIENTS}
            for name in names
        }

    ours = {**table(OURS, 0.04), **table(("empty",), 0.01)}
    report({"ours": ours, "mem0": table(("search", "list", "add"), 0.08)}, memories=5)
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["ours_turns_1"]["over_empty"] == 4.0 and told["memories"] == 5
    assert told["store_8_against_mem0"] == {"p50": 0.5, "per_second": 2.0}
