from django.urls import path

from conversations.pages import answer_again, chat, forget_receipts, remember_message, turns
from conversations.pages.manage import conversation, transfer

_ONE = "c/<str:conversation_id>/"

urlpatterns = [
    path("", chat.chat_home, name="chat_home"),
    path("c/new/", chat.conversation_new, name="conversation_new"),
    path("c/temporary/", chat.temporary_new, name="temporary_new"),
    path(_ONE, chat.conversation_page, name="conversation"),
    path(f"{_ONE}answer/", answer_again.conversation_answer, name="conversation_answer"),
    path(f"{_ONE}stop/", answer_again.conversation_stop, name="conversation_stop"),
    path(f"{_ONE}edit/", answer_again.conversation_edit, name="conversation_edit"),
    path(f"{_ONE}rename/", conversation.conversation_rename, name="conversation_rename"),
    path(f"{_ONE}export/", transfer.conversation_export, name="conversation_export"),
    path(f"{_ONE}clear/", conversation.conversation_clear, name="conversation_clear"),
    path(f"{_ONE}delete/", conversation.conversation_delete, name="conversation_delete"),
    path("messages/<str:message_id>/forget/", turns.message_forget, name="message_forget"),
    path("forgets/<str:op_id>/", forget_receipts.forget_receipt, name="forget_receipt"),
    path(
        "messages/<str:message_id>/remember/",
        remember_message.message_remember,
        name="message_remember",
    ),
    path("messages/<str:message_id>/rate/", turns.message_rate, name="message_rate"),
    path("turns/<str:turn_id>/undo/", turns.turn_undo, name="turn_undo"),
    path("turns/<str:turn_id>/forget/", turns.turn_forget, name="turn_forget"),
    path("turns/<str:turn_id>/lessons/", turns.turn_lessons, name="turn_lessons"),
    path("turns/<str:turn_id>/owner/", turns.turn_owner, name="turn_owner"),
]
