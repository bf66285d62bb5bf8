from django.apps import AppConfig


class OpsConfig(AppConfig):
    name = "ops"

    def ready(self) -> None:
        from ops import (  # noqa: F401 - they register themselves
            access_decisions,
            disk_operations,
            export_operations,
            operations,
            readable,
            user_data,
            webhook_operations,
        )
