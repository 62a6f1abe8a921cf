"""Reads the text of a PDF that Chromium printed: unpacks streams, and decodes glyphs by the tables of their fonts."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path

OBJECT = re.compile(rb"(?<![0-9])(\d+) 0 obj\b(.*?)\b(stream\r?\n|endobj)", re.DOTALL)
LENGTH = re.compile(rb"/Length (\d+)")
FONT = re.compile(rb"/(F\d+) (\d+) 0 R")
TO_UNICODE = re.compile(rb"/ToUnicode (\d+) 0 R")
SHOWN = re.compile(rb"/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)>")
HEX = re.compile(rb"<([0-9A-Fa-f]+)>")
SECTION = re.compile(rb"begin(bfchar|bfrange)\n(.*?)\nend", re.DOTALL)
Glyphs = dict[int, str]


def pdf_text(path: Path) -> str:
    """Return the shown text of a PDF without spaces, and the other content of its streams and objects."""
    data = path.read_bytes()
    objects = dict(_objects(data))
    fonts = {name: _glyphs(objects, int(number)) for name, number in FONT.findall(data)}
    shown = [_shown(body, fonts) for body in objects.values() if b" Tf" in body]
    return re.sub(r"\s", "", "".join(shown)) + "\n" + b"\n".join(objects.values()).decode("latin-1")


def _objects(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each object with its stream, unpacked."""
    at = 0
    while found := OBJECT.search(data, at):
        number, body, end = found.groups()
        at = found.end()
        if end != b"endobj":
            length = LENGTH.search(body)
            assert length is not None
            stream, at = data[at : at + int(length[1])], at + int(length[1])
            body += zlib.decompress(stream) if b"/FlateDecode" in body else stream
        yield int(number), body


def _glyphs(objects: dict[int, bytes], font: int) -> tuple[Glyphs, int]:
    """Return the characters of a font's codes, and how many bytes a code has."""
    table = TO_UNICODE.search(objects[font])
    text = objects[int(table[1])] if table else b""
    glyphs: Glyphs = {}
    for kind, lines in SECTION.findall(text):
        for line in lines.splitlines():
            first, *rest = (int(text, 16) for text in HEX.findall(line))
            last, value = (first, rest[0]) if kind == b"bfchar" else rest
            glyphs |= {code: chr(value + code - first) for code in range(first, last + 1)}
    return glyphs, 2 if b"<0000> <FFFF>" in text else 1


def _shown(body: bytes, fonts: dict[bytes, tuple[Glyphs, int]]) -> str:
    text, width = "", 1
    glyphs: Glyphs = {}
    for font, codes in SHOWN.findall(body):
        if font:
            glyphs, width = fonts[font]
        text += "".join(glyphs.get(int(codes[at : at + 2 * width], 16), "") for at in range(0, len(codes), 2 * width))
    return text
