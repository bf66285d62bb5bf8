from django.apps import AppConfig


class MemcenterConfig(AppConfig):
    name = "memcenter"

    def ready(self) -> None:
        from foundation import telemetry

        telemetry.watch_slow_queries()
