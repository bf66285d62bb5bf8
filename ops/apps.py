from django.apps import AppConfig


class OpsConfig(AppConfig):
    name = "ops"

    def ready(self) -> None:
        # These modules register themselves.
        import ops.accounts.access_decisions
        import ops.disk.operations
        import ops.operations
        import ops.transfer.operations
        import ops.transfer.readable_pages
        import ops.transfer.user_data
        import ops.webhooks.operations  # noqa: F401
