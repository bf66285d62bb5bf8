"""People choose what is forgotten from a list, and the receipt says who chose."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ops", "0023_keys_that_require_a_user"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="operation",
            name="operation_kind_known",
        ),
        migrations.AddField(
            model_name="receipt",
            name="chosen",
            field=models.CharField(blank=True, db_default="", default="", max_length=12),
        ),
        migrations.AlterField(
            model_name="operation",
            name="kind",
            field=models.CharField(
                choices=[
                    ("extract_turn", "Learn from a turn"),
                    ("extract_conversation", "Look at a conversation as a whole"),
                    ("summarize", "Summarize"),
                    ("index_episode", "Index an episode"),
                    ("index_memory", "Index a memory"),
                    ("revise_memory", "Hold a written memory against the others by the model"),
                    ("consolidate", "Consolidate"),
                    ("forget_memory", "Forget a memory"),
                    ("forget_message", "Forget a message"),
                    ("forget_conversation", "Forget a conversation"),
                    ("clear_conversation", "Clear a conversation"),
                    ("forget_choice", "Forget what was chosen"),
                    ("forget_project", "Forget a project"),
                    ("forget_layer", "Delete summaries or episodes"),
                    ("forget_user", "Forget everything"),
                    ("export_conversation", "Export a conversation"),
                    ("export_user", "Export everything"),
                    ("import", "Import"),
                    ("reindex", "Reindex"),
                    ("sync_files", "Sync the memory files"),
                    ("deliver_webhook", "Deliver a webhook"),
                    ("build_index", "Build an index"),
                    ("move_vectors", "Move the vectors"),
                    ("sync_vectors", "Sync the vectors"),
                    ("cleanup", "Clean up"),
                ],
                max_length=32,
            ),
        ),
        migrations.AddConstraint(
            model_name="operation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
                            "extract_turn",
                            "extract_conversation",
                            "summarize",
                            "index_episode",
                            "index_memory",
                            "revise_memory",
                            "consolidate",
                            "forget_memory",
                            "forget_message",
                            "forget_conversation",
                            "clear_conversation",
                            "forget_choice",
                            "forget_project",
                            "forget_layer",
                            "forget_user",
                            "export_conversation",
                            "export_user",
                            "import",
                            "reindex",
                            "sync_files",
                            "deliver_webhook",
                            "build_index",
                            "move_vectors",
                            "sync_vectors",
                            "cleanup",
                        ],
                    )
                ),
                name="operation_kind_known",
            ),
        ),
    ]
