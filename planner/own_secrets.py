"""The secrets that this process holds itself: in its environment, and in the usual files of credentials.

They are read for one purpose: to be found in a text that somebody else wrote (a provider that repeats the key it
refused) and hidden there. No value leaves this module by another way.
"""

from __future__ import annotations

import base64
import os
import re
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

SECRET_NAME = re.compile(
    r"SECRET|(^|_)TOKEN(_|$)|PASSW(OR)?D|PASSPHRASE|CREDENTIAL|(^|_)API_?KEY|(^|_)KEY(_|$)|(^|_)PRIVATE(_|$)|(^|_)AUTH(_|$)",
    re.IGNORECASE,
)
"""A variable of such a name holds a secret."""
LEAST_CHARACTERS = 8
"""Shorter values stand in ordinary text by chance."""
FILES = (
    ".aws/credentials",
    ".aws/config",
    ".lambda_cloud/lambda_keys",
    ".netrc",
    ".git-credentials",
    ".cache/huggingface/token",
    ".huggingface/token",
    ".kube/config",
    ".docker/config.json",
    ".runpod/config.toml",
    ".config/vastai/vast_api_key",
)
NAMED_BY = ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "KUBECONFIG", "NETRC", "HF_TOKEN_PATH")
"""Variables by which such files lie elsewhere; one may name several."""
FILE_LIMIT_BYTES = 200_000
_IN_FILE = re.compile(
    r"(?i)(?:secret|token|passw(?:or)?d|api_key|access_key(?:_id)?|auth|key-data)[\"']?\s{0,3}[:= ]\s{0,3}[\"']?"
    r"([^\s\"',]{8,4000})|://[^\s:/@]{1,100}:([^\s@]{8,500})@"
)


_IN_URL = re.compile(r"://[^\s:/@]{0,100}:([^\s/@]{8,500})@")
"""The password of a proxy, a package index or a database."""


def own_secrets() -> tuple[str, ...]:
    """Return the secrets, each also as base64 and as a URL writes it; the longest first."""
    named = [value for name, value in os.environ.items() if SECRET_NAME.search(name) and _is_secret(value)]
    in_urls = [found for value in os.environ.values() if "://" in value for found in _IN_URL.findall(value)]
    elsewhere = [path for name in NAMED_BY for path in os.environ.get(name, "").split(os.pathsep) if path]
    in_urls += [unquote(found) for found in in_urls]
    return _forms(tuple(named), tuple(in_urls), _of_files(os.environ.get("HOME", ""), tuple(elsewhere)))


def _is_secret(value: str) -> bool:
    """Return whether a value is long enough, and neither a plain word of a switch nor the path of a file."""
    if len(value) < LEAST_CHARACTERS or value.lower() in ("disabled", "required"):
        return False
    try:
        return not (value.startswith(("/", "~/")) and Path(value).expanduser().exists())
    except (OSError, ValueError, RuntimeError):
        return True


@lru_cache(maxsize=16)
def _forms(*values: tuple[str, ...]) -> tuple[str, ...]:
    forms = {
        form
        for group in values
        for value in group
        for form in (value, quote(value, safe=""), base64.b64encode(value.encode("utf-8", "replace")).decode("ascii"))
    }
    return tuple(sorted(forms, key=len, reverse=True))


@lru_cache(maxsize=4)
def _of_files(home: str, elsewhere: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the usual files hold, as they were when first asked; what cannot be read holds nothing."""
    usual = [Path(home) / name for name in FILES] if home else []
    return tuple(value for path in [*usual, *map(Path, elsewhere)] for value in _of_file(path))


def _of_file(path: Path) -> list[str]:
    try:
        if not path.is_file() or path.stat().st_size > FILE_LIMIT_BYTES:
            return []
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    whole = text.strip()
    alone = len(whole.split()) == 1 and "=" not in whole[:40] and "://" not in whole
    if alone and len(whole) >= LEAST_CHARACTERS:
        return [whole]
    return [value for pair in _IN_FILE.findall(text) for value in pair if _is_secret(value)]
