"""URL patterns that work with and without a slash at the end."""

from django.urls import URLPattern, path
from rest_framework.views import APIView

SLASHED = "-slashed"


def routes(*pairs: tuple[str, type[APIView]]) -> list[URLPattern]:
    patterns = []
    for route, view in pairs:
        handler = view.as_view()
        patterns.append(path(route, handler, name=view.__name__))
        patterns.append(path(f"{route}/", handler, name=view.__name__ + SLASHED))
    return patterns
