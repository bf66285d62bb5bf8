from django.urls import path

from memories.views import (
    acts,
    conversation,
    forgetting,
    list,
    memory,
    pictures,
    review,
    shelves,
    writing,
)

_ONE = "long-term/<str:memory_id>/"

urlpatterns = [
    path("", list.memory_home, name="memory_home"),
    path("conversation/", conversation.memory_conversation, name="memory_conversation"),
    path("long-term/", list.memory_list, name="memory_list"),
    path("long-term/add/", writing.memory_add, name="memory_add"),
    path("long-term/bulk/", acts.memory_bulk, name="memory_bulk"),
    path("long-term/undo/<str:token>/", acts.memory_undo, name="memory_undo"),
    path(_ONE, memory.memory_page, name="memory_page"),
    path(f"{_ONE}edit/", writing.memory_edit, name="memory_edit"),
    path(f"{_ONE}pin/", acts.memory_pin, name="memory_pin"),
    path(f"{_ONE}unpin/", acts.memory_unpin, name="memory_unpin"),
    path(f"{_ONE}disable/", acts.memory_disable, name="memory_disable"),
    path(f"{_ONE}enable/", acts.memory_enable, name="memory_enable"),
    path(f"{_ONE}delete/", acts.memory_delete, name="memory_delete"),
    path(f"{_ONE}restore/", acts.memory_restore, name="memory_restore"),
    path(f"{_ONE}forget/", forgetting.memory_forget, name="memory_forget"),
    path(
        f"{_ONE}versions/<int:number>/restore/",
        writing.memory_restore_version,
        name="memory_restore_version",
    ),
    path("review/", review.memory_review, name="memory_review"),
    path("review/<str:memory_id>/", review.memory_decide, name="memory_decide"),
    path("bin/", shelves.memory_bin, name="memory_bin"),
    path("bin/empty/", forgetting.bin_empty, name="bin_empty"),
    path("projects/<path:key>/forget/", forgetting.project_forget, name="project_forget"),
    path("pictures/", pictures.memory_pictures, name="memory_pictures"),
    path("refused/", shelves.memory_refusals, name="memory_refusals"),
]
