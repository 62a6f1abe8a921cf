"""What SkyPilot prints, as plain text."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """Take colours and cursor movements out of what SkyPilot prints."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")
