"""Scores whole steps of trainings on their own completions; writes docs/accuracy/rollouts.csv.

Usage: python benchmarks/rollout_accuracy.py [--write]; half a minute. Nothing is fitted to these rows. Each row becomes
the plan that a user would write for it. `ratio` is the step at benchmark speed over the published one. `as_people_get`
includes the practice factor of an answer's hours (docs/practice.md), and its range is scored.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from typing import Any, Literal

from benchmarks.accuracy_tables import write_table
from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.duration.practice import factors, kind_of
from planner.model.base import Count, Fraction, Frozen, Positive, Text
from planner.model.catalog import Catalog
from planner.model.network.trainer_memory import Offload
from planner.model.network.training_method import Engine, Reference, RewardSource, TrainingMethod
from planner.model.network.workload import Checkpointing, Precision
from planner.model.plan.plan import Plan
from planner.quantity.interval import Interval
from planner.scenario.candidate import expand
from planner.scenario.job import resolve_job
from planner.speed.throughput.fastest_strategy import fastest
from planner.use_cases.catalogs import open_catalog


class RolloutMeasurement(Frozen):
    """One row of `catalogs/generation/rollout_steps.csv`."""

    id: Text
    owner: Text
    source_ref: Text
    source_date: Text
    said: Text
    """The source's own words."""
    network: Text
    gpu: Text
    nodes: Count
    per_node: Count
    method: TrainingMethod
    framework: Text | None = None
    rank: Count | None = None
    """Rank of the adapters; null if all weights are trained."""
    prompts: Count
    group: Count | None = None
    prompt_tokens: Positive
    completion_mean: Positive
    completion_most: Count
    engine: Engine
    generating_devices: Count | None = None
    """Devices that only generate; null if the training devices generate."""
    asynchronous: bool
    tensor: Count | None = None
    at_once: Count | None = None
    """Completions that one copy writes at a time; null if not stated."""
    memory_share: Fraction | None = None
    sleep_level: Literal[0, 1, 2] | None = None
    reference: Reference
    reward: RewardSource
    checkpointing: Checkpointing
    offload: Offload
    assumed: Text | None = None
    """Settings that the source does not state, with their assumed values."""
    step_seconds: Positive
    generation_seconds: Positive | None = None
    """Seconds of generation, with the passes through frozen models if the source times them together."""
    training_seconds: Positive | None = None

    @property
    def plan(self) -> Plan:
        """Plan of ten steps on the source's machines."""
        generation: dict[str, Any] = {
            "engine": self.engine, "asynchronous": self.asynchronous, "devices": self.generating_devices,
            "tensor": self.tensor, "at_once": self.at_once, "memory_share": self.memory_share,
            "sleep_level": self.sleep_level,
        }  # fmt: skip
        training: dict[str, Any] = {
            "method": self.method, "prompts": self.prompts, "group": self.group, "precision": Precision.BF16,
            "completion_tokens": {"mean": self.completion_mean, "most": self.completion_most},
            "reference": self.reference, "reward": self.reward, "generation": _stated(generation),
            "checkpointing": self.checkpointing, "offload": self.offload, "framework": self.framework,
            "adapters": None if self.rank is None else {"rank": self.rank},
        }  # fmt: skip
        several = {"network_gbit_per_s": NETWORK_GBIT} if self.nodes > 1 else {}
        plan = {
            "schema_version": 1, "name": self.id,
            "workload": {"ref": self.network, "seq_len": int(self.prompt_tokens) + self.completion_most},
            "work": {"samples": STEPS * self.prompts, "tokens_per_sample": self.prompt_tokens},
            "training": _stated(training),
            "options": [{"own": self.gpu, "count": self.per_node, "nodes": self.nodes} | several],
        }  # fmt: skip
        return Plan.model_validate(plan)


def _stated(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


STEPS = 10
"""Steps of a row's plan. Its speed does not depend on them."""
NETWORK_GBIT = 3200.0
"""Network of a node of eight accelerators if a source does not state it: a port of 400 Gbit/s for each."""


def score(row: RolloutMeasurement, catalog: Catalog) -> dict[str, object]:
    """Return the prediction of a row with the published figures."""
    plan = row.plan
    job = resolve_job(plan, catalog)
    (candidate,) = expand(plan, catalog)
    speed = fastest(job, candidate, catalog)[1]
    assert speed.samples_per_s is not None, f"{row.id}: {speed.problems}"
    assert speed.rollout is not None
    assert catalog.practice is not None
    seconds = speed.samples_per_s.inverse().scaled(row.prompts)
    typical, _ = factors(catalog.practice, kind_of(job))
    people = seconds.times(typical)
    by_phase = speed.rollout.seconds
    return {
        "id": row.id, "owner": row.owner, "network": row.network, "gpus": f"{row.nodes * row.per_node}x {row.gpu}",
        "method": row.method.value, "engine": row.engine.value,
        "predicted_s": f"{seconds.value:.3g}", "low_s": f"{seconds.low:.3g}", "high_s": f"{seconds.high:.3g}",
        "measured_s": f"{row.step_seconds:g}", "ratio": f"{seconds.value / row.step_seconds:.2f}",
        "in_range": _within(seconds, row), "as_people_get": f"{people.value / row.step_seconds:.2f}",
        "in_range_as_people_get": _within(people, row),
        "generation_s": f"{by_phase['generation']:.3g}", "measured_generation_s": row.generation_seconds or "",
        "training_s": f"{by_phase['training'] + by_phase.get('critic', 0.0):.3g}",
        "measured_training_s": row.training_seconds or "",
    }  # fmt: skip


def _within(seconds: Interval, row: RolloutMeasurement) -> str:
    return "yes" if seconds.low <= row.step_seconds <= seconds.high else "no"


def main() -> None:
    """Score, print, write."""
    catalog = open_catalog()
    rows = read_rows(RolloutMeasurement, catalogs_dir() / "generation" / "rollout_steps.csv")
    table = [score(row, catalog) for row in rows]
    for line in table:
        print(*line.values(), sep=" | ")
    for name, within in (("ratio", "in_range"), ("as_people_get", "in_range_as_people_get")):
        logs = [math.log(float(str(line[name]))) for line in table]
        hits = sum(line[within] == "yes" for line in table)
        middle, error = math.exp(median(logs)), math.exp(median(map(abs, logs))) - 1
        print(f"{name}: median {middle:.2f}, median error {error:.0%}, within the range {hits} of {len(table)}")
    if "--write" in sys.argv:
        write_table("rollouts", table)


if __name__ == "__main__":
    main()
