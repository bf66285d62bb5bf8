from conversations.api import views_conversations as conversations
from conversations.api import views_forgetting as forgetting
from conversations.api import views_messages as messages
from conversations.api import views_recall as recall
from conversations.api import views_transfer as transfer
from conversations.api.views_feedback import FeedbackView
from conversations.api.views_turns import TurnsView
from memcenter.rest.routing import routes

urlpatterns = routes(
    ("turns", TurnsView),
    ("conversations", conversations.ConversationsView),
    ("conversations/<str:conversation_id>", conversations.ConversationView),
    ("conversations/<str:conversation_id>/messages", messages.ConversationMessagesView),
    ("messages/<str:message_id>", messages.MessageView),
    ("feedback", FeedbackView),
    ("memory/context", recall.ContextView),
    ("memory/summary", recall.SummaryView),
    ("memory/episodes", recall.EpisodesView),
    ("memory/forget", forgetting.ForgetView),
    ("memory/export", transfer.ExportView),
    ("memory/export/<str:op_id>/download", transfer.ExportDownloadView),
    ("memory/import", transfer.ImportView),
    ("clear", forgetting.ClearView),
)
