"""SkyPilot's output as plain text."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """Remove colours and cursor movements from what SkyPilot prints."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")
