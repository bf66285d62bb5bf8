"""Add the kinds of operations that write the portrait and send the weekly email.

Not atomic: the rows are checked without holding the lock that the new constraint needs.
"""

from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models

from foundation.database.schema import one_of

_KINDS = [
    ("extract_turn", "Learn from an exchange"),
    ("extract_conversation", "Look at a conversation as a whole"), ("summarize", "Summarize"),
    ("index_episode", "Index an earlier moment"), ("index_memory", "Index a memory"),
    ("revise_memory", "Compare a new memory with the others"),
    ("word_portrait", "Write “About you”"), ("consolidate", "Consolidate"),
    ("forget_memory", "Forget a memory"), ("forget_message", "Forget a message"),
    ("forget_conversation", "Forget a conversation"),
    ("clear_conversation", "Clear a conversation"), ("forget_choice", "Forget what was chosen"),
    ("forget_project", "Forget a project"), ("forget_layer", "Delete summaries or earlier moments"),
    ("forget_user", "Forget everything"), ("export_conversation", "Export a conversation"),
    ("export_user", "Export everything"), ("import", "Import"), ("reindex", "Reindex"),
    ("sync_files", "Sync the memory files"), ("deliver_webhook", "Deliver a webhook"),
    ("confirm_mail", "Ask to confirm an email address"), ("weekly_mail", "Send the weekly email"),
    ("build_index", "Build an index"), ("move_vectors", "Move the vectors"),
    ("sync_vectors", "Sync the vectors"), ("cleanup", "Clean up"),
    ("erase_disk", "Erase from the disk"),
]  # fmt: skip
_KNOWN = one_of("kind", _KINDS, name="operation_kind_known")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("ops", "0003_weekly_mail")]
    operations = [
        migrations.AlterField(
            "Operation", "kind", models.CharField(max_length=32, choices=_KINDS)
        ),
        migrations.RemoveConstraint("Operation", _KNOWN.name),
        AddConstraintNotValid("Operation", _KNOWN),
        ValidateConstraint("Operation", _KNOWN.name),
    ]
