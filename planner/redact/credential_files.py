"""Files in which tools keep their tokens, and the secrets in them."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from planner.redact.randomness import looks_random

FILES = (
    ".aws/credentials",
    ".aws/config",
    ".aws/sso/cache/*.json",
    ".aws/cli/cache/*.json",
    ".azure/msal_token_cache.json",
    ".azure/accessTokens.json",
    ".azure/service_principal_entries.json",
    ".boto",
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".cargo/credentials.toml",
    ".config/containers/auth.json",
    ".config/doctl/config.yaml",
    ".config/gcloud/application_default_credentials.json",
    ".config/gcloud/legacy_credentials/*/adc.json",
    ".config/gh/hosts.yml",
    ".config/git/credentials",
    ".config/kaggle/kaggle.json",
    ".config/pip/pip.conf",
    ".config/rclone/rclone.conf",
    ".config/vastai/vast_api_key",
    ".config/wandb/settings",
    ".databrickscfg",
    ".docker/config.json",
    ".git-credentials",
    ".huggingface/token",
    ".kaggle/access_token",
    ".kaggle/kaggle.json",
    ".kube/config",
    ".lambda_cloud/lambda_keys",
    ".modal.toml",
    ".my.cnf",
    ".netrc",
    ".ngc/config",
    ".npmrc",
    ".pgpass",
    ".pip/pip.conf",
    ".pypirc",
    ".runpod/config.toml",
    ".s3cfg",
    ".streamlit/secrets.toml",
    ".terraform.d/credentials.tfrc.json",
    ".vast_api_key",
    ".vault-token",
)
"""Paths in the home folder. Those of Streamlit are looked for in the working folder too."""
NAMED_BY = (
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "HF_TOKEN_PATH",
    "KUBECONFIG",
    "NETRC",
    "NPM_CONFIG_USERCONFIG",
    "PGPASSFILE",
    "PIP_CONFIG_FILE",
)
"""Variables with other paths of such files. One may name several."""
IN_FOLDERS = (
    ("CLOUDSDK_CONFIG", "application_default_credentials.json"),
    ("DOCKER_CONFIG", "config.json"),
    ("GH_CONFIG_DIR", "hosts.yml"),
    ("HF_HOME", "token"),
    ("HF_HOME", "stored_tokens"),
    ("KAGGLE_CONFIG_DIR", "kaggle.json"),
    ("WANDB_CONFIG_DIR", "settings"),
    ("XDG_CONFIG_HOME", "gh/hosts.yml"),
    ("XDG_CONFIG_HOME", "kaggle/kaggle.json"),
    ("XDG_CONFIG_HOME", "containers/auth.json"),
)
"""Variables that name the folder of a tool, with its file there."""
FILE_LIMIT_BYTES = 200_000
MOST_FILES = 50
"""Largest number of files of one folder of cached tokens."""
MOST_VALUES = 200
"""Largest number of secrets of one file."""
LEAST_CHARACTERS = 8
"""Smallest number of characters of a value. Shorter ones appear in ordinary text by chance."""
DRAWN_CHARACTERS = 20
"""Smallest number of characters of a secret whose key does not say that it is one."""
SECRET_KEY = re.compile(
    r"secret|token|passw(?:or)?d|passphrase|(?:^|[^a-z])(?:pass|pwd|auth|key)$|api_?key|access_?key|private_?key|key-data"
    r"|credential|_auth|cookie|jwt|(?:^|[a-z])(?:Key|Auth)$"
)
_LINE = re.compile(
    r"^[ \t]*(?:-[ \t]+)?[\"']?(?P<key>[\w./:@ -]{1,200}?)[\"']?(?:[ \t]*=[ \t]*|:[ \t]+)"
    r"[\"']?(?P<value>[^\s\"'#][^\"'\r\n]*)",
    re.MULTILINE,
)
_PAIR = re.compile(r"[\"'](?P<key>[\w.-]{1,100})[\"']\s{0,9}:\s{0,9}[\"'](?P<value>[^\"'\r\n]{8,4000})[\"']")
_TOKEN = re.compile(r"[A-Za-z0-9][\w.+/~-]{7,4000}={0,2}", re.ASCII)
"""Content of a file that holds only a token."""
_WORDS = re.compile(r"\b(?:password|account)\s+(?P<value>\S{8,4000})")
_OF_POSTGRES = re.compile(
    r"^[^:#\n]{1,200}:[\d*]{1,5}:[^:\n]{1,100}:[^:\n]{1,100}:(?P<value>[^\n]{8,500})$", re.MULTILINE
)
_IN_URL = re.compile(r"://[^\s:/@]{0,100}:(?P<value>[^\s@]{8,500})@")


def credential_files(home: str, working: str, environment: dict[str, str]) -> Iterator[Path]:
    """Yield the files that exist, up to MOST_FILES of a folder of tokens."""
    if home:
        for name in FILES:
            if "*" in name:
                yield from islice(_found(Path(home), name), MOST_FILES)
            else:
                yield Path(home) / name
    if working:
        yield Path(working) / ".streamlit" / "secrets.toml"
    for variable in NAMED_BY:
        yield from (Path(path) for path in environment.get(variable, "").split(os.pathsep) if path)
    for variable, name in IN_FOLDERS:
        if folder := environment.get(variable):
            yield Path(folder) / name


def secrets_in_file(path: Path) -> list[str]:
    """Return the secrets of a file; none if it cannot be read."""
    try:
        if not path.is_file():
            return []
        with path.open("rb") as file:
            text = file.read(FILE_LIMIT_BYTES).decode("utf-8", errors="replace")
    except (OSError, ValueError):
        return []
    return list(islice(secrets_in_document(text, every=path.name == "secrets.toml"), MOST_VALUES))


def secrets_in_document(text: str, *, every: bool = False) -> Iterator[str]:
    """Yield the secrets of a JSON document, a list of settings, or a file that is only a token."""
    whole = text.strip()
    if whole.startswith(("{", "[")):
        try:
            yield from _in_json(json.loads(whole), "", 0)
        except (ValueError, RecursionError):
            pass  # truncated, or settings that begin with a section
        else:
            return
    if _TOKEN.fullmatch(whole):
        yield whole
        return
    for found in (*_LINE.finditer(text), *_PAIR.finditer(text)):
        value = found["value"].strip()
        if every or SECRET_KEY.search(found["key"]) or SECRET_KEY.search(found["key"].lower()):
            yield from _taken(value)
        elif looks_random(value, DRAWN_CHARACTERS):
            yield value
    for pattern in (_WORDS, _OF_POSTGRES, _IN_URL):
        for found in pattern.finditer(text):
            yield from _taken(found["value"])


def _found(home: Path, pattern: str) -> Iterator[Path]:
    try:
        yield from sorted(islice(home.glob(pattern), MOST_FILES))
    except OSError:
        return


def _in_json(value: Any, key: str, depth: int) -> Iterator[str]:
    if depth > 20:
        return
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _in_json(item, str(name), depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _in_json(item, key, depth + 1)
    elif isinstance(value, str):
        if SECRET_KEY.search(key) or SECRET_KEY.search(key.lower()):
            yield from _taken(value)
        elif looks_random(value, DRAWN_CHARACTERS):
            yield value


def _taken(value: str) -> Iterator[str]:
    """Yield a value, its lines if it has several, and the password inside `user:password` as base64."""
    if len(value) < LEAST_CHARACTERS:
        return
    yield value
    lines = value.split("\n")
    if len(lines) > 1:
        yield from (line for line in lines if len(line) >= DRAWN_CHARACTERS and "-----" not in line)
    try:
        user, colon, password = base64.b64decode(value, validate=True).decode("ascii").partition(":")
    except (binascii.Error, ValueError):
        return
    if colon and user and len(password) >= LEAST_CHARACTERS and password.isprintable():
        yield password
