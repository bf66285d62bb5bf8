"""The client's own paths below the root, which always end in a slash."""

from django.urls import path, re_path

from memcenter.compat.mem0 import entities, memories, other_endpoints

_ABSENT = other_endpoints.AbsentView.as_view()
_MEMORY = memories.MemoryView.as_view()

urlpatterns = [
    path("v1/ping/", other_endpoints.PingView.as_view()),
    path("v3/memories/add/", memories.AddView.as_view()),
    path("v3/memories/search/", memories.SearchView.as_view()),
    path("v3/memories/", memories.MemoriesView.as_view()),
    path("v1/memories/", memories.DeleteAllView.as_view()),
    path("v1/memories/<str:memory_id>/history/", memories.HistoryView.as_view()),
    path("v1/memories/<str:memory_id>/", _MEMORY),
    path("v1/batch/", other_endpoints.BatchView.as_view()),
    path("v1/entities/", entities.EntitiesView.as_view()),
    path("v2/entities/<str:kind>/<path:name>/", entities.EntityView.as_view()),
    path("v1/exports/", other_endpoints.ExportsView.as_view()),
    path("v1/exports/get/", other_endpoints.ExportView.as_view()),
    path("v1/summary/", other_endpoints.SummaryView.as_view()),
    path("v1/feedback/", other_endpoints.FeedbackView.as_view()),
    path("v1/events/", other_endpoints.EventsView.as_view()),
    path("v1/event/<str:op_id>/", other_endpoints.EventView.as_view()),
    path("v2/profiles/<path:rest>", _ABSENT),
    # These paths look like ours but aren't part of our API.
    re_path(r"^api/v1/(?:orgs|webhooks)/.+/$", _ABSENT),
]
