from django.urls import path

from conversations.pages.manage import data, transfer

urlpatterns = [
    path("export/", transfer.export_everything, name="export_everything"),
    path("export/<str:op_id>/download/", transfer.export_download, name="export_download"),
    path("import/", transfer.import_file, name="import_file"),
    path("conversations/", data.data_conversations, name="data_conversations"),
    path("layers/<str:layer>/delete/", data.data_layer_delete, name="data_layer_delete"),
]
