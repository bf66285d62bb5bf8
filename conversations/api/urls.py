from conversations.api import views_conversations as conversations
from conversations.api import views_data as data
from conversations.api import views_recall as recall
from memcenter.rest.base import routes

urlpatterns = routes(
    ("turns", conversations.TurnsView),
    ("conversations", conversations.ConversationsView),
    ("conversations/<str:conversation_id>", conversations.ConversationView),
    ("conversations/<str:conversation_id>/messages", conversations.ConversationMessagesView),
    ("messages/<with_slashes:message_id>", conversations.MessageView),
    ("feedback", conversations.FeedbackView),
    ("memory/context", recall.ContextView),
    ("memory/summary", recall.SummaryView),
    ("memory/episodes", recall.EpisodesView),
    ("memory/forget", data.ForgetView),
    ("memory/export", data.ExportView),
    ("memory/export/<str:op_id>/download", data.ExportDownloadView),
    ("memory/import", data.ImportView),
    ("clear", data.ClearView),
)
