"""Texts on the evidence of a number: counts from the calibration, owners of runs, and short lines."""

from __future__ import annotations

import pytest

from planner.model.catalog import Catalog
from planner.model.evidence.calibration import Calibration, Seen
from planner.model.evidence.run import RunRecord
from planner.model.plan.plan_option import UserStep
from planner.model.quantity import Basis
from planner.speed.physics.observation import Observation
from planner.speed.physics.planned_text_config import labels_of
from planner.speed.throughput.evidence_text import (
    LONGEST_LINE,
    estimated_line,
    evidence_clause,
    measured_line,
    scaled_line,
    short_name,
    stated_line,
)
from planner.speed.throughput.own_evidence import OwnEvidence

BUNDLED = ("seed-003-rtx3090-ddp-x1", "seed-003-rtx3090-zero2-x1")


@pytest.fixture
def calibration(catalog: Catalog) -> Calibration:
    """Return a calibration of 1,200 rows: 34 on H100, 500 on its generation, none on others."""
    assert catalog.calibration is not None
    seen = {
        "accelerator": {"H100-SXM": Seen(rows=34, sources=3, largest=8)},
        "generation": {"hopper": Seen(rows=500, sources=9, largest=8)},
        "framework": {},
    }
    return catalog.calibration.model_copy(update={"rows": 1200, "seen": seen})


def own(*runs: RunRecord) -> OwnEvidence[Observation]:
    return OwnEvidence(observations=(), steps=(), runs=runs, notes=())


def mine(catalog: Catalog, name: str, accelerator: str) -> RunRecord:
    run = catalog.runs[BUNDLED[0]]
    hardware = run.hardware.model_copy(update={"accelerator": accelerator})
    return run.model_copy(update={"id": name, "hardware": hardware})


@pytest.mark.parametrize(
    ("accelerator", "expected"),
    [
        ("H100-SXM", "1,200 published runs, 34 of them on H100 SXM"),
        ("H200-SXM", "1,200 published runs, none of them on H200 SXM, 500 on other hopper accelerators"),
        ("TPU-v5e", "1,200 published runs, none of them on TPU v5e, nor of its generation"),
    ],
)
def test_published_runs_are_counted(
    catalog: Catalog, calibration: Calibration, accelerator: str, expected: str
) -> None:
    label = labels_of(catalog.accelerators[accelerator], "gpt-305m")
    assert evidence_clause(label, calibration, own(), catalog.bundled_runs) == expected


def test_the_users_runs_and_bundled_ones_are_told_apart(catalog: Catalog, calibration: Calibration) -> None:
    label = labels_of(catalog.accelerators["H100-SXM"], "gpt-305m")
    published = "1,200 published runs, 34 of them on H100 SXM"
    bundled = [catalog.runs[name] for name in BUNDLED]

    def clause(*runs: RunRecord) -> str:
        return evidence_clause(label, calibration, own(*runs), catalog.bundled_runs)

    first, two, third = (mine(catalog, f"mine-{card}", card) for card in ("RTX-4090", "A40", "T4"))
    assert clause(*bundled) == f"{published}, and 2 bundled runs on RTX 3090"
    assert clause(bundled[0]) == f"{published}, and 1 bundled run on RTX 3090"
    assert clause(first) == f"{published}, and your run on RTX 4090"
    assert (
        clause(first, two, *bundled)
        == f"{published}, 2 of your runs on A40 and RTX 4090, and 2 bundled runs on RTX 3090"
    )
    assert clause(first, two, third) == f"{published}, and 3 of your runs on 3 accelerators"


def test_the_line_prefers_the_users_own_measurements(catalog: Catalog, calibration: Calibration) -> None:
    label = labels_of(catalog.accelerators["H100-SXM"], "gpt-305m")

    def line(*runs: RunRecord) -> str:
        return estimated_line(label, calibration, own(*runs), catalog.bundled_runs)

    first, two = (mine(catalog, f"mine-{card}", card) for card in ("RTX-4090", "A40"))
    assert line(*(catalog.runs[name] for name in BUNDLED)) == "estimated from 1,200 published runs, 34 on H100"
    assert line(first) == "estimated from 1,200 published runs and your run"
    assert line(first, two) == "estimated from 1,200 published runs and 2 of your runs"


def test_no_line_of_a_bundled_accelerator_is_too_long(catalog: Catalog) -> None:
    assert catalog.calibration is not None
    for accelerator in catalog.accelerators.values():
        label = labels_of(accelerator, "gpt-305m")
        line = estimated_line(label, catalog.calibration, own(), catalog.bundled_runs)
        assert len(line) <= LONGEST_LINE, line
        run = mine(catalog, "mine", accelerator.id)
        for of_another_network in (False, True):
            scaled = scaled_line(run, catalog.bundled_runs, of_another_network=of_another_network)
            assert len(scaled) <= LONGEST_LINE, scaled


def test_measured_runs_are_yours_or_bundled(catalog: Catalog) -> None:
    bundled, run = catalog.runs[BUNDLED[0]], mine(catalog, "monday", "RTX-4090")
    long = mine(catalog, "a-run-with-a-name-that-is-too-long-for-one-line-of-a-table", "RTX-4090")
    ids = catalog.bundled_runs
    assert measured_line([run], Basis.MEASURED, ids) == "measured (your run monday)"
    assert measured_line([bundled], Basis.MEASURED, ids) == f"measured (bundled run {bundled.id})"
    assert measured_line([run, long], Basis.MEASURED, ids) == "measured (2 of your runs)"
    assert measured_line([bundled, bundled], Basis.MEASURED, ids) == "measured (2 bundled runs)"
    assert measured_line([bundled, run], Basis.MEASURED, ids) == "measured (2 runs, 1 of them yours)"
    assert measured_line([long], Basis.ASSUMED, ids) == "assumed (your run)"


def test_scaled_runs_are_yours_or_named_by_how_they_are_known(catalog: Catalog) -> None:
    station = catalog.runs["seed-000-dgx-station-v100"]
    assert scaled_line(station, catalog.bundled_runs) == "scaled from the run measured on 4x V100"
    assert scaled_line(mine(catalog, "m", "A100-80GB-SXM"), catalog.bundled_runs) == "scaled from your run on 1x A100"
    there = scaled_line(station, catalog.bundled_runs, of_another_network=True)
    assert there == "scaled from a run of another network there"


@pytest.mark.parametrize(
    ("basis", "expected"),
    [
        (Basis.MEASURED, "measured by you (step)"),
        (Basis.ASSUMED, "assumed by the plan (step)"),
        (Basis.QUOTED, "quoted by the plan (step)"),
    ],
)
def test_a_step_is_named_by_its_basis(basis: Basis, expected: str) -> None:
    assert stated_line(UserStep(batch=8, seconds=1.0, basis=basis)) == expected


@pytest.mark.parametrize(
    ("accelerator", "expected"),
    [
        ("H100-SXM", "H100"),
        ("A100-80GB-SXM", "A100"),
        ("V100-DGXS-32GB", "V100"),
        ("A100-40GB-PCIe", "A100 PCIe"),
        ("GB200-per-GPU", "GB200"),
        ("RTX-3090", "RTX 3090"),
        ("RTX-4070Ti-Super", "RTX 4070 Ti Super"),
    ],
)
def test_short_names_leave_out_memory_and_module(accelerator: str, expected: str) -> None:
    assert short_name(accelerator) == expected
