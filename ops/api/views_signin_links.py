"""Sign-in links, by which a chat product sends its users to our pages."""

from __future__ import annotations

from django.conf import settings
from django.urls import reverse
from rest_framework.response import Response

from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import CREATE, Call, endpoint
from memcenter.rest.requests.idempotency import UnstoredResponse
from ops.accounts import signin_links
from ops.api import serializers
from ops.models import Scope


class SignInLinksView(MemcenterView):
    @endpoint(
        summary="A link that signs one person in, once, within ten minutes",
        takes=serializers.SignInLinkInput,
        answers={201: serializers.SignInLink},
        scope=Scope.SIGNIN,
        unknown_user=CREATE,
    )
    def post(self, call: Call) -> Response:
        made = signin_links.make(
            user=call.user,
            next_page=call.data.get("next", ""),
            language=call.data.get("language", ""),
        )
        url = settings.PUBLIC_URL.rstrip("/") + reverse("sign_in_by_link", args=[made.token])
        # Storing the answer for repeated calls would leave the link in our database.
        return UnstoredResponse({"url": url, "expires_at": made.link.expires_at}, status=201)
