from django.contrib import admin
from django.utils.translation import gettext_lazy

from conversations.models import Conversation, Episode, Feedback, Message, Summary, Turn
from ops.admin.base import ReadOnlyAdmin


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    called = gettext_lazy("conversation"), gettext_lazy("conversations")
    masked = ("title", "speakers")
    list_display = ("public_id", "user", "title", "kind", "message_count", "last_message_at")
    list_filter = ("kind",)
    search_fields = ("=public_id", "=external_id", "=user__username", "=user__external_id")


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    called = gettext_lazy("message"), gettext_lazy("messages")
    masked = ("content", "speaker")
    list_display = ("public_id", "user", "conversation", "number", "role", "content", "created_at")
    list_filter = ("role",)
    search_fields = ("=public_id", "=external_id", "=conversation__public_id")


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    called = gettext_lazy("question with answer"), gettext_lazy("questions with answers")
    masked = ("tools", "labels")
    list_display = ("public_id", "user", "conversation", "extracted_at", "created_at")
    search_fields = ("=public_id", "=conversation__public_id")


@admin.register(Summary)
class SummaryAdmin(ReadOnlyAdmin):
    called = gettext_lazy("summary"), gettext_lazy("summaries")
    masked = ("text",)
    list_display = ("public_id", "user", "conversation", "version", "text", "through_number")
    search_fields = ("=public_id", "=conversation__public_id")


@admin.register(Episode)
class EpisodeAdmin(ReadOnlyAdmin):
    called = gettext_lazy("earlier moment"), gettext_lazy("earlier moments")
    list_display = ("public_id", "user", "conversation", "turn", "created_at")
    search_fields = ("=public_id", "=conversation__public_id")


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin):
    called = gettext_lazy("rating of an answer"), gettext_lazy("ratings of answers")
    masked = ("comment",)
    list_display = ("pk", "user", "message", "rating", "comment", "created_at")
    list_filter = ("rating",)
