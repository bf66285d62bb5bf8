from django.contrib import admin

from conversations.models import Conversation, Episode, Feedback, Message, Summary, Turn
from ops.admin.base import ReadOnlyAdmin


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    masked = ("title", "speakers")
    list_display = ("public_id", "user", "title", "kind", "message_count", "last_message_at")
    list_select_related = ("user",)
    list_filter = ("kind",)
    search_fields = ("=public_id", "=external_id", "=user__username", "=user__external_id")


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    masked = ("content", "speaker")
    list_display = ("public_id", "user", "conversation", "number", "role", "content", "created_at")
    list_select_related = ("user", "conversation")
    list_filter = ("role",)
    search_fields = ("=public_id", "=external_id", "=conversation__public_id")


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    masked = ("tools", "labels")
    list_display = ("public_id", "user", "conversation", "extracted_at", "created_at")
    list_select_related = ("user", "conversation", "user_message", "assistant_message")
    search_fields = ("=public_id", "=conversation__public_id")


@admin.register(Summary)
class SummaryAdmin(ReadOnlyAdmin):
    masked = ("text",)
    list_display = ("public_id", "user", "conversation", "version", "text", "through_number")
    list_select_related = ("user", "conversation")
    search_fields = ("=public_id", "=conversation__public_id")


@admin.register(Episode)
class EpisodeAdmin(ReadOnlyAdmin):
    list_display = ("public_id", "user", "conversation", "turn", "created_at")
    list_select_related = ("user", "conversation", "turn")
    search_fields = ("=public_id", "=conversation__public_id")


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin):
    masked = ("comment",)
    list_display = ("pk", "user", "message", "rating", "comment", "created_at")
    list_select_related = ("user", "message")
    list_filter = ("rating",)
