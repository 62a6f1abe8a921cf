"""Odd inputs that were written from the documentation alone, before the readers' code was looked at.

`by_hand.tsv`: a line `kind TAB place` begins a block; each line after it is `id TAB text TAB what is expected`. The
text stands in the place of the value at `place` of a good file of that kind, or is the whole file where no place is
named; `{base}` is the good file. Expected is `refused`, `read`, or a value as JSON; several are parted by ` | `. A
fourth cell holds what came of it otherwise and was judged right, and why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from planner.adapters.documents import read_own_model
from planner.adapters.price_file import checked_prices
from planner.adapters.trainer_logs.log_formats import read_logs
from planner.adapters.trainer_logs.log_source import open_source
from planner.adapters.workspace import catalogs_dir
from planner.cost.cloud.price_level import Bands, price_bands
from planner.errors import InputError
from planner.model.owning.site import Site
from planner.model.owning.tariff import Tariff
from planner.model.prices.offer import PriceOrigin
from planner.use_cases.audit import read_claims
from planner.use_cases.networks import find_architecture
from planner.use_cases.plans import read_plan
from planner.use_cases.prices import read_book
from planner.use_cases.runs import parse_run, read_run_file
from tests.bundled import bundled_catalog
from tests.conftest import NOON
from tests.fuzz.good_files import BOOK, CONFIGS

TABLE = Path(__file__).with_name("by_hand.tsv")
MARK = "PUT_IT_HERE"
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[nrt\\])")
DEEP = 50_000

PLAN = {
    "schema_version": 1,
    "name": "base",
    "workload": {"ref": "gpt-305m", "seq_len": 512},
    "work": {"tokens": 1.0e9},
    "training": {"precision": "bf16"},
    "campaign": {"runs": 3, "start": "2026-12-01", "timezone": "Asia/Seoul"},
    "options": [{"offer": "aws/p5.48xlarge", "region": "us-east-1", "price": "on_demand", "usd_per_hour": 98.0}],
}
PRICES = "provider,instance_type,region,price_kind,usd_per_hour,source,as_of\n{}\n"
PRICE = ["aws", "p5.48xlarge", "us-east-1", "on_demand", "41.28", "ours", "2026-05-02"]
INCENTIVE = {
    "name": "credit", "kind": "tax_credit", "base": "server", "rate": 0.25, "cap_usd": 100000, "eligible": True,
    "expires": "2030-12-31", "eligibility": "research", "source": "the law", "as_of": "2026-11-01",
}  # fmt: skip


@dataclass(frozen=True)
class OddInput:
    """A text in a place of a good file, and what may come of it."""

    id: str
    kind: str
    place: str
    text: str
    expected: tuple[str, ...]

    def allows(self, found: object) -> bool:
        """Return whether this value, or `refused`, is expected."""
        if found == "refused" or "read" in self.expected:
            return found in self.expected or found != "refused"
        values = [json.loads(text) for text in self.expected if text != "refused"]
        return any(_is_same(value, found) for value in values)


def _is_same(value: Any, found: Any) -> bool:
    """Return whether two values are equal; 5 and 5.0 are, 1 and true are not."""
    return value == found and isinstance(value, bool) == isinstance(found, bool)


def odd_inputs() -> list[OddInput]:
    """Return the table."""
    found: list[OddInput] = []
    kind = place = ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if len(cells) == 2:
            kind, place = cells
        elif len(cells) in (3, 4):
            text = ESCAPE.sub(_character, cells[1])
            name = "-".join(filter(None, (kind, place.rpartition(".")[2], cells[0])))
            judged = [cell.partition(": ")[0] for cell in cells[3:]]
            found.append(OddInput(name, kind, place, text, (*cells[2].split(" | "), *judged)))
    return found


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    return {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}.get(code) or chr(int(code[1:], 16))


@cache
def good_text(kind: str, place: str) -> str:
    """Return a good file of a kind, with a mark in the place of a value."""
    if kind == "prices":
        row = [MARK if column == place else cell for column, cell in zip(_columns(), PRICE, strict=True)]
        return PRICES.format(",".join(row))
    if kind == "log":
        rows = [f"{step},{MARK if step == 7 else step * 10.0}" for step in range(20)]
        return "step,elapsed_s\n" + "\n".join(rows) + "\n"
    document = _documents()[kind]
    if place:
        *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
        holder: Any = document
        for part in way:
            holder = holder[part]
        holder[last] = MARK
    if kind in ("plan-json", "run", "config"):
        return json.dumps(document, indent=1).replace(f'"{MARK}"', MARK)
    return yaml.safe_dump(document, sort_keys=False, width=1000)


def _columns() -> list[str]:
    return PRICES.splitlines()[0].split(",")


def _documents() -> dict[str, Any]:
    """Return good documents, each time anew."""
    catalogs = catalogs_dir()
    run = json.loads((catalogs / "runs" / "seed-004-p5e-h200.json").read_bytes())
    site = _dates_as_text(yaml.safe_load((catalogs / "sites" / "own-8xh200.yaml").read_bytes()))
    tariff = _dates_as_text(yaml.safe_load((catalogs / "tariffs" / "kr-industrial-a2-hv.yaml").read_bytes()))
    claims = {"source": "a guide", "claims": [{"id": "a", "kind": "memory", "parameters": 7e9, "amount": "56 GB"}]}
    plan = json.loads(json.dumps(PLAN))
    site["power"].pop("low"), site["power"].pop("high")
    return {
        "plan": plan,
        "plan-json": plan,
        "run": run,
        "site": {**site, "incentives": [dict(INCENTIVE)], "tax": {"rate": 0.24, "source": "the law"}},
        "tariff": tariff,
        "book": _dates_as_text(yaml.safe_load(BOOK)),
        "config": json.loads(CONFIGS[0]),
        "claims": claims,
    }


def _dates_as_text(document: Any) -> Any:
    return json.loads(json.dumps(document, default=str))


def content(odd: OddInput) -> bytes:
    """Return the file that an input makes."""
    base = good_text(odd.kind, odd.place)
    if odd.place:
        return base.replace(MARK, odd.text).encode("utf-8", "surrogatepass")
    if odd.text == "{base-utf16}":
        return base.encode("utf-16")
    if odd.text.endswith("\\xe9"):
        return odd.text.replace("\\xe9", "").encode() + b"\xe9\n"
    words = {
        "{base}": base,
        "{base-crlf}": base.replace("\n", "\r\n"),
        "{base-cr}": base.replace("\n", "\r"),
        "{base-semicolons}": base.replace(",", ";"),
        "{base-tabs}": base.replace(",", "\t"),
        "{base-hidden-size-twice}": base.replace('"hidden_size": 4096', '"hidden_size": 4096, "hidden_size": 2048'),
        "{half}": base[: len(base) // 2],
        "{open-brackets}": ("name: " if odd.kind == "plan" else '{"a": ') + "[" * DEEP,
        "{open-braces}": "name: " + "{a: " * DEEP,
        "{million-keys}": "\n".join(f"k{number}: 1" for number in range(1_000_000)),
    }
    text = odd.text
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    return text.encode("utf-8", "surrogatepass")


def outcome(odd: OddInput, folder: Path) -> object:
    """Return the value that a reader gives to an input, `refused`, or `read` where the whole file is meant."""
    ending = {"prices": "csv", "log": "csv"}.get(odd.kind, "json" if odd.kind in ("plan-json", "run") else "yaml")
    path = folder / ("config.json" if odd.kind == "config" else f"{odd.kind}.{ending}")
    path.write_bytes(content(odd))
    try:
        read = READERS[odd.kind](path)
    except InputError:
        return "refused"
    if not odd.place:
        return "read"
    value = read
    for part in _path_in_model(odd):
        value = value[part]
    return value


def _path_in_model(odd: OddInput) -> list[int | str]:
    if odd.kind == "config":
        return ["layers"]
    if odd.kind == "prices":
        return [odd.place]
    if odd.kind == "log":
        return []
    return [int(part) if part.isdigit() else part for part in odd.place.split(".")]


@cache
def _bands() -> Bands:
    catalog = bundled_catalog()
    return price_bands((price for price in catalog.prices if price.origin is PriceOrigin.BUNDLED), catalog.nodes)


def _price(path: Path) -> Any:
    nodes = bundled_catalog().nodes
    rows = checked_prices(path, nodes=nodes, bands=_bands(), origin=PriceOrigin.USER, today=NOON.date())
    return rows[0].model_dump(mode="json") if rows else None


def _log(path: Path) -> Any:
    """Return the seconds since the start that were read at the seventh step; InputError where that row was left out."""
    (log,) = read_logs(open_source(path))
    seconds = [span.seconds for span in log.spans]
    if 20.0 in seconds:  # from the sixth step to the eighth
        raise InputError("the row was left out", fix="")
    return 80.0 - seconds[6]


def _claims(path: Path) -> Any:
    (_, claim) = read_claims(path)[0]
    if isinstance(claim, InputError):
        raise claim
    return {"claims": [claim.model_dump(mode="json")]}


READERS: dict[str, Callable[[Path], Any]] = {
    "plan": lambda path: read_plan(path).model_dump(mode="json"),
    "plan-json": lambda path: read_plan(path).model_dump(mode="json"),
    "run": lambda path: parse_run(read_run_file(path), where=str(path)).model_dump(mode="json"),
    "site": lambda path: read_own_model(Site, path).model_dump(mode="json"),
    "tariff": lambda path: read_own_model(Tariff, path).model_dump(mode="json"),
    "book": lambda path: read_book(path).model_dump(mode="json"),
    "prices": _price,
    "config": lambda path: find_architecture(str(path), bundled_catalog()).architecture.model_dump(mode="json"),
    "claims": _claims,
    "log": _log,
}
