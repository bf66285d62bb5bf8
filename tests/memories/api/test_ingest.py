"""What agents store about projects, and how they find it again."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from memories.models import Memory, MemoryStatus, MemoryVersion, Origin, Project
from ops.accounts import keys, users
from ops.models import User
from ops.queue import worker
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer, error, refused
from tests.memories.extraction.test_page_editions import AUTH, STORAGE
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db


def page(content: str = AUTH, **more: Any) -> dict[str, Any]:
    return {"project_name": "Agent Mem", "content_type": "plan", "content": content} | more


def ingest(key: str, content: str = AUTH, *, status: int = 200, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = answer(Api(key).post("/ingest/memory", page(content, **more)), status)
    return found


def test_a_page_is_stored_with_summary_tags_and_its_project(alice: User, alice_key: str) -> None:
    told = ingest(
        alice_key, AUTH * 2, status=201, machine_name="laptop", project_path="/src", ts=1768912345
    )
    assert (told["status"], told["verdict"], told["superseded"]) == ("created", "ADD", [])
    memory = Memory.objects.get(public_id=told["id"])
    assert (memory.user, memory.origin, memory.kind) == (alice, Origin.AGENT, "plan")
    assert memory.summary.startswith("Auth service") and "refresh" in memory.tags
    assert memory.occurred_at is not None and memory.occurred_at.timestamp() == 1768912345
    project = memory.project
    assert project is not None and (project.key, project.name) == ("agent-mem", "Agent Mem")
    assert (project.machines, project.path) == (["laptop"], "/src")


def test_what_the_agent_says_of_summary_and_tags_stands(alice_key: str) -> None:
    told = ingest(alice_key, AUTH * 2, status=201, summary="Tokens.", tags=["auth"])
    memory = Memory.objects.get(public_id=told["id"])
    assert (memory.summary, memory.tags) == ("Tokens.", ["auth"])


def test_a_newer_edition_keeps_the_id_and_the_old_text_as_a_version(alice_key: str) -> None:
    first = ingest(alice_key, status=201, tags=["old"])
    newer = AUTH.replace("15 minutes", "30 minutes")
    told = ingest(alice_key, newer, content_type="development", tags=["new"])
    assert (told["status"], told["verdict"], told["id"]) == ("updated", "REPLACE", first["id"])
    memory = Memory.objects.get()
    assert (memory.content, memory.kind) == (newer.strip(), "development")
    assert memory.tags == ["new"]
    texts = MemoryVersion.objects.filter(memory=memory).order_by("number")
    assert [one.content for one in texts] == [AUTH.strip(), newer.strip()]


def test_a_short_statement_replaces_another_of_any_type(alice_key: str, pairs: FakePairs) -> None:
    pairs.says("Tests are run with unittest.", "Tests are run with pytest now.", "newer")
    first = ingest(alice_key, "Tests are run with unittest.", status=201, content_type="testing")
    told = ingest(alice_key, "Tests are run with pytest now.", content_type="development")
    assert (told["status"], told["id"]) == ("updated", first["id"])


def test_the_same_page_again_is_skipped(alice_key: str) -> None:
    first = ingest(alice_key, status=201)
    told = ingest(alice_key)
    assert told["status"] == "skipped" and told["verdict"] == "SKIP" and told["id"] == first["id"]
    assert Memory.objects.count() == 1 and MemoryVersion.objects.count() == 1


def test_projects_do_not_touch_one_another(alice_key: str) -> None:
    ingest(alice_key, status=201)
    assert ingest(alice_key, status=201, project_key="other", project_name=None)["verdict"] == "ADD"
    assert Project.objects.count() == 2


def test_a_page_of_two_hundred_thousand_characters_is_stored_whole(alice_key: str) -> None:
    text = "".join(f"第{n}节：部署脚本检查数据库版本。\n" for n in range(12_000))[:200_000].strip()
    told = ingest(alice_key, text, status=201)
    memory = Memory.objects.get(public_id=told["id"])
    assert memory.content == text and memory.chunk_count == 0
    found = answer(Api(alice_key).get("/memories/search", query="部署脚本"))["results"]
    assert [one["id"] for one in found] == [told["id"]]
    too_long = Api(alice_key).post("/ingest/memory", page("x" * 200_001))
    assert refused(too_long, "content")


def test_a_long_page_is_cut_into_fragments_in_the_background(alice_key: str) -> None:
    told = ingest(alice_key, "The build server signs each package. " * 900, status=201)
    worker.drain()
    memory = Memory.objects.get(public_id=told["id"])
    assert memory.chunk_count > 8 and memory.indexed_at is not None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"content": " "}, "content"),
        ({"content_type": "novel"}, "content_type"),
        ({"content_type": None}, "content_type"),
        ({"tags": "auth"}, "tags"),
        ({"machine_name": "m" * 101}, "machine_name"),
        ({"project_path": "/" * 501}, "project_path"),
        ({"project_key": "k" * 101}, "project_key"),
        ({"project_name": "!!!"}, "project_key"),
        ({"ts": "yesterday"}, "ts"),
    ],
)
def test_a_page_that_is_not_valid_names_the_field(
    alice_key: str, changes: dict[str, Any], field: str
) -> None:
    assert refused(Api(alice_key).post("/ingest/memory", page() | changes), field)
    assert not Memory.objects.exists()


KINDS_OF_PROJECTS = ["requirement", "plan", "development", "testing", "insight"]


@pytest.mark.parametrize("kind", KINDS_OF_PROJECTS)
def test_a_page_of_a_project_names_it_or_means_the_default(
    alice_key: str, settings: Settings, kind: str
) -> None:
    body = {"content": AUTH, "content_type": kind}
    assert refused(Api(alice_key).post("/ingest/memory", body), "project_name")
    assert not Memory.objects.exists()

    settings.DEFAULT_PROJECT = "General Works"
    answer(Api(alice_key).post("/ingest/memory", body), 201)
    assert Memory.objects.get().project == Project.objects.get(key="general-works")


def test_what_is_about_the_person_needs_no_project(alice_key: str) -> None:
    body = {"content": "Likes tea", "content_type": "preference"}
    answer(Api(alice_key).post("/ingest/memory", body), 201)
    assert Memory.objects.get().project is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# Release\n\nShips in May.", "# Release\n\nShips in June."),
        (
            "# Deployment\n\nWe deploy with Docker Compose on one server.",
            "# Deployment\n\nWe deploy with Kubernetes on three nodes.",
        ),
        ("# 发布\n\n五月上线。", "# 发布\n\n六月上线。"),
    ],
)
def test_a_short_page_that_says_it_anew_is_updated_with_its_tags(
    alice_key: str, before: str, after: str
) -> None:
    first = ingest(alice_key, before, status=201, tags=["before"])
    told = ingest(alice_key, after, tags=["after"])
    assert (told["status"], told["id"]) == ("updated", first["id"])
    memory = Memory.objects.get()
    assert (memory.content, memory.tags) == (after, ["after"])


def test_what_is_found_after_changes_is_the_newest_edition_of_each_page(
    alice_key: str, pairs: FakePairs
) -> None:
    login, hiring = "Login: people sign in with {}.", "Hiring: the next person we hire is {}."
    ids: dict[str, str] = {}
    for values in (("a password", "a designer"), ("a passkey", "a tester")):
        pages = login.format(values[0]), hiring.format(values[1])
        pairs.says(pages[0], pages[1], "newer")
        for text, name in zip(pages, ("login", "hiring"), strict=True):
            told = ingest(alice_key, text, status=201 if name not in ids else 200)
            assert told["status"] == ("created" if name not in ids else "updated")
            assert (ids.setdefault(name, told["id"]), told["superseded"]) == (told["id"], [])
    for query, name, text in (
        ("sign in with a password", "login", login.format("a passkey")),
        ("who is the next person we hire", "hiring", hiring.format("a tester")),
    ):
        found = answer(Api(alice_key).get("/memories/search", query=query))["results"]
        assert found[0]["id"] == ids[name]
        whole = answer(Api(alice_key).get("/memories", ids=found[0]["id"]))["results"]
        assert [one["content"] for one in whole] == [text]


def test_a_secret_is_refused_or_blanked_out(alice_key: str) -> None:
    body = page("The password is hunter2-Zebra!")
    assert refused(Api(alice_key).post("/ingest/memory", body), "content")
    told = ingest(alice_key, AUTH + "Anna's card is 4111 1111 1111 1111.", status=201)
    assert told["redacted"] and "4111" not in Memory.objects.get().content


def test_with_long_term_memory_off_nothing_is_stored(alice: User, alice_key: str) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    error(Api(alice_key).post("/ingest/memory", page()), 409, "memory_off")
    assert not Memory.objects.exists() and not Project.objects.exists()


def test_what_the_person_wants_to_confirm_waits(alice: User, alice_key: str) -> None:
    users.change_settings(user=alice, changes={"confirm_before_remembering": True})
    told = ingest(alice_key, status=201)
    assert told["memory_status"] == MemoryStatus.CANDIDATE
    assert answer(Api(alice_key).get("/memories/timeline"))["results"] == []


def test_the_owner_appears_on_first_write_and_has_a_default(
    product_key: str, settings: Any
) -> None:
    assert refused(Api(product_key).post("/ingest/memory", page()), "owner_id")
    ingest(product_key, status=201, owner_id="personal")
    assert Memory.objects.get().user == users.find("personal")
    settings.DEFAULT_OWNER = "personal"
    assert ingest(product_key)["status"] == "skipped"


def test_strangers_and_readers_store_nothing(alice: User, mallory_key: str) -> None:
    body = page(owner_id="alice")
    error(Api(mallory_key).post("/ingest/memory", body), 404, "not_found")
    reader = keys.create(name="reader", scopes=["read"], user=alice)[1]
    error(Api(reader).post("/ingest/memory", body), 403, "not_allowed")
    assert not Memory.objects.exists()


def test_a_timeline_is_newest_first_by_when_it_happened(alice_key: str) -> None:
    old = ingest(alice_key, status=201, ts=1_600_000_000)
    new = ingest(alice_key, STORAGE, status=201, ts=1_700_000_000, project_name="store")
    found = answer(Api(alice_key).get("/memories/timeline"))
    assert [one["id"] for one in found["results"]] == [new["id"], old["id"]]
    assert found["next"] is None
    first = found["results"][0]
    assert (first["content_type"], first["project_key"]) == ("plan", "store")
    assert first["snippet"] == STORAGE.strip()[:200]
    for narrowed in (
        {"project_key": "store"},
        {"project_name": "Store"},
        {"from": "2022-01-01"},
    ):
        rows = answer(Api(alice_key).get("/memories/timeline", **narrowed))["results"]
        assert [one["id"] for one in rows] == [new["id"]], narrowed
    before = answer(Api(alice_key).get("/memories/timeline", to="2022-01-01"))["results"]
    assert [one["id"] for one in before] == [old["id"]]
    assert answer(Api(alice_key).get("/memories/timeline", scope="testing"))["results"] == []


def test_a_timeline_is_read_page_by_page(alice: User, alice_key: str) -> None:
    made = [make_memory(alice, f"Fact {n}.").public_id for n in range(5)]
    seen: list[str] = []
    found = answer(Api(alice_key).get("/memories/timeline", limit=2))
    while True:
        seen += [one["id"] for one in found["results"]]
        if not found["next"]:
            break
        found = answer(Api(alice_key).get(found["next"]))
    assert seen == made[::-1]


def test_a_timeline_leaves_out_what_is_not_in_use(alice: User, alice_key: str) -> None:
    kept = make_memory(alice, "Kept.")
    make_memory(alice, "Off.", status=MemoryStatus.DISABLED)
    make_memory(alice, "Waiting.", status=MemoryStatus.CANDIDATE)
    found = answer(Api(alice_key).get("/memories/timeline"))["results"]
    assert [one["id"] for one in found] == [kept.public_id]


def test_projects_are_listed_with_counts_and_machines(alice: User, alice_key: str) -> None:
    ingest(alice_key, status=201, machine_name="laptop")
    ingest(alice_key, STORAGE, status=201, machine_name="desk")
    ingest(alice_key, STORAGE, status=201, project_key="b", project_name="Bee")
    make_memory(alice, "Off.", project=Project.objects.get(key="b"), status="candidate")
    found = answer(Api(alice_key).get("/projects"))["results"]
    assert [(one["project_key"], one["name"], one["memory_count"]) for one in found] == [
        ("agent-mem", "Agent Mem", 2),
        ("b", "Bee", 1),
    ]
    assert found[0]["machines"] == ["laptop", "desk"]
    newest = Memory.objects.filter(project__key="agent-mem").latest("updated_at").updated_at
    assert found[0]["last_memory_at"].startswith(newest.isoformat()[:19])


def test_lists_of_others_are_empty_or_not_there(alice_key: str, mallory_key: str) -> None:
    ingest(alice_key, status=201)
    for path in ("/projects", "/memories/timeline"):
        assert answer(Api(mallory_key).get(path))["results"] == []
        error(Api(mallory_key).get(path, owner_id="alice"), 404, "not_found")


def test_lists_ask_the_database_as_often_for_many_as_for_few(
    alice: User, alice_key: str, django_assert_max_num_queries: Any
) -> None:
    for n in range(30):
        project = Project.objects.create(user=alice, key=f"p{n}", name="")
        make_memory(alice, f"Fact {n}.", project=project)
    answer(Api(alice_key).get("/projects"))  # a key's first use of the day is written down
    for path in ("/projects", "/memories/timeline"):
        with django_assert_max_num_queries(8):
            assert len(answer(Api(alice_key).get(path))["results"]) == 20
