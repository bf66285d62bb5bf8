"""The second step at the door, and who people are to the provider that signs them in."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from memcenter.lib.database.mentions import index_of_mentions
from memcenter.lib.database.row_security import rows_of_one_person
from memcenter.lib.database.column_storage import without_statistics


class Migration(migrations.Migration):
    dependencies = [
        ("ops", "0015_failed_operations_are_counted"),
    ]

    operations = [
        migrations.CreateModel(
            name="SecondFactor",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("secret", models.CharField(max_length=64)),
                ("last_step", models.BigIntegerField(default=0)),
                (
                    "recovery",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=64), default=list, size=None
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="second_factor",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Identity",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("issuer", models.CharField(max_length=255)),
                ("sub", models.CharField(db_collation="C", max_length=255)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="identities",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("sub", "issuer"), name="identity_once"),
                    models.UniqueConstraint(fields=("user", "issuer"), name="identity_of_user"),
                ],
            },
        ),
        rows_of_one_person("ops_secondfactor"),
        rows_of_one_person("ops_identity"),
        without_statistics("ops_secondfactor", "secret", "recovery"),
        without_statistics("ops_identity", "issuer", "sub"),
        index_of_mentions("ops_secondfactor", {"secret": "text", "recovery": "list"}),
        index_of_mentions("ops_identity", {"issuer": "text"}),
    ]
