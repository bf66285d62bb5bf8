import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.db.models import Model, UniqueConstraint

from ops import registry
from ops.models import Kind, User
from tests.rows import personal_models

OURS = ("ops", "conversations", "memories")
# Their handlers come with the issues that enqueue them.
LATER = {
    Kind.EXTRACT_CONVERSATION,
    Kind.CONSOLIDATE,
    Kind.EXPORT_CONVERSATION,
    Kind.EXPORT_USER,
    Kind.IMPORT,
    Kind.REINDEX,
    Kind.SYNC_FILES,
    Kind.DELIVER_WEBHOOK,
}


def our_models() -> list[type[Model]]:
    return [model for model in apps.get_models() if model._meta.app_label in OURS]


def registered() -> list[type[Model]]:
    return [model for one in registry.participants() for model in one.models]


@pytest.mark.parametrize("model", our_models(), ids=lambda model: model.__name__)
def test_every_model_says_whether_it_holds_personal_data(model: type[Model]) -> None:
    assert isinstance(getattr(model, "personal_data", None), bool)


@pytest.mark.parametrize("model", personal_models(), ids=lambda model: model.__name__)
def test_every_personal_model_is_in_exactly_one_participant(model: type[Model]) -> None:
    assert registered().count(model) == 1


def test_participants_hold_personal_models_only_and_have_names_of_their_own() -> None:
    assert set(registered()) <= set(personal_models())
    names = [one.name for one in registry.participants()]
    assert len(names) == len(set(names))


def test_the_account_is_erased_last() -> None:
    assert User in registry.participants()[-1].models


@pytest.mark.parametrize("model", personal_models(), ids=lambda model: model.__name__)
def test_every_personal_table_is_found_by_its_user(model: type[Model]) -> None:
    if model is User:
        return
    column = model._meta.get_field("user")
    own = bool(getattr(column, "db_index", False) or getattr(column, "unique", False))
    unique = [one for one in model._meta.constraints if isinstance(one, UniqueConstraint)]
    leading = [one.fields[0] for one in (*model._meta.indexes, *unique) if one.fields]
    assert own or "user" in leading


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.value)
def test_every_kind_has_a_handler_or_is_named_as_coming_later(kind: Kind) -> None:
    assert (kind.value in registry.handled_kinds()) or kind in LATER


def test_only_tables_of_ours_and_the_admins_log_point_at_a_person() -> None:
    foreign = {
        relation.related_model
        for relation in User._meta.related_objects
        if relation.related_model._meta.app_label not in OURS
    }
    assert foreign == {LogEntry}
