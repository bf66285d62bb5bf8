"""Keeping people's words out of what the database's planner notes about columns.

`ANALYZE` keeps common values of each column in `pg_statistic`, where they outlive the rows.
"""

from django.db.migrations import RunSQL

_FORGET_WHAT_IS_NOTED = """
DO $$ BEGIN
  IF to_regprocedure('pg_clear_attribute_stats(text,text,text,boolean)') IS NOT NULL THEN
    PERFORM pg_clear_attribute_stats('public', '{table}', '{column}', false);
  END IF;
END $$
"""


def without_statistics(table: str, *columns: str) -> RunSQL:
    """Let the planner note nothing of these columns, and drop what it has noted.

    It then guesses how many rows match; no query of ours depends on more.
    """
    forward = [
        statement.format(table=table, column=column)
        for column in columns
        for statement in (
            'ALTER TABLE "{table}" ALTER COLUMN "{column}" SET STATISTICS 0',
            _FORGET_WHAT_IS_NOTED,
        )
    ]
    back = [f'ALTER TABLE "{table}" ALTER COLUMN "{one}" SET STATISTICS -1' for one in columns]
    return RunSQL(tuple(forward), tuple(back))
