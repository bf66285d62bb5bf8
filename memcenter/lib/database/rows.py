"""Helpers shared by the models of all apps."""

from typing import TypeVar

from django.db import models

Row = TypeVar("Row", bound=models.Model)


class VisibleManager(models.Manager[Row]):
    """Excludes rows that are being forgotten, from the moment of the request."""

    def get_queryset(self) -> models.QuerySet[Row]:
        return super().get_queryset().filter(hidden_at__isnull=True)


def one_of(field: str, choices: type[models.TextChoices], *, name: str) -> models.CheckConstraint:
    """Return a check constraint that restricts a column to its `TextChoices`."""
    return models.CheckConstraint(condition=models.Q(**{f"{field}__in": choices.values}), name=name)
