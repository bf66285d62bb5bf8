"""The parts of an imported conversation."""

from conversations.importing.formats.values import ImportedConversation, ImportedMessage


def unpaired(talk: ImportedConversation) -> list[ImportedMessage]:
    return [part for part in talk.parts() if isinstance(part, ImportedMessage)]
