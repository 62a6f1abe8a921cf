"""Rows that a search passes over change no answer; the second method reads and checks every stored row."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.adapters.catalog import observed_nodes
from planner.adapters.stored_prices.price_filter import PriceSearch
from planner.adapters.stored_prices.price_store import PriceStore
from planner.cost.cloud.availability import availability
from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.model.prices.price_list import ListRead, Unread
from planner.scenario.price_choice import SEARCHED_KINDS, prices_by_terms
from planner.scenario.price_lists import with_marks
from planner.scenario.region_groups import is_in
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
EARLIER, TODAY = date(2026, 9, 1), date(2026, 11, 24)
KNOWN = "p5.48xlarge"
LISTS = [
    ListRead(provider="aws", origin=PriceOrigin.GPUHUNT, price_kind=kind, read_on=TODAY) for kind in SEARCHED_KINDS
]


def price(instance="a", usd: float | None = 8.0, region="us-east-1", kind=PriceKind.ON_DEMAND, **cells):
    unpriced = {} if usd is not None else {"no_price_reason": "not sold"}
    return Price(
        **{
            "provider": "aws", "instance_type": instance, "accelerator": "H100-SXM", "accelerators": 8,
            "region": region, "price_kind": kind, "usd_per_hour": usd, "origin": PriceOrigin.GPUHUNT,
            "source": "a list", "as_of": TODAY, "fetched_at": TODAY, "confidence": "api",
        } | unpriced | cells
    )  # fmt: skip


def read(rows, search: PriceSearch | None, lists=()) -> tuple[list[Price], list[Unread]]:
    """Return what a search reads of stored rows, or all of them, and what it passed over."""
    with TemporaryDirectory() as folder:
        store = PriceStore(Path(folder))
        store.add(rows)
        store.add_lists(lists)
        return (store.current(), []) if search is None else store.search(search)


def names(prices) -> list[str]:
    return [row.instance_type for row in prices]


def is_offered(row: Price, said_on: date | None) -> bool:
    had = availability(row, today=said_on or TODAY)
    return had == "yes" if said_on else row.available is not False


def chosen(rows, search: PriceSearch | None, bundled, *, own=(), lists=(), said_on=None, regions=None):
    """Return the price of the known machine on each kind, and of the others the two lowest of each kind."""
    catalog = CATALOG.model_copy(update={"prices": tuple(bundled), "own_prices": tuple(own)})
    prices, _ = read(rows, search and search.for_catalog(catalog), lists)
    old, observed = with_marks(bundled, prices, lists)
    catalog = catalog.model_copy(
        update={"prices": (*old, *observed), "nodes": observed_nodes(observed) | catalog.nodes}
    )
    answers: dict[PriceKind, list[float]] = {}
    known = {}
    for node, kind, row in prices_by_terms(catalog, SEARCHED_KINDS, regions=regions, said_on=said_on):
        if node == f"aws/{KNOWN}":
            known[kind] = row
        elif row.usd_per_hour is not None and row.unlisted_on is None and is_offered(row, said_on):
            answers.setdefault(kind, []).append(row.usd_per_hour)
    return known, {kind: sorted(found)[:2] for kind, found in answers.items()}


ROWS = st.lists(
    st.builds(
        price,
        st.sampled_from([KNOWN, "a", "b", "c", "d"]),
        st.sampled_from([None, 5.0, 6.0, 6.005, 7.0, 8.0, 9.0]),
        st.sampled_from(["us-east-1", "eu-west-1", "any"]),
        st.sampled_from(SEARCHED_KINDS),
        origin=st.sampled_from([PriceOrigin.GPUHUNT, PriceOrigin.AWS_API]),
        zone=st.sampled_from([None, "z1", "z2"]),
        as_of=st.sampled_from([EARLIER, TODAY]),
        fetched_at=st.sampled_from([EARLIER, TODAY]),
        available=st.sampled_from([None, True, False]),
    ),
    max_size=14,
    unique_by=lambda row: (row.instance_type, row.region, row.price_kind, row.origin, row.zone),
)
BUNDLED = st.lists(
    st.builds(
        price,
        st.just(KNOWN),
        st.sampled_from([4.0, 6.5, 9.5]),
        st.sampled_from(["us-east-1", "eu-west-1"]),
        origin=st.sampled_from([PriceOrigin.BUNDLED, PriceOrigin.USER]),
        as_of=st.sampled_from([EARLIER, TODAY]),
    ),
    max_size=2,
    unique_by=lambda row: (row.region, row.origin),
)
"""Rows from elsewhere: of the catalog, and of the user's own, which win."""


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(ROWS, BUNDLED, st.sampled_from([(), LISTS]), st.sampled_from([None, TODAY]), st.sampled_from([None, "eu"]))
def test_what_is_passed_over_changes_no_answer(rows, elsewhere, lists, said_on, group):
    own = [row for row in elsewhere if row.origin is PriceOrigin.USER]
    bundled = [row for row in elsewhere if row.origin is PriceOrigin.BUNDLED]
    regions = None if group is None else frozenset({group})
    search = PriceSearch(regions=regions, said_on=said_on)
    asked = {"own": own, "lists": lists, "said_on": said_on, "regions": regions}
    assert chosen(rows, search, bundled, **asked) == chosen(rows, None, bundled, **asked)


