"""How PostgreSQL stores columns with people's texts: without statistics, and uncompressed.

`ANALYZE` copies common values of each column to `pg_statistic`, where they would outlive the rows.
Compressed values couldn't be read by the scan of the raw files; long ones go to the TOAST table.
"""

from __future__ import annotations

from django.db.migrations import RunSQL

_FORGET_WHAT_IS_NOTED = """
DO $$ BEGIN
  IF to_regprocedure('pg_clear_attribute_stats(text,text,text,boolean)') IS NOT NULL THEN
    PERFORM pg_clear_attribute_stats('public', '{table}', '{column}', false);
  END IF;
END $$
"""


def without_statistics(table: str, *columns: str) -> RunSQL:
    """Turn off statistics for these columns, and delete the existing ones.

    The planner then uses default estimates, which are enough for our queries.
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


_UNPACK = """
DO $$ BEGIN
  EXECUTE format(
    'UPDATE %I SET %I = %I::text::%s WHERE pg_column_compression(%I) IS NOT NULL',
    '{table}', '{column}', '{column}',
    (SELECT format_type(atttypid, atttypmod) FROM pg_attribute
      WHERE attrelid = '{table}'::regclass AND attname = '{column}'), '{column}');
END $$
"""


def uncompressed(table: str, *columns: str) -> RunSQL:
    """Store these columns uncompressed, and rewrite compressed values."""
    forward = [
        statement.format(table=table, column=column)
        for column in columns
        for statement in (
            'ALTER TABLE "{table}" ALTER COLUMN "{column}" SET STORAGE EXTERNAL',
            _UNPACK,
        )
    ]
    back = [f'ALTER TABLE "{table}" ALTER COLUMN "{one}" SET STORAGE EXTENDED' for one in columns]
    return RunSQL(tuple(forward), tuple(back))
