"""The model that extracts and arbitrates, between two tests or two states of its server."""

from memories.services import providers


def forget_model() -> None:
    """What is known of it, such as that it doesn't answer, is asked anew."""
    providers.chat_model(providers.endpoint()).close()
    providers.chat_model.cache_clear()
