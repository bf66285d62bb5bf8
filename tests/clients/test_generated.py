"""The clients' generated files are those of the present API."""

import json

from memcenter_client import AsyncMemoryCenter, MemoryCenter

from clients import generation
from tests.live import ROOT

AGAIN = "Run `make clients` and commit what it writes below clients/."


def test_the_generated_files_are_those_of_the_present_api() -> None:
    recorded = json.loads(generation.RECORD.read_text(encoding="utf-8"))
    found = generation.record()
    assert [name for name in found if found[name] != recorded.get(name)] == [], AGAIN


def test_the_synchronous_client_is_made_from_the_asynchronous_one() -> None:
    assert generation.SYNC.read_text(encoding="utf-8") == generation.synchronous(), AGAIN
    assert "async" not in generation.synchronous().partition("class ")[2], AGAIN
    methods = [
        {name for name in dir(one) if name[0] != "_"} for one in (MemoryCenter, AsyncMemoryCenter)
    ]
    assert methods[0] - {"close"} == methods[1] - {"aclose"} and len(methods[0]) > 15


def test_wording_alone_changes_nothing() -> None:
    text = json.dumps(generation.document())
    assert '"example"' not in text and '"summary": "' not in text
    properties = generation.document()["components"]["schemas"]["Memory"]["properties"]
    assert "summary" in properties  # the name of a field


def test_the_lock_of_npm_has_no_addresses() -> None:
    lock = (ROOT / "clients/typescript/package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock and '"integrity"' in lock
