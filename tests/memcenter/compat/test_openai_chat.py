"""The official client against `/v1`, with a real model server on loopback behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest
from django.core.wsgi import get_wsgi_application
from pytest_django import Settings
from rest_framework.exceptions import Throttled

from conversations.chat import answer_text
from conversations.chat.answer_text import Prepared
from conversations.forgetting import message_forgets
from conversations.models import Conversation, Message, Summary, Turn
from conversations.recording import temporary
from conversations.recording.turns import MessageInput
from memcenter.compat.openai_chat.answers import forward
from memcenter.compat.openai_chat.memory import Exchange
from memcenter.compat.openai_chat.protocol import newest_user_message
from memcenter.compat.openai_chat.views import ForwardedStream
from memcenter.rest.throttling import ConcurrencyLimit
from memories import language_steps
from memories.models import Memory, RecallTrace
from ops.accounts import keys, users
from ops.models import User
from ops.queue import worker
from tests.chat_server import Answer, ChatServer, completion, refused, said, serving, streamed
from tests.factories import make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_connection")]

ASKS: list[Any] = [{"role": "user", "content": "What may I eat tonight?"}]


@pytest.fixture
def model(settings: Settings) -> Iterator[ChatServer]:
    with serving(said("Rice with vegetables.")) as server:
        settings.MODEL_BASE_URL = server.url
        settings.MODEL_NAME = "tiny"
        settings.MODEL_TIMEOUT = 5
        settings.RECALL_PATIENCE = 60  # loading the embedder is no part of what is tested
        yield server


def client(key: str, **headers: str) -> openai.OpenAI:
    transport = httpx2.WSGITransport(app=get_wsgi_application())
    return openai.OpenAI(
        api_key=key,
        base_url="http://testserver/v1",
        http_client=httpx2.Client(transport=transport),
        max_retries=0,
        default_headers=headers,
    )


def ask(key: str, messages: list[Any] = ASKS, *, headers: Any = None, **options: Any) -> Any:
    with client(key, **(headers or {})) as one:
        return one.chat.completions.create(model="tiny", messages=messages, **options)


def pieces_of(stream: Any) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


def turns_of(user: User) -> list[tuple[str, str]]:
    found = Turn.objects.filter(user=user).order_by("pk")
    return [(one.user_message.content, one.assistant_message.content) for one in found]


def test_what_is_remembered_reaches_the_model_and_the_turn_is_kept(
    model: ChatServer, alice: User, alice_key: str
) -> None:
    make_memory(alice, content="Is allergic to peanuts", kind="constraint")
    answer = ask(alice_key)
    assert answer.choices[0].message.content == "Rice with vegetables."
    system, question = model.asked[0]["messages"]
    assert system["role"] == "system" and "Is allergic to peanuts" in system["content"]
    assert question == ASKS[0]
    assert turns_of(alice) == [("What may I eat tonight?", "Rice with vegetables.")]


def test_the_block_joins_the_clients_own_instructions(
    model: ChatServer, alice: User, alice_key: str
) -> None:
    make_memory(alice, content="Is allergic to peanuts", kind="constraint")
    ask(alice_key, [{"role": "system", "content": "Be brief."}, *ASKS])
    first, *others = model.asked[0]["messages"]
    assert first["content"].startswith("Be brief.\n\n") and "peanuts" in first["content"]
    assert others == ASKS


def test_everything_else_of_the_request_passes_untouched(model: ChatServer, alice_key: str) -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    ask(
        alice_key,
        [{"role": "user", "content": parts}],
        tools=tools,
        temperature=0.3,
        extra_body={"top_k": 7, "chat_template_kwargs": {"thinking": False}},
    )
    sent = model.asked[0]
    assert sent["messages"][-1]["content"] == parts and sent["tools"] == tools
    assert sent["temperature"] == 0.3 and sent["top_k"] == 7
    assert sent["chat_template_kwargs"] == {"thinking": False}


def test_a_stream_passes_with_its_usage_and_is_kept_once(
    model: ChatServer, alice: User, alice_key: str
) -> None:
    model.answers = [streamed("Rice ", "with ", "vegetables.")]
    options = {"include_usage": True}
    assert pieces_of(ask(alice_key, stream=True, stream_options=options)) == "Rice with vegetables."
    assert model.asked[0]["stream_options"] == options
    assert turns_of(alice) == [("What may I eat tonight?", "Rice with vegetables.")]


def test_a_request_sent_again_adds_nothing(model: ChatServer, alice: User, alice_key: str) -> None:
    ask(alice_key)
    model.answers = [said("Something else.")]
    ask(alice_key)
    assert turns_of(alice) == [("What may I eat tonight?", "Rice with vegetables.")]


def test_the_turns_of_one_chat_stand_in_one_conversation(
    model: ChatServer, alice: User, alice_key: str
) -> None:
    ask(alice_key)
    later = {"role": "user", "content": "And tomorrow?"}
    ask(alice_key, [*ASKS, {"role": "assistant", "content": "Rice with vegetables."}, later])
    ask(alice_key, [{"role": "user", "content": "Another chat."}])
    assert [one.message_count for one in Conversation.objects.order_by("pk")] == [4, 2]


def talk_of(turns: int) -> list[Any]:
    """So many turns as a client sends them, with its instruction and the next question."""
    said: list[Any] = [{"role": "system", "content": "Be brief."}]
    for number in range(turns):
        said.append({"role": "user", "content": f"I planted row {number} of the garden."})
        said.append({"role": "assistant", "content": "Rice with vegetables."})
    return [*said, {"role": "user", "content": f"I planted row {turns} of the garden."}]


def test_what_a_summary_tells_is_not_passed_on_again(
    model: ChatServer, alice: User, alice_key: str, settings: Settings
) -> None:
    settings.WINDOW_MESSAGES, settings.SUMMARY_EVERY = 4, 2
    for turns in range(5):
        ask(alice_key, talk_of(turns))
    worker.drain()
    with client(alice_key) as one:
        asked: Any = talk_of(5)
        answer = one.chat.completions.with_raw_response.create(model="tiny", messages=asked)
    summary = Summary.objects.get(user=alice)
    system, *rest = model.asked[-1]["messages"]
    assert summary.through_number == 6 and answer.headers["X-Memcenter-Compacted"] == "7"
    assert system["content"].startswith("Be brief.") and "row 2" in system["content"]
    assert rest == asked[7:]
    assert model.asked[-2]["messages"][1:] == talk_of(4)[1:], "nothing was summarized by then"


@pytest.mark.parametrize("why", ["switched off", "summaries off", "told otherwise"])
def test_what_no_summary_stands_for_is_passed_on(
    model: ChatServer, alice: User, alice_key: str, settings: Settings, why: str
) -> None:
    settings.WINDOW_MESSAGES, settings.SUMMARY_EVERY = 4, 2
    for turns in range(5):
        ask(alice_key, talk_of(turns))
    worker.drain()
    asked = talk_of(5)
    if why == "switched off":
        settings.COMPACT_COMPLETIONS = False
    elif why == "summaries off":
        users.change_settings(user=alice, changes={"summary_enabled": False})
    else:
        asked[2]["content"] = "The client edited this."
    ask(alice_key, asked)
    covered = 3 if why == "told otherwise" else 1
    assert model.asked[-1]["messages"][1:] == asked[covered:]


def test_a_stream_that_breaks_tells_so_and_keeps_what_came_as_unfinished(
    model: ChatServer, alice: User, alice_key: str
) -> None:
    broken = streamed("Rice ", "with ", finished=False)
    model.answers = [Answer(broken.body, content_type=broken.content_type, cut=True)]
    with pytest.raises(openai.APIError, match="cut off"):
        pieces_of(ask(alice_key, stream=True))
    assert turns_of(alice) == []
    kept = Message.objects.filter(user=alice).order_by("number")
    assert [(one.content, one.completed) for one in kept] == [
        ("What may I eat tonight?", True),
        ("Rice with ", False),
    ]


def test_a_turn_that_broke_off_is_completed_by_the_next_try(
    model: ChatServer, alice: User, alice_key: str
) -> None:
    model.answers = [streamed("Rice ", finished=False), streamed("Rice, then.")]
    pieces_of(ask(alice_key, stream=True))
    pieces_of(ask(alice_key, stream=True))
    assert turns_of(alice) == [("What may I eat tonight?", "Rice, then.")]


def test_a_client_that_hangs_up_still_has_its_turn_kept_whole(
    model: ChatServer, alice: User, alice_key: str
) -> None:
    model.answers = [streamed("Rice ", "with ", "vegetables.")]
    stream = ask(alice_key, stream=True)
    next(iter(stream))
    stream.close()
    assert turns_of(alice) == [("What may I eat tonight?", "Rice with vegetables.")]


def test_a_client_that_is_gone_before_the_first_word_still_has_its_turn_kept(
    model: ChatServer, alice: User
) -> None:
    model.answers = [streamed("Rice.")]
    said = newest_user_message(ASKS)
    assert said is not None
    share = ConcurrencyLimit(1)
    answer = forward("chat/completions", endpoint=language_steps.endpoint(), body=b"{}")
    ForwardedStream(answer, Exchange(alice, "c1", said), share.acquire()).close()
    assert turns_of(alice) == [("What may I eat tonight?", "Rice.")]
    share.acquire()  # its place is free again


def test_more_long_answers_than_there_are_places_are_asked_to_come_back() -> None:
    share = ConcurrencyLimit(1)
    share.acquire()
    with pytest.raises(Throttled):
        share.acquire()


def test_calls_of_tools_are_no_turn_until_the_answer_and_then_belong_to_it(
    model: ChatServer, alice: User, alice_key: str
) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "cook", "arguments": "{}"}}
    wants = {"role": "assistant", "content": None, "tool_calls": [call]}
    model.answers = [
        completion([{"index": 0, "message": wants, "finish_reason": "tool_calls"}]),
        said("Done."),
    ]
    ask(alice_key)
    assert turns_of(alice) == []
    ask(alice_key, [*ASKS, wants, {"role": "tool", "tool_call_id": "c1", "content": "cooked"}])
    turn = Turn.objects.get(user=alice)
    assert turn.tools == [{"name": "cook", "input": "{}", "output": "cooked", "ok": True}]


def test_what_the_server_refuses_reaches_the_client_as_it_is(
    model: ChatServer, alice: User, alice_key: str
) -> None:
    model.answers = [refused(429, code="slow_down")]
    with pytest.raises(openai.RateLimitError) as caught:
        ask(alice_key)
    assert caught.value.code == "slow_down"
    assert turns_of(alice) == []


def test_a_server_that_is_gone_is_unavailable(
    model: ChatServer, settings: Settings, alice_key: str
) -> None:
    settings.MODEL_BASE_URL = "http://127.0.0.1:9/v1"
    with pytest.raises(openai.InternalServerError) as caught:
        ask(alice_key)
    assert caught.value.status_code == 503


def test_recall_that_fails_does_not_fail_the_chat(
    model: ChatServer, alice: User, alice_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_memory(alice, content="Is allergic to peanuts", kind="constraint")
    monkeypatch.setattr("django.conf.settings.RECALL_PATIENCE", 0.0)
    assert ask(alice_key).choices[0].message.content == "Rice with vegetables."
    assert [one["role"] for one in model.asked[0]["messages"]] == ["user"]
    assert len(turns_of(alice)) == 1


def test_an_unbound_key_names_the_person_by_field_or_header(
    model: ChatServer, product_key: str
) -> None:
    ask(product_key, user="bo")
    ask(product_key, headers={"X-Memcenter-User": "cy"})
    names = Turn.objects.order_by("pk").values_list("user__external_id", flat=True)
    assert list(names) == ["bo", "cy"]


def test_without_a_person_nothing_is_asked(model: ChatServer, product_key: str) -> None:
    with pytest.raises(openai.BadRequestError, match="user_id"):
        ask(product_key)
    assert model.asked == []


def test_a_key_of_one_person_reaches_no_other(
    model: ChatServer, alice: User, mallory_key: str
) -> None:
    with pytest.raises(openai.NotFoundError):
        ask(mallory_key, user="alice")
    assert model.asked == [] and turns_of(alice) == []


def test_no_key_and_no_scope_are_refused(model: ChatServer, alice: User) -> None:
    reads_only = keys.create(name="reader", scopes=["read"], user=alice)[1]
    with pytest.raises(openai.AuthenticationError):
        ask("mc_wrong")
    with pytest.raises(openai.PermissionDeniedError):
        ask(reads_only)
    assert model.asked == []


def test_store_false_keeps_nothing_and_still_recalls(
    model: ChatServer, alice: User, alice_key: str
) -> None:
    make_memory(alice, content="Is allergic to peanuts", kind="constraint")
    ask(alice_key, store=False)
    assert "peanuts" in model.asked[0]["messages"][0]["content"]
    assert not Message.objects.exists() and not RecallTrace.objects.exists()


def test_a_temporary_chat_is_written_nowhere_and_makes_nobody_appear(
    model: ChatServer, product_key: str
) -> None:
    ask(product_key, user="stranger", headers={"X-Memcenter-Temporary": "true"})
    assert not Message.objects.exists() and not User.objects.filter(external_id="stranger").exists()


def test_bad_requests_name_their_field(model: ChatServer, alice_key: str) -> None:
    for messages in ([], "hello", [{"content": "no role"}], [3]):
        with pytest.raises(openai.BadRequestError) as caught:
            ask(alice_key, messages)  # type: ignore[arg-type]
        assert caught.value.param == "messages"


def test_without_a_model_the_demo_assistant_answers_and_says_so(
    alice: User, alice_key: str
) -> None:
    make_memory(alice, content="Is allergic to peanuts", kind="constraint")
    whole = ask(alice_key, [{"role": "user", "content": "What do you know about me?"}])
    assert whole.model == "memcenter-demo" and "peanuts" in whole.choices[0].message.content
    stream = ask(alice_key, [{"role": "user", "content": "Who am I?"}], stream=True)
    assert "peanuts" in pieces_of(stream)
    assert len(turns_of(alice)) == 2


def test_an_answer_of_the_demo_assistant_that_cant_be_recorded_is_given_all_the_same(
    alice: User, alice_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer_later(prepared: Prepared) -> str:
        for thread in temporary.list_conversations(alice):
            temporary.append(thread, messages=(MessageInput("And another thing"),))
        return "Late."

    monkeypatch.setattr(answer_text, "demo_answer", answer_later)
    for headers in ({"X-Memcenter-Conversation": "c1"}, {"X-Memcenter-Temporary": "true"}):
        whole = ask(alice_key, headers=headers)
        assert whole.choices[0].message.content == "Late."
    [thread] = temporary.list_conversations(alice)
    assert [one.role for one in temporary.read(thread)] == ["user", "user"]


def test_models_are_listed(alice_key: str) -> None:
    with client(alice_key) as one:
        assert [model.id for model in one.models.list()] == ["memcenter-demo"]


def test_embeddings_come_as_numbers_and_packed(alice_key: str) -> None:
    with client(alice_key) as one:
        packed = one.embeddings.create(model="any", input=["tea", "茶"])
        plain = one.embeddings.create(model="any", input="tea", encoding_format="float")
    assert len(packed.data) == 2 and len(packed.data[0].embedding) == 512
    assert plain.data[0].embedding == pytest.approx(packed.data[0].embedding, abs=1e-6)
    with client(alice_key) as one, pytest.raises(openai.BadRequestError) as caught:
        one.embeddings.create(model="any", input="tea", dimensions=3)
    assert caught.value.param == "dimensions"


HOME: list[Any] = [{"role": "user", "content": "I live in Tianshui."}]
NEXT: Any = {"role": "user", "content": "What is the weather like?"}
REPLY: Any = {"role": "assistant", "content": "Rice with vegetables."}


def known() -> list[str]:
    return list(Memory.objects.values_list("content", flat=True))


def test_what_was_forgotten_is_not_learned_again_from_the_history_that_a_client_sends_along(
    model: ChatServer, alice: User, alice_key: str
) -> None:
    ask(alice_key, HOME)
    worker.drain()
    assert known() == ["I live in Tianshui"]
    message_forgets.forget_conversation(user=alice, conversation=Conversation.objects.get())
    worker.drain()
    assert known() == []

    ask(alice_key, [*HOME, REPLY, NEXT])  # the client doesn't know that it was forgotten
    worker.drain()
    assert known() == []

    ask(alice_key, [*HOME, REPLY, NEXT, REPLY, *HOME])
    worker.drain()
    assert known() == ["I live in Tianshui"]


def test_what_is_said_while_memory_is_off_is_never_learned(
    model: ChatServer, alice: User, alice_key: str
) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    ask(alice_key, HOME)
    worker.drain()
    users.change_settings(user=alice, changes={"longterm_enabled": True})
    ask(alice_key, [*HOME, REPLY, NEXT])
    worker.drain()
    assert known() == []
