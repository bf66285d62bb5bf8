from django.apps import AppConfig


class OpsConfig(AppConfig):
    name = "ops"

    def ready(self) -> None:
        # These modules register their handlers when they are imported.
        import ops.accounts.access_decisions
        import ops.disk.disk_erasure
        import ops.forgetting.person_forgets
        import ops.transfer.exports
        import ops.transfer.user_data
        import ops.webhooks
        import ops.weekly_mail  # noqa: F401
