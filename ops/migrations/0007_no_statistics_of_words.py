"""The planner notes nothing of what people say: its notes would outlive what is forgotten."""

from django.db import migrations

from memcenter.lib.database.column_storage import without_statistics

_COLUMNS = {
    "ops_user": ["password", "username", "external_id", "display_name"],
    "ops_usersettings": ["language", "timezone"],
    "ops_apikey": ["name", "prefix", "digest", "scopes"],
    "ops_signinlink": ["digest", "next", "language"],
    "ops_idempotencyrecord": ["key", "fingerprint", "body"],
    "ops_export": ["conversation_public_id", "format", "path", "sha256"],
    "ops_import": ["format", "path", "report"],
    "ops_webhook": ["url", "events", "secret"],
    "django_session": ["session_data"],
    "django_admin_log": ["object_repr", "change_message"],
    "ops_delivery": ["event", "body", "error"],
}


class Migration(migrations.Migration):
    dependencies = [
        ("ops", "0006_sign_ins"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("sessions", "0001_initial"),
    ]
    operations = [without_statistics(table, *columns) for table, columns in _COLUMNS.items()]
