"""What the tables of words have, for sign-ins as well."""

from django.db import migrations

from memcenter.lib.database.mentions import index_of_mentions
from memcenter.lib.database.column_storage import without_statistics


class Migration(migrations.Migration):
    dependencies = [("ops", "0008_mentions_of_ids")]
    operations = [
        without_statistics("ops_signin", "session_key", "device"),
        index_of_mentions("ops_signin", {"device": "text"}),
    ]
