"""Do two checkouts give the same answers: the same ids in the same order, with equal scores?

    .venv/bin/python bench/same_answers.py --write before.jsonl [--root /path/of/a/checkout]
    .venv/bin/python bench/same_answers.py --compare before.jsonl

A generated store has three people, both languages, conversations with speakers, long memories, and
one person with more memories than the limit for exhaustive comparison. It is asked 200 questions
over the API: 150 searches and 50 contexts. The ids, the dates and the time of scoring are fixed, so
two runs differ only if the code differs. Scores are written unrounded. With `--compare` the exit
status is 1 if an id differs, or a score differs by more than 1e-6.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

CLOSE = 1e-6
SEARCHES, CONTEXTS = 150, 50
_NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
_WHO = ("My sister", "Our team", "My old teacher", "The landlord", "Maya", "Her cousin")
_DOES = ("likes", "collects", "repairs", "teaches", "sells", "dreams of", "writes about")
_WHAT = ("wooden boats", "violins", "green tea", "maps", "old radios", "orchids", "chess")
_WHERE = ("in Leeds", "in Hangzhou", "by the sea", "on Sundays", "since 2019", "in March 2024")
_CHINESE = (
    ("我妹妹", "我们组", "房东", "小林", "我的老师", "他表哥"),
    ("喜欢", "收集", "修理", "教", "想学", "常写到"),
    ("木船", "小提琴", "绿茶", "地图", "旧收音机", "兰花", "围棋"),
    ("，在杭州", "，在海边", "，每逢周日", "，2019年以来", "，2024年3月"),
)
_FIXED = (
    ("memories_memory", "mem"),
    ("conversations_message", "msg"),
    ("conversations_conversation", "conv"),
    ("conversations_episode", "epi"),
    ("conversations_summary", "sum"),
    ("memories_dailynote", "note"),
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=str(Path(__file__).resolve().parent.parent))
    parser.add_argument("--write")
    parser.add_argument("--compare")
    parser.add_argument("--ask", help=argparse.SUPPRESS)  # used by the subprocess in the checkout
    wanted = parser.parse_args()
    if wanted.ask:
        _ask_everything(Path(wanted.ask))
        return
    with TemporaryDirectory() as folder:
        kept = Path(wanted.write or Path(folder) / "answers.jsonl").resolve()
        program = [sys.executable, str(Path(__file__).resolve()), "--ask", str(kept)]
        environment = os.environ | {"PYTHONPATH": wanted.root}
        subprocess.run(program, cwd=wanted.root, env=environment, check=True)
        answers = _read(kept)
    wrong = differences(_read(Path(wanted.compare)), answers) if wanted.compare else []
    for difference in wrong[:20]:
        print(difference)
    print(json.dumps({"answers": len(answers), "different": len(wrong)}))
    sys.exit(bool(wrong))


def _read(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def differences(before: list[Any], after: list[Any]) -> list[str]:
    """Describe the first difference of each answer that differs."""
    if len(before) != len(after):
        return [f"{len(before)} answers before, {len(after)} now"]
    wrong = []
    for old, new in zip(before, after, strict=True):
        names = [[hit[0] for hit in answer["found"]] for answer in (old, new)]
        apart = [
            abs(a[1] - b[1])
            for a, b in zip(old["found"], new["found"], strict=False)
            if a[1] != b[1]
        ]
        if old["asked"] != new["asked"]:
            wrong.append(f"{old['asked']!r} was asked before, {new['asked']!r} now")
        elif names[0] != names[1]:
            wrong.append(f"{old['asked']!r}: {names[0][:6]} before, {names[1][:6]} now")
        elif max(apart, default=0.0) > CLOSE:
            wrong.append(f"{old['asked']!r}: a score differs by {max(apart)}")
        elif old["block"] != new["block"]:
            wrong.append(f"{old['asked']!r}: another block")
    return wrong


def _ask_everything(kept: Path) -> None:
    sys.path.insert(0, os.getcwd())
    from tests import databases  # sets the addresses that the settings read

    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "memcenter.settings",
        "MEMCENTER_RATE_LIMIT": "1000000",
        "MEMCENTER_RATE_LIMIT_KEY": "1000000",
    }
    import django

    django.setup()
    databases.start()
    try:
        _fill()
        _print_sizes()
        with kept.open("w") as sink:
            for answer in _answers():
                sink.write(json.dumps(answer, ensure_ascii=False) + "\n")
    finally:
        from django.db import connections

        connections.close_all()
        databases.pytest_unconfigure()


_SIZES = """
SELECT c.relname, c.reltuples::bigint, round(pg_total_relation_size(c.oid) / c.reltuples)
  FROM pg_class c
 WHERE c.relkind = 'r' AND c.reltuples > 20 AND c.relname ~ '^(memories|conversations)_'
 ORDER BY c.relname
