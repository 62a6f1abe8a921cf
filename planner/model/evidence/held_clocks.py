"""Detects throttled accelerators from a run's telemetry: power limits, slowdowns and clocks.

An accelerator at its factory power limit lowers its clocks: that is normal, and no reason for doubt. Doubtful are a
limit below the factory one, a slowdown by heat or by the hardware, and clocks far below those of other cards of the
model. The verdict of the benchmark, the audit and the choice of matching runs all use this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SAME_LIMIT = 0.01
"""Relative difference up to which power limits are the same."""
MOST_SLOWED_SHARE = 0.05
"""Share of the samples in which an accelerator may be slowed down."""
SLOWDOWNS = {
    "sw_thermal": "heat, by the driver",
    "hw_thermal": "heat, by the hardware",
    "hw_slowdown": "slowdown by the hardware",
    "hw_power_brake": "power brake of the machine",
}
"""NVML's reasons that are faults, with names for people. `power_cap` is not one: it is the factory limit at work."""
LEAST_MEAN_CLOCK_MHZ = {"NVIDIA H100 80GB HBM3": 0.75 * 1980.0}
"""Mean SM clock below which a card at its factory power limit is slower than others of its model, by the driver's name.

75 % of the card's maximum of 1,980 MHz. Source: 20 runs of seven networks on two H100 SXM at 700 W (2026-11-26), whose
means are 1,720 MHz (87 % of the maximum, float8) to 1,980 MHz. Models without such runs are not judged: their clocks
at full power may be a far smaller share of the maximum (an L4's base clock is 39 % of it).
"""

Device = Mapping[str, Any]


def clock_problems(devices: Sequence[Device], accelerator_name: object) -> list[str]:
    """Return sentences on the throttled devices, at most one of each kind; empty if there are none.

    `devices` is the telemetry of one start, `accelerator_name` the driver's name of the model. Missing figures are not
    judged.
    """
    return [
        *_limited(devices),
        *_slowed(devices),
        *_low_clocks(devices, LEAST_MEAN_CLOCK_MHZ.get(str(accelerator_name))),
    ]


def tightest_cap_w(devices: Sequence[Device]) -> float | None:
    """Return the lowest power limit in watts among those more than 1 % below the factory limit;

    None if there is none.
    """
    return min((limit for device in devices if (limit := _cap_w(device)) is not None), default=None)


def _cap_w(device: Device) -> float | None:
    limit, factory = _figure(device, "power_limit_w"), _figure(device, "default_power_limit_w")
    return limit if limit and factory and limit < (1 - SAME_LIMIT) * factory else None


def _limited(devices: Sequence[Device]) -> list[str]:
    cap_w = tightest_cap_w(devices)
    if cap_w is None:
        return []
    number = next(number for number, device in enumerate(devices) if _cap_w(device) == cap_w)
    return [
        f"device {number} ran under a power limit of {cap_w:.0f} W, below its factory limit of "
        f"{_figure(devices[number], 'default_power_limit_w'):.0f} W"
    ]


def _slowed(devices: Sequence[Device]) -> list[str]:
    worst, number, reason = 0.0, 0, ""
    for place, device in enumerate(devices):
        shares = device.get("throttle_shares")
        if not isinstance(shares, Mapping):
            continue
        for name, words in SLOWDOWNS.items():
            share = _figure(shares, name) or 0.0
            if share > worst:
                worst, number, reason = share, place, words
    if worst <= MOST_SLOWED_SHARE:
        return []
    return [
        f"device {number} was slowed down in {worst:.0%} of the samples ({reason}; up to {MOST_SLOWED_SHARE:.0%} is "
        "fine): check its cooling and its power supply"
    ]


def _low_clocks(devices: Sequence[Device], least_mhz: float | None) -> list[str]:
    means = {number: mean for number, device in enumerate(devices) if (mean := _figure(device, "mean_sm_clock_mhz"))}
    if least_mhz is None or not means:
        return []
    number = min(means, key=lambda place: means[place])
    if means[number] >= least_mhz or _cap_w(devices[number]) is not None:
        return []
    return [
        f"device {number} ran at {means[number]:,.0f} MHz on average; others of its model keep {least_mhz:,.0f} MHz or "
        "more at their factory power limit"
    ]


def _figure(facts: Mapping[str, Any], name: str) -> float | None:
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) else None
