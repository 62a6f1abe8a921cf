"""Options of `options: auto`: the answer with the speeds of the search equals a new answer."""

from __future__ import annotations

from datetime import date

import pytest

from planner.model.plan.plan import Plan
from planner.model.prices.offer import PriceOrigin
from planner.use_cases.plans import compare, estimate, find_options, with_found_options
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 25)


@pytest.fixture(scope="module")
def to_find() -> Plan:
    return Plan.model_validate(
        {
            "schema_version": 1,
            "name": "found",
            "workload": {"ref": "llama3-8b"},
            "work": {"tokens": 35e6},
            "options": "auto",
        }
    )


@pytest.mark.slow
def test_speeds_that_found_options_are_those_they_are_answered_with(to_find: Plan) -> None:
    """The direct answer equals that of a plan with the found options and without known speeds."""
    catalog = bundled_catalog()
    listed = with_found_options(to_find, catalog, today=TODAY)
    assert compare(to_find, catalog, today=TODAY) == compare(listed, catalog, today=TODAY)
    assert estimate(to_find, catalog, today=TODAY) == estimate(listed, catalog, today=TODAY)


def test_each_option_has_a_speed_at_its_place(to_find: Plan) -> None:
    """The dozen has another order than the forty from which it was chosen."""
    plan, paced = find_options(to_find, bundled_catalog(), today=TODAY)
    assert [candidate.candidate.position for candidate in paced] == list(range(len(plan.options)))
    assert [candidate.candidate.option for candidate in paced] == list(plan.options)


def asked_for(**changes) -> Plan:
    return Plan.model_validate(
        {"schema_version": 1, "name": "found", "workload": {"ref": "llama3-8b"}, "work": {"tokens": 1e9}} | changes
    )


def test_what_is_said_to_be_had_is_planned_at_the_price_of_who_says_so() -> None:
    """Lambda's API has a price for any region; a list has a lower price in one region without availability."""
    catalog = bundled_catalog()
    bundled = next(row for row in catalog.prices if row.node == "lambda/gpu_8x_h100_sxm5")
    today = {"as_of": TODAY, "fetched_at": TODAY}
    said = bundled.model_copy(
        update=today | {"available": True, "usd_per_hour": 24.0, "origin": PriceOrigin.VENDOR_API, "region": "any"}
    )
    listed = bundled.model_copy(
        update=today | {"usd_per_hour": 23.0, "origin": PriceOrigin.GPUHUNT, "region": "us-east-1"}
    )
    catalog = catalog.model_copy(update={"prices": (listed, said), "sites": {}})
    found = compare(asked_for(options={"available": True}), catalog, today=TODAY).options
    assert {
        (option.region, option.usd_per_hour.value, option.availability) for option in found if option.usd_per_hour
    } == {("any", 24.0, "yes")}


@pytest.mark.slow
@pytest.mark.parametrize(("framework", "maker"), [("MaxText", "Google"), ("Neuron NxD Training", "AWS")])
def test_the_plan_s_framework_says_whose_accelerators_are_offered(framework: str, maker: str) -> None:
    catalog = bundled_catalog()
    provider = {"Google": "gcp", "AWS": "aws"}[maker]
    asked = asked_for(options={"provider": [provider]}, training={"framework": framework})
    found = {option.accelerator for option in compare(asked, catalog, today=TODAY).options if option.offer}
    assert maker in {catalog.accelerators[name].vendor for name in found}
    unnamed = asked_for(options={"provider": [provider]})
    others = {option.accelerator for option in compare(unnamed, catalog, today=TODAY).options if option.offer}
    assert maker not in {catalog.accelerators[name].vendor for name in others}


def test_filters_stand_beside_auto_or_in_place_of_it() -> None:
    filters = {"provider": ["lambda"], "gpus": [8]}
    assert asked_for(options="auto", find=filters) == asked_for(options=filters)
    with pytest.raises(ValueError, match="filters stand in `options` and in `find`: keep one of them"):
        asked_for(options=filters, find={"gpus": 8})