"""


def _print_sizes() -> None:
    """Print how many bytes a row of each table takes, its indexes included."""
    import psycopg

    from tests import databases

    with psycopg.connect(databases.postgres.url("owner"), autocommit=True) as owner:
        owner.execute("VACUUM ANALYZE")
        for name, count, size in owner.execute(_SIZES).fetchall():
            print(f"{name:36}{count:>8} rows{size:>8} bytes a row", flush=True)


def _sentence(rng: random.Random, number: int) -> str:
    words = [rng.choice(words) for words in (_WHO, _DOES, _WHAT, _WHERE)]
    return f"{' '.join(words)} (number {number})"


def _chinese(rng: random.Random, number: int) -> str:
    return "".join(rng.choice(words) for words in _CHINESE) + f"（第{number}条）"


def _fill() -> None:
    from django.db import connection

    from memories.files import daily_notes
    from ops.access import as_system, as_user
    from ops.accounts import users
    from tests.factories import make_conversation, make_episode, make_summary, make_turn

    rng = random.Random(7)
    for name, sentence, count in (
        ("ada", _sentence, 400),
        ("lin", _chinese, 300),
        ("many", _sentence, 3_150),
    ):
        user = users.find_or_create(name)
        _write_memories(user, [sentence(rng, number) for number in range(count)], rng)
        for place in range(0 if name == "many" else 3):
            with as_user(user):
                row = make_conversation(user, external_id=f"c{place}", speakers=["Maya", "小林"])
                for number in range(8):
                    make_episode(make_turn(row, sentence(rng, number), sentence(rng, number + 50)))
                make_summary(row, f"{sentence(rng, 1)} {sentence(rng, 2)}", through=8)
        with as_user(user):
            daily_notes.append(sentence(rng, 99), user=user)
    with as_system(), connection.cursor() as cursor:
        for table, prefix in _FIXED:
            cursor.execute(
                f"UPDATE {table} SET public_id = '{prefix}_' || lpad(id::text, 8, '0'),"
                " created_at = '2026-01-01T00:00Z'::timestamptz + id * interval '31 minutes'"
            )


def _write_memories(user: Any, texts: list[str], rng: random.Random) -> None:
    from memories.indexing import search_index
    from memories.models import Origin
    from memories.writing import memory_writes
    from memories.writing.memory_writes import Draft, SourceInput
    from ops.access import as_user

    kinds = ("fact",) * 12 + ("preference",) * 3 + ("constraint", "task", "event")
    long = [" ".join([text, *texts[:6]]) if n % 40 == 0 else text for n, text in enumerate(texts)]
    wholes = search_index.embed(long)
    with as_user(user):
        for number, text in enumerate(long):
            draft = Draft(
                text,
                rng.choice(kinds),
                wholes[number : number + 1],
                importance=round(rng.random(), 2),
                origin=Origin.API,
            )
            memory_writes.create(draft, user=user, source=SourceInput(Origin.API))


def _answers() -> Iterator[dict[str, object]]:
    from django.db import connection

    from conversations.block import builder
    from memories.recall import recall, search
    from ops.access import as_system
    from ops.accounts import keys
    from tests.memcenter.rest.client import Api, answer

    with as_system():
        api = Api(keys.create(name="bench", scopes=["read", "write"])[1])
    scores: list[tuple[str, float]] = []
    plain_hits: Any = search._hits
    plain_build = builder.build

    def hits(found: Any, **named: Any) -> Any:
        scores.extend((ranked.unit.id, float(ranked.relevance)) for ranked, _ in found)
        return plain_hits(found, **named)

    def build(*given: Any, **named: Any) -> Any:
        built = plain_build(*given, **named)
        for one in (*built.recalled.memories, *built.recalled.missed):
            scores.append((one.memory.public_id, float(one.parts.total)))
        scores.extend((one.episode.public_id, one.similarity) for one in built.recalled.episodes)
        return built

    setattr(search, "_hits", hits)  # noqa: B010  mypy rejects a plain assignment
    setattr(builder, "build", build)  # noqa: B010
    setattr(recall, "timezone", SimpleNamespace(now=lambda: _NOW))  # noqa: B010
    rng = random.Random(11)
    for number in range(SEARCHES + CONTEXTS):
        name = ("ada", "lin", "many")[number % 3]
        text = (_chinese if name == "lin" else _sentence)(rng, number)
        scores.clear()
        if number < SEARCHES:
            asked: dict[str, Any] = {"user_id": name, "query": text, "limit": 20}
            asked |= {"types": "memory"} if number % 2 else {}
            body = answer(api.get("/search", **asked))
            shown = [one["id"] for one in body["results"]]
        else:
            asked = {"user_id": name, "message": text}
            asked |= {"conversation_id": "c1"} if number % 2 else {}
            body = answer(api.post("/memory/context", asked))
            shown = [body["block"]]
            with as_system(), connection.cursor() as cursor:  # undo the effect of the context
                cursor.execute("UPDATE memories_memory SET last_accessed_at = NULL")
        yield {"asked": asked, "found": list(scores), "block": shown}


if __name__ == "__main__":
    main()
