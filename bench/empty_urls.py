"""The product's URLs and `POST /api/v1/bench/empty`."""

from django.urls import path
from rest_framework.response import Response

from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import Call, endpoint
from memcenter.rest.fields import Personal
from memcenter.urls import urlpatterns as ours


class EmptyView(MemcenterView):
    @endpoint(summary="Nothing", takes=Personal, answers={200: None})
    def post(self, call: Call) -> Response:
        return Response({})


urlpatterns = [path("api/v1/bench/empty", EmptyView.as_view()), *ours]
