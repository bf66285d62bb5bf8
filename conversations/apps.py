from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "conversations"

    def ready(self) -> None:
        # These modules register themselves.
        import conversations.forgetting.operations
        import conversations.forgetting.reapplied_forgets
        import conversations.importing.operations
        import conversations.operations
        import conversations.transfer.readable_pages
        import conversations.transfer.user_data  # noqa: F401
