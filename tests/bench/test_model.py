"""The benchmark of a chat model, at a server of the test's own."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from bench import model
from foundation.providers.openai_compatible import Endpoint, OpenAICompatibleModel
from tests.chat_server import Answer, ChatServer, said

ROWS = 2


@pytest.fixture
def server() -> Iterator[ChatServer]:
    one = ChatServer()
    yield one
    one.stop()


def measured(server: ChatServer) -> dict[str, object]:
    endpoint = Endpoint(server.url, "tiny", timeout=5, retries=0)
    chat = OpenAICompatibleModel(endpoint, sleep=lambda _: None)
    found = model.measure(chat, rows=ROWS)
    assert set(found) == {"en", "zh"}
    steps: dict[str, object] = found["en"]
    return steps


def test_reader_and_model_are_measured_on_the_same_rows(server: ChatServer) -> None:
    server.answers = [said({"memories": [], "verdict": "ADD", "id": None, "summary": "Tea."})]
    told = json.loads(json.dumps(measured(server)))
    ways = told["extraction"]
    assert set(ways) == {"reader", "model", "hints", "either"}
    assert len({way["labels"] for way in ways.values()}) == 1
    assert ways["reader"]["questions"] == 0 < ways["hints"]["questions"]
    assert ways["hints"]["tokens_in"] > 0 and ways["hints"]["given_up"] == 0
    assert ways["either"]["recall"] == ways["reader"]["recall"]
    assert told["arbitration"]["model"]["pairs"] == told["arbitration"]["reader"]["pairs"] == ROWS
    assert told["summary"]["model"]["tokens"] > 0


def test_failures_are_counted_by_kind_and_end_nothing(server: ChatServer) -> None:
    server.answers = [Answer(status=400, body="{}")]
    told = json.loads(json.dumps(measured(server)))
    hints = told["extraction"]["hints"]
    assert hints["failed"] == hints["given_up"] == hints["questions"] > 0
    assert told["extraction"]["either"]["recall"] == told["extraction"]["reader"]["recall"]
    server.answers = [said("I would rather not.")]
    hints = json.loads(json.dumps(measured(server)))["extraction"]["hints"]
    assert hints["unreadable"] > 0 and hints["failed"] == 0


def test_without_weights_the_figures_stay_open(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(model.WEIGHTS, raising=False)
    model.main([])
    said_so, last = capsys.readouterr().out.splitlines()
    assert "stay open" in said_so and json.loads(last) == {"measured": False}
