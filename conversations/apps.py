from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "conversations"

    def ready(self) -> None:
        from conversations import (  # noqa: F401 - they register themselves
            forget_operations,
            import_operations,
            operations,
            readable,
            reapplying,
            user_data,
        )
