"""Ways to spoil a good file: bytes, lines, values, structure; and documents that were never good."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz.number_texts import number_text
from tests.fuzz.values import SPECIAL, VALUES

TOKEN = re.compile(r"[^\s,:\[\]{}\"']+")
Way = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def _flip(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    spoilt = bytearray(data or b" ")
    for _ in range(rng.choice((1, 1, 2, 8))):
        spoilt[rng.randrange(len(spoilt))] = rng.choice((0, 9, 10, 13, 34, 44, 45, 58, 0x85, 0xFF, rng.randrange(256)))
    return bytes(spoilt)


def _cut(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _lines(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    begin, count = rng.randrange(len(lines)), rng.choice((1, 1, 2, 5))
    taken = lines[begin : begin + count]
    rest = lines[:begin] + lines[begin + count :] if rng.random() < 0.5 else lines
    to = rng.randrange(len(rest) + 1)
    return b"".join([*rest[:to], *(taken * rng.choice((0, 1, 1, 2, 40))), *rest[to:]])


def _ends(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    end = rng.choice((b"\r", b"\r\n", b"\n\n", b"\n\r", b"\x0b", b"\x0c", b"\xc2\x85", b"\xe2\x80\xa8"))
    share = rng.choice((1.0, 0.1))
    return b"".join(
        line.rstrip(b"\n") + (end if rng.random() < share else b"\n") for line in data.splitlines(keepends=True)
    )


def _encoded(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    text = data.decode("utf-8", "replace")
    ways = (
        lambda: b"\xef\xbb\xbf" + data,
        lambda: b"\xef\xbb\xbf\xef\xbb\xbf" + data,
        lambda: text.encode("utf-16"),
        lambda: text.encode("utf-32-le"),
        lambda: text.encode("latin-1", "replace") + b"\xe9",
        lambda: data + b"\xed\xa0\x80",
        lambda: b"\0" * 100 + data,
        lambda: b"",
    )
    return rng.choice(ways)()


def _token(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    text = data.decode("utf-8", "replace")
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        found = list(TOKEN.finditer(text))
        if not found:
            return data
        place = rng.choice(found)
        new = rng.choice(SPECIAL) if rng.random() < 0.8 else rng.choice(found).group()
        text = text[: place.start()] + new + text[place.end() :]
    return text.encode("utf-8", "surrogatepass")


def _insert(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(SPECIAL).encode("utf-8", "surrogatepass") + data[at:]


def _cell(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Spoil cells of one column of a CSV file."""
    lines = data.decode("utf-8", "replace").split("\n")
    column, new = rng.randrange(lines[0].count(",") + 1), rng.choice(SPECIAL)
    first = 0 if rng.random() < 0.1 else 1
    for position in range(first, len(lines)):
        cells = lines[position].split(",")
        if column < len(cells) and rng.random() < 0.5:
            cells[column] = new if "," not in new and '"' not in new else json.dumps(new)
            lines[position] = ",".join(cells)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _nested(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    depth, (begin, end) = rng.choice((60, 99, 300, 5_000, 60_000)), rng.choice((("[", "]"), ('{"a": ', "}")))
    text = data.decode("utf-8", "replace")
    found = list(TOKEN.finditer(text))
    if not found:
        return data
    place = rng.choice(found)
    return (text[: place.start()] + begin * depth + "1" + end * depth + text[place.end() :]).encode()


def _aliased(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    width, levels = rng.choice(((2, 16), (9, 4), (9, 20), (100, 3)))
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines).encode() + b"\n" + data.replace(b": ", f": *a{levels - 1} #".encode(), rng.choice((0, 1)))


def _long(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    return (
        data[:at]
        + rng.choice((b"9", b"x", b" ", b"\n", b",", b'"', b"a: 1\n")) * rng.choice((3_000, 200_000))
        + data[at:]
    )


def _spliced(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _structure(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change values of a YAML or JSON document, so that what comes out is a document again."""
    is_json = data.lstrip().startswith(b"{")
    try:
        document = json.loads(data) if is_json else yaml.safe_load(data)
    except (ValueError, yaml.YAMLError):
        return _token(data, rng, others)
    try:
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            places = list(_places(document))
            if not places:
                break
            _change(*rng.choice(places), rng, document)
        changed = json.dumps(document, indent=1, default=str) if is_json else yaml.safe_dump(document, sort_keys=False)
    except (ValueError, OverflowError, RecursionError, yaml.YAMLError):  # it holds itself, or what YAML cannot write
        return _token(data, rng, others)
    return changed.encode("utf-8", "surrogatepass")


def _places(node: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in list(items)[:200]:
        found.append((node, key))
        found.extend(_places(value))
    return found


def _change(holder: Any, key: Any, rng: random.Random, document: Any) -> None:
    way, old = rng.randrange(8), holder[key]
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, dict):
        holder[rng.choice(["x", "", 1, None, True, "name", "schema_version"])] = holder.pop(key)
    elif way == 2 and isinstance(holder, list):
        holder.extend([old] * rng.choice((1, 3, 600)))
    elif way == 3 and isinstance(old, int | float) and not isinstance(old, bool):
        holder[key] = old * rng.choice((-1, 0, 1e-6, 0.5, 2, 10, 1e3, 1e6, 1e12))
    elif way == 4:
        holder[key] = rng.choice([old, [old], {"a": old}, str(old), [old] * 3])
    elif way == 5:
        other, there = rng.choice(_places(document))
        holder[key] = json.loads(json.dumps(other[there], default=str))
    else:
        holder[key] = rng.choice(VALUES)


def _number(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Put a text like a number in the place of a number in the words of an option, or of all of them."""
    text = data.decode("utf-8", "replace")
    found = list(re.finditer(r"[0-9.]+", text)) if rng.random() < 0.5 else []
    span = rng.choice(found).span() if found else (0, len(text))
    return (text[: span[0]] + number_text(rng) + text[span[1] :]).encode()


TEXT_WAYS: list[Way] = [_flip, _cut, _lines, _ends, _encoded, _token, _token, _token, _insert, _long, _spliced]
WAYS: dict[str, list[Way]] = {
    "text": TEXT_WAYS,
    "yaml": [*TEXT_WAYS, _nested, _aliased, *[_structure] * 8],
    "json": [*TEXT_WAYS, _nested, *[_structure] * 8],
    "csv": [*TEXT_WAYS, *[_cell] * 8],
    "bytes": [_flip, _cut, _lines, _spliced],
    "typed": [_number, _number, _number, _token, _insert, _flip, _cut, _long, _spliced],
}


def spoilt(data: bytes, form: str, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Return a good file spoilt in one way, now and then in two or three."""
    data = rng.choice(WAYS[form])(data, rng, others)
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        data = rng.choice(TEXT_WAYS)(data, rng, others)
    return data


def made_documents(keys: Sequence[str], number: int, count: int) -> list[Any]:
    """Return documents that hypothesis makes of these keys; the same for the same number."""
    scalars = st.one_of(
        *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
        st.sampled_from(VALUES).filter(lambda value: not isinstance(value, list | dict)),
    )
    names = st.sampled_from(list(keys))
    documents = st.dictionaries(
        names,
        st.recursive(
            scalars,
            lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=5),
            max_leaves=12,
        ),
        max_size=8,
    )
    found: list[Any] = []

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(documents)
    def take(document: Any) -> None:
        found.append(document)

    take()
    return found
