from memcenter.rest.routing import routes
from ops.api import views_operations as operations
from ops.api import views_settings, views_signin_links

urlpatterns = routes(
    ("signin-links", views_signin_links.SignInLinksView),
    ("memory/settings", views_settings.SettingsView),
    ("memory/ops", operations.OperationsView),
    ("memory/ops/<str:op_id>", operations.OperationView),
    ("memory/ops/<str:op_id>/events", operations.OperationEventsView),
    ("memory/ops/<str:op_id>/retry", operations.OperationRetryView),
    ("memory/ops/<str:op_id>/cancel", operations.OperationCancelView),
    ("memory/ops/<str:op_id>/receipt", operations.OperationReceiptView),
)
