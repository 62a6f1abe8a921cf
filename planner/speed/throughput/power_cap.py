"""Power limits of accelerators. Their effect on speed is never estimated; only runs under the limit measure it."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.evidence.held_clocks import SAME_LIMIT, tightest_cap_w
from planner.model.evidence.run import RunRecord
from planner.scenario.candidate import Candidate


def cap_w(run: RunRecord) -> float | None:
    """Return the lowest limit of all devices and starts in watts; None if it is the factory limit or not recorded."""
    return tightest_cap_w([device for start in run.telemetry for device in start.get("devices") or ()])


def same_cap(run: RunRecord, candidate: Candidate) -> bool:
    """Return whether a run and an option have the same power limit, or both have none."""
    wanted, measured = candidate.option.power_cap_w, cap_w(run)
    if wanted is None or measured is None:
        return wanted is None and measured is None
    return abs(measured - wanted) <= SAME_LIMIT * wanted


def uncapped_runs(runs: Iterable[RunRecord]) -> list[RunRecord]:
    """Return the runs without a power limit. Only these inform about other machines and settings."""
    return [run for run in runs if cap_w(run) is None]


def cap_not_measured(candidate: Candidate) -> Reason:
    """Return the reason that an option's speed is not known, because no run was measured under its limit."""
    watts = candidate.option.power_cap_w
    assert watts is not None, "the option has a limit"
    text = (
        f"no run was measured under power_cap_w {watts:g}: what a limit costs in speed is not guessed; set it "
        f"(nvidia-smi -pl {watts:g}), run the benchmark, or give step and power_kw"
    )
    return Reason(code=ReasonCode.CAP_NOT_MEASURED, text=text, figures={"power_cap_w": watts})


def effect(capped: Sequence[RunRecord], free: Sequence[RunRecord]) -> str | None:
    """Return a note on speed and power under a limit, relative to the same work without it; None if not known."""
    if not capped or not free:
        return None
    speed = _median(capped, "throughput") / _median(free, "throughput")
    note = f"the power cap left {speed:.3g} of the speed"
    for name, what in (("power", "machine's"), ("accelerator_power", "accelerators'")):
        pair = [[getattr(run, name) for run in runs if getattr(run, name) is not None] for runs in (capped, free)]
        if all(pair):
            low, high = (statistics.median(quantity.value for quantity in quantities) for quantities in pair)
            note += f" and {low / high:.3g} of the {what} power"
            break
    return f"{note}, measured against {free[0].id}"


def _median(runs: Sequence[RunRecord], name: str) -> float:
    return float(statistics.median(getattr(run, name).value for run in runs))
