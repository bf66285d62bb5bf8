from django.urls import path

from conversations.pages import chat, data_management, deletions, forget_receipts, message_actions

_ONE = "c/<str:conversation_id>/"
_DATA = "memory/data/"

urlpatterns = [
    path("", chat.chat_home, name="chat_home"),
    path("c/new/", chat.conversation_new, name="conversation_new"),
    path("c/temporary/", chat.temporary_new, name="temporary_new"),
    path(_ONE, chat.conversation_page, name="conversation"),
    path(f"{_ONE}answer/", chat.conversation_answer, name="conversation_answer"),
    path(f"{_ONE}stop/", chat.conversation_stop, name="conversation_stop"),
    path(f"{_ONE}edit/", chat.conversation_edit, name="conversation_edit"),
    path(f"{_ONE}rename/", chat.conversation_rename, name="conversation_rename"),
    path(f"{_ONE}export/", data_management.conversation_export, name="conversation_export"),
    path(f"{_ONE}clear/", deletions.conversation_clear, name="conversation_clear"),
    path(f"{_ONE}delete/", deletions.conversation_delete, name="conversation_delete"),
    path(
        "messages/<str:message_id>/forget/", message_actions.message_forget, name="message_forget"
    ),
    path("forgets/<str:op_id>/", forget_receipts.forget_receipt, name="forget_receipt"),
    path(
        "messages/<str:message_id>/remember/",
        message_actions.message_remember,
        name="message_remember",
    ),
    path("messages/<str:message_id>/rate/", message_actions.message_rate, name="message_rate"),
    path("turns/<str:turn_id>/undo/", message_actions.turn_undo, name="turn_undo"),
    path("turns/<str:turn_id>/forget/", message_actions.turn_forget, name="turn_forget"),
    path("turns/<str:turn_id>/lessons/", message_actions.turn_lessons, name="turn_lessons"),
    path("turns/<str:turn_id>/owner/", message_actions.turn_owner, name="turn_owner"),
    path(f"{_DATA}export/", data_management.export_everything, name="export_everything"),
    path(
        f"{_DATA}export/<str:op_id>/download/",
        data_management.export_download,
        name="export_download",
    ),
    path(f"{_DATA}import/", data_management.import_file, name="import_file"),
    path(f"{_DATA}conversations/", data_management.data_conversations, name="data_conversations"),
    path(
        f"{_DATA}layers/<str:layer>/delete/",
        data_management.data_layer_delete,
        name="data_layer_delete",
    ),
]
