"""The role of operator is gone: an owner does what operators did. Nobody gains rights by this."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def make_auditors(apps: StateApps, _schema: BaseDatabaseSchemaEditor) -> None:
    group = apps.get_model("auth", "Group")
    operators = group.objects.filter(name="operator").first()
    if operators is None:
        return
    auditors, _ = group.objects.get_or_create(name="auditor")
    auditors.user_set.add(*operators.user_set.all())
    operators.delete()


class Migration(migrations.Migration):
    dependencies = [
        ("ops", "0028_portrait_visits"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [migrations.RunPython(make_auditors, migrations.RunPython.noop)]
