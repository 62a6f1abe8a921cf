"""Escapes characters that control a terminal or are invisible, so that they can be read and have no effect."""

from __future__ import annotations

import re

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but newline and tab
    r"\u115f\u1160\u3164\uffa0"  # fillers of Hangul, which are drawn as nothing
    r"\xad\u034f\u061c\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # of no width; direction
    r"\ud800-\udfff"  # half a character: a byte of a file name that is no UTF-8
    r"\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def visible_text(text: str) -> str:
    r"""Return the text with `\x1b` instead of an escape, `\u202e` instead of a change of direction, and so on.

    All but the first 32 are written as in JSON strings, so that a JSON document stays valid.
    r
    """
    return _UNSEEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return "\\r" if code == 0x0D else f"\\x{code:02x}"
    if code < 0x10000:
        return f"\\u{code:04x}"
    pair = found[0].encode("utf-16-be").hex()
    return f"\\u{pair[:4]}\\u{pair[4:]}"
