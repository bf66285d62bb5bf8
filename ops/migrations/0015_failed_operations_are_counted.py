from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("ops", "0014_row_security")]
    operations = [
        AddIndexConcurrently(
            model_name="operation",
            index=models.Index(
                fields=["kind", "-id"],
                condition=models.Q(("status", "failed")),
                name="operation_failed",
            ),
        ),
    ]
