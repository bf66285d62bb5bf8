from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class ConversationsConfig(AppConfig):
    name = "conversations"
    verbose_name = gettext_lazy("Conversations")

    def ready(self) -> None:
        # Importing these modules registers their handlers.
        import conversations.forgetting.operations
        import conversations.importing.file_import
        import conversations.recording.episodes
        import conversations.recording.summaries
        import conversations.transfer  # noqa: F401
