"""The Python clients against the running product, as a chat backend uses them."""

from __future__ import annotations

import asyncio
import io
import json
import uuid
import zipfile

import pytest
from memcenter_client import AsyncMemoryCenter, MemoryCenter, MemoryCenterError

from tests.live import Product


def person() -> str:
    return f"ana-{uuid.uuid4().hex[:12]}"


def test_a_person_is_learned_of_recalled_and_forgotten(product: Product) -> None:
    with MemoryCenter(product.address, product.api_key, person()) as center:
        turn = center.record_turn(
            conversation_id="c-1",
            user_message="I am allergic to peanuts.",
            assistant_message="Noted.",
        )
        for op_id in turn["op_ids"]:
            assert [one["status"] for one in center.events(op_id)][-1] == "succeeded"
        assert center.flush(conversation_id="c-1", stage="candidates")["candidates"]
        assert "peanuts" in center.context(message="What could I cook?")["block"]
        assert center.search(query="allergy", types="memory")["results"]
        [memory] = center.memories()

        asked = center.forget(scope="memory", memory_id=memory["id"])
        assert asked["status"] == "accepted" and asked["op_id"] is not None
        center.wait(asked["op_id"])
        assert center.receipt(asked["op_id"])["erased"]
        with pytest.raises(MemoryCenterError) as caught:
            center.get_memory(memory["id"])
    assert (caught.value.status, caught.value.code) == (404, "not_found")
    assert caught.value.request_id


def test_memories_are_written_changed_listed_and_exported(product: Product) -> None:
    with MemoryCenter(product.address, product.api_key, person()) as center:
        likes = ["Plays chess on Mondays", "Lives in Brno", "Speaks Czech with her mother"]
        made = center.add_memories([{"content": one, "kind": "fact"} for one in likes])
        ids = [one["memory"]["id"] for one in made]
        center.change_memory(ids[0], pinned=True)
        assert center.get_memory(ids[0])["pinned"]
        assert [one["id"] for one in center.memories(limit=1)] == ids[::-1]
        center.recycle_memory(ids[1])
        accepted = center.delete_memory(ids[2])["op_id"]
        assert accepted is not None
        center.wait(accepted)
        assert [one["id"] for one in center.memories()] == ids[:1]

        assert likes[0] in json.dumps(json.loads(center.export()))
        assert zipfile.is_zipfile(io.BytesIO(center.export(format="zip")))


def test_bad_input_names_the_field(product: Product) -> None:
    with MemoryCenter(product.address, product.api_key, person()) as center:
        with pytest.raises(MemoryCenterError) as caught:
            center.add_memory(content="")
        nobody = MemoryCenter(product.address, product.api_key)
        with nobody, pytest.raises(MemoryCenterError) as unnamed:
            nobody.context(message="Who?")
    assert (caught.value.code, caught.value.field) == ("invalid", "content")
    assert unnamed.value.field == "user_id"


def test_the_asynchronous_client_does_the_same(product: Product) -> None:
    async def calls() -> tuple[list[str], str]:
        async with AsyncMemoryCenter(product.address, product.api_key, person()) as center:
            turn = await center.record_turn(
                conversation_id="c-1",
                user_message="I am allergic to peanuts.",
                assistant_message="Noted.",
            )
            for op_id in turn["op_ids"]:
                await center.wait(op_id)
            found = [one["content"] async for one in center.memories()]
            return found, (await center.context(message="What could I cook?"))["block"]

    [memory], block = asyncio.run(calls())
    assert "peanuts" in memory and "peanuts" in block
