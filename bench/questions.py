"""Checks databases and files for residue and losses after each run of `bench/forgetting.py`."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from bench.chaotic import Person
from bench.hurting import Chaos
from bench.planted import Store

Places = dict[str, set[str]]


@dataclass
class Result:
    """The result of one run. Each list names failures and should be empty."""

    fault: str
    written: int = 0
    forgets: int = 0
    operations: int = 0
    deaths: int = 0
    residue: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    disturbed: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    took: dict[str, float] = field(default_factory=dict)

    @property
    def wrong(self) -> dict[str, list[str]]:
        names = ("residue", "lost", "twice", "disturbed", "unfinished", "files", "odd")
        return {name: getattr(self, name) for name in names if getattr(self, name)}


@dataclass(frozen=True)
class Bystanders:
    """Users with all kinds of data who do nothing any more, and the hashes of their rows."""

    users: list[int]
    hashes: dict[str, str]


_SWEPT_SECONDS = 90
# Counts users whose memory files the next sweep will still render.
_TO_BE_RENDERED = """
SELECT count(*) FROM ops_user u
 WHERE u.id = ANY(%s)
   AND (EXISTS (SELECT 1 FROM ops_operation o WHERE o.subject = u.subject
                   AND o.kind = 'sync_files' AND o.status IN ('pending', 'running', 'failed'))
     OR EXISTS (SELECT 1 FROM memories_memory m WHERE m.user_id = u.id
                   AND m.status IN ('active', 'disabled', 'superseded', 'archived')
                   AND m.updated_at > coalesce(
                       (SELECT f.synced_at FROM memories_memoryfile f
                         WHERE f.user_id = u.id AND f.path = 'MEMORY.md'),
                       '-infinity') - interval '1 minute'))
