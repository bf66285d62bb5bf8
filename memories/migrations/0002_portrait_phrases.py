"""The phrases of the portrait, which a chat model writes: at most one for each version."""

from django.db import migrations, models

from foundation.database.schema import (
    index_of_mentions,
    row_id,
    rows_of_one_person,
    uncompressed,
    user_key,
    without_statistics,
)

_TABLE = "memories_portraitphrase"


class Migration(migrations.Migration):
    dependencies = [("memories", "0001_schema")]
    operations = [
        migrations.CreateModel(
            "PortraitPhrase",
            [
                row_id(),
                ("user", user_key()),
                (
                    "version",
                    models.OneToOneField(
                        "memories.memoryversion", models.CASCADE, related_name="phrase"
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        rows_of_one_person(_TABLE),
        without_statistics(_TABLE, "text"),
        uncompressed(_TABLE, "text"),
        index_of_mentions(_TABLE, {"text": "text"}),
    ]
