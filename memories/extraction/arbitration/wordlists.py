"""How word lists are written in this package: as text, several words a line."""


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())
