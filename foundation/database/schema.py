"""Helpers for the tables of all apps: visible rows, choices, row security, storage, mentions.

Row security: PostgreSQL's row-level security hides other people's rows, even if a query lacks the
filter. `ops.access.as_user` stores the person's id in the transaction's setting `memcenter.user`;
the transaction then sees only the rows of that person. The policies apply neither to the role of
`as_system` nor to the owner of the tables, the role that runs migrations and backups. As long as no
person is set, for example while a key or a session is looked up, no rows are hidden.

Storage: `ANALYZE` copies frequent values to `pg_statistic`, where they would outlive the rows.
Statistics are therefore turned off for columns that contain people's texts. These columns are also
stored uncompressed, since the scan that verifies erasure in the raw database files can't read
compressed values. Long values go to the TOAST table.

Mentions: an index of the rows whose text contains a public id. Few rows contain one, so searching
for an erased id doesn't get slower as the number of users grows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.migrations import RunSQL

Row = TypeVar("Row", bound=models.Model)


class VisibleManager(models.Manager[Row]):
    """A manager that excludes rows that are being forgotten.

    A row is excluded as soon as somebody requests to forget it.
    """

    def get_queryset(self) -> models.QuerySet[Row]:
        return super().get_queryset().filter(hidden_at__isnull=True)


class PresentManager(VisibleManager[Row]):
    """A manager that excludes rows that are being forgotten or are in the recycle bin."""

    def get_queryset(self) -> models.QuerySet[Row]:
        return super().get_queryset().filter(deleted_at__isnull=True)


class Record(models.Model):
    """A model whose string form is the public id, or else the model's name and the primary key."""

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return getattr(self, "public_id", "") or f"{self._meta.verbose_name} {self.pk}"


class Hideable(Record):
    """A model whose rows are hidden (`hidden_at`) as soon as somebody requests to forget them."""

    objects: ClassVar[VisibleManager[Self]] = VisibleManager()
    everything: ClassVar[models.Manager[Self]] = models.Manager()

    class Meta:
        abstract = True
        base_manager_name = "everything"


def one_of(
    field: str, choices: type[models.TextChoices] | Sequence[tuple[str, str]], *, name: str
) -> models.CheckConstraint:
    """Return a check constraint that restricts a column to the given choices."""
    values = choices.values if isinstance(choices, type) else [value for value, _ in choices]
    return models.CheckConstraint(condition=models.Q(**{f"{field}__in": values}), name=name)


def has_column(model: type[models.Model], name: str) -> bool:
    return any(column.name == name for column in model._meta.concrete_fields)


def row_id() -> tuple[str, models.BigAutoField[Any, Any]]:
    """Return the name and the field of the primary key, for a table created in a migration."""
    return "id", models.BigAutoField(
        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
    )


def user_key(**options: Any) -> models.ForeignKey[Any, Any]:
    """Return the foreign key to the user who owns a row, for a migration."""
    return models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, **options)


APP_ROLE = "memcenter_app"
# A subquery is evaluated once per statement; a plain call would be evaluated once per row.
_WHO = "(SELECT NULLIF(current_setting('memcenter.user', true), '')::bigint)"


def rows_of_one_person(table: str, *, owner: str = "user_id", or_nobodys: bool = False) -> RunSQL:
    """Return a migration operation that restricts the app to the rows of the current person.

    The operation creates a row security policy for every SQL command of the app's database role.
    With `or_nobodys`, the policy also allows rows without an owner, which belong to the whole
    installation. If roles.sql hasn't created the role, no policy is created.
    """
    # The planner assumes that a CASE is true for half of all rows, but that a condition with OR is
    # true for two in a thousand. With OR, it would therefore sort all rows of a person with very
    # many rows instead of using the ordered index (67 ms instead of 0.7 ms for 100,000 of a million
    # rows).
    nobodys = f' OR "{owner}" IS NULL' if or_nobodys else ""
    own = f'CASE WHEN {_WHO} IS NULL THEN true ELSE "{owner}" = {_WHO}{nobodys} END'
    policy = f'CREATE POLICY own_rows ON "{table}" TO {APP_ROLE} USING ({own})'
    return RunSQL(
        f"""
        ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY;
        DO $do$ BEGIN
          IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{APP_ROLE}') THEN
            {policy};
          END IF;
        END $do$""",
        f'DROP POLICY IF EXISTS own_rows ON "{table}";'
        f' ALTER TABLE "{table}" DISABLE ROW LEVEL SECURITY',
    )


