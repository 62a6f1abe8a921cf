"""Reads units, and names of the catalog, as documents write them in English, Korean and others.

A unit is words joined by `/`, `per`, spaces, `-` and `*`: "USD/GPU-h", "GPU hours", "TFLOP/s", "킬로와트시".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from planner.audit.findings import unknown
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
from planner.model.evidence.amount import Amount
from planner.model.hardware.accelerator_name import accelerator_named
from planner.model.hardware.machines import Accelerator, Node

HOUR, DAY = 3600.0, 86_400.0
DEVICE, NODE = "device", "node"


@dataclass(frozen=True)
class Dimensioned:
    """A unit as a number of base units, with the power of each base: s, byte, flop, W, device, a currency."""

    factor: float = 1.0
    powers: Mapping[str, int] = field(default_factory=dict)

    def times(self, other: Dimensioned, power: int = 1) -> Dimensioned:
        """Return the product with a power of another."""
        powers = Counter(self.powers)
        for base, count in other.powers.items():
            powers[base] += power * count
        kept = {base: count for base, count in powers.items() if count}
        return Dimensioned(self.factor * other.factor**power, kept)


_PREFIXES = {
    "": 1.0, "m": 1e-3, "k": 1e3, "K": 1e3, "킬로": 1e3, "kilo": 1e3, "M": 1e6, "메가": 1e6, "mega": 1e6,
    "G": 1e9, "g": 1e9, "기가": 1e9, "giga": 1e9, "T": 1e12, "t": 1e12, "테라": 1e12, "tera": 1e12,
    "P": 1e15, "p": 1e15, "페타": 1e15, "peta": 1e15, "E": 1e18, "e": 1e18, "엑사": 1e18,
    "exa": 1e18, "z": 1e21, "zetta": 1e21,
}  # fmt: skip
_TIMES = {
    ("ms", "밀리초"): 1e-3,
    ("s", "sec", "secs", "second", "seconds", "초", "sekunde", "sekunden", "seconde", "secondes", "秒"): 1.0,
    ("min", "mins", "minute", "minutes", "분", "minuten"): 60.0,
    ("h", "hr", "hrs", "hour", "hours", "시간", "std", "stunde", "stunden", "heure", "heures", "hora", "horas",
     "時間", "小时", "小時"): HOUR,
    ("d", "day", "days", "일", "tag", "tage", "tagen", "jour", "jours", "dias", "días", "日", "天"): DAY,
    ("week", "weeks", "주", "woche", "wochen", "semaine", "semaines"): 7 * DAY,
    ("month", "months", "개월", "달", "월", "monat", "monate", "mois"): 30 * DAY,
    ("year", "years", "yr", "년", "jahr", "jahre", "an", "ans", "年"): 365 * DAY,
}  # fmt: skip
_MONEY = {
    ("usd", "$", "us$", "dollar", "dollars", "달러", "미달러"): "USD",
    ("krw", "₩", "원", "won"): "KRW", ("eur", "€", "euro", "euros", "유로"): "EUR",
    ("jpy", "¥", "yen", "엔", "円"): "JPY", ("gbp", "£", "pound", "pounds"): "GBP", ("cny", "rmb", "元", "위안"): "CNY",
}  # fmt: skip
_DEVICES = ("gpu", "gpus", "card", "cards", "accelerator", "accelerators", "chip", "chips", "device", "devices", "tpu",
            "tpus", "카드", "그래픽카드")  # fmt: skip
_COUNTS = (
    "x", "\N{MULTIPLICATION SIGN}", "times", "배", "fold", "fach", "mal", "fois", "倍", "ratio", "느림", "빠름",
    "빠르다", "faster", "slower", "generation", "gen", "세대", "st", "nd", "rd", "th", "batch", "batches", "배치",
    "sample", "samples", "샘플", "개", "건", "대", "회", "장", "token", "tokens", "토큰", "step", "steps", "스텝",
    "epoch", "epochs", "에폭", "image", "images",
)  # fmt: skip
_NODES = ("node", "nodes", "instance", "instances", "machine", "machines", "server", "servers", "노드", "서버",
          "인스턴스")  # fmt: skip
_MODEL = re.compile(r"^(rtx|gtx|mi|gb|gh|[abhlvtp])\d{1,4}[a-z]*$", re.IGNORECASE)
"""A device by its model: H100-hours."""
_WORDS: dict[str, Dimensioned] = {
    **{name: Dimensioned(factor, {"s": 1}) for names, factor in _TIMES.items() for name in names},
    **{name: Dimensioned(1.0, {code: 1}) for names, code in _MONEY.items() for name in names},
    **{name: Dimensioned(1.0, {DEVICE: 1}) for name in _DEVICES},
    **{name: Dimensioned(1.0, {NODE: 1}) for name in _NODES},
    **{name: Dimensioned() for name in _COUNTS},
    "%": Dimensioned(0.01),
}
_RATE, _FLOPS = {"flop": 1, "s": -1}, re.compile(r"^(\D{0,5}?)-?(flops?|ops?|플롭스)$")
_BYTES = re.compile(r"^([kKMGTPEmgtpe]?|킬로|메가|기가|테라|페타)(i?)(B|b|bytes?|Bytes?|bits?|바이트|비트|)(ps)?$")
_WATTS = re.compile(r"^([kKMm]?|킬로|메가|kilo|mega)-?(w|watts?|와트)(h|시)?$", re.IGNORECASE)
WANTED: dict[str, tuple[Dimensioned, str]] = {
    "s": (Dimensioned(1.0, {"s": 1}), "s, min, h, days"),
    "TFLOP/s": (Dimensioned(1e12, _RATE), "TFLOPS, PFLOPS"),
    "GB": (Dimensioned(1e9, {"byte": 1}), "GB, GiB, TB"),
    "GB/s": (Dimensioned(1e9, {"byte": 1, "s": -1}), "GB/s, TB/s"),
    "Gbit/s": (Dimensioned(1e9 / 8, {"byte": 1, "s": -1}), "Gbit/s, GB/s"),
    "W": (Dimensioned(1.0, {"W": 1}), "W, kW"),
    "USD": (Dimensioned(1.0, {"USD": 1}), "USD"),
    "USD/h": (Dimensioned(1 / HOUR, {"USD": 1, "s": -1}), "USD/h, USD/GPU-h"),
    "": (Dimensioned(), "x, times, th"),
}
"""Units that rules ask for, with the spellings that a fix names."""


def unit_of(text: str) -> Dimensioned | None:
    """Read a unit; None if it is unknown."""
    said = re.sub(r"\bper\b", "/", text.strip().rstrip("."))
    said = re.sub(r"(?<=[A-Za-z])(?=[가-힣])", " ", said)
    said = re.sub(r"(?i)(flop|op)s\s*/\s*s(ec)?\b", r"\1s", said)
    over, known = said.partition("/"), Dimensioned()
    parts = [(over[0] if over[0].strip() or not over[1] else "USD", 1), *((part, -1) for part in over[2].split("/"))]
    for part, power in parts:
        for word in re.split(r"[\s·*⋅-]+", part.strip()):
            word_unit = _word(word) if word else Dimensioned()
            if word_unit is None:
                return None
            known = known.times(word_unit, power)
    return known


def _word(word: str) -> Dimensioned | None:
    known = _WORDS.get(word) or _WORDS.get(word.casefold())
    if known is not None:
        return known
    if _MODEL.match(word):
        return _WORDS["gpu"]
    if match := _FLOPS.match(word.casefold()):
        rate = {"flop": 1} if match[2] in ("flop", "op") else _RATE
        return Dimensioned(_PREFIXES[match[1]], rate) if match[1] in _PREFIXES else None
    if match := _WATTS.match(word):
        prefix = match[1] if match[1] == "M" else match[1].casefold()
        watts = Dimensioned(_PREFIXES[prefix], {"W": 1})
        return watts.times(Dimensioned(HOUR, {"s": 1})) if match[3] else watts
    match = _BYTES.match(word)
    if match is None or not (match[3] or match[1] in ("기가", "테라")):
        return None
    prefix = match[1] if len(match[1]) > 1 else match[1].upper()
    power = round(len(f"{_PREFIXES[prefix]:.0f}") / 3 - 0.5) if match[2] else 0
    factor = 1024.0**power if match[2] else _PREFIXES[prefix]
    bits = match[3].startswith(("bit", "비트")) or (match[3] == "b" and (match[1].isupper() or match[4] is not None))
    rate = {"s": -1} if match[4] else {}
    return Dimensioned(factor / 8 if bits else factor, {"byte": 1, **rate})


def ends_in(
    amount: Amount, wanted: str, what: str, *, devices: int | None = None, of_a_node: bool = False
) -> tuple[float, float] | Finding:
    """Return both ends of an amount in `wanted`, a key of WANTED, or what is wrong with its unit.

    `devices` is the number of accelerators that share or multiply a figure for one of them ("GPU-h", "USD/GPU-h").
    `of_a_node` is true if "USD/node-h" is asked for.
    """
    base, usual = WANTED[wanted]
    fix = f"Write one of: {usual}."
    if not amount.unit.strip() and wanted != "":
        return unknown("unit_missing", f"{what} {amount.value:g} has no unit.", fix=fix)
    said = unit_of(amount.unit)
    powers = dict(said.powers) if said else {}
    each = powers.pop(DEVICE, 0)
    if of_a_node and powers.get(NODE) == -1:
        del powers[NODE]
    if said is None or powers != base.powers or (each and devices is None):
        money = next((code for code in powers if code.isupper() and len(code) == 3 and code != "USD"), None)
        if money and "USD" in base.powers:
            fix = f"The catalog is in USD: convert {money}, and say the rate and its day in `source`."
        return unknown("unit_not_known", f"{what}: '{amount.unit}' is not a unit of this.", fix=fix)
    factor = said.factor / base.factor * float(devices or 1) ** -each
    return amount.ends[0] * factor, amount.ends[1] * factor


def nearest(ends: tuple[float, float], known: float) -> float:
    """Return the part of a range that is nearest to a figure: the range's best case."""
    return min(max(known, ends[0]), ends[1])


FIX = "Name an accelerator as catalogs/hardware/accelerators.csv or its aliases do."


def accelerator_of(name: str, catalog: Catalog) -> Accelerator | Finding:
    """Return an accelerator by any name, or a finding that it is unknown."""
    known = accelerator_named(name, catalog.accelerators, catalog.aliases)
    return known or unknown("accelerator_not_known", f"No catalog knows the accelerator '{name}'.", fix=FIX)


def node_of(name: str, catalog: Catalog) -> Node | Finding:
    """Return a machine by its id or the name of its instance, or a finding that it is unknown."""
    said = _spelled(name)
    for node in catalog.nodes.values():
        plain = node.name.partition(" (")[0]
        if said in {_spelled(known_name) for known_name in (node.id, node.id.rpartition("/")[2], node.name, plain)}:
            return node
    begun = [node for node in catalog.nodes.values() if _spelled(node.name).startswith(f"{said} ")]
    if len(begun) == 1:
        return begun[0]
    return unknown(
        "machine_not_known", f"No catalog knows the machine '{name}'.", fix="See catalogs/hardware/nodes.csv."
    )


def _spelled(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.casefold()).strip()
