"""The pages that serve the OpenAPI description."""

from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView


class JsonRenderer(OpenApiJsonRenderer):
    """The same for clients that accept plain JSON."""

    media_type = "application/json"


class SchemaView(SpectacularAPIView):
    renderer_classes = [OpenApiJsonRenderer, JsonRenderer, OpenApiYamlRenderer]


class DocsView(SpectacularSwaggerView):
    url_name = "schema"