def without_statistics(table: str, *columns: str) -> RunSQL:
    """Return a migration operation that turns off PostgreSQL's statistics for new, empty columns.

    The planner then uses default estimates, which are good enough for our queries.
    """
    return _altered(table, columns, "SET STATISTICS 0", "SET STATISTICS -1")


def uncompressed(table: str, *columns: str) -> RunSQL:
    """Return a migration operation that stores the values of new, empty columns uncompressed."""
    return _altered(table, columns, "SET STORAGE EXTERNAL", "SET STORAGE EXTENDED")


def _altered(table: str, columns: Sequence[str], forward: str, back: str) -> RunSQL:
    def statement(change: str) -> str:
        changes = ", ".join(f'ALTER COLUMN "{column}" {change}' for column in columns)
        return f'ALTER TABLE "{table}" {changes}'

    return RunSQL(statement(forward), statement(back))


# Ids of erasable rows; see `foundation.ids`.
ID_PATTERN = "(conv|msg|turn|sum|epi|mem|req|note)_[0-9a-z]{26}"
SHORTEST_ID = 30
TEXT, JSON, LIST = "text", "json", "list"
_AS_TEXT = {TEXT: '"{}"', JSON: '"{}"::text', LIST: 'memcenter_joined("{}"::text[])'}

# An index needs IMMUTABLE functions. The built-in `array_to_string` is only STABLE, because it
# accepts arrays of any type.
ID_FUNCTIONS = RunSQL(
    f"""
    CREATE FUNCTION memcenter_joined(text[]) RETURNS text
      LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT array_to_string($1, ' ') $$;
    CREATE FUNCTION memcenter_ids(text) RETURNS text[]
      LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
      $$ SELECT coalesce(array_agg(DISTINCT found[1]), '{{}}')
           FROM regexp_matches($1, '({ID_PATTERN.replace("(", "(?:")})', 'g') found $$;
    """,
    "DROP FUNCTION memcenter_ids(text); DROP FUNCTION memcenter_joined(text[])",
)


def mention_condition(columns: Mapping[str, str]) -> str:
    """Return an SQL condition that is true if the texts of a row contain an id from an array.

    The condition contains `%s` as the placeholder for the array of ids. `columns` maps each column
    to TEXT, JSON or LIST. The condition repeats the expression of the index of mentions exactly,
    since PostgreSQL wouldn't use the index otherwise.
    """
    return f"{_mentions(columns)} AND memcenter_ids({_joined_columns(columns)}) && %s"


def index_of_mentions(table: str, columns: Mapping[str, str]) -> RunSQL:
    """Return a migration operation that creates or replaces the index of public ids in texts."""
    name = f"{table}_mentions"
    return RunSQL(
        f'DROP INDEX IF EXISTS "{name}"; CREATE INDEX "{name}" ON "{table}"'
        f" USING gin (memcenter_ids({_joined_columns(columns)})) WHERE {_mentions(columns)}",
        f'DROP INDEX IF EXISTS "{name}"',
    )


def _mentions(columns: Mapping[str, str]) -> str:
    return f"({_joined_columns(columns)}) ~ '{ID_PATTERN}'"


def _joined_columns(columns: Mapping[str, str]) -> str:
    texts = (f"coalesce({_AS_TEXT[how].format(name)}, '')" for name, how in columns.items())
    return " || ' ' || ".join(texts)
