"""Create the table of the addresses to which the weekly email is sent."""

import uuid

from django.conf import settings
from django.db import migrations, models

from foundation.database.schema import (
    index_of_mentions, row_id, rows_of_one_person, uncompressed, without_statistics,
)

_TABLE = "ops_weeklymail"


class Migration(migrations.Migration):
    dependencies = [("ops", "0002_admin_and_sessions")]
    operations = [
        migrations.CreateModel("WeeklyMail", [
            row_id(),
            ("user", models.OneToOneField(
                settings.AUTH_USER_MODEL, models.CASCADE, related_name="weekly_mail"
            )),
            ("address", models.EmailField(max_length=254)),
            ("language", models.CharField(max_length=16, blank=True)),
            ("nonce", models.UUIDField(default=uuid.uuid4, unique=True, editable=False)),
            ("asked_at", models.DateTimeField()),
            ("confirmed_at", models.DateTimeField(blank=True, null=True)),
            ("sent_on", models.DateField(blank=True, null=True)),
        ]),
        rows_of_one_person(_TABLE),
        without_statistics(_TABLE, "address", "language"),
        uncompressed(_TABLE, "address"),
        index_of_mentions(_TABLE, {"address": "text"}),
    ]
