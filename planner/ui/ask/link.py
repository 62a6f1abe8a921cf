"""Converts a form to the parameters of an address and back. Values of the starting point are left out."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from planner.adapters.csv_rows import refuse_grouped
from planner.adapters.documents import parse_model
from planner.adapters.mapping_text import parse_mapping
from planner.adapters.user_text import text_without_secrets
from planner.errors import InputError
from planner.model.base import Frozen
from planner.model.evidence.run import RunRecord
from planner.model.prices.price_book import PriceBook
from planner.ui.ask.form import Form, MachineRow, Start
from planner.ui.scenario import first_form

LINK_FIX = "Take the link from the page's address again."
LONGEST_UNPACKED = 200_000
"""Largest number of characters of a packed text in a link."""
PACKED = ("config", "log", "book")
CARRIED: dict[str, type[Frozen]] = {"log": RunRecord, "book": PriceBook}
"""Models of packed texts, which are checked so that every page can read them."""
LISTS = ("machines", "offers", "regions")
SOURCE = ("start", "example", "plan")
"""Parameters of the starting point."""
NONE = "none"
Parameters = dict[str, list[str]]


def parameters_of(form: Form) -> Parameters:
    """Return the differences from the form's starting point as parameters."""
    first = first_form(form.start, form.example, form.plan).model_dump(mode="json")
    given: Parameters = {"start": [form.start.value]}
    given |= {"example": [form.example]} if form.example else {}
    given |= {"plan": [packed(form.plan)]} if form.plan else {}
    for name, value in form.model_dump(mode="json").items():
        if value == first[name] or name in SOURCE:
            continue
        if name == "machines":
            given[name] = [_machine_text(machine) for machine in form.machines] or [NONE]
        elif name in LISTS:
            given[name] = [str(item) for item in value] or [NONE]
        elif name in PACKED and value is not None:
            given[name] = [packed(value)]
        else:
            given[name] = [NONE if value is None else str(value).lower() if isinstance(value, bool) else f"{value}"]
    return given


def form_of(parameters: Mapping[str, Sequence[str]]) -> Form:
    """Return the form of an address. Raises InputError for a wrong address."""
    start = next(iter(parameters.get("start", ())), Start.TRAIN.value)
    if start not in [start.value for start in Start]:
        raise InputError(f"the link: there is no starting point '{start[:40]}'.", fix=LINK_FIX)
    example = next(iter(parameters.get("example", ())), None)
    plan = next(iter(parameters.get("plan", ())), None)
    first = first_form(Start(start), example, None if plan is None else _own_text("plan", plan))
    data: dict[str, Any] = first.model_dump(mode="json")
    for name, values in parameters.items():
        if name not in data or name in SOURCE or not values:
            continue
        if name == "machines":
            data[name] = [] if values[0] == NONE else [_machine(text) for text in values]
        elif name in LISTS:
            data[name] = [] if values[0] == NONE else list(values)
        elif values[0] == NONE:
            data[name] = None
        else:
            data[name] = _own_text(name, values[0]) if name in PACKED else values[0]
    form = parse_model(Form, data, where="the link", fix=LINK_FIX)
    refuse_grouped(form, {name: values[0] for name, values in parameters.items() if values}, "the link")
    for name, model in CARRIED.items():
        text, where = getattr(form, name), f"the link: its {name}"
        if text is not None:
            parse_model(model, parse_mapping(text, where=where, fix=LINK_FIX), where=where, fix=LINK_FIX)
    return form


def packed(text: str) -> str:
    """Compress a text for an address."""
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def unpacked(text: str) -> str:
    """Decompress a text of `packed`. Raises InputError if it is damaged or too large."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(data, LONGEST_UNPACKED)
        if unpacker.unconsumed_tail:
            raise InputError(f"the link: holds more than {LONGEST_UNPACKED:,} characters.", fix=LINK_FIX)
        if not unpacker.eof:
            raise ValueError("cut off")
        return raw.decode()
    except (ValueError, binascii.Error, zlib.error) as error:
        raise InputError("the link: a part of it is cut off or changed.", fix=LINK_FIX) from error


def _own_text(name: str, value: str) -> str:
    """Decompress a text in a link, and hide its secrets."""
    return text_without_secrets(unpacked(value), where=f"the link: its {name}", fix=LINK_FIX, foreign=name == "config")


def _machine_text(machine: MachineRow) -> str:
    """Write a machine as `have:2xRTX-3090` or `buy:1xRTX-4090@1600`."""
    price = "" if machine.usd is None else f"@{machine.usd:g}"
    return f"{'buy' if machine.buy else 'have'}:{machine.count}x{machine.name}{price}"


def _machine(text: str) -> dict[str, Any]:
    hold, _, rest = text.partition(":")
    count, _, name = rest.partition("x")
    name, _, price = name.partition("@")
    if hold not in ("have", "buy") or not (count.isascii() and count.isdecimal()) or not name:
        raise InputError(f"the link: '{text[:60]}' is not a machine.", fix="Write machines=have:2xRTX-3090")
    return {"name": name, "count": count, "buy": hold == "buy", "usd": price or None}