"""
_RENDERED_WITHIN = 600


def bystanders(store: Store) -> Bystanders:
    """Return the bystanders, once the product has no more work for them."""
    rows = store.rows("SELECT id FROM ops_user WHERE external_id LIKE 'person-0-%%'")
    users = [int(str(pk)) for (pk,) in rows]
    ends = time.monotonic() + _RENDERED_WITHIN
    while store.rows(_TO_BE_RENDERED, users)[0][0]:
        if time.monotonic() > ends:
            raise SystemExit("The bystanders' files are never rendered.")
        time.sleep(1)
    return Bystanders(users, store.fingerprint(users))


def ask(
    chaos: Chaos, number: int, crowd: list[Person], result: Result, standing: Bystanders
) -> None:
    store = chaos.store
    places = store.places(number)
    for person in crowd:
        result.written += person.book.written
        result.forgets += person.book.forgets
        result.odd += person.odd
        result.residue += _residue(person, places)
        result.lost += _lost(store, person, places)
        result.twice += _twice(store, person)
    result.residue += _found_by_a_scan(chaos)
    after = store.fingerprint(standing.users)
    result.disturbed += [name for name, was in standing.hashes.items() if was != after.get(name)]
    result.lost += _not_findable(store)
    result.files += _left_files(chaos)
    result.unfinished += _unexplained(store)
    accepted = [op_id for person in crowd for op_id in person.accepted]
    asked = store.rows("SELECT count(*) FROM ops_operation WHERE public_id = ANY(%s)", accepted)
    result.operations = int(str(asked[0][0]))


def _residue(person: Person, places: Places) -> list[str]:
    found = [f"{word}: {sorted(places[word])}" for word in person.book.gone if places.get(word)]
    for word in person.book.unlearned - person.book.gone:
        known = [place for place in places.get(word, ()) if place.startswith("memories_memory")]
        found += [f"{word} (unlearned): {known}"] if known else []
    for word in person.book.binned:
        if not any(place.startswith("memories_memory") for place in places.get(word, ())):
            left = sorted(places.get(word, ()))
            found += [f"{word} (from the bin): {left}"] if left else []
    return found


def _found_by_a_scan(chaos: Chaos) -> list[str]:
    """Return the residue that scans of forgets reported since the last run.

    Such residue counts as a failure even if a second attempt of the forget succeeded.
    """
    rows = chaos.store.rows(
        "SELECT a.id, o.kind || ': ' || a.error FROM ops_attempt a JOIN ops_operation o"
        " ON o.id = a.operation_id WHERE a.error LIKE '%%traces are left%%' AND a.id > %s"
        " ORDER BY a.id",
        chaos.scanned,
    )
    chaos.scanned = int(str(rows[-1][0])) if rows else chaos.scanned
    return [str(error) for _, error in rows]


def _lost(store: Store, person: Person, places: Places) -> list[str]:
    book = person.book
    lost = [word for word in book.turns if "conversations_message" not in places.get(word, ())]
    for word in book.memories:
        if not any(place.startswith("memories_memory") for place in places.get(word, ())):
            lost.append(word)
    lost += [word for word in book.notes if "memories_dailynote" not in places.get(word, ())]
    return lost + _lost_imports(store, book.imports, places)


def _lost_imports(store: Store, imports: dict[str, str], places: Places) -> list[str]:
    """Return imported words that are missing, or present although the import failed."""
    lost = []
    by_operation: dict[str, list[str]] = defaultdict(list)
    for word, op_id in imports.items():
        by_operation[op_id].append(word)
    for op_id, words in by_operation.items():
        rows = store.rows("SELECT status FROM ops_operation WHERE public_id = %s", op_id)
        wanted = rows[0][0] == "succeeded"
        for word in words:
            if ("conversations_message" in places.get(word, ())) != wanted:
                lost.append(f"{word} ({op_id} {rows[0][0]})")
    return lost


def _twice(store: Store, person: Person) -> list[str]:
    """Return the words and memories that are stored more often than they should be.

    A turn has two messages, so its word must occur exactly twice.
    """
    spoken = store.rows(
        "SELECT substring(content from 'qx[b-v]{3}w[b-v]{3}') FROM conversations_message m"
        " JOIN ops_user u ON u.id = m.user_id WHERE u.external_id = %s",
        person.user_id,
    )
    counts = Counter(word for (word,) in spoken)
    known = store.rows(
        "SELECT content, count(*) FROM memories_memory m JOIN ops_user u ON u.id = m.user_id"
        " WHERE u.external_id = %s AND m.status = 'active' AND m.hidden_at IS NULL"
        " GROUP BY content, project_id HAVING count(*) > 1",
        person.user_id,
    )
    doubled = [
        f"{word} said {counts[word]} times" for word in person.book.turns if counts[word] != 2
    ]
    return doubled + [f"{text!r} known {count} times" for text, count in known]


def _not_findable(store: Store) -> list[str]:
    """Return turns that were not learned from, and memories and messages without an index entry."""
    questions = {
        "turns not learned from": "SELECT public_id FROM conversations_turn"
        " WHERE extracted_at IS NULL AND hidden_at IS NULL",
        "memories not indexed": "SELECT public_id FROM memories_memory"
        " WHERE indexed_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL",
        "messages not indexed": "SELECT public_id FROM conversations_message m"
        " WHERE hidden_at IS NULL AND NOT EXISTS (SELECT 1 FROM memories_lexicalentry e"
        " WHERE e.user_id = m.user_id AND e.target_kind = 'message' AND e.target_id = m.id)",
    }
    found = {name: store.rows(query) for name, query in questions.items()}
    return [
        f"{name}: {[str(public_id) for (public_id,) in rows]}"
        for name, rows in found.items()
        if rows
    ]


def _left_files(chaos: Chaos) -> list[str]:
    """Return files that no row refers to, after the upload cleanup had time to remove them."""
    until = time.monotonic() + _SWEPT_SECONDS
    while (left := _unknown_files(chaos)) and time.monotonic() < until:
        time.sleep(1)
    return left


def _unknown_files(chaos: Chaos) -> list[str]:
    rows = chaos.store.rows(
        "SELECT path FROM ops_export WHERE sha256 <> '' UNION SELECT path FROM ops_import"
        " WHERE finished_at IS NULL"
    )
    known = {str(path) for (path,) in rows}
    return [path for path in _files(chaos) if path.rpartition("/")[2] not in known]


def _files(chaos: Chaos) -> Iterator[str]:
    for name in ("exports", "imports", "parts"):
        folder = chaos.folder.path / name
        if folder.is_dir():
            yield from (f"{name}/{file.name}" for file in folder.iterdir())


def _unexplained(store: Store) -> list[str]:
    """Return failed operations without an error text. All operations have ended by now."""
    rows = store.rows(
        "SELECT public_id, kind, status FROM ops_operation"
        " WHERE status = 'failed' AND last_error = ''"
    )
    return [" ".join(map(str, row)) for row in rows]


def step_names(store: Store) -> set[str]:
    """Return every step that a worker recorded, as `kind: step`."""
    rows = store.rows(
        "SELECT DISTINCT kind, s.one ->> 'step' FROM ops_operation,"
        " LATERAL jsonb_array_elements(steps_done) s(one)"
        " UNION SELECT DISTINCT kind, progress_step FROM ops_operation WHERE progress_step <> ''"
    )
    return {f"{kind}: {step}" for kind, step in rows}


def errors(store: Store) -> list[tuple[str, int]]:
    """Return the errors of failed attempts with their counts, most frequent first."""
    rows = store.rows(
        "SELECT o.kind || ': ' || coalesce(nullif(a.error, ''), a.outcome), count(*)"
        " FROM ops_attempt a JOIN ops_operation o ON o.id = a.operation_id"
        " WHERE a.outcome <> 'succeeded' GROUP BY 1 ORDER BY 2 DESC"
    )
    return [(str(text), int(str(count))) for text, count in rows]
