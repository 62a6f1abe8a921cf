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

from benchmarks.accuracy_tables import write_table
from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.duration.practice import factors, kind_of
from planner.model.catalog import Catalog
from planner.quantity.interval import Interval
from planner.scenario.candidate import expand
from planner.scenario.job import resolve_job
from planner.speed.calibration.rollout_rows import RolloutMeasurement
from planner.speed.throughput.fastest_strategy import fastest
from planner.use_cases.catalogs import open_catalog


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
