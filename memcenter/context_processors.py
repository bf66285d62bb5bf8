from typing import Any

from django.conf import settings
from django.http import HttpRequest

from ops.models import Theme


def personal(request: HttpRequest) -> dict[str, Any]:
    """`theme`, `user_settings` and `language_model` (empty: the bundled rules) for every page."""
    own = getattr(request, "user_settings", None)
    chosen = own.theme if own else request.COOKIES.get("theme", "")
    return {
        "user_settings": own,
        "theme": chosen if chosen in Theme.values else Theme.AUTO.value,
        "language_model": settings.MODEL_NAME if settings.LANGUAGE_METHOD == "model" else "",
    }
