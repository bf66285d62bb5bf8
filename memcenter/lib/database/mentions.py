"""An index of the rows that contain one of our ids anywhere in their text.

Few rows do, so finding those with an erased id takes no longer with many people than with few.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.db.migrations import RunSQL

# Ids of erasable rows; see `memcenter.lib.ids`.
PATTERN = "(conv|msg|turn|sum|epi|mem|req|note)_[0-9a-z]{26}"
SHORTEST = 30
TEXT, JSON, LIST = "text", "json", "list"
_AS_TEXT = {TEXT: '"{}"', JSON: '"{}"::text', LIST: 'memcenter_joined("{}"::text[])'}

# The built-in `array_to_string` is only STABLE, because of types other than text.
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
    """Return the condition for rows that mention one of the ids in one of these columns.

    `columns` gives the expression of each, which must equal the index's expression.
    """
    return f"{_mentions(columns)} AND memcenter_ids({_whole(columns)}) && %s"


def index_of_mentions(table: str, columns: Mapping[str, str]) -> RunSQL:
    """Create the table's index of mentions, replacing an older one."""
    name = f"{table}_mentions"
    return RunSQL(
        f'DROP INDEX IF EXISTS "{name}"; CREATE INDEX "{name}" ON "{table}"'
        f" USING gin (memcenter_ids({_whole(columns)})) WHERE {_mentions(columns)}",
        f'DROP INDEX IF EXISTS "{name}"',
    )


def _mentions(columns: Mapping[str, str]) -> str:
    return f"({_whole(columns)}) ~ '{PATTERN}'"


def _whole(columns: Mapping[str, str]) -> str:
    """Concatenate a row's texts, so that each write scans them once."""
    texts = (f"coalesce({_AS_TEXT[how].format(name)}, '')" for name, how in columns.items())
    return " || ' ' || ".join(texts)
