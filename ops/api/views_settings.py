"""The switches of a user."""

from __future__ import annotations

from rest_framework.response import Response

from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import CREATE, EMPTY, Call, endpoint
from memcenter.rest.requests.fields import Personal
from ops.accounts import users
from ops.api import rendering, serializers


class SettingsView(MemcenterView):
    @endpoint(
        summary="The switches and preferences of a user",
        takes=Personal,
        answers={200: serializers.Settings},
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        return Response(rendering.settings(users.settings_of(call.user), user=call.user))

    @endpoint(
        summary="Change what is named",
        takes=serializers.SettingsInput,
        answers={200: serializers.Settings},
        unknown_user=CREATE,
    )
    def put(self, call: Call) -> Response:
        return _change(call)

    @endpoint(
        summary="Change what is named",
        takes=serializers.SettingsInput,
        answers={200: serializers.Settings},
        unknown_user=CREATE,
    )
    def patch(self, call: Call) -> Response:
        return _change(call)


def _change(call: Call) -> Response:
    changes = {name: value for name, value in call.data.items() if name != "user_id"}
    row = users.change_settings(user=call.user, changes=changes)
    return Response(rendering.settings(row, user=call.user))
