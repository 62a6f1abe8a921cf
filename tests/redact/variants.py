"""Ways in which a secret comes to stand in a log."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from tests.redact.forms import SecretForm


def _joined(form: SecretForm, sign: str = "=", value: str | None = None) -> str:
    return f"{form.name}{sign}{value or form.text}" if form.name else (value or form.text)


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


def _colour(form: SecretForm) -> str:
    value = f"\x1b[1;32m{form.text}\x1b[0m"
    return f"\x1b[34mlogin\x1b[0m: \x1b[33m{form.name}\x1b[0m={value}" if form.name else f"\x1b[34mlogin\x1b[0m{value}"


def _quotes(form: SecretForm) -> str:
    return f"""a {_joined(form, value=f"'{form.text}'")} b {_joined(form, value=f'"{form.text}"')}"""


def _json(form: SecretForm) -> str:
    return json.dumps({"a": 1, form.name or "said": form.text, "z": None})


def _json_in_json(form: SecretForm) -> str:
    return json.dumps({"body": json.dumps({"request": _json(form)})})


def _yaml(form: SecretForm) -> str:
    name = form.name or "said"
    return f"a: 1\n{name}: {form.text}\nb:\n  {name}: |\n    {form.text}\n  {name}: >-\n    {form.text}\nc: 2\n"


def _base64(form: SecretForm) -> str:
    return f"data: {base64.b64encode(_joined(form).encode()).decode()}"


def _truncated(form: SecretForm) -> str:
    start = form.text.index(form.secret)
    return f"{_joined(form, value=form.text[: start + len(form.secret) * 2 // 3])}..."


def _bytes(form: SecretForm) -> str:
    return f"got {_joined(form, value=repr(form.text.encode()))}"


def _table(form: SecretForm) -> str:
    name = form.name or "said"
    return f"+-------+\n|  {name}  |  {form.text}  |\n+-------+\n\u2502 {name} \u2502 {form.text} \u2502\n"


def _unicode(form: SecretForm) -> str:
    return f'{{"{form.name or "said"}": "{_escaped(form.text)}"}} {_joined(form, sign=chr(92) + "u003d")}'


def _next_line(form: SecretForm) -> str:
    return f"{form.name or 'said'}:\n  {form.text}\n"


def _tab(form: SecretForm) -> str:
    return f"1\t{form.name or 'said'}\t{form.text}\tlast"


VARIANTS: dict[str, Callable[[SecretForm], str]] = {
    "colour": _colour,
    "quotes": _quotes,
    "JSON": _json,
    "JSON in JSON": _json_in_json,
    "YAML": _yaml,
    "base64": _base64,
    "truncated": _truncated,
    "bytes": _bytes,
    "table": _table,
    "unicode escapes": _unicode,
    "next line": _next_line,
    "tab": _tab,
}


def remains(form: SecretForm, cleaned: str, window: int = 8) -> bool:
    """Return whether that many characters of the secret in a row are readable, plain or in an encoding."""
    encoded = base64.b64encode(_joined(form).encode()).decode()
    pieces = {form.secret[at : at + window] for at in range(len(form.secret) - window + 1)}
    pieces |= {_escaped(piece) for piece in pieces}
    before = len(_joined(form).partition(form.secret)[0])
    first, last = -(-before // 3) * 4, (before + len(form.secret)) // 3 * 4  # whole groups of three bytes
    pieces |= {encoded[at : at + window] for at in range(first, last - window + 1)}
    return any(piece in cleaned for piece in pieces)