@settings(max_examples=50, deadline=None)
@given(ROWS, st.sampled_from([None, TODAY]), st.sampled_from([None, "eu"]))
def test_each_instance_is_read_or_counted(rows, said_on, group):
    search = PriceSearch(regions=group and frozenset({group}), said_on=said_on, known={f"aws/{KNOWN}"})
    prices, unread = read(rows, search)
    asked = [row for row in rows if row.instance_type != KNOWN and (group is None or is_in(row.region, (group,)))]
    for kind in SEARCHED_KINDS:
        every = {row.instance_type for row in asked if row.price_kind is kind}
        passed_over = sum(unread_kind.instances for unread_kind in unread if unread_kind.price_kind is kind)
        read_here = {row.instance_type for row in prices if row in asked and row.price_kind is kind}
        assert len(every) - len(read_here) <= passed_over <= len(every)
        said = {row.instance_type for row in asked if row.price_kind is kind and row.available}
        unsaid = sum(
            unread_kind.instances
            for unread_kind in unread
            if unread_kind.price_kind is kind and unread_kind.nobody_says
        )
        assert unsaid == (len(every - said) if said_on else 0)


def test_a_dear_region_is_read_where_a_bundled_price_would_stand_for_it():
    """Bundled at 4 in September; today's list has it at 9 there, and at 6 elsewhere."""
    rows = [price("a", 9), price(KNOWN, 6, "eu-west-1"), price(KNOWN, 9, "us-east-1")]
    bundled = [price(KNOWN, 4, origin=PriceOrigin.BUNDLED, as_of=EARLIER)]
    known, _ = chosen(rows, PriceSearch(), bundled)
    assert (known[PriceKind.ON_DEMAND].region, known[PriceKind.ON_DEMAND].usd_per_hour) == ("eu-west-1", 6)


def test_of_like_instances_the_cheapest_two_are_read_and_the_others_counted():
    rows = [price(name, usd) for name, usd in (("a", 9), ("b", 7), ("c", 8), ("d", 8))]
    prices, [left] = read(rows, PriceSearch())
    assert names(prices) == ["b", "c"]
    assert (left.provider, left.accelerator, left.accelerators, left.instances) == ("aws", "H100-SXM", 8, 2)


def test_an_instance_whose_cheapest_region_is_sold_out_displaces_none():
    """c costs 5 where it is sold out, so it is not offered: a at 5 and b at 8 are the cheapest two."""
    rows = [
        price("a", 5), price("b", 8), price("c", 5, as_of=EARLIER, fetched_at=EARLIER, available=False),
        price("c", 7, "eu-west-1", as_of=TODAY, fetched_at=EARLIER),
    ]  # fmt: skip
    (_, read_all), (_, searched) = chosen(rows, None, ()), chosen(rows, PriceSearch(), ())
    assert read_all == searched
    assert read_all[PriceKind.ON_DEMAND] == [5, 8]


def test_an_instance_whose_rows_differ_in_what_they_carry_is_read():
    rows = [price("a", 1), price("b", 2), price("c", 8), price("c", 9, zone="z", accelerators=4)]
    prices, _ = read(rows, PriceSearch())
    assert names(prices) == ["a", "b", "c", "c"]


def test_of_what_nobody_says_that_it_is_to_be_had_none_is_read_where_that_is_asked_for():
    rows = [price("a", 5), price("b", 6), price("c", 8, available=True), price("d", 9, available=True)]
    prices, [left] = read(rows, PriceSearch(said_on=TODAY))
    assert names(prices) == ["c", "d"]
    assert (left.instances, left.nobody_says) == (2, True)


def test_the_region_of_which_it_is_said_comes_before_a_cheaper_one():
    rows = [price("a", 5), price("a", 6, "eu-west-1", available=True), price("a", 7, "us-west-2", available=True)]
    assert chosen(rows, PriceSearch(said_on=TODAY), (), said_on=TODAY) == ({}, {PriceKind.ON_DEMAND: [6]})


def test_what_was_said_months_ago_is_not_said():
    rows = [
        price("a", 4, available=True, as_of=EARLIER, fetched_at=EARLIER),
        price("a", 6, "eu-west-1", available=True),
        price("b", 3, available=True, as_of=EARLIER, fetched_at=EARLIER),
        price("c", 3.5, available=True, as_of=EARLIER, fetched_at=EARLIER),
    ]
    assert chosen(rows, PriceSearch(said_on=TODAY), (), said_on=TODAY) == ({}, {PriceKind.ON_DEMAND: [6]})


def test_what_may_be_sold_out_takes_nobody_s_place():
    rows = [price("a", 5, available=False), price("b", 6, available=False), price("c", 8), price("d", 9)]
    prices, _ = read(rows, PriceSearch())
    assert names(prices) == ["a", "b", "c", "d"]


def test_of_one_instance_the_cheapest_region_is_read_with_all_kinds_of_price():
    rows = [
        price(KNOWN, 60, "eu-west-1"),
        price(KNOWN, 55, "us-east-1"),
        price(KNOWN, 30, "us-east-1", PriceKind.SAVINGS_3Y),
        price(KNOWN, 70, "us-west-2"),
    ]
    catalog = CATALOG.model_copy(update={"prices": (), "own_prices": ()})
    kept, _ = read(rows, PriceSearch().for_catalog(catalog))
    assert {(row.region, row.usd_per_hour) for row in kept if row.region == "us-east-1"} == {
        ("us-east-1", 55), ("us-east-1", 30)
    }  # fmt: skip
    assert {row.region for row in kept} == {"us-east-1", "eu-west-1", "us-west-2"}, "a region stays known by its name"


def test_a_price_that_is_the_same_everywhere_keeps_a_bundled_price_listed():
    """Today's complete list has the machine at one price everywhere, also where only European regions are read."""
    bundled = [price(KNOWN, 4, "eu-west-1", origin=PriceOrigin.BUNDLED, as_of=EARLIER)]
    european = frozenset({"eu"})
    search = PriceSearch(regions=european)
    known, _ = chosen([price(KNOWN, 8, "any")], search, bundled, lists=LISTS, regions=european)
    assert known[PriceKind.ON_DEMAND].unlisted_on is None
