"""Rows of one person only, whatever a statement asks for."""

from django.db import migrations

from memcenter.lib.row_security import rows_of_one_person

_TABLES = ("ops_usersettings", "ops_signinlink", "ops_signin", "ops_export", "ops_import")
_OR_THE_PRODUCTS = ("ops_apikey", "ops_webhook", "ops_idempotencyrecord")


class Migration(migrations.Migration):
    dependencies = [("ops", "0013_count_forgets")]
    operations = [
        rows_of_one_person("ops_user", owner="id"),
        *(rows_of_one_person(table) for table in _TABLES),
        *(rows_of_one_person(table, or_nobodys=True) for table in _OR_THE_PRODUCTS),
    ]
