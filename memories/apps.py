from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    name = "memories"

    def ready(self) -> None:
        # These modules register themselves.
        import memories.forgetting.operations
        import memories.operations
        import memories.transfer.import_rows
        import memories.transfer.user_data
        import memories.week_mail  # noqa: F401
