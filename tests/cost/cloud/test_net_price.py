"""The price book: what it takes off, in which order, and what it refuses."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from planner.cost.cloud.net_price import net_of, net_price, with_book
from planner.decide.options.estimate_plan import estimate_plan
from planner.decide.recommend.answer_plan import answer_plan
from planner.errors import InputError
from planner.model.plan.plan import Plan
from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.model.prices.price_book import PriceBook
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 21)
LIST = Price(
    provider="aws", instance_type="p5.48xlarge", region="us-east-1", price_kind=PriceKind.ON_DEMAND, usd_per_hour=100.0,
    low_usd_per_hour=80.0, high_usd_per_hour=120.0, source="list", as_of=TODAY, fetched_at=TODAY, confidence="list",
)  # fmt: skip
FEW = settings(max_examples=50, deadline=None)


def discount(name, fraction, **cells):
    return {"name": name, "discount_fraction": fraction, "source": "contract 7"} | cells


def book(**entries):
    return PriceBook.model_validate({"schema_version": 1, "as_of": "2026-11-01"} | entries)


QUOTE = {"name": "reseller", "item": "aws/p5.48xlarge", "usd_per_hour": 70.0, "source": "offer 12"}
HELD = {
    "name": "block", "item": "aws/p5.48xlarge", "nodes": 2, "usd_per_hour": 60.0, "valid_until": "2026-12-31",
    "source": "order 3",
}  # fmt: skip


@pytest.mark.parametrize(
    ("entries", "net"),
    [
        pytest.param({}, None, id="an empty book changes nothing"),
        pytest.param({"discounts": [discount("a", 0.2)]}, 80, id="20 % off"),
        pytest.param({"discounts": [discount("a", 0.2), discount("b", 0.1)]}, 72, id="the second of the rest"),
        pytest.param({"discounts": [discount("a", 0.2), discount("b", 0.1, of="list")]}, 70, id="or of the list"),
        pytest.param({"discounts": [discount("a", 0.2, of="list"), discount("b", 0.1)]}, 72, id="list first"),
        pytest.param(
            {"discounts": [discount("b", 0.1, of="list", after=["a"]), discount("a", 0.2)]}, 70, id="after"
        ),
        pytest.param({"discounts": [discount("a", 0.2, provider="gcp")]}, None, id="another provider"),
        pytest.param({"discounts": [discount("a", 0.2, kind="spot")]}, None, id="another kind"),
        pytest.param({"discounts": [discount("a", 0.2, item="aws/p4d.24xlarge")]}, None, id="another item"),
        pytest.param({"discounts": [discount("a", 0.2, region="us-west-2")]}, None, id="another region"),
        pytest.param({"discounts": [discount("a", 0.2, valid_until="2026-11-20")]}, None, id="over since yesterday"),
        pytest.param({"discounts": [discount("a", 0.2, valid_until="2026-11-21")]}, 80, id="its last day"),
        pytest.param({"discounts": [discount("a", 0.2, valid_from="2026-11-22")]}, None, id="from tomorrow"),
        pytest.param({"quotes": [QUOTE], "discounts": [discount("a", 0.2)]}, 70, id="a quote is final"),
        pytest.param(
            {"quotes": [QUOTE], "discounts": [discount("a", 0.2, on_quotes=True)]}, 56, id="unless the discount says so"
        ),
        pytest.param(
            {"quotes": [QUOTE, QUOTE | {"name": "other", "usd_per_hour": 65.0}]}, 65, id="the lower of two quotes"
        ),
        pytest.param({"quotes": [QUOTE | {"valid_until": "2026-11-01"}]}, None, id="a quote that has run out"),
        pytest.param({"commitments": [HELD], "quotes": [QUOTE], "discounts": [discount("a", 0.2)]}, 60, id="bought"),
        pytest.param({"commitments": [HELD | {"valid_until": "2026-11-20"}]}, None, id="a commitment that has ended"),
    ],
)  # fmt: skip
def test_the_book_s_net_price(entries, net):
    found = net_of(LIST, book(**entries), on=TODAY)
    assert (found.amount if found else None) == (net if net is None else pytest.approx(net))


def test_list_and_net_are_both_shown_and_the_range_moves_along():
    found = net_price(LIST, book(discounts=[discount("enterprise", 0.2)]), on=TODAY)
    assert (found.amount, found.list_usd_per_hour) == (80, 100)
    assert (found.low_usd_per_hour, found.high_usd_per_hour) == (64, 96)
    assert found.note == "list 100 USD/h, net 80 by the price book (enterprise: -20 % of the rest)"


ENDS = QUOTE | {"valid_until": "2026-12-11"}


@pytest.mark.parametrize(
    ("entries", "otherwise"),
    [
        pytest.param({"quotes": [ENDS]}, 100, id="the list price counts later"),
        pytest.param({"quotes": [ENDS], "discounts": [discount("a", 0.2)]}, 80, id="less the discounts"),
        pytest.param(
            {"quotes": [ENDS], "discounts": [discount("a", 0.2, valid_until="2026-12-11")]}, 100,
            id="a discount that ends with the quote",
        ),
        pytest.param({"quotes": [ENDS, QUOTE | {"name": "b", "usd_per_hour": 90.0}]}, 90, id="a dearer quote stays"),
        pytest.param({"quotes": [QUOTE]}, None, id="a quote without a last day"),
        pytest.param({"quotes": [ENDS, QUOTE | {"name": "b"}]}, None, id="an equal one without a last day"),
        pytest.param({"quotes": [ENDS], "discounts": [discount("a", 0.3)]}, None, id="nothing is lost without it"),
        pytest.param({"discounts": [discount("a", 0.2)]}, None, id="no quote"),
    ],
)  # fmt: skip
def test_a_quote_that_ends_is_kept_with_the_price_without_it(entries, otherwise):
    found = net_price(LIST, book(**entries), on=TODAY).open_quote
    if otherwise is None:
        assert found is None
        return
    assert found is not None
    assert (str(found.accept_by), found.usd_per_hour, found.beside_commitment) == ("2026-12-11", 70, False)
    assert found.otherwise_usd_per_hour == pytest.approx(otherwise)


def test_of_equal_quotes_the_last_day_is_the_later_one():
    found = net_price(LIST, book(quotes=[ENDS, ENDS | {"name": "b", "valid_until": "2026-12-24"}]), on=TODAY)
    assert found.open_quote is not None
    assert str(found.open_quote.accept_by) == "2026-12-24"


def test_a_quote_beside_a_commitment_is_for_other_instances():
    """60 USD are paid for the bought ones, until the end of the year."""
    found = net_price(LIST, book(commitments=[HELD], quotes=[ENDS]), on=TODAY).open_quote
    assert found is not None
    assert (found.usd_per_hour, found.otherwise_usd_per_hour, found.beside_commitment) == (70, 100, True)


@pytest.mark.parametrize(("expires", "named"), [("2026-11-21", True), ("2026-11-20", False)])
def test_a_credit_is_named_until_it_expires_and_changes_no_price(expires, named):
    credit = {"name": "start", "provider": "aws", "usd": 5000.0, "expires": expires, "source": "mail"}
    found = net_price(LIST, book(credits=[credit]), on=TODAY)
    assert found.amount == 100
    assert ("credit start: 5,000.00 USD left until 2026-11-21" in (found.note or "")) == named


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        pytest.param({"discounts": [discount("a", 1.3)]}, "less than 1", id="130 %"),
        pytest.param({"discounts": [discount("a", 1.0)]}, "less than 1", id="100 %: free is not a discount"),
        pytest.param({"discounts": [discount("a", -0.1)]}, "greater than 0", id="negative"),
        pytest.param({"discounts": [discount("a", 0.1), discount("a", 0.2)]}, "'a' appears twice", id="a name twice"),
        pytest.param({"discounts": [discount("a", 0.1, after=["z"])]}, "which is not a discount", id="after nothing"),
        pytest.param(
            {"discounts": [discount("a", 0.1, after=["b"]), discount("b", 0.1, after=["a"])]},
            "discounts wait for each other: . after . after .", id="a cycle",
        ),
        pytest.param({"discounts": [discount("a", 0.1, after=["a"])]}, "wait for each other", id="after itself"),
    ],
)  # fmt: skip
def test_a_book_that_cannot_be_is_refused(entries, words):
    with pytest.raises(ValidationError, match=words):
        book(**entries)


def test_discounts_of_the_list_that_come_to_more_than_all_of_it_are_refused():
    greedy = book(discounts=[discount("a", 0.6, of="list"), discount("b", 0.5, of="list")])
    with pytest.raises(InputError, match=r"down to -10 USD/h: a: -60 % of the list; b: -50 % of the list"):
        net_of(LIST, greedy, on=TODAY)


FRACTIONS = st.lists(st.floats(0.01, 0.5), min_size=1, max_size=5)


@FEW
@given(fractions=FRACTIONS)
def test_discounts_of_the_rest_multiply(fractions):
    """net = list x (1 - f1) x (1 - f2) ...: the order does not matter among them."""
    entries = [discount(f"d{n}", fraction) for n, fraction in enumerate(fractions)]
    expected = 100.0
    for fraction in reversed(fractions):
        expected *= 1 - fraction
    assert net_of(LIST, book(discounts=entries), on=TODAY).amount == pytest.approx(expected)


@FEW
@given(fractions=FRACTIONS, seed=st.randoms())
def test_a_stated_order_is_followed_however_the_file_is_sorted(fractions, seed):
    entries = [
        discount(
            f"d{n}", fraction, after=[f"d{n - 1}"] if n else [], of="list" if n == 1 and fraction < 0.3 else "rest"
        )
        for n, fraction in enumerate(fractions)
    ]
    shuffled = list(entries)
    seed.shuffle(shuffled)
    stacked = [entry.name for entry in book(discounts=shuffled).stacked()]
    assert stacked == [f"d{n}" for n in range(len(fractions))]
    assert net_of(LIST, book(discounts=shuffled), on=TODAY) == net_of(LIST, book(discounts=entries), on=TODAY)


@FEW
@given(usd=st.floats(0.01, 1e4), fraction=st.floats(0.01, 0.99))
def test_a_discount_is_linear_in_the_price_and_never_reaches_zero(usd, fraction):
    listed = LIST.model_copy(update={"usd_per_hour": usd})
    net = net_of(listed, book(discounts=[discount("a", fraction)]), on=TODAY).amount
    assert 0 < net < usd
    assert net == pytest.approx(usd * (1 - fraction))


def test_more_nodes_than_were_bought_cost_what_others_do():
    """2 bought at 60, the other 6 at 100 less 20 %: (2 x 60 + 6 x 80) / 8 = 75 USD."""
    both = book(commitments=[HELD], discounts=[discount("a", 0.2)])
    catalog = bundled_catalog()
    row = next(row for row in catalog.prices if (row.node, row.region) == ("aws/p5.48xlarge", "us-east-1"))
    listed = row.model_copy(
        update={"usd_per_hour": 100.0, "price_kind": PriceKind.ON_DEMAND, "origin": PriceOrigin.USER}
    )
    booked = with_book(catalog.model_copy(update={"own_prices": (listed,)}), both, on=TODAY)
    asked = {
        "schema_version": 1, "name": "p", "workload": {"ref": "gpt-305m"}, "work": {"tokens": 1e9},
        "options": [{"offer": "aws/p5.48xlarge", "region": "us-east-1", "nodes": [1, 2, 8]}],
    }  # fmt: skip
    options = estimate_plan(Plan.model_validate(asked), booked).options
    assert [option.usd_per_hour.value for option in options] == pytest.approx([60, 60, 75])
    assert [option.list_usd_per_hour for option in options] == [100, 100, 100]
    assert "(2 bought already x 60 + 6 x 80 USD/h) / 8 nodes" in options[2].usd_per_hour.source
    four_at_once = Plan.model_validate(asked | {"campaign": {"runs": 4, "at_once": 4}})
    whole = answer_plan(four_at_once, booked, today=TODAY).options
    each = {
        line.usd_per_unit
        for option in whole
        if option.nodes == 2
        for line in option.bill.lines
        if line.what == "compute"
    }
    assert list(each) == pytest.approx([75])  # 4 x 2 nodes at once, of which 2 are bought


ENDING = HELD | {"valid_until": "2026-12-03"}
"""A commitment that ends three days after the campaign's first."""


