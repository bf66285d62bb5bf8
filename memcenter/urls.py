from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from memcenter import health, prometheus
from memcenter.mcp import views as mcp
from memcenter.rest.description.schema_pages import DocsView, SchemaView
from ops.pages.account import sign_in

handler400 = "memcenter.rest.exceptions.bad_request"
handler404 = "memcenter.rest.exceptions.not_found"
handler500 = "memcenter.rest.exceptions.server_error"

urlpatterns = [
    path("readyz", health.ready, name="ready"),
    path("metrics", prometheus.metrics, name="metrics"),
    path("api/schema/", SchemaView.as_view(), name="schema"),
    path("api/docs/", DocsView.as_view(), name="docs"),
    path("api/v1/", include("conversations.api.urls")),
    path("api/v1/", include("memories.api.urls")),
    path("api/v1/", include("ops.api.urls")),
    path("mcp", mcp.mcp, name="mcp"),
    path("mcp/", mcp.mcp, name="mcp-slashed"),
    path("v1/", include("memcenter.compat.openai_chat.urls")),
    path("", include("memcenter.compat.mem0.urls")),
    path("", include("conversations.urls")),
    path("admin/login/", sign_in.staff_sign_in),
    path("admin/password_change/", RedirectView.as_view(pattern_name="session_list")),
    path("admin/", admin.site.urls),
    path("memory/", include("memories.urls")),
    path("", include("ops.urls")),
    path("memory/data/", include("conversations.pages.manage.urls")),
]
