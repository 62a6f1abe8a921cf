"""Power limits, which need their own measurements; and the power of accelerators compared with their machine's."""

from __future__ import annotations

from typing import Any

import pytest

from planner.adapters.bundled_tables import read_matmul_ceilings
from planner.audit.run_audit import with_audited_runs
from planner.decide.options.estimate_plan import estimate_plan
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.plan.plan import Plan
from planner.model.quantity import Basis, Quantity, Unit
from tests.bundled import owned_catalog

FREE = "seed-000-dgx-station-v100"
KNOWN_NETWORK = "seed-003-rtx3090-ddp-x1"
P3 = {"offer": "aws/p3.8xlarge"}
STATION = {"site": "dgx-station-v100"}


def measured(value: float, unit: Unit) -> Quantity:
    return Quantity(value=value, low=value, high=value, unit=unit, basis=Basis.MEASURED, source="my meter")


def telemetry(limit_w: float) -> tuple[dict[str, Any], ...]:
    device = {"power_limit_w": limit_w, "default_power_limit_w": 300.0}
    return ({"devices": [device] * 4},)


def estimates(catalog: Catalog, *options: dict[str, Any]) -> list[OptionEstimate]:
    plan = {
        "schema_version": 1,
        "name": "cap",
        "workload": {"measured": FREE},
        "work": {"epochs": 10, "samples_per_epoch": 2_464_256},
        "options": list(options),
    }
    return list(estimate_plan(Plan.model_validate(plan), catalog).options)


def with_runs(catalog: Catalog, **changes: Any) -> Catalog:
    """Add a run of the station under 200 W at 0.9 of the speed."""
    free = catalog.runs[FREE]
    speed = measured(free.throughput.value * 0.9, Unit.SAMPLES_PER_S)
    update = {"id": "capped", "throughput": speed, "step_seconds": None, "telemetry": telemetry(200.0)}
    capped = RunRecord.model_validate((free.model_copy(update=update | changes)).model_dump())
    return catalog.model_copy(update={"runs": catalog.runs | {capped.id: capped}})


def test_an_unmeasured_cap_has_no_answer_and_advises_a_measurement(catalog: Catalog) -> None:
    free, capped = estimates(catalog, STATION, STATION | {"power_cap_w": 200.0})
    assert free.training_hours is not None
    assert (capped.training_hours, capped.energy_kwh, capped.usd_marginal, capped.usd_total) == (None, None, None, None)
    assert "no run was measured under power_cap_w 200" in (capped.why_not or "")
    assert "nvidia-smi -pl 200" in (capped.why_not or "")


def test_a_measured_cap_answers_with_its_own_speed_and_power() -> None:
    known = with_audited_runs(with_runs(owned_catalog(), power=measured(0.9, Unit.KW)), read_matmul_ceilings())
    free, capped = estimates(known, STATION, STATION | {"power_cap_w": 200.0})
    assert (free.runs, capped.runs) == ((FREE,), ("capped",))
    assert free.training_hours is not None
    assert capped.training_hours is not None
    assert capped.training_hours.value == pytest.approx(free.training_hours.value / 0.9)
    assert capped.power_kw is not None
    assert (capped.power_kw.value, capped.power_kw.basis) == (0.9, "measured")
    assert any("left 0.9 of the speed" in note for note in capped.notes)
    assert capped.id == "dgx-station-v100:cap200w"


def test_a_capped_run_is_no_evidence_for_the_machine_as_delivered(catalog: Catalog) -> None:
    (free,) = estimates(with_runs(catalog, throughput=measured(500.0, Unit.SAMPLES_PER_S)), STATION)
    assert free.runs == (FREE,)


def test_a_cap_without_its_power_gives_time_but_no_energy(catalog: Catalog) -> None:
    (capped,) = estimates(with_runs(catalog), STATION | {"power_cap_w": 200.0})
    assert capped.training_hours is not None
    assert capped.energy_kwh is None
    assert capped.why_not_codes == (ReasonCode.POWER_NOT_KNOWN,)


def test_the_accelerators_power_is_not_the_machine_s(catalog: Catalog) -> None:
    """Four cards draw 0.72 kW. Of the rated 1.5 kW, 4 x 0.25 are theirs, so the rest is 0.5, of which 0.76 is drawn."""
    known = with_runs(catalog, telemetry=telemetry(300.0), accelerator_power=measured(0.72, Unit.KW))
    (got,) = estimates(
        known.model_copy(update={"runs": {"capped": known.runs["capped"], FREE: known.runs[FREE]}}), STATION
    )
    assert got.power_kw is not None
    assert got.power_kw.value == pytest.approx(0.72 + 0.5 * 0.76)
    assert (got.power_kw.low, got.power_kw.high) == pytest.approx((0.72 + 0.5 * 0.25, 0.72 + 0.5))
    assert got.power_kw.basis is Basis.MODELLED
    assert "measured, run capped" in got.power_kw.source


def test_carbon_is_given_only_with_a_stated_intensity(catalog: Catalog) -> None:
    plan = {
        "schema_version": 1,
        "name": "carbon",
        "workload": {"measured": FREE},
        "work": {"epochs": 10, "samples_per_epoch": 2_464_256},
        "options": [STATION | {"power_kw": 3.0}, {"offer": "aws/p3dn.24xlarge"}],
        "assumptions": {"carbon_kg_per_kwh": 0.4, "pue": 1.5},
    }
    station, rented = estimate_plan(Plan.model_validate(plan), catalog).options
    assert station.carbon_kg is not None
    assert station.carbon_kg.value == pytest.approx(170.06 * 1.5 * 0.4, rel=1e-4)
    assert rented.carbon_kg is not None
    (silent,) = estimates(catalog, STATION)
    assert silent.carbon_kg is None


def test_a_capped_run_is_not_scaled_to_another_machine(catalog: Catalog) -> None:
    known = with_runs(catalog)
    named = {"schema_version": 1, "name": "cap", "workload": {"measured": "capped"}, "options": [P3]}
    plan = Plan.model_validate(named | {"work": {"epochs": 10, "samples_per_epoch": 2_464_256}})
    (found,) = estimate_plan(plan, known).options
    assert "capped" not in found.runs
    alone = known.model_copy(update={"runs": {"capped": known.runs["capped"]}})
    (found,) = estimate_plan(plan, alone).options
    assert found.training_hours is None
    assert found.why_not_codes[0] is ReasonCode.NOT_MEASURED


def test_the_estimator_learns_nothing_from_capped_runs(catalog: Catalog) -> None:
    free = catalog.runs[KNOWN_NETWORK]
    slow = measured(free.throughput.value / 3, Unit.SAMPLES_PER_S)
    capped = free.model_copy(update={"id": "capped", "throughput": slow, "telemetry": telemetry(200.0)})
    both = catalog.model_copy(update={"runs": catalog.runs | {capped.id: capped}})
    work = {"workload": {"ref": "gpt-305m"}, "work": {"tokens": 1e9}}
    plan = Plan.model_validate({"schema_version": 1, "name": "cap", "options": [P3 | {"strategy": "ddp"}]} | work)
    (before,), (after,) = (estimate_plan(plan, known).options for known in (catalog, both))
    assert before.throughput is not None
    assert after.throughput == before.throughput
