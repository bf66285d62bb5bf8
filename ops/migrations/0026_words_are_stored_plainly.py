"""What people say is stored uncompressed, so that a scan of the raw files can read it."""

from django.db import migrations

from memcenter.lib.database.column_storage import uncompressed

_COLUMNS = {
    "ops_user": ["display_name"],
    "ops_apikey": ["name"],
    "ops_idempotencyrecord": ["body"],
    "ops_import": ["report"],
    "ops_webhook": ["url"],
    "django_admin_log": ["object_repr", "change_message"],
}


class Migration(migrations.Migration):
    dependencies = [("ops", "0025_erase_disk"), ("admin", "0003_logentry_add_action_flag_choices"),]
    operations = [uncompressed(table, *columns) for table, columns in _COLUMNS.items()]
