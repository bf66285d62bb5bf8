"""Sign-in links: how a chat product sends its people over to us."""

from __future__ import annotations

from django.conf import settings
from django.urls import reverse
from rest_framework.response import Response

from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import CREATE, Call, endpoint
from memcenter.rest.idempotency import Passing
from ops.api import serializers
from ops.models import Scope
from ops.services import signin_links


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
        # Kept to be given again, the link would lie in our database.
        return Passing({"url": url, "expires_at": made.link.expires_at}, status=201)
