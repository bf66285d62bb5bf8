"""Which rows mention an id of ours somewhere in their text, by an index.

Few rows do, and the index knows which ids: finding who mentions an erased one takes no longer on
an instance with many people than on one with few.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.db.migrations import RunSQL

# The ids of what can be erased; see `memcenter.lib.ids`.
PATTERN = "(conv|msg|turn|sum|epi|mem|req|note)_[0-9a-z]{26}"
SHORTEST = 30
TEXT, JSON, LIST = "text", "json", "list"
_AS_TEXT = {TEXT: '"{}"', JSON: '"{}"::text', LIST: 'memcenter_joined("{}"::text[])'}

# Built in, `array_to_string` calls itself stable, for the sake of types that texts are none of.
FUNCTIONS = RunSQL(
    f"""
    CREATE FUNCTION memcenter_joined(text[]) RETURNS text
      LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT array_to_string($1, ' ') $$;
    CREATE FUNCTION memcenter_ids(text) RETURNS text[]
      LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
      $$ SELECT coalesce(array_agg(DISTINCT found[1]), '{{}}')
           FROM regexp_matches($1, '({PATTERN.replace("(", "(?:")})', 'g') found $$;
    """,
    "DROP FUNCTION memcenter_ids(text); DROP FUNCTION memcenter_joined(text[])",
)


def condition(columns: Mapping[str, str]) -> str:
    """True for rows that mention one of the ids of a parameter in one of these columns.

    `columns` says how each is written. The expressions stand word for word in the index.
    """
    return f"{_mentions(columns)} AND memcenter_ids({_whole(columns)}) && %s"


def index_of_mentions(table: str, columns: Mapping[str, str]) -> RunSQL:
    """Replaces the one that the table may have."""
    name = f"{table}_mentions"
    return RunSQL(
        f'DROP INDEX IF EXISTS "{name}"; CREATE INDEX "{name}" ON "{table}"'
        f" USING gin (memcenter_ids({_whole(columns)})) WHERE {_mentions(columns)}",
        f'DROP INDEX IF EXISTS "{name}"',
    )


def _mentions(columns: Mapping[str, str]) -> str:
    return f"({_whole(columns)}) ~ '{PATTERN}'"


def _whole(columns: Mapping[str, str]) -> str:
    """All of a row's text in one, so that it is looked through once when the row is written."""
    texts = (f"coalesce({_AS_TEXT[how].format(name)}, '')" for name, how in columns.items())
    return " || ' ' || ".join(texts)
