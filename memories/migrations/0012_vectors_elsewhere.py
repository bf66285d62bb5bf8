"""Where vectors are searched, and what a store elsewhere wasn't told yet."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0011_when_a_note_was_learned_from"),
    ]

    operations = [
        migrations.CreateModel(
            name="VectorChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("user_id", models.BigIntegerField()),
                ("space_id", models.BigIntegerField()),
                ("target_kind", models.CharField(max_length=10)),
                ("target_id", models.BigIntegerField()),
            ],
        ),
        migrations.AddField(
            model_name="embeddingspace",
            name="searched_in",
            field=models.CharField(
                choices=[("pgvector", "Pgvector"), ("filling", "Filling"), ("milvus", "Milvus")],
                db_default="pgvector",
                default="pgvector",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="embeddingspace",
            constraint=models.CheckConstraint(
                condition=models.Q(("searched_in__in", ["pgvector", "filling", "milvus"])),
                name="space_searched_in_known",
            ),
        ),
        migrations.AddIndex(
            model_name="vectorchange",
            index=models.Index(
                fields=["user_id", "space_id", "target_kind", "target_id"], name="change_target"
            ),
        ),
    ]
