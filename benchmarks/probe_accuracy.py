"""Scores estimates on the settings of one H100: without a measurement, with one own run, a probe, or both.

The settings are those of docs/accuracy/frozen/h100_measurements.csv, which no fit reads. The score with one own run is
the median over all pairs of a setting and another known one. `PROBE` is the result.json of a probe on such a machine.
Without it, scores that need a probe are "not scored". The last line of stdout is one JSON document.
Run: python -m benchmarks.probe_accuracy [PROBE]; --freeze FOLDER writes the predictions before any probe.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.simulated_machine import SimulatedMachine
from planner.adapters.catalog import accelerator_aliases, load_catalog
from planner.launcher.collect.probe_record import probe_record_of
from planner.model.answer.reason import Reason
from planner.model.catalog import Catalog
from planner.model.evidence.probe import ProbeRecord
from planner.model.network.architecture import TextModel
from planner.model.network.workload import BenchWorkload, Checkpointing, Precision, Strategy
from planner.model.plan.plan import Plan
from planner.scenario.candidate import Candidate, expand
from planner.scenario.training_setup import TrainingSetup
from planner.speed.estimator.expected_error import KnownLabels
from planner.speed.estimator.own_runs import UpdatePoints, update
from planner.speed.estimator.text_estimator import fitted, model_rows
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.observation import Observation
from planner.speed.physics.planned_text_config import labels_of, planned_text_config
from planner.speed.physics.step import step
from planner.speed.throughput.probe_evidence import probe_evidence
from planner.speed.throughput.share_of_peak import is_too_small

FROZEN = Path(__file__).parents[1] / "docs" / "accuracy" / "frozen"
OFFER = "aws/p5.4xlarge"
BOUND_BY = {"attention": ("attention",), "host": ("host", "engine"), "loss": ("logits",)}
BOUND_SHARE = 0.15
"""Share of a step from which a setting counts as bound by that part."""
STRATEGIES = {"DDP": Strategy.DDP, "FSDP2": Strategy.FSDP2, "ZeRO-1": Strategy.ZERO1, "ZeRO-2": Strategy.ZERO2,
              "ZeRO-3": Strategy.ZERO3}  # fmt: skip
NOT_SCORED = "not scored"
WANTED_CUT = 0.25
"""Share by which a probe should lower the median error, compared with one own run."""


@dataclass(frozen=True)
class ProbeSetting:
    """One setting of the table as the planner describes it, with its measured rate."""

    name: str
    run: Observation
    precision: Precision
    compiled: bool


def settings(catalog: Catalog, candidate: Candidate) -> list[ProbeSetting]:
    """Return the trainings of text networks that are large enough for the estimator."""
    found = []
    with (FROZEN / "h100_measurements.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            preset = catalog.presets.get(row["model"].removesuffix("-4layers"))
            if not isinstance(preset, BenchWorkload) or not isinstance(preset.architecture, TextModel):
                continue
            if is_too_small(preset.architecture):
                continue
            layers = int(row["n_layers"])
            cut = preset if layers == preset.architecture.layers else preset.cut(layers=layers)
            assert isinstance(cut.architecture, TextModel)
            setup = TrainingSetup(
                workload=row["model"],
                network=cut.architecture,
                seq_len=int(row["seq_len"]),
                precision=Precision(row["precision"]),
                strategy=STRATEGIES[row["parallelism"].split()[-1]],
                compiled="compile" in row["compile_kernels"],
                checkpointing=Checkpointing(row["activation_checkpointing"] or "none"),
            )
            config = planned_text_config(
                setup, candidate.cluster, micro_batch=float(row["micro_batch"]), micro_batches=1.0
            )
            assert not isinstance(config, Reason), config
            label = labels_of(candidate.accelerator, row["model"])
            run = Observation(row["id"], config, label, float(row["tokens_per_s_per_gpu"]), 1.0)
            assert setup.precision is not None
            found.append(ProbeSetting(row["id"], run, setup.precision, bool(setup.compiled)))
    return found


def machine(catalog: Catalog) -> Candidate:
    """Return one H100."""
    plan = Plan.model_validate(
        {
            "schema_version": 1,
            "name": "probe",
            "work": {"epochs": 1, "samples_per_epoch": 1},
            "workload": {"ref": "gpt-305m"},
            "options": [{"offer": OFFER}],
        }
    )
    return expand(plan, catalog)[0]


class ProbeErrors:
    """Errors of settings given other measurements: ln(measured / predicted seconds)."""

    def __init__(self, catalog: Catalog) -> None:
        assert catalog.calibration is not None
        self._fit, self._known = fitted(catalog.calibration), KnownLabels.of(catalog.calibration)

    def of(self, observation: Observation, known: Sequence[Observation]) -> tuple[float, float]:
        """Return the remaining error, and its expected standard deviation."""
        place, errors = self._seen([observation])
        if not known:
            return float(errors[0]), float(place.expected[0])
        anchors, seen = self._seen(known)
        posterior = update(place, anchors, seen)
        return float(errors[0] - posterior.shift[0]), float(place.expected[0] * posterior.left[0])

    def _seen(self, rows: Sequence[Observation]) -> tuple[UpdatePoints, np.ndarray]:
        modelled = model_rows(self._fit, rows, self._known)
        configs = from_rows([row.config for row in rows])
        rates = np.array([row.tokens_per_s_per_gpu for row in rows])
        return modelled.place, np.log(configs.tokens_per_step / (rates * configs.gpus)) - modelled.log_step

    def bound(self, observation: Observation) -> list[str]:
        """Return which of attention, host and loss take a large share of a setting's step."""
        shares = step(from_rows([observation.config]), self._fit.constants).shares
        return [
            name for name, parts in BOUND_BY.items() if sum(float(shares[part][0]) for part in parts) >= BOUND_SHARE
        ]


