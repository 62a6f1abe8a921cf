"""Offers: their kinds of price, the cost of hours, and offers that are left out."""

from __future__ import annotations

from datetime import date

import pytest

from planner.cost.cloud.availability import availability
from planner.decide.find.offered import NOT_KNOWN_AVAILABLE, Offered, offered
from planner.model.plan.find_filters import FindFilters, Terms
from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.model.prices.price_list import Unread
from planner.scenario.price_choice import find_price
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
TODAY = date(2026, 11, 25)
P5 = "aws/p5.48xlarge"


def offer(kind: PriceKind, *, usd: float, nodes: int) -> Offered:
    row = next(row for row in CATALOG.prices if row.node == P5 and row.price_kind is kind)
    node = CATALOG.nodes[P5]
    price = row.model_copy(update={"usd_per_hour": usd})
    return Offered(node, CATALOG.accelerators[node.accelerator], price, nodes)


@pytest.mark.parametrize(
    ("kind", "hours", "usd"),
    [
        pytest.param(PriceKind.ON_DEMAND, 30.0, 30 * 2 * 10.0, id="by the second"),
        pytest.param(PriceKind.CAPACITY_BLOCK, 23.5, 24 * 2 * 10.0, id="a day, whose last half hour is lost"),
        pytest.param(PriceKind.CAPACITY_BLOCK, 23.6, 48 * 2 * 10.0, id="two days"),
        pytest.param(PriceKind.CAPACITY_BLOCK, 15 * 24.0, 21 * 24 * 2 * 10.0, id="past two weeks whole weeks"),
    ],
)
def test_the_cost_of_hours_by_kind_of_price(kind, hours, usd):
    assert offer(kind, usd=10.0, nodes=2).usd_of(hours) == pytest.approx(usd)


@pytest.mark.parametrize(
    ("terms", "kinds"),
    [
        pytest.param(Terms.FIRM, {PriceKind.ON_DEMAND, PriceKind.CAPACITY_BLOCK}, id="firm"),
        pytest.param(Terms.SPOT, {PriceKind.SPOT}, id="spot"),
        pytest.param(None, {PriceKind.ON_DEMAND, PriceKind.CAPACITY_BLOCK, PriceKind.SPOT}, id="either"),
    ],
)
def test_a_block_is_a_firm_way_to_rent(terms, kinds):
    found = offered(CATALOG, FindFilters(provider=("aws",), terms=terms), None, today=TODAY)
    assert {offer.price.price_kind for offer in found.offers if offer.node.id == P5} == kinds


@pytest.mark.parametrize(
    ("framework", "makers"),
    [
        pytest.param(None, {"NVIDIA", "AMD"}, id="none named"),
        pytest.param("Megatron-LM", {"NVIDIA", "AMD"}, id="PyTorch"),
        pytest.param("MaxText", {"NVIDIA", "AMD", "Google"}, id="JAX"),
        pytest.param("Neuron NxD Training", {"AWS"}, id="for Trainium alone"),
        pytest.param("llm.c", {"NVIDIA"}, id="for NVIDIA alone"),
    ],
)
def test_accelerators_are_offered_on_which_the_framework_runs_as_it_is(framework, makers):
    found = offered(CATALOG, FindFilters(), None, today=TODAY, framework=framework)
    assert {offer.accelerator.vendor for offer in found.offers} == makers


LAMBDA = "lambda/gpu_1x_h100_pcie"


def lambda_rows(*, said_usd: float, listed_usd: float, said_on: date = TODAY) -> tuple[Price, ...]:
    """Return a price of Lambda's own API for all regions, and a list price of one region without stock."""
    common = {
        "provider": "lambda", "instance_type": "gpu_1x_h100_pcie", "accelerator": "H100-PCIe", "accelerators": 1,
        "price_kind": PriceKind.ON_DEMAND,
    }  # fmt: skip
    said = Price(
        **common, region="any", usd_per_hour=said_usd, available=True, origin=PriceOrigin.VENDOR_API,
        source="Lambda's API", as_of=said_on, fetched_at=said_on, confidence="api",
    )  # fmt: skip
    listed = Price(
        **common, region="us-east-1", usd_per_hour=listed_usd, origin=PriceOrigin.GPUHUNT, source="gpuhunt",
        as_of=TODAY, fetched_at=TODAY, confidence="third_party",
    )  # fmt: skip
    return listed, said


@pytest.mark.parametrize("listed_usd", [2.0, 2.5, 3.0])
def test_an_available_machine_is_planned_at_the_price_of_the_source_that_says_so(listed_usd):
    """Else the plan would take the row of the region, which is not known to be available."""
    catalog = CATALOG.model_copy(update={"prices": lambda_rows(said_usd=2.5, listed_usd=listed_usd)})
    (only,) = offered(catalog, FindFilters(available=True, gpus=(1,)), None, today=TODAY).offers
    assert (only.price.region, only.price.usd_per_hour) == ("any", 2.5)
    planned = find_price(only.option(any_named=True), catalog, where="options.0")
    assert (planned.usd_per_hour, availability(planned, today=TODAY)) == (2.5, "yes")


def test_availability_of_months_ago_does_not_count():
    catalog = CATALOG.model_copy(update={"prices": lambda_rows(said_usd=2.5, listed_usd=3.0, said_on=date(2026, 8, 1))})
    found = offered(catalog, FindFilters(available=True), None, today=TODAY)
    assert (found.offers, found.left_out[NOT_KNOWN_AVAILABLE]) == ((), 1)


def test_unread_offers_are_counted_by_their_reason():
    def unread(availability_unknown, instances):
        return Unread(
            provider="aws", accelerator="H100-SXM", accelerators=8, price_kind=PriceKind.ON_DEMAND, instances=instances,
            nobody_says=availability_unknown,
        )  # fmt: skip

    catalog = CATALOG.model_copy(update={"prices": (), "unread": (unread(True, 5), unread(False, 7))})
    found = offered(catalog, FindFilters(available=True), None, today=TODAY)
    assert (found.left_out[NOT_KNOWN_AVAILABLE], found.unread) == (5, 7)
    elsewhere = offered(catalog, FindFilters(available=True, provider=("gcp",)), None, today=TODAY)
    assert (elsewhere.left_out[NOT_KNOWN_AVAILABLE], elsewhere.unread) == (0, 0)
