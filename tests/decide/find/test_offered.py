"""What is offered: kinds of price, and what a number of hours costs."""

from __future__ import annotations

from datetime import date

import pytest

from planner.cost.cloud.availability import availability
from planner.decide.find.offered import UNSAID, Offered, offered
from planner.model.plan.find_filters import FindFilters, Terms
from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.model.prices.unread import Unread
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
def test_what_hours_cost(kind, hours, usd):
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
    assert {one.price.price_kind for one in found.offers if one.node.id == P5} == kinds


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
    assert {one.accelerator.vendor for one in found.offers} == makers


LAMBDA = "lambda/gpu_1x_h100_pcie"


def lambda_rows(*, said_usd: float, listed_usd: float, said_on: date = TODAY) -> tuple[Price, ...]:
    """Return what Lambda's own API says of everywhere, and what a list says of one region, without a word on stock."""
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
def test_what_is_said_to_be_had_is_planned_at_the_price_of_who_says_so(listed_usd):
    """Else the plan took the row of the region, of which nobody says it."""
    catalog = CATALOG.model_copy(update={"prices": lambda_rows(said_usd=2.5, listed_usd=listed_usd)})
    (one,) = offered(catalog, FindFilters(available=True, gpus=(1,)), None, today=TODAY).offers
    assert (one.price.region, one.price.usd_per_hour) == ("any", 2.5)
    planned = find_price(one.option(any_named=True), catalog, where="options.0")
    assert (planned.usd_per_hour, availability(planned, today=TODAY)) == (2.5, "yes")


def test_of_what_was_said_months_ago_nobody_says_it():
    catalog = CATALOG.model_copy(update={"prices": lambda_rows(said_usd=2.5, listed_usd=3.0, said_on=date(2026, 8, 1))})
    found = offered(catalog, FindFilters(available=True), None, today=TODAY)
    assert (found.offers, found.left_out[UNSAID]) == ((), 1)


def test_what_was_not_read_is_counted_with_its_reason():
    def unread(nobody_says, instances):
        return Unread(
            provider="aws", accelerator="H100-SXM", accelerators=8, price_kind=PriceKind.ON_DEMAND, instances=instances,
            nobody_says=nobody_says,
        )  # fmt: skip

    catalog = CATALOG.model_copy(update={"prices": (), "unread": (unread(True, 5), unread(False, 7))})
    found = offered(catalog, FindFilters(available=True), None, today=TODAY)
    assert (found.left_out[UNSAID], found.unread) == (5, 7)
    elsewhere = offered(catalog, FindFilters(available=True, provider=("gcp",)), None, today=TODAY)
    assert (elsewhere.left_out[UNSAID], elsewhere.unread) == (0, 0)
