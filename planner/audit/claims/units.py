"""Units as documents write them, English and Korean, to one of each kind."""

from __future__ import annotations

from planner.audit.findings import unknown
from planner.model.answer.audit import Finding
from planner.model.evidence.claims import Amount

HOUR, DAY = 3600.0, 86_400.0
UNITS: dict[str, dict[tuple[str, ...], float]] = {
    "s": {
        ("s", "sec", "second", "seconds", "초"): 1.0,
        ("min", "minute", "minutes", "분"): 60.0,
        ("h", "hr", "hour", "hours", "시간"): HOUR,
        ("d", "day", "days", "일"): DAY,
        ("week", "weeks", "주"): 7 * DAY,
        ("month", "months", "개월"): 30 * DAY,
    },
    "TFLOP/s": {
        ("tflops", "tflop/s", "테라플롭스", "tops"): 1.0,
        ("pflops", "pflop/s", "페타플롭스"): 1e3,
        ("eflops", "exaflops", "eflop/s"): 1e6,
    },
    "GB": {("gb", "gib", "기가"): 1.0, ("tb", "tib"): 1e3, ("mb",): 1e-3},
    "GB/s": {("gb/s",): 1.0, ("tb/s",): 1e3},
    "W": {("w", "watt", "watts", "와트"): 1.0, ("kw",): 1e3},
    "kWh": {("kwh",): 1.0, ("wh",): 1e-3},
    "USD": {("usd", "$", "dollars", "달러"): 1.0},
    "USD/h": {("usd/h", "$/h", "/h", "usd/hour", "/hour", "달러/시간"): 1.0},
    "": {("x", "times", "배", "배 느림", "generation", "세대", "st", "nd", "rd", "th", "ratio"): 1.0, ("%",): 0.01},
}


def in_unit(amount: Amount, wanted: str, what: str) -> float | Finding:
    """Return the amount in `wanted`, a key of UNITS, or what is wrong with its unit."""
    said = amount.unit.strip().casefold()
    for names, factor in UNITS[wanted].items():
        if said in names:
            return amount.value * factor
    if not said and wanted == "":
        return amount.value
    usual = ", ".join(names[0] for names in UNITS[wanted])
    if not said:
        return unknown("unit_missing", f"{what} {amount.value:g} has no unit.", fix=f"Write one of: {usual}.")
    return unknown("unit_not_known", f"{what}: '{amount.unit}' is no unit of this.", fix=f"Write one of: {usual}.")
