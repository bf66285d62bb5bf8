"""`column__any_of=[…]`: one array for the database, where `__in` would send each value apart."""

from __future__ import annotations

from typing import Any

from django.db.models import Field, Lookup


@Field.register_lookup
class AnyOf(Lookup):
    """Equal to any of a list of any length: a statement takes 65,535 values and no more."""

    lookup_name = "any_of"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        column, values = self.process_lhs(compiler, connection)
        return f"{column} = ANY(%s)", (*values, list(self.rhs))
