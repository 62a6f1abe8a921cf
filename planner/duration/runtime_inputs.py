"""Rates, sizes and bandwidths of one candidate's training, from plan, site and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from planner.duration.data_volumes import (
    BYTES_PER_GB,
    Rates,
    Volumes,
    bytes_per_sample,
    checkpoint_storage,
    sample_storage,
)
from planner.duration.goodput import Interruptions, optimal_interval_hours
from planner.model.answer.bill import Uncounted
from planner.model.answer.documents import Assumption
from planner.model.catalog import Catalog
from planner.model.defaults import GoodputDefaults
from planner.model.figure import Figure
from planner.model.network.workload import Strategy
from planner.model.plan.goodput import CheckpointWriting, Goodput
from planner.model.plan.plan import Plan
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import to_quantity
from planner.quantity.formula import largest, smallest, stated
from planner.quantity.interval import Interval
from planner.quantity.spread import combined, swings
from planner.quantity.time_units import SECONDS_PER_HOUR
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job

MODE = "synchronous"
"""Input that is 0 if checkpoints are written in the background, and 1 if training waits for them."""


@dataclass(frozen=True)
class RuntimeInputs:
    """All inputs as quantities, and the `Interruptions` that follow from them."""

    inputs: Mapping[str, Quantity]
    accelerators: int
    nodes: int
    copiers: int
    """Accelerators that copy their share of a checkpoint to the host at once."""
    read_from: Rates
    written_to: Rates
    uncounted: tuple[Uncounted, ...]
    longest_hours: float | None = None
    """Longest interval between checkpoints if the plan names none and the best one is chosen; None if it names one."""

    @property
    def ranges(self) -> dict[str, Interval]:
        """Ranges of all inputs. The speed stays at its value, because its own range is in the hours of the steps."""
        fixed = ("samples_per_s",)
        return {
            name: Interval(quantity.value, quantity.low, quantity.high)
            for name, quantity in self.inputs.items()
            if name not in fixed
        }

    @property
    def values(self) -> dict[str, float]:
        """Inputs as plain numbers."""
        return {
            name: stated(name, quantity.value, quantity.unit.value, quantity.source)
            for name, quantity in self.inputs.items()
        }

    def needed_gb_per_s(self, values: Mapping[str, float]) -> float:
        """Return GB/s of samples at full speed: samples/s x bytes / 10^9; 0 if their size is unknown."""
        return values["samples_per_s"] * values.get("bytes_per_sample", 0.0) / BYTES_PER_GB

    def write_hours(self, values: Mapping[str, float]) -> float:
        """Return the hours to write one checkpoint: GB / (GB/s) / 3600; 0 if its size is unknown."""
        return values.get("checkpoint_gb", 0.0) / values["write_gb_per_s"] / SECONDS_PER_HOUR

    def stop_hours(self, values: Mapping[str, float]) -> float:
        """Return the hours for which a checkpoint stops training: the copy to the host's memory, or all of the writing.

        background: GB / (accelerators that copy x GB/s of each) / 3600, and never more than the writing
        """
        write = self.write_hours(values)
        copy = values.get("checkpoint_gb", 0.0) / (self.copiers * values["host_copy_gb_per_s"]) / SECONDS_PER_HOUR
        return write * values[MODE] + smallest(copy, write) * (1 - values[MODE])

    def interruptions(self, values: Mapping[str, float]) -> Interruptions:
        """Return the plain inputs of the loss. The next checkpoint waits until the one before is written."""
        write, stop = self.write_hours(values), self.stop_hours(values)
        failures = self.accelerators / values["gpu_hours_per_failure"]
        per_preemption = values.get("node_hours_per_preemption")
        preemptions = 0.0 if per_preemption is None else self.nodes / per_preemption
        every = values.get("checkpoint_interval_hours", 0.0)
        if self.longest_hours is not None:
            best = optimal_interval_hours(checkpoint_hours=stop, interruptions_per_hour=failures + preemptions)
            every = self.longest_hours if best is None else min(best, self.longest_hours)
        stall = largest(0.0, self.needed_gb_per_s(values) / values["read_gb_per_s"] - 1)
        return Interruptions(
            input_stall=stall,
            evaluation=values["evaluation_fraction"],
            interval_hours=largest(every, write - stop),
            checkpoint_hours=stop,
            unsaved_hours=write - stop,
            failures_per_hour=failures,
            preemptions_per_hour=preemptions,
            restart_hours=values["restart_hours"],
        )


def runtime_inputs(
    plan: Plan, job: Job, candidate: Candidate, catalog: Catalog, defaults: GoodputDefaults, *,
    throughput: Quantity, volumes: Volumes, strategy: Strategy,
) -> RuntimeInputs:  # fmt: skip
    """Join the plan's figures, the site's storage and the defaults for one candidate."""
    sharded = strategy is not Strategy.DDP
    reading = sample_storage(plan, candidate, catalog, defaults)
    writing = checkpoint_storage(plan, candidate, catalog, defaults, writing_nodes=candidate.nodes if sharded else 1)
    given = _option_goodput(plan.goodput, candidate.option.goodput)
    inputs = {
        "samples_per_s": throughput,
        "read_gb_per_s": reading.read,
        "write_gb_per_s": writing.write,
        "host_copy_gb_per_s": defaults.host_copy_gb_per_s,
        "gpu_hours_per_failure": _given(given.gpu_hours_per_failure, "gpu_hours_per_failure", defaults),
        "restart_hours": _given(given.restart_hours, "restart_hours", defaults),
        "evaluation_fraction": _given(given.evaluation_fraction, "evaluation_fraction", defaults),
        MODE: _mode(given.checkpoint_writing),
    }
    if is_preempted(candidate):
        inputs["node_hours_per_preemption"] = _given(
            given.node_hours_per_preemption, "node_hours_per_preemption", defaults
        )
    uncounted = []
    size = bytes_per_sample(job, volumes)
    if size is None:
        reason = "how many bytes a sample has is not known; give data.dataset_gb"
        uncounted.append(Uncounted(what="input stalls", reason=reason))
    else:
        inputs["bytes_per_sample"] = size
    if volumes.checkpoint is None:
        reason = "the network is not known, so a checkpoint's size cannot be counted; give data.checkpoint_gb"
        uncounted.append(Uncounted(what="checkpoints", reason=reason))
    else:
        inputs["checkpoint_gb"] = volumes.checkpoint
    copiers = candidate.accelerators if sharded else 1
    runtime = RuntimeInputs(
        inputs, candidate.accelerators, candidate.nodes, copiers, reading, writing, tuple(uncounted)
    )
    every = _interval_between(given.checkpoint_interval_hours, runtime, defaults)
    longest = defaults.longest_interval_hours.value if given.checkpoint_interval_hours is None else None
    return replace(runtime, inputs=inputs | {"checkpoint_interval_hours": every}, longest_hours=longest)


def _option_goodput(given: Goodput, own: Goodput | None) -> Goodput:
    """Return the plan's figures, with those of the option in their place."""
    if own is None:
        return given
    return given.model_copy(update={name: value for name, value in own if value is not None})


