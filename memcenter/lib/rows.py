"""What the models of all apps share."""

from typing import TypeVar

from django.db import models

Row = TypeVar("Row", bound=models.Model)


class VisibleManager(models.Manager[Row]):
    """Leaves out rows that are being forgotten: from the request on, nothing shows them."""

    def get_queryset(self) -> models.QuerySet[Row]:
        return super().get_queryset().filter(hidden_at__isnull=True)


def one_of(field: str, choices: type[models.TextChoices], *, name: str) -> models.CheckConstraint:
    """A check that holds a column to its `TextChoices` in the database."""
    return models.CheckConstraint(condition=models.Q(**{f"{field}__in": choices.values}), name=name)
