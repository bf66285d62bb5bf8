"""Describe in words how much data about a person is stored.

The kinds of data come from the registry of personal data, so that no kind is missing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy
from redis.exceptions import RedisError

from foundation.database import statements
from ops import registry
from ops.models import User

logger = logging.getLogger(__name__)

Words = Callable[[int], str]
# Counts in words, in the order of the page. The page sums up all other kinds as "related entries".
WORDS: dict[str, Words] = {
    "message": lambda n: ngettext("%(n)s message", "%(n)s messages", n),
    "conversation": lambda n: ngettext("%(n)s conversation", "%(n)s conversations", n),
    "summary": lambda n: ngettext("%(n)s summary", "%(n)s summaries", n),
    "episode": lambda n: ngettext("%(n)s earlier moment", "%(n)s earlier moments", n),
    "memory": lambda n: ngettext("%(n)s memory", "%(n)s memories", n),
    "memoryversion": lambda n: ngettext(
        "%(n)s version of memories", "%(n)s versions of memories", n
    ),
    "project": lambda n: ngettext("%(n)s project", "%(n)s projects", n),
    "memoryfile": lambda n: ngettext("%(n)s memory file", "%(n)s memory files", n),
    "dailynote": lambda n: ngettext("%(n)s line of notes", "%(n)s lines of notes", n),
    "feedback": lambda n: ngettext("%(n)s rating", "%(n)s ratings", n),
    "recalltrace": lambda n: ngettext("%(n)s usage record", "%(n)s usage records", n),
    "export": lambda n: ngettext("%(n)s export", "%(n)s exports", n),
    "import": lambda n: ngettext("%(n)s import", "%(n)s imports", n),
    "apikey": lambda n: ngettext("%(n)s API key", "%(n)s API keys", n),
    "webhook": lambda n: ngettext("%(n)s webhook", "%(n)s webhooks", n),
    "temporary_conversation": lambda n: ngettext(
        "%(n)s temporary conversation", "%(n)s temporary conversations", n
    ),
}
# Labels for the lines of a table or receipt.
LABELS = {
    "message": pgettext_lazy("what was said", "Messages"),
    "conversation": gettext_lazy("Conversations"),
    "turn": gettext_lazy("Exchanges"),
    "summary": gettext_lazy("Summaries"),
    "episode": gettext_lazy("Earlier moments"),
    "memory": gettext_lazy("Memories"),
    "memoryversion": gettext_lazy("Versions of memories"),
    "portraitphrase": gettext_lazy("Phrases of “About you”"),
    "fragment": gettext_lazy("Parts of long memories"),
    "versioninput": gettext_lazy("Links between versions of memories"),
    "source": gettext_lazy("Links to sources"),
    "relation": gettext_lazy("Links between memories"),
    "arbitration": gettext_lazy("Decisions about new memories"),
    "refusal": gettext_lazy("Secrets not kept"),
    "recalltrace": gettext_lazy("Usage records"),
    "recallhit": gettext_lazy("Entries in usage records"),
    "vector": gettext_lazy("Search index: meaning"),
    "lexicalentry": gettext_lazy("Search index: words"),
    "project": gettext_lazy("Projects"),
    "memoryfile": gettext_lazy("Memory files"),
    "fileversion": gettext_lazy("Versions of files"),
    "dailynote": gettext_lazy("Lines of notes"),
    "feedback": gettext_lazy("Ratings"),
    "tombstone": gettext_lazy("Marks against learning it again"),
    "temporary_conversation": gettext_lazy("Temporary conversations"),
    "export": gettext_lazy("Exports"),
    "import": gettext_lazy("Imports"),
    "transfer": gettext_lazy("Export and import files"),
    "memoryfile_line": gettext_lazy("Lines in files"),
    "fileversion_line": gettext_lazy("Lines in versions of files"),
    "apikey": gettext_lazy("API keys"),
    "webhook": gettext_lazy("Webhooks"),
    "usersettings": gettext_lazy("Settings"),
    "session": gettext_lazy("Sign-ins"),
    "signin": gettext_lazy("Sign-ins"),
    "user": gettext_lazy("Account"),
    "account": gettext_lazy("Account"),
    "identity": gettext_lazy("Ways to sign in"),
    "secondfactor": gettext_lazy("Ways to sign in"),
    "signinlink": gettext_lazy("Ways to sign in"),
    "invitation": gettext_lazy("Invitations"),
    "weeklymail": gettext_lazy("Weekly email"),
    "idempotencyrecord": gettext_lazy("Saved replies to programs"),
    "cache": gettext_lazy("Caches"),
    "file_copies": gettext_lazy("Copies of files"),
    "copy": gettext_lazy("Copies of files"),
}
_IN_CHART = (
    "message",
    "conversation",
    "summary",
    "episode",
    "memory",
    "memoryfile",
    "dailynote",
    "export",
)
_NOT_COUNTED = ("account", "usersettings")


@dataclass(frozen=True)
class Amount:
    name: str
    label: str
    count: int
    largest: int

    @property
    def share(self) -> float:
        return self.count / self.largest


def counts_of(user: User, *, only: Collection[str] | None = None) -> dict[str, int]:
    """Return the number of rows of each kind of personal data, in the order of erasure.

    `only` lists the kinds to count; None means all.
    """
    wanted = [one for one in registry.user_data_kinds() if only is None or one.name in only]
    rows = {
        one.name: found
        for one in wanted
        if isinstance(one, registry.Rows) and (found := one.counted(user)) is not None
    }
    counted = _count_in_one_query(rows) if rows else {}
    return {
        one.name: counted[one.name] if one.name in rows else _count(one, user) for one in wanted
    }


def _count_in_one_query(rows: dict[str, QuerySet[Any]]) -> dict[str, int]:
    parts = [
        found_rows.order_by().values("pk").query.sql_with_params() for found_rows in rows.values()
    ]
    selects = ", ".join(f"(SELECT count(*) FROM ({sql}) counted)" for sql, _values in parts)
    found = statements.rows(
        f"SELECT {selects}", [value for _sql, values in parts for value in values]
    )
    return dict(zip(rows, found[0], strict=True))


def amounts_of(counts: dict[str, int]) -> list[Amount]:
    """Return the bars of the chart. Kinds of data without rows are left out."""
    counts = {name: counts.get(name, 0) for name in _IN_CHART}
    largest = max(counts.values(), default=0)
    return [
        Amount(name, str(LABELS[name]), counts[name], largest)
        for name in _IN_CHART
        if counts.get(name)
    ]


def sentences_of(counts: dict[str, int]) -> list[str]:
    """Return phrases for everything that is erased with the account, such as "3 messages"."""
    named = [
        WORDS[name](counts[name]) % formatted(counts[name]) for name in WORDS if counts.get(name)
    ]
    rest = sum(
        count for name, count in counts.items() if name not in WORDS and name not in _NOT_COUNTED
    )
    if rest:
        words = ngettext(
            "%(n)s related entry: sources, links, decisions, markers",
            "%(n)s related entries: sources, links, decisions, markers",
            rest,
        )
        named.append(words % formatted(rest))
    named.append(_("the search index, caches and files derived from all this"))
    named.append(_("your settings, and the account itself"))
    return named


def label_of(name: str) -> str:
    """Return the label of a table, store or step, or its name with spaces if there is no label."""
    return known_label(name) or name.rpartition(":")[2].replace("_", " ")


def known_label(name: str) -> str:
    """Return the label of a table, store or step, or "" if it has no label."""
    bare = name.rpartition(":")[2]
    return str(next((LABELS[one] for one in (bare, bare.rpartition("_")[2]) if one in LABELS), ""))


def formatted(count: int) -> dict[str, str]:
    return {"n": number_format(count, force_grouping=True)}


def _count(participant: registry.UserData, user: User) -> int:
    try:
        return participant.count(user)
    except RedisError:  # if Redis is down, the data in it counts as 0
        logger.warning("%s can't be counted: Redis is gone.", participant.name)
        return 0
