"""Which rows the app's role reaches, held by the database: a forgotten filter shows nobody else's.

`ops.access.as_user` says for whom a transaction works (`memcenter.user`); in it there are only that
person's rows. `as_system` takes a role that passes by the policies. So does the owner of the
tables, who migrates and backs up. Before anybody is named, as when a key or a session is looked
up, nothing is held back.
"""

from django.db.migrations import RunSQL

APP_ROLE = "memcenter_app"
# In brackets of its own it is asked once for each statement, not once for each row.
_WHO = "(SELECT NULLIF(current_setting('memcenter.user', true), '')::bigint)"


def rows_of_one_person(table: str, *, owner: str = "user_id", or_nobodys: bool = False) -> RunSQL:
    """Hold the app's role to rows of the person it works for: to read, write or erase.

    With `or_nobodys` rows without a person, which belong to the product, are there as well. Where
    the role is missing (a database that roles.sql didn't prepare) nothing is held.
    """
    condition = f'{_WHO} IS NULL OR "{owner}" = {_WHO}'
    if or_nobodys:
        condition += f' OR "{owner}" IS NULL'
    policy = f'CREATE POLICY own_rows ON "{table}" TO {APP_ROLE} USING ({condition})'
    return RunSQL(
        f"""
        ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY;
        DO $do$ BEGIN
          IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{APP_ROLE}') THEN
            {policy};
          END IF;
        END $do$;
        """,
        f'DROP POLICY IF EXISTS own_rows ON "{table}";'
        f' ALTER TABLE "{table}" DISABLE ROW LEVEL SECURITY',
    )
