"""Rows of one person only, whatever a statement asks for."""

from django.db import migrations

from memcenter.lib.database.row_security import rows_of_one_person

_TABLES = (
    "memories_project",
    "memories_memory",
    "memories_memoryversion",
    "memories_versioninput",
    "memories_fragment",
    "memories_arbitration",
    "memories_memoryfile",
    "memories_fileversion",
    "memories_dailynote",
    "memories_relation",
    "memories_source",
    "memories_refusal",
    "memories_tombstone",
    "memories_recalltrace",
    "memories_recallhit",
    "memories_vector",
    "memories_lexicalentry",
)


class Migration(migrations.Migration):
    dependencies = [("memories", "0009_lines_of_files"), ("ops", "0014_row_security")]
    operations = [rows_of_one_person(table) for table in _TABLES]
