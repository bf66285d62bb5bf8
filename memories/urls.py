from django.urls import path

from memories.pages import (
    about_you,
    actions,
    charts,
    explanation,
    files,
    memory_form,
    memory_list,
    prompt_preview,
    review_inbox,
)

_ONE = "long-term/<str:memory_id>/"

urlpatterns = [
    path("", about_you.memory_home, name="memory_home"),
    path("tell/", about_you.memory_tell, name="memory_tell"),
    path("tell/keep/", about_you.memory_keep_told, name="memory_keep_told"),
    path("conversation/", prompt_preview.memory_conversation, name="memory_conversation"),
    path("long-term/", memory_list.memory_list, name="memory_list"),
    path("long-term/add/", memory_form.memory_add, name="memory_add"),
    path("long-term/bulk/", actions.memory_bulk, name="memory_bulk"),
    path("long-term/undo/<str:token>/", actions.memory_undo, name="memory_undo"),
    path(_ONE, explanation.memory_page, name="memory_page"),
    path(f"{_ONE}edit/", memory_form.memory_edit, name="memory_edit"),
    *(
        path(f"{_ONE}{action}/", actions.memory_act, {"action": action}, name=f"memory_{action}")
        for action in actions.ACTIONS
    ),
    path(f"{_ONE}rate/", actions.memory_rate, name="memory_rate"),
    path(f"{_ONE}forget/", actions.memory_forget, name="memory_forget"),
    path(
        f"{_ONE}versions/<int:number>/restore/",
        memory_form.memory_restore_version,
        name="memory_restore_version",
    ),
    path("review/", review_inbox.memory_review, name="memory_review"),
    path("review/undo/<str:token>/", review_inbox.memory_undecide, name="memory_undecide"),
    path("review/<str:memory_id>/", review_inbox.memory_decide, name="memory_decide"),
    path("bin/", memory_list.memory_bin, name="memory_bin"),
    path("bin/empty/", actions.bin_empty, name="bin_empty"),
    path("projects/<path:key>/forget/", actions.project_forget, name="project_forget"),
    path("files/", files.memory_files_list, name="memory_files"),
    path("files/new/", files.memory_file_add, name="memory_file_add"),
    path("files/note/", files.memory_note_add, name="memory_note_add"),
    path("files/bin/<int:file_id>/", files.memory_file_take_back, name="memory_file_take_back"),
    path("files/read/<path:path>", files.memory_file, name="memory_file"),
    path("files/edit/<path:path>", files.memory_file_edit, name="memory_file_edit"),
    path("files/delete/<path:path>", files.memory_file_delete, name="memory_file_delete"),
    path("files/history/<path:path>", files.memory_file_history, name="memory_file_history"),
    path("files/restore/<path:path>", files.memory_file_restore, name="memory_file_restore"),
    path("standing/", memory_list.memory_standing_line, name="memory_standing"),
    path("week/", about_you.memory_week, name="memory_week"),
    path("pictures/", charts.memory_pictures, name="memory_pictures"),
    path("refused/", memory_list.memory_refusals, name="memory_refusals"),
]
