from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    name = "memories"

    def ready(self) -> None:
        # These modules register themselves.
        import memories.forgetting.operations
        import memories.operations
        import memories.transfer.readable_pages
        import memories.transfer.recycling_decisions
        import memories.transfer.user_data  # noqa: F401
