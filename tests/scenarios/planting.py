"""Words said through every surface: the REST API, imports, mem0, OpenAI, and the pages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx

from tests.live import PASSWORD, Product
from tests.scenarios.caller import Caller, until
from tests.scenarios.planted import Words


@dataclass(frozen=True)
class Planting:
    """Says words through HTTP, as the chat product `ana` belongs to or as somebody signed in."""

    product: Product
    word: Words
    ana: Caller
    http: httpx.Client

    def call(self, method: str, path: str, *, ok: bool = True, **options: Any) -> Any:
        answer = self.http.request(method, path, **options)
        assert not ok or answer.status_code < 400, (path, answer.status_code, answer.text)
        assert answer.status_code < 500, (path, answer.text)
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        return answer.json() if is_json else answer


def submit(page: Planting, path: str, *, files: Any = None, ok: bool = True, **fields: Any) -> Any:
    """A form, sent with its token as a browser would."""
    if "csrftoken" not in page.http.cookies:
        page.http.get("/signin/")
    token = {"csrfmiddlewaretoken": page.http.cookies["csrftoken"]}
    headers = {"Referer": str(page.http.base_url)}
    return page.call("POST", path, data={**token, **fields}, files=files, headers=headers, ok=ok)


def plant_turns(api: Planting) -> None:
    word, ana = api.word, api.ana
    ana.post(
        "/turns",
        conversation_id=word("conversation id"),
        user_message={
            "content": f"I'm allergic to {word('message')}.",
            "speaker": word("speaker"),
        },
        assistant_message=f"I will mind {word('reply')}.",
        user_message_id=word("message id"),
        project_key=word("project of a turn"),
        tools=[
            {
                "name": word("tool"),
                "input": {word("tool's argument"): 1},
                "output": [word("tool's answer")],
                "ok": True,
            }
        ],
    )
    ana.tell(f"我住在{word('Chinese message')}市。", conversation="second")
    ana.tell(f"Actually, I moved to {word('correction')}.", conversation="second")
    ana.post(
        "/turns",
        conversation_id="brief",
        user_message=f"Between us: {word('temporary message')}",
        assistant_message="OK.",
        temporary=True,
    )


def plant_a_long_conversation(api: Planting) -> None:
    """Long enough for a summary, which covers the first words."""
    told = []
    for number in range(14):
        text = f"Day {number}: we walked to {api.word(f'summarized {number}')} and had lunch."
        told.append(api.ana.record(text, conversation="long"))
    api.ana.finished(op for one in told for op in one["op_ids"])


def plant_conversations(api: Planting) -> None:
    word, ana = api.word, api.ana
    made = ana.post("/conversations", title=word("conversation title"))
    ana.patch(f"/conversations/{made['id']}", title=word("new title"))
    said = ana.post(
        f"/conversations/{made['id']}/messages", role="user", content=word("lone message")
    )
    ana.post("/feedback", message_id=said["id"], rating="negative", comment=word("comment"))


def plant_memories(api: Planting) -> None:
    word, ana = api.word, api.ana
    made = ana.post(
        "/memory/long_term",
        content=f"Allergic to {word('memory')} nuts",
        summary=word("memory's summary"),
        tags=[word("tag")],
        data={word("data's name"): {"deep": [word("data")]}},
        metadata={"note": word("metadata")},
        project_key=word("project"),
        agent_id=word("agent"),
        run_id=word("run"),
    )
    path = f"/memory/long_term/{made['id']}"
    ana.patch(path, content=f"Keeps {word('second version')} in the cellar")
    ana.post(f"{path}/restore", version=1)
    ana.post("/feedback", memory_id=made["id"], rating="negative", comment=word("memory comment"))
    ana.post("/memory/long_term/bulk", ids=[made["id"]], action="tag", tag=word("bulk tag"))
    ana.post("/memory/long_term", content=f"Not allergic to {word('contradiction')} nuts")
    body = {"user_id": ana.user_id, "content": f"My password is {word('refused')}!7x"}
    api.call("POST", "/api/v1/memory/long_term", json=body, ok=False)


def plant_questions(api: Planting) -> None:
    word, ana = api.word, api.ana
    ana.post("/memory/context", message=f"What about {word('context')}?")
    ana.get("/search", query=word("search"), tag=word("searched tag"))
    ana.get("/memory/long_term", query=word("list query"))
    ana.get("/memory/episodes", conversation_id="second", query=word("episode query"))
    ana.get("/conversations", query=word("conversation query"))
    for path in (f"/conversations/{word('unknown id')}", f"/nowhere/{word('unknown path')}"):
        api.call("GET", f"/api/v1{path}", params={"user_id": ana.user_id}, ok=False)
    broken = b'{"user_id": "%s", "message": "%s' % (
        ana.user_id.encode(),
        word("broken body").encode(),
    )
    api.call("POST", "/api/v1/memory/context", content=broken, ok=False)
    wrong = {"user_id": ana.user_id, "message": {word("wrong field"): 1}}
    api.call("POST", "/api/v1/memory/context", json=wrong, ok=False)


def plant_repeated_calls(api: Planting) -> None:
    body = {"user_id": api.ana.user_id, "content": f"Likes {api.word('repeated call')}"}
    headers = {"Idempotency-Key": api.word("idempotency key")}
    for _ in range(2):
        api.call("POST", "/api/v1/memory/long_term", json=body, headers=headers)


def plant_imports(api: Planting) -> None:
    word = api.word
    lines = [
        {
            "user_message": f"I play the {word('imported message')}.",
            "assistant_message": "Nice.",
            "conversation_id": word("imported conversation"),
        },
        {"nonsense": word("imported nonsense")},
    ]
    good = "\n".join(json.dumps(line) for line in lines)
    memories = json.dumps([{"memory": f"Plays {word('imported memory')}", "id": word("mem0 id")}])
    for name, text in (
        ("import's file name", good),
        ("second file name", memories),
        ("third file name", f"{{not json {word('unreadable import')}"),
    ):
        accepted = api.call(
            "POST",
            "/api/v1/memory/import",
            data={"user_id": api.ana.user_id},
            files={"file": (f"{word(name)}.json", text.encode())},
            ok=False,
        )
        if op_id := accepted.get("op_id"):
            until(partial(_is_over, api, op_id), what="the import")


def plant_exports(api: Planting) -> None:
    for format in ("json", "zip"):
        made = api.ana.post("/memory/export", format=format)
        api.ana.finished([made["op_id"]])


def plant_by_mem0(api: Planting) -> None:
    word, user = api.word, {"user_id": api.ana.user_id}
    said = [
        {"role": "user", "content": f"I collect {word('mem0 message')}."},
        {"role": "assistant", "content": "Nice."},
    ]
    labels = {"agent_id": word("mem0 agent"), "run_id": word("mem0 run")}
    body = {"messages": said, **user, **labels, "metadata": {"k": word("mem0 metadata")}}
    api.call("POST", "/v3/memories/add/", json=body)
    plain = {
        **user,
        "infer": False,
        "messages": [{"role": "user", "content": f"Named the boat {word('mem0 memory')}"}],
    }
    stored = api.call("POST", "/v3/memories/add/", json=plain)
    memory_id = stored["results"][0]["id"]
    api.call("PUT", f"/v1/memories/{memory_id}/", json={"text": f"Has {word('mem0 update')}"})
    query = {"query": word("mem0 query"), "filters": user}
    api.call("POST", "/v3/memories/search/", json=query)
    rated = {
        "memory_id": memory_id,
        "feedback": "NEGATIVE",
        "feedback_reason": word("mem0 reason"),
    }
    api.call("POST", "/v1/feedback/", json=rated)
    asked = {"schema": {"title": word("mem0 schema")}, "filters": user}
    made = api.call("POST", "/v1/exports/", json=asked)
    api.call("POST", "/v1/exports/get/", json={"memory_export_id": made["id"]})


def plant_by_openai(api: Planting) -> None:
    word = api.word
    for stream in (False, True):
        body = {
            "model": word(f"model name {stream}"),
            "user": api.ana.user_id,
            "stream": stream,
            "messages": [
                {"role": "system", "content": word(f"instruction {stream}")},
                {"role": "user", "content": f"My cat is called {word(f'chat {stream}')}."},
            ],
        }
        thread = {"X-Memcenter-Conversation": word(f"chat thread {stream}")}
        api.call("POST", "/v1/chat/completions", json=body, headers=thread)
    api.call("POST", "/v1/embeddings", json={"model": "x", "input": word("embedding")}, ok=False)


def plant_switches(api: Planting) -> None:
    """With "confirm before remembering", candidates wait, and one is turned down."""
    ana, word = api.ana, api.word
    ana.patch("/memory/settings", confirm_before_remembering=True)
    made = ana.post("/memory/long_term", content=f"Owns a {word('turned down')}")
    ana.post("/memory/long_term", content=f"Owns two {word('waiting')}")
    decisions = [{"id": made["id"], "decision": "reject"}]
    ana.post("/memory/long_term/confirm", decisions=decisions)
    wrong = {"user_id": ana.user_id, "timezone": word("wrong setting")}
    api.call("PATCH", "/api/v1/memory/settings", json=wrong, ok=False)


THROUGH_THE_API: list[Callable[[Planting], None]] = [
    plant_turns,
    plant_a_long_conversation,
    plant_conversations,
    plant_memories,
    plant_questions,
    plant_repeated_calls,
    plant_imports,
    plant_by_mem0,
    plant_by_openai,
    plant_switches,
    plant_exports,
]


def _is_over(api: Planting, op_id: str) -> bool:
    operation = api.ana.get(f"/memory/ops/{op_id}")
    return operation["status"] in {"succeeded", "failed", "cancelled"}


def settle(api: Planting) -> None:
    """Until nothing of the person waits any more."""

    def quiet() -> bool:
        rows = api.ana.get("/memory/ops", limit=100)["results"]
        return not [row for row in rows if row["status"] in {"pending", "running"}]

    until(quiet, what="the operations to end")


def plant_by_chatting(page: Planting) -> None:
    word = page.word
    answer = submit(page, "/c/new/", text=f"I'm allergic to {word('typed message')}.")
    address = answer.url.path
    submit(page, address, text=f"My sister is called {word('second message')}.")
    submit(page, f"{address}rename/", title=word("typed title"))
    page.call("GET", "/", params={"q": word("typed list query")})
    brief = submit(page, "/c/temporary/", text=f"Between us: {word('typed in brief')}")
    submit(page, brief.url.path, text=f"And {word('second in brief')}")
    submit(page, address, text="x" * 40_000 + word("too long"), ok=False)


def plant_on_the_memory_pages(page: Planting) -> None:
    word = page.word
    fields: dict[str, Any] = {"kind": "fact", "tags": word("typed tag")}
    submit(
        page, "/memory/long-term/add/", content=f"Allergic to {word('typed memory')} nuts", **fields
    )
    address = _first_memory(page)
    submit(page, f"{address}edit/", content=f"Keeps {word('typed edit')}", **fields)
    page.call("GET", "/memory/long-term/", params={"q": word("typed query"), "tag": "x"})
    page.call("GET", "/memory/conversation/", params={"q": word("typed try")})
    page.call("GET", f"/memory/long-term/{word('unknown memory')}/", ok=False)
    submit(
        page,
        "/memory/long-term/add/",
        content=f"My password is {word('typed secret')}!7x",
        ok=False,
        **fields,
    )
    submit(page, f"{address}delete/")


def _first_memory(page: Planting) -> str:
    listed = page.call("GET", "/memory/long-term/", params={"sort": "new"}).text
    found = re.search(r"/memory/long-term/mem_\w+/", listed)
    assert found
    return found[0]


def plant_on_the_data_pages(page: Planting) -> None:
    word = page.word
    submit(page, "/settings/keys/", name=word("key's name"), scopes=["read"], days="30")
    submit(page, "/memory/data/export/", format="zip", password=PASSWORD)
    lines = {"user_message": f"I play {word('uploaded')}.", "assistant_message": "Nice."}
    name = f"{word('uploaded name')}.jsonl"
    submit(page, "/memory/data/import/", files={"file": (name, json.dumps(lines).encode())})
    submit(
        page,
        "/memory/data/everything/",
        phrase=word("wrong phrase"),
        password=word("wrong password"),
        ok=False,
    )
    with httpx.Client(base_url=page.product.address, timeout=60) as stranger:
        other = Planting(page.product, word, page.ana, stranger)
        for name in (page.ana.user_id, word("mistyped name")):
            submit(other, "/signin/", username=name, password=word("mistyped"), ok=False)
    until(lambda: "pending" not in _page_of_data(page), what="the page's operations")


def _page_of_data(page: Planting) -> str:
    return str(page.call("GET", "/memory/data/").text)
