"""Under the root: the client's own paths, always with a slash at the end."""

from django.urls import path, re_path

from memcenter.compat.mem0 import entities, memories, others

_ABSENT = others.AbsentView.as_view()
_MEMORY = memories.MemoryView.as_view()

urlpatterns = [
    path("v1/ping/", others.PingView.as_view()),
    path("v3/memories/add/", memories.AddView.as_view()),
    path("v3/memories/search/", memories.SearchView.as_view()),
    path("v3/memories/", memories.MemoriesView.as_view()),
    path("v1/memories/", memories.DeleteAllView.as_view()),
    path("v1/memories/<str:memory_id>/history/", memories.HistoryView.as_view()),
    path("v1/memories/<str:memory_id>/", _MEMORY),
    path("v1/batch/", others.BatchView.as_view()),
    path("v1/entities/", entities.EntitiesView.as_view()),
    path("v2/entities/<str:kind>/<path:name>/", entities.EntityView.as_view()),
    path("v1/exports/", others.ExportsView.as_view()),
    path("v1/exports/get/", others.ExportView.as_view()),
    path("v1/summary/", others.SummaryView.as_view()),
    path("v1/feedback/", others.FeedbackView.as_view()),
    path("v1/events/", others.EventsView.as_view()),
    path("v1/event/<str:op_id>/", others.EventView.as_view()),
    path("v2/profiles/<path:rest>", _ABSENT),
    # Their paths look like ours, but are no part of our API.
    re_path(r"^api/v1/(?:orgs|webhooks)/.+/$", _ABSENT),
]
