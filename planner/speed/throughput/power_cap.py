"""Accelerators held under a power limit: a setting of its own, with its own measurements, never assumed to be free."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.evidence.held_clocks import SAME_LIMIT, tightest_cap_w
from planner.model.evidence.run import RunRecord
from planner.scenario.candidate import Candidate


def cap_w(run: RunRecord) -> float | None:
    """Return the tightest limit of all devices and starts in watts; None: the factory limit, or not recorded."""
    return tightest_cap_w([device for start in run.telemetry for device in start.get("devices") or ()])


def same_cap(run: RunRecord, candidate: Candidate) -> bool:
    """Return whether a run was made under the limit that an option asks for; under none where it asks for none."""
    wanted, had = candidate.option.power_cap_w, cap_w(run)
    if wanted is None or had is None:
        return wanted is None and had is None
    return abs(had - wanted) <= SAME_LIMIT * wanted


def as_delivered(runs: Iterable[RunRecord]) -> list[RunRecord]:
    """Return the runs that no limit slowed down: they alone say something of other machines and settings."""
    return [run for run in runs if cap_w(run) is None]


def not_measured(candidate: Candidate) -> Reason:
    """Return why nothing is known of an option under a limit that nobody measured."""
    watts = candidate.option.power_cap_w
    assert watts is not None, "the option has a limit"
    text = (
        f"no run was measured under power_cap_w {watts:g}: what a limit costs in speed is not guessed; set it "
        f"(nvidia-smi -pl {watts:g}), run the benchmark, or give step and power_kw"
    )
    return Reason(code=ReasonCode.CAP_NOT_MEASURED, text=text, figures={"power_cap_w": watts})


def effect(capped: Sequence[RunRecord], free: Sequence[RunRecord]) -> str | None:
    """Write what the limit did to speed and power, against the same work as delivered; None where not known."""
    if not capped or not free:
        return None
    speed = _median(capped, "throughput") / _median(free, "throughput")
    words = f"the power cap left {speed:.3g} of the speed"
    for name, what in (("power", "machine's"), ("accelerator_power", "accelerators'")):
        pair = [[getattr(run, name) for run in runs if getattr(run, name) is not None] for runs in (capped, free)]
        if all(pair):
            low, high = (statistics.median(quantity.value for quantity in quantities) for quantities in pair)
            words += f" and {low / high:.3g} of the {what} power"
            break
    return f"{words}, measured against {free[0].id}"


def _median(runs: Sequence[RunRecord], name: str) -> float:
    return float(statistics.median(getattr(run, name).value for run in runs))
