from django.urls import path

from ops.pages import (
    connections,
    data,
    forgetting,
    people,
    preferences,
    second_factor,
    sign_in,
)

urlpatterns = [
    path("signin/", sign_in.sign_in, name="sign_in"),
    path("signin/link/<str:token>/", sign_in.sign_in_by_link, name="sign_in_by_link"),
    path("signin/code/", second_factor.sign_in_code, name="sign_in_code"),
    path("signin/oidc/", second_factor.oidc_begin, name="oidc_begin"),
    path("signin/oidc/return/", second_factor.oidc_return, name="oidc_return"),
    path("settings/signin/", second_factor.signin_settings, name="signin_settings"),
    path("settings/signin/code/on/", second_factor.second_factor_on, name="second_factor_on"),
    path("settings/signin/code/off/", second_factor.second_factor_off, name="second_factor_off"),
    path(
        "settings/signin/code/renew/", second_factor.second_factor_renew, name="second_factor_renew"
    ),
    path("settings/signin/connect/", second_factor.identity_connect, name="identity_connect"),
    path(
        "settings/signin/disconnect/", second_factor.identity_disconnect, name="identity_disconnect"
    ),
    path("settings/password/first/", sign_in.first_password, name="first_password"),
    path("join/<str:token>/", sign_in.join, name="join"),
    path("welcome/", preferences.welcome, name="welcome"),
    path("people/", people.people, name="people"),
    path("people/registration/", people.registration_switch, name="registration_switch"),
    path("people/invitations/<int:pk>/revoke/", people.invitation_revoke, name="invitation_revoke"),
    path("people/<int:pk>/", people.person_page, name="person_page"),
    path("people/<int:pk>/role/", people.person_role, name="person_role"),
    path("people/<int:pk>/handover/", people.person_hand_over, name="person_hand_over"),
    path("people/<int:pk>/active/", people.person_active, name="person_active"),
    path(
        "people/<int:pk>/keys/<int:key>/revoke/", people.person_key_revoke, name="person_key_revoke"
    ),
    path("register/", sign_in.register, name="register"),
    path("signout/", sign_in.sign_out, name="sign_out"),
    path("settings/", preferences.settings_page, name="settings_page"),
    path("settings/preferences/", preferences.save_preferences, name="save_preferences"),
    path("settings/switches/<str:name>/", preferences.set_switch, name="set_switch"),
    path("settings/theme/", preferences.set_theme, name="set_theme"),
    path("settings/mail/", preferences.weekly_mail_on, name="weekly_mail_on"),
    path("settings/mail/off/", preferences.weekly_mail_off, name="weekly_mail_off"),
    path("mail/confirm/<str:token>/", preferences.weekly_mail_confirm, name="weekly_mail_confirm"),
    path("mail/stop/<str:token>/", preferences.weekly_mail_stop, name="weekly_mail_stop"),
    path("settings/keys/", connections.api_keys, name="api_keys"),
    path("settings/keys/<int:pk>/revoke/", connections.api_key_revoke, name="api_key_revoke"),
    path("settings/webhooks/", connections.webhook_list, name="webhook_list"),
    path("settings/webhooks/<str:webhook_id>/test/", connections.webhook_try, name="webhook_try"),
    path(
        "settings/webhooks/<str:webhook_id>/switch/",
        connections.webhook_switch,
        name="webhook_switch",
    ),
    path(
        "settings/webhooks/<str:webhook_id>/remove/",
        connections.webhook_remove,
        name="webhook_remove",
    ),
    path("settings/sessions/", sign_in.session_list, name="session_list"),
    path("settings/sessions/others/end/", sign_in.session_end_others, name="session_end_others"),
    path("settings/password/", sign_in.password_change, name="password_change"),
    path("settings/sessions/<int:pk>/end/", sign_in.session_end, name="session_end"),
    path("i18n/setlang/", preferences.set_language, name="set_language"),
    path("memory/data/", data.data_management, name="data_management"),
    path("memory/data/operations/<str:op_id>/retry/", data.operation_retry, name="operation_retry"),
    path(
        "memory/data/operations/<str:op_id>/cancel/", data.operation_cancel, name="operation_cancel"
    ),
    path("memory/data/everything/", forgetting.forget_everything, name="forget_everything"),
    path("memory/receipts/<str:receipt_id>/", forgetting.receipt_page, name="receipt_page"),
    path(
        "memory/receipts/<str:receipt_id>/download/",
        forgetting.receipt_download,
        name="receipt_download",
    ),
    path("forgotten/<str:op_id>/", forgetting.forgotten, name="forgotten"),
    path(
        "forgotten/<str:op_id>/receipt/",
        forgetting.forgotten_receipt,
        name="forgotten_receipt",
    ),
]
