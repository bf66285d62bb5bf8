from typing import Any

from django.db import migrations, models

import memcenter.lib.ids
from memcenter.lib.database.column_storage import without_statistics


def fill(apps: Any, schema_editor: Any) -> None:
    for name, make in (
        ("Webhook", memcenter.lib.ids.webhook_id),
        ("Delivery", memcenter.lib.ids.delivery_id),
    ):
        model = apps.get_model("ops", name)
        for row in model.objects.filter(public_id__isnull=True):
            row.public_id = make()
            row.save(update_fields=["public_id"])


class Migration(migrations.Migration):
    dependencies = [("ops", "0011_operations_waiting_of_a_person")]

    operations = [
        migrations.AddField(
            model_name="webhook",
            name="public_id",
            field=models.CharField(max_length=40, null=True),
        ),
        migrations.AddField(
            model_name="delivery",
            name="public_id",
            field=models.CharField(max_length=40, null=True),
        ),
        migrations.AddField(
            model_name="delivery",
            name="attempts",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="webhook",
            name="public_id",
            field=models.CharField(
                default=memcenter.lib.ids.webhook_id, max_length=40, unique=True
            ),
        ),
        migrations.AlterField(
            model_name="delivery",
            name="public_id",
            field=models.CharField(
                default=memcenter.lib.ids.delivery_id, max_length=40, unique=True
            ),
        ),
        without_statistics("ops_webhook", "public_id"),
        without_statistics("ops_delivery", "public_id"),
    ]
