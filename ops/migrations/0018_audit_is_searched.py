"""Who acted and on what is searched for among all that was ever done."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("ops", "0017_operations_know_their_request")]
    operations = [
        AddIndexConcurrently(
            "auditevent", models.Index(fields=["actor", "-id"], name="audit_actor")
        ),
        AddIndexConcurrently("auditevent", models.Index(fields=["target"], name="audit_target")),
    ]
