"""Owners invite people by link, and open or close registration."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from memcenter.lib.database.column_storage import uncompressed, without_statistics
from memcenter.lib.database.mentions import index_of_mentions
from memcenter.lib.database.row_security import rows_of_one_person


class Migration(migrations.Migration):
    dependencies = [("ops", "0029_operators_are_auditors")]

    operations = [
        migrations.AddField("instance", "registration_open", models.BooleanField(null=True)),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("name", models.CharField(blank=True, max_length=100)),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("auditor", "Auditor"), ("member", "Member")],
                        max_length=16,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["user", "expires_at"], name="invitation_user")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["owner", "auditor", "member"])),
                        name="invitation_role_known",
                    )
                ],
            },
        ),
        rows_of_one_person("ops_invitation"),
        without_statistics("ops_invitation", "digest", "name"),
        uncompressed("ops_invitation", "name"),
        index_of_mentions("ops_invitation", {"name": "text"}),
    ]
