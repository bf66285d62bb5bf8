"""The model that extracts and arbitrates, between two tests or two states of its server."""

from memories import language_steps


def forget_model() -> None:
    """What is known of it, such as that it doesn't answer, is asked anew."""
    language_steps.chat_model(language_steps.endpoint()).close()
    language_steps.chat_model.cache_clear()
