"""The bundled joint reader: what somebody tells of again and again is a habit."""

from collections.abc import Sequence

from memories.extraction import repeated
from memories.extraction.joint import habits
from memories.extraction.joint.types import Gathered, Heard


class BundledJointReader:
    """Gives only what no turn says by itself; the reader saw the messages before each already."""

    name = "bundled"

    def read(self, turns: Sequence[Heard]) -> list[Gathered]:
        block = repeated.folded(turns[0].text.known_block) if turns else ""
        return [
            one
            for one in habits.habits(turns)
            if not repeated.repeats(one.candidate.content, one.candidate.quote, known=block)
        ]
