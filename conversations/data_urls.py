from django.urls import path

from conversations.views import data

urlpatterns = [
    path("conversations/", data.data_conversations, name="data_conversations"),
    path("layers/<str:layer>/delete/", data.data_layer_delete, name="data_layer_delete"),
]
