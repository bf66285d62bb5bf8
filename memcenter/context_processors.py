from typing import Any

from django.http import HttpRequest


def personal(request: HttpRequest) -> dict[str, Any]:
    """`theme` and `user_settings` for every page."""
    own = getattr(request, "user_settings", None)
    return {"user_settings": own, "theme": own.theme if own else "auto"}
