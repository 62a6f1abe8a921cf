"""Secrets of this process: in its environment, and in the files where tools keep tokens.

They are read only to be found in foreign text (a provider that repeats the key it refused) and hidden there. No value
leaves this module in another way.
"""

from __future__ import annotations

import base64
import math
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

from planner.redact.credential_files import LEAST_CHARACTERS, credential_files, secrets_in_document, secrets_in_file
from planner.redact.randomness import looks_random

SECRET_NAME = re.compile(
    r"SECRET|(^|_)TOKENS?(_|$)|PASSW(OR)?D|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|(^|_)KEYS?(_|$)"
    r"|(^|_)(PRIVATE|AUTH|PASS|PAT|JWT|SAS|DSN|COOKIE|WEBHOOK)(_|$)|_PWD$|CONNECTION_STRING",
    re.IGNORECASE,
)
"""Pattern of variables that hold a secret."""
_NAME_OF_NO_SECRET = re.compile(
    r"(^|_)(SHA\d*|MD5|HASH|DIGEST|CHECKSUM|COMMIT|REV(ISION)?|VERSION|ID|UUID|HOST(NAME)?|NAME|PATH|DIR|HOME|COLORS"
    r"|ADDRESS|STREAM|DEVICES|RELEASE|TAG|IMAGE|FLAGS|ARGS|OPTS|OPTIONS)$|^(PLANNER|XDG|LC|DBUS|DEBIAN|PS\d)_?",
    re.IGNORECASE,
)
"""Pattern of variables that may hold random text that is not a secret: a check sum, the id of a run."""
FRESH_S = 60
"""Seconds after which the files are read again."""
DRAWN_CHARACTERS = 20
"""Smallest number of characters of a variable's value that is taken for a secret by its value alone."""
DRAWN_BITS = 3.0
"""Smallest number of bits of information per character (Shannon). Hexadecimal digits have at most 4, words 2.5."""
_IN_URL = re.compile(r"://[^\s:/@]{0,100}:([^\s/@]{8,500})@")
"""Password in the URL of a proxy, a package index or a database."""
_PART_OF_URL = re.compile(r"[/?&=:]([^/?&=:#@\s]{16,500})")
"""Part of an address that may itself be the secret, as in webhooks."""


def own_secrets() -> tuple[str, ...]:
    """Return the secrets, each also as base64 and URL-encoded, the longest first."""
    return _secrets_of_process(tuple(os.environ.items()), _working_folder(), int(time.monotonic() // FRESH_S))


@lru_cache(maxsize=4)
def _secrets_of_process(environment: tuple[tuple[str, str], ...], working: str, period: int) -> tuple[str, ...]:  # noqa: ARG001
    """Collect the secrets. `period` makes the cache read files again, because tools refresh their tokens."""
    variables = dict(environment)
    values = {value for name, value in environment for value in _secrets_of_variable(name, value)}
    for path in set(credential_files(variables.get("HOME", ""), working, variables)):
        values |= {value for value in secrets_in_file(path) if _is_secret(value)}
    return tuple(
        sorted({form for value in values for form in _forms(value)}, key=lambda secret: (-len(secret), secret))
    )


def _secrets_of_variable(name: str, value: str) -> Iterator[str]:
    if "://" in value:
        for found in _IN_URL.findall(value):
            yield from (found, unquote(found))
    if SECRET_NAME.search(name):
        if "://" in value:
            yield from (part for part in _PART_OF_URL.findall(value) if looks_random(part))
        if value.lstrip().startswith("{"):
            yield from secrets_in_document(value)
        if _is_secret(value):
            yield value
            if "\n" in value:
                yield from (line for line in value.splitlines() if looks_random(line, DRAWN_CHARACTERS))
    elif not _NAME_OF_NO_SECRET.search(name) and _is_drawn(value) and _is_secret(value):
        yield value


def _is_secret(value: str) -> bool:
    """Return whether a value is long enough, and neither a switch word nor a file path."""
    if len(value) < LEAST_CHARACTERS or value.lower() in ("disabled", "required", "optional", "anonymous"):
        return False
    try:
        return not (value.startswith(("/", "~/")) and Path(value).expanduser().exists())
    except (OSError, ValueError, RuntimeError):
        return True


def _is_drawn(value: str) -> bool:
    return looks_random(value, DRAWN_CHARACTERS) and _bits(value) >= DRAWN_BITS


def _bits(value: str) -> float:
    """Return the information in a character of the value, in bits."""
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())


def _forms(value: str) -> Iterator[str]:
    yield value
    yield quote(value, safe="")
    yield base64.b64encode(value.encode("utf-8", "replace")).decode("ascii")


def _working_folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  as text
    except OSError:
        return ""
