"""Rooms and cooling of machines that a plan names by their accelerator."""

from __future__ import annotations

import pytest

from planner.cost.ownership.owned_inputs import operates_rack
from planner.cost.power.electricity import electricity, pue
from planner.model.plan.plan import Plan
from planner.scenario.own_machine import own_node, own_site
from tests.bundled import bundled_catalog
from tests.decide.campaign.test_side_by_side import plan_of


@pytest.mark.parametrize(
    ("card", "count", "rack", "building", "usd_per_kwh"),
    [
        pytest.param("RTX-4090", 1, False, 1.0, 0.165, id="a PC at home"),
        pytest.param("RTX-3090", 4, False, 1.6, 0.0826, id="four cards sold for PCs: a workstation"),
        pytest.param("A100-80GB-PCIe", 2, False, 1.6, 0.0826, id="two cards of servers: a workstation"),
        pytest.param("A100-80GB-PCIe", 8, True, 1.6, 0.0826, id="eight cards: a server"),
        pytest.param("A100-80GB-SXM", 4, True, 1.6, 0.0826, id="modules: a server"),
    ],
)
def test_few_cards_in_slots_need_no_rack_and_a_home_no_cooling(card, count, rack, building, usd_per_kwh):
    catalog = bundled_catalog()
    accelerator = catalog.accelerators[card]
    plan = plan_of([{"own": card, "count": count}])
    site = own_site(own_node(accelerator, count, new=False), accelerator, catalog, nodes=1)
    assert operates_rack(site) is rack
    assert pue(site, plan, catalog).value == building
    assert electricity(site, plan, catalog).value == usd_per_kwh


def test_what_the_plan_states_of_a_home_counts():
    catalog = bundled_catalog()
    accelerator = catalog.accelerators["RTX-4090"]
    plan = Plan.model_validate(
        plan_of([{"own": "RTX-4090"}]).model_dump(mode="json", exclude_unset=True) | {"assumptions": {"pue": 1.3}}
    )
    site = own_site(own_node(accelerator, 1, new=False), accelerator, catalog, nodes=1)
    assert pue(site, plan, catalog).value == 1.3
