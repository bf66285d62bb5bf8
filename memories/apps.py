from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class MemoriesConfig(AppConfig):
    name = "memories"
    verbose_name = gettext_lazy("Memories")

    def ready(self) -> None:
        # These modules register themselves when they are imported.
        import memories.forgetting.operations
        import memories.operations
        import memories.transfer.import_rows
        import memories.transfer.user_data
        import memories.weekly_changes  # noqa: F401
