"""Messages that once stopped the product. Each is read in a process with a limit of its time."""

import json
import subprocess
import sys

import pytest

from memories.screening import secret_search

_READ = """
import json, math, resource, sys, time
import numpy as np
from foundation.text import segment
from memories.extraction import masking
from memories.reader.reading import Model
from memories.reader.statements import TEXT_OUTPUTS, TOKEN_OUTPUTS
# The encoder reads at most 2,048 tokens; how long that takes depends on the processor alone.
Model.scores = lambda self, one: (
    np.zeros((len(one.ids), TOKEN_OUTPUTS), np.float32),
    np.zeros(TEXT_OUTPUTS, np.float32),
    np.zeros(1, np.float32),
)
text = json.load(sys.stdin)
started = math.ceil(time.process_time())  # what loading the modules took
resource.setrlimit(resource.RLIMIT_CPU, (started + 2, started + 2))
masking.screen(text)
segment.terms(text)
print("read")
"""

HOSTILE = {
    "one long word": "the token for " + "b" * 54 + " rotates",
    "a word of 32k": "the token for " + "b" * 32_000 + " rotates",
    "a long passport": "my passport for " + "b" * 54 + " expires",
    "a host": (
        "The token for my-very-long-service-name.production.eu-west-1.example.internal.corp/path "
        "rotates daily, please remind me."
    ),
    "an address": "pin for firstname.lastname-team@subsidiary.example.co.uk hangs",
    "both languages": "我忘了 password for jenkins-deploy-bot@build.internal.example.com 了",
    "the trigger again and again": "password for " * 2_500,
    "the trigger of tokens again and again": "the token for " * 2_300,
    "a login and blanks": "login, pass" + " " * 32_000,
    "a Chinese word again and again": "每天" * 16_000,
    "an account and blanks": "account and " + " " * 32_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_message_is_screened_and_cut_into_words_within_two_seconds_of_processor_time(
    text: str,
) -> None:
    reading = subprocess.run(
        [sys.executable, "-c", _READ], input=json.dumps(text), capture_output=True, text=True
    )

    assert (reading.returncode, reading.stdout) == (0, "read\n"), reading.stderr


def test_what_follows_very_many_words_that_announce_secrets_is_one_secret() -> None:
    listed = "".join(f"password for shop {n}, pin " for n in range(520))
    text = f"{listed}and the last one is Vorlagen77Kette"
    spans = secret_search.find(text)
    assert "Vorlagen77Kette" in text[spans[-1].start : spans[-1].end]
    assert spans[-1].end == len(text)
    few = "".join(f"the password for shop {n} is kept at home, " for n in range(60))
    assert not secret_search.find(f"{few}and we had soup")
