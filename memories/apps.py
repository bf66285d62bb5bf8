from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    name = "memories"

    def ready(self) -> None:
        from memories import (  # noqa: F401 - they register themselves
            forget_operations,
            operations,
            readable,
            recycling_decisions,
            revise_operations,
            user_data,
        )
