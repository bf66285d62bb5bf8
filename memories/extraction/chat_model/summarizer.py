"""Summarise conversations with a chat model; secrets are masked in its input and its answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from foundation.providers.base import TooLong
from foundation.text import segment, tokens
from memories.extraction import masking
from memories.extraction.chat_model import model_calls, prompts
from memories.extraction.chat_model.model_calls import Asker, UnreadableAnswer, pieces

_PIECE = 3_000  # tokens of messages in one question; halved if the model can't read so many
_FEWEST_TOKENS = 200  # minimum size of a piece
_LONGEST_MESSAGE = 1_000  # tokens
_END = re.compile(r"(?<=[。！？!?；])|(?<=\.)\s")


class ModelSummarizer:
    """Summarise the messages piece by piece; each question includes the summary so far."""

    name = "model"

    def __init__(self, asker: Asker, *, count: Callable[[str], int] = tokens.count) -> None:
        self._asker = asker
        self._count = count

    def summarize(
        self, previous: str, messages: Sequence[tuple[str, str]], *, max_tokens: int
    ) -> str:
        shown = ((role, masking.masked(text)) for role, text in messages if text.strip())
        said = [(role, tokens.truncate(text, limit=_LONGEST_MESSAGE)) for role, text in shown]
        if not said or max_tokens <= 0:
            return ""
        language = segment.language(" ".join(text[:200] for _, text in said[-200:]))
        return self._summarize_pieces(
            masking.masked(previous), said, language, max_tokens=max_tokens, size=_PIECE
        )

    def _summarize_pieces(
        self,
        summary: str,
        said: Sequence[tuple[str, str]],
        language: str,
        *,
        max_tokens: int,
        size: int,
    ) -> str:
        for piece in pieces(said, cost=lambda message: self._count(message[1]), most=size):
            material = {
                "previous": summary,
                "messages": [{"role": role, "text": text} for role, text in piece],
            }
            prompt = prompts.summary(material, language=language, max_tokens=max_tokens)
            try:
                answer = self._asker.ask(prompt, read=_summary)
                summary = self._fitting(answer, max_tokens=max_tokens)
            except TooLong:
                if size // 2 < _FEWEST_TOKENS:
                    raise
                shorter = [(role, tokens.truncate(text, limit=size // 2)) for role, text in piece]
                summary = self._summarize_pieces(
                    summary, shorter, language, max_tokens=max_tokens, size=size // 2
                )
        return summary

    def _fitting(self, text: str, *, max_tokens: int) -> str:
        """Return the first sentences that fit into `max_tokens`, without repeated sentences.

        If the first sentence doesn't fit, return its beginning.
        """
        kept = ""
        for sentence in dict.fromkeys(part.strip() for part in _END.split(text) if part.strip()):
            space = " " if kept and kept[-1].isascii() else ""
            if self._count(f"{kept}{space}{sentence}") > max_tokens:
                break
            kept += f"{space}{sentence}"
        return kept or tokens.truncate(text, limit=max_tokens).strip()


def _summary(answer: str) -> str:
    text = masking.screen(model_calls.text_of(answer, name="summary")).text
    if not any(sign.isalnum() for sign in text):
        raise UnreadableAnswer
    return text
