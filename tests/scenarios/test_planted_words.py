"""A word planted through every surface, the person forgotten, and then looked for from outside."""

from __future__ import annotations

from typing import Any

from tests.live import PASSWORD, Product
from tests.scenarios.caller import Caller, until
from tests.scenarios.planted import Words, analyze
from tests.scenarios.planting import (
    THROUGH_THE_API,
    Planting,
    plant_by_chatting,
    plant_on_the_data_pages,
    plant_on_the_memory_pages,
    settle,
    submit,
)


def forgotten(product: Product, op_id: str, token: str) -> Any:
    """The receipt, once there is one."""
    anyone = Caller(product, "", headers={"Authorization": ""})
    path, query = f"/memory/ops/{op_id}", {"receipt_token": token}

    def over() -> Any:
        told = anyone.ask("GET", path, query=query).body
        assert told["status"] != "failed", told
        return told["status"] == "succeeded"

    until(over, what="the person to be forgotten")
    return anyone.ask("GET", f"{path}/receipt", query=query).body


def test_no_word_said_through_the_api_is_left_of_a_forgotten_user(
    api: Planting, product: Product, word: Words
) -> None:
    for plant in THROUGH_THE_API:
        plant(api)
    settle(api)
    analyze(product)
    planted = word.left(product)
    # Not "mem0 memory": a memory that waits for review keeps no version of what an edit replaced.
    assert {"message", "memory", "tag", "imported message", "mem0 update"} <= set(planted)
    accepted = api.ana.post("/memory/forget", scope="user")
    receipt = forgotten(product, accepted["op_id"], accepted["receipt_token"])
    assert receipt["scan"]["residue"] == 0
    assert word.left(product) == {}
    assert not word.inside(str(receipt))


def test_no_word_typed_on_a_page_is_left_of_a_forgotten_user(
    page: Planting, product: Product, word: Words
) -> None:
    plant_by_chatting(page)
    plant_on_the_memory_pages(page)
    plant_on_the_data_pages(page)
    analyze(product)
    planted = word.left(product)
    assert {"login name", "typed message", "typed memory", "key's name"} <= set(planted)
    answer = submit(page, "/memory/data/everything/", phrase="delete everything", password=PASSWORD)
    token, op_id = answer.url.params["token"], answer.url.path.split("/")[2]
    assert forgotten(product, op_id, token)["scan"]["residue"] == 0
    assert word.left(product) == {}