def scored(catalog: Catalog, candidate: Candidate, probe: ProbeRecord | None) -> dict[str, Any]:
    """Return the median error for each state of knowledge, over all settings and over those bound by a part."""
    every, errors = settings(catalog, candidate), ProbeErrors(catalog)
    found: dict[str, dict[str, list[float]]] = {"none": {}, "one own run": {}, "probe": {}, "both": {}}
    known = catalog if probe is None else catalog.model_copy(update={"probes": {probe.id: probe}})
    for setting in every:
        kernels = probe_evidence(candidate, known, precision=setting.precision, compiled=setting.compiled).observations
        groups = ["all", *(f"bound by {name}" for name in errors.bound(setting.run))]
        for state, runs in _states(setting, every, kernels):
            for group in groups:
                found[state].setdefault(group, []).append(abs(errors.of(setting.run, runs)[0]))
    medians = {
        state: {group: round(median(values), 4) for group, values in groups.items()} or NOT_SCORED
        for state, groups in found.items()
    }
    verdict: object = NOT_SCORED
    own, with_probe = medians["one own run"], medians["probe"]
    if isinstance(own, dict) and isinstance(with_probe, dict):
        verdict = {group: with_probe[group] <= (1 - WANTED_CUT) * own[group] for group in with_probe}
    return {"settings": len(every), "median_error": medians, "a_quarter_below_one_own_run": verdict}


def _states(
    setting: ProbeSetting, every: Sequence[ProbeSetting], kernels: Sequence[Observation]
) -> Iterator[tuple[str, Sequence[Observation]]]:
    others = [other.run for other in every if other is not setting]
    yield "none", []
    for other in others:
        yield "one own run", [other]
    if kernels:
        yield "probe", kernels
        for other in others:
            yield "both", [other, *kernels]


def freeze(catalog: Catalog, candidate: Candidate, folder: Path) -> None:
    """Write the predicted seconds of each kernel, and the expected error of each setting."""
    physics = SimulatedMachine(catalog, candidate, {})
    predicted = physics.probe()
    with (folder / "h100_probe_kernels.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["kind", "precision", "shape", "predicted_seconds"])
        for kernel in predicted.kernels:
            shape = " ".join(f"{name}={value}" for name, value in kernel.shape.items())
            precision = "" if kernel.precision is None else kernel.precision.value
            writer.writerow([kernel.kind.value, precision, shape, f"{kernel.seconds:.6g}"])
    errors = ProbeErrors(catalog)
    with (folder / "h100_probe_predictions.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "predicted_tokens_per_s", "expected_error", "expected_error_with_probe"])
        for setting in settings(catalog, candidate):
            off, before = errors.of(setting.run, [])
            after = errors.of(setting.run, physics.observations(predicted))[1]
            predicted_rate = setting.run.tokens_per_s_per_gpu * math.exp(off)
            writer.writerow([setting.name, f"{predicted_rate:.1f}", f"{before:.3f}", f"{after:.3f}"])


def main() -> None:
    """Score, or freeze."""
    parser = argparse.ArgumentParser(description="Score estimates with and without a probe of one H100.")
    parser.add_argument("probe", type=Path, nargs="?", help="result.json of a probe")
    parser.add_argument("--freeze", type=Path, metavar="FOLDER", help="write the predictions instead")
    options = parser.parse_args()
    catalog = load_catalog()
    candidate = machine(catalog)
    if options.freeze is not None:
        freeze(catalog, candidate, options.freeze)
        return
    probe = None
    if options.probe is not None:
        result = json.loads(options.probe.read_text(encoding="utf-8"))
        probe = probe_record_of(result, aliases=accelerator_aliases(), where=str(options.probe))
        probe = probe.model_copy(update={"hardware": probe.hardware.model_copy(update={"node": candidate.node.id})})
    print(json.dumps(scored(catalog, candidate, probe), indent=1))


if __name__ == "__main__":
    main()
