"""Keeping people's words on the disk as they are, so that a scan of the raw files can read them.

PostgreSQL compresses long values otherwise. Values that don't fit into a page stand in the table's
TOAST table, uncompressed as well.
"""

from django.db.migrations import RunSQL

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
    """Store these columns uncompressed, and unpack what is compressed already."""
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
