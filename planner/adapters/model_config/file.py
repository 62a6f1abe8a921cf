"""Finds, reads and parses a file that describes a network, within limits. A mistake names the file and the fix."""

from __future__ import annotations

from pathlib import Path

from planner.adapters.documents import PLAN_LIMIT_BYTES, read_text
from planner.adapters.mapping_text import Json, parse_mapping
from planner.adapters.user_text import without_secrets
from planner.errors import InputError

CONFIG = "config.json"
PAGE_FIX = "Download the file itself: on a model's page the address with /resolve/ in place of /blob/."


def network_file(path: Path) -> Path:
    """Return the file itself, or the config.json of a model's folder."""
    return path / CONFIG if (path / CONFIG).is_file() else path


def read_network_file(path: Path, *, fix: str) -> tuple[Json, str]:
    """Return the mapping in a file, and its text. Refuses a pipe, a web page or too large a file."""
    text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=fix)
    begins = text.lstrip()[:200].casefold()
    if begins.startswith("<"):
        raise InputError(f"{path}: is a web page, not a description of a network.", fix=PAGE_FIX)
    if begins.startswith("version https://git-lfs"):
        raise InputError(f"{path}: is a pointer of Git LFS, not the file.", fix="Fetch it with: git lfs pull")
    data = parse_mapping(text, where=str(path), fix=fix, foreign=True)
    return without_secrets(data, text=text, where=str(path)), text
