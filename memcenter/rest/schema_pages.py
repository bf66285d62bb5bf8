"""The pages that serve the OpenAPI description."""

from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView


class SchemaView(SpectacularAPIView):
    renderer_classes = [OpenApiJsonRenderer, OpenApiYamlRenderer]


class DocsView(SpectacularSwaggerView):
    url_name = "schema"
