"""Rows of one person only, whatever a statement asks for."""

from django.db import migrations

from memcenter.lib.database.row_security import rows_of_one_person

_TABLES = ("ops_usersettings", "ops_signinlink", "ops_signin", "ops_export", "ops_import")
_OR_THE_PRODUCTS = ("ops_apikey", "ops_webhook", "ops_idempotencyrecord")

_NAME = "ops_user_created_by_id_c8c2870d_fk_ops_apikey_id"
_KEY = f"""
ALTER TABLE ops_user DROP CONSTRAINT IF EXISTS {_NAME}, ADD CONSTRAINT {_NAME}
  FOREIGN KEY (created_by_id) REFERENCES ops_apikey (id) {{}} DEFERRABLE INITIALLY DEFERRED
"""
# Whose key made somebody, and goes, doesn't reach that row: the database lets go of it.
_LETS_GO = migrations.RunSQL(_KEY.format("ON DELETE SET NULL"), _KEY.format(""))


class Migration(migrations.Migration):
    dependencies = [("ops", "0013_count_forgets")]
    operations = [
        _LETS_GO,
        rows_of_one_person("ops_user", owner="id"),
        *(rows_of_one_person(table) for table in _TABLES),
        *(rows_of_one_person(table, or_nobodys=True) for table in _OR_THE_PRODUCTS),
    ]
