"""Set how the tables of Django's admin and sessions store texts; add an index of the ids in them.

This can't be part of `0001_schema`: the admin's table has a foreign key to `ops_user`, so Django
creates the admin's table after `0001_schema`.
"""

from django.db import migrations

from foundation.database.schema import index_of_mentions, uncompressed, without_statistics

_LOG = "django_admin_log"


class Migration(migrations.Migration):
    # `0001_schema` replaces the others. Each is replaced only once, so a first migration that stops
    # between the two continues here.
    replaces = [("ops", "0031_plain_words")]
    dependencies = [
        ("ops", "0001_schema"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("sessions", "0001_initial"),
    ]
    operations = [
        without_statistics("django_session", "session_data"),
        without_statistics(_LOG, "object_repr", "change_message"),
        uncompressed(_LOG, "object_repr", "change_message"),
        index_of_mentions(
            _LOG, {"object_id": "text", "object_repr": "text", "change_message": "text"}
        ),
    ]