def bill_of(entries, *, runs, start=date(2026, 12, 1)):
    """Return the option, with the node-hours and USD of its machines, of a campaign on one p5 under a price book."""
    catalog = bundled_catalog()
    row = next(row for row in catalog.prices if (row.node, row.region) == ("aws/p5.48xlarge", "us-east-1"))
    listed = row.model_copy(
        update={"usd_per_hour": 100.0, "price_kind": PriceKind.ON_DEMAND, "origin": PriceOrigin.USER}
    )
    booked = with_book(catalog.model_copy(update={"own_prices": (listed,)}), book(**entries), on=TODAY)
    asked = {
        "schema_version": 1, "name": "p", "workload": {"ref": "gpt-305m"}, "work": {"tokens": 1e10},
        "campaign": {"runs": runs, "at_once": 1, "start": start},
        "options": [{"offer": "aws/p5.48xlarge", "region": "us-east-1"}],
    }  # fmt: skip
    (option,) = answer_plan(Plan.model_validate(asked), booked, today=TODAY).options
    lines = [line for line in option.bill.lines if line.quantity_unit == "node-h"]
    return option, sum(line.quantity for line in lines), sum(line.usd.value for line in lines)


@pytest.mark.parametrize(
    ("entries", "within", "later"),
    [
        pytest.param({"commitments": [ENDING]}, 60, 100, id="a commitment, then the list"),
        pytest.param(
            {"commitments": [ENDING], "discounts": [discount("a", 0.2)]}, 60, 80, id="a commitment, then the discount"
        ),
        pytest.param({"discounts": [discount("a", 0.2, valid_until="2026-12-03")]}, 80, 100, id="a discount"),
    ],
)
def test_hours_after_the_last_day_cost_the_later_price(entries, within, later):
    """72 hours from the start of December 1 to the end of December 3 at the book's price, the others at the next."""
    option, hours, usd = bill_of(entries, runs=60)
    assert hours > 100
    assert usd == pytest.approx(72 * within + (hours - 72) * later, rel=1e-4)
    assert f"after 2026-12-03 an hour costs {later} USD" in " ".join(option.notes)


