from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "conversations"

    def ready(self) -> None:
        # Importing these modules registers their handlers.
        import conversations.forgetting.operations
        import conversations.importing.file_import
        import conversations.recording.episodes
        import conversations.recording.summaries
        import conversations.transfer  # noqa: F401
