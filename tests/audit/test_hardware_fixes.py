"""Parts to buy: offered where they exist and gain something, with cost and pay-back by hand."""

from __future__ import annotations

import pytest

from planner.adapters.bundled_tables import read_upgrades
from planner.audit.hardware_fixes import hardware_fixes
from planner.model.answer.run_check import HardwareFix
from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Link
from planner.speed.diagnosis.run_setup import setup_of
from tests.audit.test_runs import CATALOG
from tests.use_cases.test_check_run import run

PARTS = read_upgrades()
TWO, TEN, TWO_NODES = (CATALOG.runs[f"seed-003-rtx3090-ddp-{name}"] for name in ("x2", "x10", "2n-x20"))


def fixes(record: RunRecord, **node: object) -> tuple[HardwareFix, ...]:
    setup = setup_of(record, CATALOG)
    assert setup is not None
    setup = setup.changed(node=setup.node.model_copy(update=node))
    return hardware_fixes(setup, PARTS, CATALOG)


def test_a_pair_of_rtx_3090_gains_by_one_bridge():
    (fix,) = fixes(TWO)
    assert (fix.count, fix.usd, fix.usd_low, fix.usd_high) == (1, 60, 35, 80)
    assert fix.gain_low <= fix.gain <= fix.gain_high
    assert fix.usd_per_hour is not None
    # hours x rate x (gain - 1) = price
    assert fix.payback_hours == pytest.approx(60 / (fix.usd_per_hour * (fix.gain - 1)))
    assert fix.payback_low < fix.payback_hours < fix.payback_high


def test_an_hour_is_worth_what_the_cheapest_such_accelerators_cost():
    least = min(
        price.usd_per_hour / CATALOG.nodes[price.node].accelerators
        for price in CATALOG.prices
        if price.node in CATALOG.nodes and CATALOG.nodes[price.node].accelerator == "RTX-3090" and price.usd_per_hour
        and price.price_kind.value in ("on_demand", "marketplace")
    )  # fmt: skip
    assert fixes(TWO)[0].usd_per_hour == pytest.approx(2 * least)


def test_ten_cards_take_five_bridges_and_gain_less_than_a_pair():
    five, two_cards = fixes(TEN)[0], fixes(TWO)[0]
    assert (five.count, five.usd) == (5, 300)
    assert 1.05 < five.gain < two_cards.gain


@pytest.mark.parametrize("accelerator", ["RTX-PRO-6000-Blackwell-Server", "RTX-4090", "RTX-5090", "L40S"])
def test_no_part_is_offered_that_does_not_exist_for_the_machine(accelerator):
    assert CATALOG.accelerators[accelerator].link_gb_per_s is None
    assert fixes(run("llama3-8b", accelerator, 4, 2048, 1, 1000)) == ()


def test_where_the_cards_are_bridged_already_nothing_is_offered():
    assert fixes(TWO, link=Link.NVLINK) == ()


@pytest.mark.parametrize(("gbit", "offered"), [(1.0, True), (40.0, False), (None, False)])
def test_a_faster_network_is_offered_where_the_known_one_is_slower(gbit, offered):
    parts = [fix.part for fix in fixes(TWO_NODES, network_gbit_per_s=gbit)]
    assert any("40 Gbit/s" in part for part in parts) is offered


def test_without_a_price_of_the_hour_the_pay_back_is_not_known():
    bare = CATALOG.model_copy(update={"prices": (), "own_prices": ()})
    setup = setup_of(TWO, bare)
    assert setup is not None
    (fix,) = hardware_fixes(setup, PARTS, bare)
    assert (fix.payback_hours, fix.usd_per_hour) == (None, None)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.id)
def test_every_part_is_for_accelerators_that_have_its_link(part):
    for name in (part.accelerators or "").split(";"):
        assert not name or CATALOG.accelerators[name].link_gb_per_s is not None
    assert len(part.source) > 10
