"""Who mentions an erased id is found without reading everybody's rows."""

from django.db import migrations

from memcenter.lib.database.mentions import (FUNCTIONS, index_of_mentions)

_COLUMNS = {
    "ops_modelcall": {
        "operation_public_id": "text",
        "step": "text",
        "provider": "text",
        "model": "text",
    },
    "ops_user": {"password": "text", "display_name": "text"},
    "ops_usersettings": {"timezone": "text"},
    "ops_apikey": {"name": "text"},
    "ops_signinlink": {"next": "text"},
    "ops_attempt": {"error": "text"},
    "ops_idempotencyrecord": {"key": "text", "fingerprint": "text", "body": "json"},
    "ops_export": {"conversation_public_id": "text", "path": "text", "sha256": "text"},
    "ops_import": {"path": "text", "report": "json"},
    "ops_webhook": {"url": "text", "events": "list", "secret": "text"},
    "ops_delivery": {"event": "text", "body": "json", "error": "text"},
    "django_admin_log": {"object_id": "text", "object_repr": "text", "change_message": "text"},
}


class Migration(migrations.Migration):
    dependencies = [
        ("ops", "0007_no_statistics_of_words"),
        ("admin", "0003_logentry_add_action_flag_choices"),
    ]
    operations = [
        FUNCTIONS,
        *(index_of_mentions(table, columns) for table, columns in _COLUMNS.items()),
    ]
