from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from memcenter import monitoring
from memcenter.mcp import views as mcp
from memcenter.rest.openapi import SCHEMA_RENDERERS, ReferencePage
from ops.pages import sign_in

handler400 = "memcenter.rest.responses.bad_request"
handler404 = "memcenter.rest.responses.not_found"
handler500 = "memcenter.rest.responses.server_error"

urlpatterns = [
    path("readyz", monitoring.ready, name="ready"),
    path("metrics", monitoring.metrics, name="metrics"),
    path(
        "api/schema/",
        SpectacularAPIView.as_view(renderer_classes=SCHEMA_RENDERERS),
        name="schema",
    ),
    path("api/docs/", ReferencePage.as_view(), name="docs"),
    path("api/docs/try/", SpectacularSwaggerView.as_view(url_name="schema"), name="docs_try"),
    path("api/v1/", include("conversations.api.urls")),
    path("api/v1/", include("memories.api.urls")),
    path("api/v1/", include("ops.api.urls")),
    path("mcp", mcp.mcp, name="mcp"),
    path("mcp/", mcp.mcp, name="mcp-slashed"),
    path("v1/", include("memcenter.compat.openai_chat.views")),
    path("", include("memcenter.compat.mem0.other_endpoints")),
    path("", include("conversations.urls")),
    path("admin/login/", sign_in.staff_sign_in),
    path("admin/password_change/", RedirectView.as_view(pattern_name="session_list")),
    path("admin/", admin.site.urls),
    path("memory/", include("memories.urls")),
    path("", include("ops.urls")),
]
