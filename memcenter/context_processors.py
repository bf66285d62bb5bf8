from typing import Any

from django.http import HttpRequest

from ops.models import Theme


def personal(request: HttpRequest) -> dict[str, Any]:
    """`theme` and `user_settings` for every page."""
    own = getattr(request, "user_settings", None)
    chosen = own.theme if own else request.COOKIES.get("theme", "")
    return {"user_settings": own, "theme": chosen if chosen in Theme.values else Theme.AUTO.value}
