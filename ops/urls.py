from django.urls import path

from ops.views import (
    data,
    forgetting,
    keys,
    preferences,
    receipts,
    sessions,
    signin_links,
    signing,
    webhooks,
)

urlpatterns = [
    path("signin/", signing.sign_in, name="sign_in"),
    path("signin/link/<str:token>/", signin_links.sign_in_by_link, name="sign_in_by_link"),
    path("settings/password/first/", signin_links.first_password, name="first_password"),
    path("register/", signing.register, name="register"),
    path("signout/", signing.sign_out, name="sign_out"),
    path("settings/", preferences.settings_page, name="settings_page"),
    path("settings/theme/", preferences.set_theme, name="set_theme"),
    path("settings/keys/", keys.api_keys, name="api_keys"),
    path("settings/keys/<int:pk>/revoke/", keys.api_key_revoke, name="api_key_revoke"),
    path("settings/webhooks/", webhooks.webhook_list, name="webhook_list"),
    path("settings/webhooks/<str:webhook_id>/test/", webhooks.webhook_try, name="webhook_try"),
    path(
        "settings/webhooks/<str:webhook_id>/remove/", webhooks.webhook_remove, name="webhook_remove"
    ),
    path("settings/sessions/", sessions.session_list, name="session_list"),
    path("settings/sessions/others/end/", sessions.session_end_others, name="session_end_others"),
    path("settings/password/", sessions.password_change, name="password_change"),
    path("settings/sessions/<int:pk>/end/", sessions.session_end, name="session_end"),
    path("i18n/setlang/", preferences.set_language, name="set_language"),
    path("memory/data/", data.data_management, name="data_management"),
    path("memory/data/preferences/", preferences.save_preferences, name="save_preferences"),
    path("memory/data/switches/<str:name>/", preferences.set_switch, name="set_switch"),
    path("memory/data/operations/<str:op_id>/retry/", data.operation_retry, name="operation_retry"),
    path(
        "memory/data/operations/<str:op_id>/cancel/", data.operation_cancel, name="operation_cancel"
    ),
    path("memory/data/everything/", forgetting.forget_everything, name="forget_everything"),
    path("memory/receipts/<str:receipt_id>/", receipts.receipt_page, name="receipt_page"),
    path(
        "memory/receipts/<str:receipt_id>/download/",
        receipts.receipt_download,
        name="receipt_download",
    ),
    path("forgotten/<str:op_id>/", forgetting.forgotten, name="forgotten"),
    path("forgotten/<str:op_id>/receipt/", forgetting.forgotten_receipt, name="forgotten_receipt"),
]