def is_preempted(candidate: Candidate) -> bool:
    """Return whether the machine may be preempted: spot is."""
    return candidate.site is None and candidate.option.price is PriceKind.SPOT


def goodput_assumptions(plan: Plan, catalog: Catalog, *, spot: bool) -> list[Assumption]:
    """List what every option's loss takes from the plan or the defaults; nothing in an old lock."""
    defaults, given = catalog.goodput_defaults, plan.goodput
    if defaults is None:
        return []
    names = {
        "time between failures of one accelerator": "gpu_hours_per_failure",
        "time between preemptions of one spot node": "node_hours_per_preemption",
        "restart after an interruption": "restart_hours",
        "evaluation": "evaluation_fraction",
    }
    assumptions = [
        Assumption(name=name, quantity=_given(getattr(given, key), key, defaults))
        for name, key in names.items()
        if spot or key != "node_hours_per_preemption"
    ]
    every = given.checkpoint_interval_hours
    where = "the plan: goodput.checkpoint_interval_hours"
    interval = defaults.longest_interval_hours if every is None else every.quantity(Unit.HOURS, where=where)
    name = "longest time between checkpoints" if every is None else "checkpoints every"
    return [*assumptions, Assumption(name=name, quantity=interval)]


def optimal_interval(runtime: RuntimeInputs) -> Quantity | None:
    """Return the interval that loses least, with its range; None where a checkpoint's size is not known."""
    if "checkpoint_gb" not in runtime.inputs:
        return None

    def best(values: Mapping[str, float]) -> float | None:
        interruptions = runtime.interruptions(values)
        hours = optimal_interval_hours(
            checkpoint_hours=interruptions.checkpoint_hours, interruptions_per_hour=interruptions.per_hour
        )
        return None if hours is None else max(hours, interruptions.unsaved_hours)

    values = runtime.values
    hours = best(values)
    if hours is None:
        return None
    band = combined(hours, swings(lambda at: best(at) or hours, values, runtime.ranges, moved))
    interruptions = runtime.interruptions(values)
    source = (
        f"Daly's optimum, about sqrt(2 x {interruptions.checkpoint_hours * SECONDS_PER_HOUR:.3g} s of a checkpoint x "
        f"{1 / interruptions.per_hour:.4g} h between interruptions)"
    )
    return to_quantity(band, Unit.HOURS, Basis.MODELLED, source, runtime.inputs["gpu_hours_per_failure"].as_of)


def moved(values: Mapping[str, float], name: str, value: float) -> dict[str, float]:
    """Return the inputs with one of them changed."""
    return dict(values) | {name: value}


def _interval_between(given: Figure | None, runtime: RuntimeInputs, defaults: GoodputDefaults) -> Quantity:
    if given is not None:
        return given.quantity(Unit.HOURS, where="the plan: goodput.checkpoint_interval_hours")
    best, longest = optimal_interval(runtime), defaults.longest_interval_hours
    if best is None or best.value >= longest.value:
        return longest
    return to_quantity(Interval.exact(best.value), Unit.HOURS, Basis.ASSUMED, f"assumed to be the best: {best.source}")


def _given(figure: Figure | None, name: str, defaults: GoodputDefaults) -> Quantity:
    default: Quantity = getattr(defaults, name)
    return default if figure is None else figure.quantity(default.unit, where=f"the plan: goodput.{name}")


def _mode(writing: CheckpointWriting | None) -> Quantity:
    if writing is None:
        source = "assumed to be written in the background, as torch.distributed.checkpoint's async_save does"
        return to_quantity(Interval(0.0, 0.0, 1.0), Unit.RATIO, Basis.ASSUMED, source)
    value = float(writing is CheckpointWriting.SYNCHRONOUS)
    source = f"the plan: goodput.checkpoint_writing: {writing.value}"
    return to_quantity(Interval.exact(value), Unit.RATIO, Basis.ASSUMED, source)
