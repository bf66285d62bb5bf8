"""Find claims that the person accepted: "So you're vegan?" "Yes." The claim is the assistant's."""

import re

from memories.extraction.chat_model.quotations import Quotation
from memories.extraction.word_tables import compiled
from memories.screening import secret_search

_P = compiled("accepted_claims")
_LONGEST_YES = 48
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")


def accepted_claim(said: str, before: str) -> Quotation | None:
    """Return the last claim about the person in `before` if `said` agrees with it; never one with a
    secret.
    """
    if (
        not before
        or len(said) > _LONGEST_YES
        or not _P["agrees"].match(said.strip())
        or _P["but"].search(said)
    ):
        return None
    last = list(_SENTENCE.finditer(before[-600:]))[-2:]
    claims = [match for match in last if len(match[0]) < 160 and _is_claim(match[0])]
    quote = claims[-1][0].strip() if claims else ""
    return (
        Quotation(quote, before.rindex(quote)) if quote and not secret_search.find(quote) else None
    )


def _is_claim(sentence: str) -> bool:
    return bool(_P["about_user"].search(sentence)) and not _P["no_claim"].search(sentence)
