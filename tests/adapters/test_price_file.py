"""Price files: whatever people write becomes one price per instance-hour, or one error with line, column and fix."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.adapters.catalog import load_catalog
from planner.adapters.price_file import COLUMNS, as_csv, parse_prices, read_prices
from planner.errors import InputError
from planner.model.prices.offer import Price, PriceKind, PriceOrigin

DAYS = date(2020, 1, 1), date(2100, 12, 31)

HEADER = "provider,instance_type,region,price_kind,usd_per_hour,source,as_of"
OLD_HEADER = (
    "provider,instance_type,region,zone,price_kind,usd_per_hour,no_price_reason,low_usd_per_hour,high_usd_per_hour,"
    "currency,minimum_hours,upfront_fraction,source,source_version,as_of,fetched_at,confidence,note"
)
GOOD = "aws,p4d.24xlarge,us-east-1,on_demand,21.5,our contract,2026-11-20"
FEW = settings(max_examples=50, deadline=None)


def one(header: str, row: str) -> Price:
    ((_, price),) = parse_prices(f"{header}\n{row}\n", where="mine.csv", origin=PriceOrigin.USER)
    return price


def test_what_is_left_out_has_a_default():
    price = one(HEADER, GOOD)
    assert (price.usd_per_hour, price.currency, price.minimum_hours, price.upfront_fraction) == (21.5, "USD", 0, 0)
    assert (price.fetched_at, price.confidence, price.origin) == (date(2026, 11, 20), "list", PriceOrigin.USER)


def test_a_file_of_the_first_format_is_still_read():
    row = (
        "aws,p5.48xlarge,us-east-1,,capacity_block,39.33,,,,USD,24,1,"
        '"AWS page, 2024",2024-Q4,2024-10-01,2026-11-20,list,no later price was found'
    )
    price = one(OLD_HEADER, row)
    assert (price.minimum_hours, price.upfront_fraction, price.usd_per_hour) == (24, 1, 39.33)
    assert (price.billing_granularity_s, price.minimum_term_hours) == (None, 0)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param(GOOD.replace("21.5", "$21.50"), ["usd_per_hour: has a currency sign", "alone: 21.50"], id="$"),
        pytest.param(GOOD.replace("21.5", '"21,5"'), ["usd_per_hour: has a comma", "decimal point, 21.5"], id="comma"),
        pytest.param(GOOD.replace("21.5", "21,5"), ["has 8 cells, the header has 7", "with a point"], id="bare comma"),
        pytest.param(GOOD.replace("21.5", "cheap"), ["usd_per_hour", "'cheap'"], id="a word"),
        pytest.param(GOOD.replace("21.5", "0"), ["a price of 0 is not a price", "no_price_reason"], id="zero"),
        pytest.param(GOOD.replace("21.5", "-3"), ["usd_per_hour", "'-3'"], id="negative"),
        pytest.param(GOOD.replace("21.5", ""), ["needs either usd_per_hour or no_price_reason"], id="nothing"),
        pytest.param(GOOD.replace("2026-11-20", "20.11.2026"), ["as_of: is not a date", "2026-11-21"], id="bad date"),
        pytest.param(GOOD.replace("2026-11-20", "2026-02-30"), ["as_of: is not a date"], id="no such day"),
        pytest.param(GOOD.replace("2026-11-20", ""), ["as_of"], id="no date"),
        pytest.param(GOOD.replace("on_demand", "monthly"), ["price_kind", "'monthly'"], id="unknown kind"),
        pytest.param(f"{GOOD}\n{GOOD}", ["stands already in line 2", "aws/p4d.24xlarge"], id="twice"),
    ],
)
def test_a_wrong_cell_says_where_what_and_how_to_mend_it(line, words):
    with pytest.raises(InputError) as caught:
        parse_prices(f"{HEADER}\n{line}\n", where="mine.csv", origin=PriceOrigin.USER)
    text = str(caught.value)
    assert text.startswith(f"mine.csv:{1 + len(line.splitlines())}: ")
    assert all(word in text for word in words), text
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("header", "words"),
    [
        pytest.param(f"{HEADER},colour", ["mine.csv:1: colour: no such column"], id="unknown column"),
        pytest.param(HEADER.replace(",as_of", ""), ["mine.csv:1: as_of: is missing"], id="no date column"),
        pytest.param(f"{HEADER},region", ["mine.csv:1: region: appears twice"], id="column twice"),
        pytest.param("", ["provider: is missing"], id="empty file"),
    ],
)
def test_a_wrong_header_is_told_what_is_known(header, words):
    with pytest.raises(InputError) as caught:
        parse_prices(f"{header}\n", where="mine.csv", origin=PriceOrigin.USER)
    assert all(word in str(caught.value) for word in words)
    assert "usd_per_month" in caught.value.fix


@pytest.mark.parametrize(
    ("columns", "cells", "words"),
    [
        pytest.param("currency", "EUR", "currency: is not USD", id="euros"),
        pytest.param("usd_per_month", "900", "usd_per_month: the row also has usd_per_hour", id="two amounts"),
        pytest.param("low_usd_per_hour", "30", "must lie between", id="range beside the value"),
        pytest.param("valid_from,valid_until", "2026-12-01,2026-11-01", "is before valid_from", id="window backwards"),
        pytest.param("accelerators", "8", "come together", id="a count of nothing"),
        pytest.param("upfront_fraction", "1.3", "upfront_fraction", id="130 % upfront"),
        pytest.param("usd_per_million_tokens", "2", "on_demand is priced in usd_per_hour", id="hours and tokens"),
    ],
)
def test_columns_that_contradict_each_other_are_refused(columns, cells, words):
    with pytest.raises(InputError, match=words):
        one(f"{HEADER},{columns}", f"{GOOD},{cells}")


def test_a_grant_may_cost_nothing_inside_its_window():
    header = f"{HEADER},valid_from,valid_until,node_hours_limit"
    row = GOOD.replace("on_demand,21.5", "grant,0") + ",2026-10-01,2027-09-30,5000"
    price = one(header, row)
    assert (price.usd_per_hour, price.node_hours_limit, price.valid_until) == (0, 5000, date(2027, 9, 30))


def test_hosted_training_is_priced_by_tokens():
    header = HEADER.replace("usd_per_hour", "usd_per_million_tokens")
    price = one(header, "anyhost,llama-8b-lora,any,hosted_training,0.48,our offer,2026-11-20")
    assert (price.usd_per_million_tokens, price.usd_per_hour) == (0.48, None)
    with pytest.raises(InputError, match="priced in usd_per_million_tokens"):
        one(HEADER, "anyhost,llama-8b-lora,any,hosted_training,0.48,our offer,2026-11-20")


AMOUNTS = st.floats(min_value=0.01, max_value=1e5)


@FEW
@given(usd_per_hour=AMOUNTS)
def test_hourly_and_monthly_inputs_of_one_price_agree(usd_per_hour):
    """A mean month has 8,766 / 12 hours."""
    hourly = one(HEADER, GOOD.replace("21.5", repr(usd_per_hour)))
    monthly = one(HEADER.replace("usd_per_hour", "usd_per_month"), GOOD.replace("21.5", repr(usd_per_hour * 8766 / 12)))
    assert monthly.usd_per_hour == pytest.approx(hourly.usd_per_hour, rel=1e-12)


@FEW
@given(usd=AMOUNTS, count=st.integers(1, 72))
def test_a_price_per_accelerator_is_multiplied_by_their_number(usd, count):
    header = HEADER.replace("usd_per_hour", "usd_per_accelerator_hour") + ",accelerator,accelerators"
    price = one(header, GOOD.replace("21.5", repr(usd)) + f",H100-SXM,{count}")
    assert price.usd_per_hour == pytest.approx(usd * count, rel=1e-12)


def test_a_price_per_accelerator_needs_their_number():
    with pytest.raises(InputError, match="does not say how many accelerators"):
        one(HEADER.replace("usd_per_hour", "usd_per_accelerator_hour"), GOOD)


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=30)
PRICES = st.builds(
    Price,
    provider=st.just("aws"), instance_type=st.sampled_from(["p5.48xlarge", "p4d.24xlarge"]),
    region=TEXTS, zone=st.none() | TEXTS, price_kind=st.sampled_from([PriceKind.SPOT, PriceKind.LEASE]),
    usd_per_hour=AMOUNTS, minimum_hours=st.sampled_from([0.0, 24.0]), billing_granularity_s=st.none() | st.just(60.0),
    available=st.none() | st.booleans(), origin=st.sampled_from(PriceOrigin), source=TEXTS,
    as_of=st.dates(*DAYS), fetched_at=st.dates(*DAYS), confidence=st.just("api"),
    note=st.none() | TEXTS,
)  # fmt: skip


@FEW
@given(price=PRICES)
def test_what_is_written_is_read_back_the_same(price):
    ((_, back),) = parse_prices(as_csv([price]), where="x", origin=PriceOrigin.BUNDLED)
    assert back == price


OF_THE_BOOK = {
    "list_usd_per_hour",
    "list_usd_per_million_tokens",
    "committed_nodes",
    "beyond_usd_per_hour",
    "open_quote",
    "agreed",
    "later",
}
NEVER_IN_A_FILE = OF_THE_BOOK | {"seen_usd_per_hour", "seen_from", "unlisted_on"}
"""Additions of the price book, and the choice among observations."""


def test_the_columns_are_those_of_the_model_less_what_never_stands_in_a_file():
    assert set(COLUMNS) == set(Price.model_fields) - NEVER_IN_A_FILE


class TestTheBandOfPlausiblePrices:
    @pytest.mark.parametrize(
        ("usd_per_hour", "guess"),
        [
            pytest.param(21.957642 * 730.5, "a price per month?", id="per month"),
            pytest.param(2195.76, "a price per month?", id="in cents"),
            pytest.param(21.957642 / 3600, "per accelerator and minute", id="per second"),
        ],
    )
    def test_a_price_in_another_unit_is_refused_with_its_place(self, tmp_path, usd_per_hour, guess):
        path = tmp_path / "prices" / "ours.csv"
        path.parent.mkdir()
        path.write_text(f"{HEADER}\n{GOOD.replace('21.5', repr(usd_per_hour))}\n")
        with pytest.raises(InputError, match=r"ours\.csv:2: usd_per_hour: .*A100-40GB-SXM.*") as caught:
            load_catalog(tmp_path)
        assert guess in str(caught.value)
        assert "usd_per_month" in caught.value.fix

    @pytest.mark.parametrize("usd", [pytest.param(0.46e-6, id="per token"), pytest.param(0.46e-3, id="per thousand")])
    def test_so_is_a_price_by_the_token_in_another_unit(self, tmp_path, usd):
        path = tmp_path / "prices" / "ours.csv"
        path.parent.mkdir()
        head = "provider,instance_type,region,price_kind,usd_per_million_tokens,source,as_of"
        path.write_text(f"{head}\nacme,llama,any,hosted_training,{usd:.8f},our offer,2026-11-20\n")
        with pytest.raises(InputError, match=r"ours\.csv:2: usd_per_million_tokens: .* a price of one token"):
            load_catalog(tmp_path)

    @pytest.mark.parametrize("factor", [0.3, 1, 2])
    def test_a_discount_or_a_surcharge_is_believed(self, tmp_path, factor):
        path = tmp_path / "prices" / "ours.csv"
        path.parent.mkdir()
        path.write_text(f"{HEADER}\n{GOOD.replace('21.5', str(21.5 * factor))}\n")
        assert load_catalog(tmp_path).own_prices[0].usd_per_hour == pytest.approx(21.5 * factor)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read_prices(path)
