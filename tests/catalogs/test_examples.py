"""The example plans: each is readable, asks for things that exist, and carries its document's figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.adapters.documents import read_model
from planner.adapters.workspace import examples_dir
from planner.model.plan.plan import Plan
from planner.model.plan.plan_option import PlanOption
from tests.bundled import bundled_catalog
from tests.every_row import every

CATALOG = bundled_catalog()
PLANS = {path.stem: read_model(Plan, path) for path in sorted(examples_dir().glob("*.yaml"))}
OPTIONS = [
    (f"{name}-{position}-{option.site or option.offer}", option)
    for name, plan in PLANS.items()
    for position, option in enumerate(plan.options)
]


def test_there_is_one_plan_for_each_document():
    assert {
        "dgx_station_v100",
        "local_pc",
        "gpu_guide_llama3_8b",
        "rtx3090_cluster",
        "p5e_vs_a100",
    } <= PLANS.keys()


@every((path.name, path) for path in examples_dir().glob("*.yaml"))
def test_a_plan_opens_with_its_question(path: Path):
    assert path.read_text(encoding="ascii").startswith("# Question: ")


@every(PLANS.items())
def test_a_plan_s_workload_is_in_the_catalog(plan: Plan):
    assert plan.workload.measured is None or plan.workload.measured in CATALOG.runs
    assert plan.workload.ref is None or plan.workload.ref in CATALOG.presets


@every(OPTIONS)
def test_an_option_is_in_the_catalog(option: PlanOption):
    if option.site is not None:
        assert option.site in CATALOG.sites
    if option.offer is not None:
        assert any(
            row.node == option.offer
            and row.region in (option.region, "any")
            and row.price_kind == (option.price or "on_demand")
            for row in CATALOG.prices
        )


@pytest.mark.parametrize(
    ("site", "epoch_hours", "times_the_dgx"),
    [
        pytest.param("pc-rtx4090", 9.626, 1.70, id="RTX 4090"),
        pytest.param("pc-rtx3080", 51.34, 9.06, id="RTX 3080"),
        pytest.param("pc-rtx3060", 106.96, 18.87, id="RTX 3060, printed as 83.5 h and 14.7x"),
        pytest.param("pc-cpu", 1711.3, 301.9, id="CPU"),
    ],
)
def test_the_local_pcs_need_what_their_own_steps_say(site, epoch_hours, times_the_dgx):
    plan = PLANS["local_pc"]
    step = next(option.step for option in plan.options if option.site == site)
    hours = plan.work.samples_per_epoch / step.batch * step.seconds / 3600
    assert hours == pytest.approx(epoch_hours, abs=0.05 if epoch_hours > 1000 else 5e-3)
    assert hours / (20_407.12 / 3600) == pytest.approx(times_the_dgx, abs=0.05 if epoch_hours > 1000 else 5e-3)


def test_the_dgx_station_s_assumed_power_is_the_document_s_and_not_the_data_sheet_s():
    option = next(option for option in PLANS["local_pc"].options if option.site == "dgx-station-v100")
    assert option.power_kw == 3.0
    assert CATALOG.nodes["dgx-station-v100"].rated_kw == 1.5
    assert option.power_kw * 56.69 == pytest.approx(170.1, abs=0.05)
