"""A secret is refused, and lies nowhere afterwards."""

import pytest

from tests.live import Product
from tests.scenarios.caller import Caller
from tests.scenarios.stored import places_holding

SECRETS = [
    ("I live in Porto", "My bank password is {}.", "hunter2-Zebra!9"),
    ("我妹妹叫小雨", "我的银行卡密码是{}。", "Xk83#pQz!27"),
    ("I live in Porto", "The API key is {}", "sk-proj-q8Zr41LmXc07TbVnYw55KdPs"),
]
ASKED = "What is my password or key? 我的密码是什么？"


@pytest.mark.parametrize(("told", "sentence", "beginning"), SECRETS)
def test_a_secret_written_by_a_client_is_refused_and_stored_nowhere(
    ana: Caller, product: Product, told: str, sentence: str, beginning: str
) -> None:
    secret = beginning + ana.user_id[-4:]
    ana.tell(f"{told}.")
    written = ana.ask(
        "POST",
        "/memory/long_term",
        body={"user_id": ana.user_id, "content": sentence.format(secret)},
    )
    assert written.status == 400 and "content" in written.body["error"]["fields"]
    assert secret not in str(written.body)
    assert ana.memories() == [told]
    assert places_holding(product, told), "the scan finds what is stored"
    assert places_holding(product, secret) == set()
    assert not any(secret in text for text in ana.found(ASKED, "memory,message,episode"))


@pytest.mark.parametrize(("told", "sentence", "beginning"), SECRETS)
def test_a_secret_told_in_a_turn_becomes_no_memory_and_is_recalled_nowhere(
    ana: Caller, product: Product, told: str, sentence: str, beginning: str
) -> None:
    secret = beginning + ana.user_id[-4:]
    ana.tell(f"{told}. {sentence.format(secret)}")
    assert ana.memories() == [told]
    assert secret not in ana.recalled(ASKED, conversation_id="another")
    # What was said stays in its conversation until that is forgotten.
    held = places_holding(product, secret)
    assert not {place for place in held if not place.startswith("conversations_")}
    assert not any(secret in text for text in ana.found(ASKED, "memory"))


SAID = "我的密码是 qwzt5813ab，银行卡号 6217001180012345678。"
PARTS = ("qwzt5813ab", "6217001180012345678")


def test_nothing_derived_of_a_message_holds_its_secrets(ana: Caller, product: Product) -> None:
    ana.tell(SAID)
    for number in range(14):
        ana.tell(f"今天我读完了第{number + 1}本书，很喜欢。")
    conversation = ana.get("/conversations")["results"][0]["id"]
    of = {"conversation_id": conversation}
    everything = [
        ana.memories(),
        ana.get("/memory/summary", **of),
        ana.get("/memory/episodes", query="密码", **of),
        ana.found(SAID, "memory,message,episode,summary,note"),
        ana.recalled(SAID, **of),
        ana.get("/conversations")["results"],
    ]
    assert not [part for part in PARTS for told in everything if part in str(told)]
    assert SAID in str(ana.get(f"/conversations/{conversation}/messages", limit=50))
    for part in PARTS:
        held = places_holding(product, part)
        assert held <= {"conversations_message"}, held
