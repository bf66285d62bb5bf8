from django.apps import AppConfig


class OpsConfig(AppConfig):
    name = "ops"

    def ready(self) -> None:
        from ops import operations, user_data  # noqa: F401 - they register themselves
