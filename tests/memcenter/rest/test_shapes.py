"""A shape renders a row by its fields."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from rest_framework import serializers

from memcenter.rest.fields import Shape


class Speaker(Shape):
    name = serializers.CharField(source="person.name", allow_null=True)


class Talk(Shape):
    id = serializers.CharField(source="public_id")
    title = serializers.CharField()
    note = serializers.CharField(allow_null=True)
    count = serializers.IntegerField(required=False)
    speakers = Speaker(many=True, required=False)
    first = Speaker(source="*", required=False)


ANA = SimpleNamespace(person=SimpleNamespace(name="Ana"))
ROW = {"public_id": "conv_1", "title": "", "note": ""}


def shown(**more: Any) -> dict[str, Any]:
    return Talk.show(SimpleNamespace(**ROW, **more))


def test_an_empty_text_is_null_only_where_null_is_allowed() -> None:
    assert shown(person=None) == {
        "id": "conv_1",
        "title": "",
        "note": None,
        "first": {"name": None},
    }


def test_an_optional_field_is_left_out_without_a_value() -> None:
    assert not {"count", "speakers"} & set(shown(count=0, speakers=[]))
    assert shown(count=2)["count"] == 2


def test_rows_inside_a_row_are_rendered_by_their_shape() -> None:
    nobody = SimpleNamespace(person=None)
    assert shown(speakers=[ANA, nobody])["speakers"] == [{"name": "Ana"}, {"name": None}]
    assert shown(speakers=[{"name": "as it is"}])["speakers"] == [{"name": "as it is"}]


def test_given_values_take_the_place_of_those_of_the_row() -> None:
    row = SimpleNamespace(**ROW)
    found = Talk.show(row, id="conv_2", count=3, speakers=[ANA], first=None)
    assert found == {
        "id": "conv_2",
        "title": "",
        "note": None,
        "count": 3,
        "speakers": [{"name": "Ana"}],
    }


def test_a_dict_is_read_by_its_keys() -> None:
    assert Talk.show({**ROW, "title": "Dinner"}, first=None)["title"] == "Dinner"


def test_a_required_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(AttributeError):
        Talk.show(SimpleNamespace(public_id="conv_1", note=""))
    with pytest.raises(KeyError):
        Talk.show({"public_id": "conv_1", "note": ""})