def test_each_last_day_changes_the_price():
    """60 until December 3, then 100 less 20 % until December 5, then the list: 72 x 60 + 48 x 80 + the rest x 100."""
    entries = {"commitments": [ENDING], "discounts": [discount("a", 0.2, valid_until="2026-12-05")]}
    option, hours, usd = bill_of(entries, runs=60)
    assert hours > 130
    assert usd == pytest.approx(72 * 60 + 48 * 80 + (hours - 120) * 100, rel=1e-4)
    for change in ("after 2026-12-03 an hour costs 80 USD", "after 2026-12-05 an hour costs 100 USD"):
        assert change in " ".join(option.notes)


def test_work_that_ends_before_the_last_day_costs_the_book_s_price():
    option, hours, usd = bill_of({"commitments": [ENDING]}, runs=2)
    assert hours < 24
    assert usd == pytest.approx(60 * hours, rel=1e-4)
    assert option.usd_confident < 60 * 72


def test_work_that_begins_after_the_last_day_costs_the_later_price():
    _, hours, usd = bill_of({"commitments": [ENDING]}, runs=2, start=date(2026, 12, 10))
    assert usd == pytest.approx(100 * hours, rel=1e-4)


def test_a_quote_is_accepted_by_its_last_day_and_holds_for_the_work():
    _, hours, usd = bill_of({"quotes": [QUOTE | {"valid_until": "2026-12-03"}]}, runs=60)
    assert usd == pytest.approx(70 * hours, rel=1e-4)


def test_the_cost_at_the_confidence_counts_the_later_price():
    """A longer run than likely also costs more per hour, because its excess is all at the later price."""
    ending, hours, _ = bill_of({"commitments": [ENDING]}, runs=60)
    plain, _, _ = bill_of({"commitments": [HELD]}, runs=60)
    sure_hours = hours * plain.usd_confident / plain.campaign_usd.value
    assert ending.usd_confident == pytest.approx(72 * 60 + (sure_hours - 72) * 100, rel=0.02)
