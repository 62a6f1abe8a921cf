"""Prices of a kWh by country: a household's price for a PC, a business' for a server, by hand from the sources."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.cost.power.electricity import borrowed_price, electricity, paid_in
from planner.errors import NotFoundError
from planner.model.owning.site import Site
from planner.model.plan.plan import Plan
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
PC: dict[str, Any] = {
    "schema_version": 1, "id": "mine", "name": "Mine", "node": "pc-rtx4090", "source": "me", "as_of": date(2026, 11, 1),
}  # fmt: skip
SERVER = PC | {"node": "hgx-h200-8x"}
WON = {"code": "KRW", "per_usd": 1400.0, "as_of": date(2026, 11, 1), "source": "a bank"}
EURO = WON | {"code": "EUR", "per_usd": 0.86}
FRANC = WON | {"code": "XPF", "per_usd": 105.0}


def plan(**keys: Any) -> Plan:
    fields = {"schema_version": 1, "name": "p", "workload": {"ref": "gpt-305m"}, "work": {"tokens": 1e9}}
    return Plan.model_validate(fields | {"options": [{"site": "pc-rtx4090"}]} | keys)


@pytest.mark.parametrize(
    ("site", "keys", "usd"),
    [
        pytest.param(PC, {}, 0.165, id="no country is stated: the world's households"),
        pytest.param(SERVER, {}, 0.0826, id="nor of a server: industry in the US"),
        pytest.param(PC, {"assumptions": {"country": "US"}}, 0.1648, id="US"),
        pytest.param(PC, {"assumptions": {"country": "DE"}}, 0.3835 / 0.915, id="DE: 0.3835 EUR"),
        pytest.param(PC, {"assumptions": {"country": "FR"}}, 0.2872 / 0.915, id="FR: the mean of the EU"),
        pytest.param(PC, {"currency": WON}, 228.6 / 1400, id="a plan in won: Korea, at the plan's rate"),
        pytest.param(PC, {"currency": EURO}, 0.2872 / 0.86, id="a plan in euros: the EU"),
        pytest.param(PC, {"currency": FRANC}, 0.165, id="a currency of no country that is known"),
        pytest.param(PC | {"country": "CH"}, {"currency": EURO}, 0.277 / 0.795, id="the site's country comes first"),
        pytest.param(
            PC | {"country": "CH"}, {"assumptions": {"country": "GB"}}, 0.2573 / 0.74, id="before it the plan's"
        ),
        pytest.param(SERVER, {"currency": EURO}, 0.1902 / 0.86, id="a business in the EU"),
        pytest.param(
            PC, {"currency": EURO, "options": [{"site": "pc-rtx4090"}, {"site": "dgx-station-v100"}]}, 0.1902 / 0.86,
            id="a PC beside a server at hand: a laboratory",
        ),
        pytest.param(
            PC, {"currency": EURO, "options": [{"site": "pc-rtx4090"}, {"site": "h200-x1"}]}, 0.2872 / 0.86,
            id="beside a server to be bought: at home",
        ),
        pytest.param(SERVER | {"household": True}, {"currency": EURO}, 0.2872 / 0.86, id="a server at home"),
        pytest.param(PC | {"household": False}, {"currency": EURO}, 0.1902 / 0.86, id="a PC in an office"),
        pytest.param(
            PC | {"colocation": {"usd_per_kw_month": 184, "power_included": False}}, {"currency": EURO}, 0.1902 / 0.86,
            id="a PC in colocation",
        ),
        pytest.param(PC | {"electricity": 0.11}, {"currency": WON}, 0.11, id="the site's own price"),
        pytest.param(PC, {"currency": WON, "assumptions": {"electricity_local_per_kwh": 300.0}}, 300 / 1400, id="kWh"),
        pytest.param(
            PC, {"currency": WON, "assumptions": {"electricity_usd_per_kwh": 0.2, "country": "DE"}}, 0.2, id="in USD"
        ),
    ],
)  # fmt: skip
def test_the_price_of_a_kwh(site: dict[str, Any], keys: dict[str, Any], usd: float):
    assert electricity(Site.model_validate(site), plan(**keys), CATALOG).value == pytest.approx(usd, rel=1e-4)


def test_it_is_paid_in_the_country_s_currency():
    site = Site.model_validate(PC)
    assert paid_in(site, plan(currency=WON), CATALOG) == "KRW"
    assert paid_in(site, plan(), CATALOG) == "USD"


def test_a_country_that_is_not_known_is_named_with_the_known_ones():
    with pytest.raises(NotFoundError, match="there is no country 'ZZ'"):
        electricity(Site.model_validate(PC), plan(assumptions={"country": "ZZ"}), CATALOG)


def test_every_price_and_area_is_of_a_known_country():
    for row in CATALOG.electricity_prices.values():
        assert row.country in CATALOG.countries, row.id
        assert row.id == f"{row.country.lower()}-{row.customers}"
    assert {country.area for country in CATALOG.countries.values()} <= {None, *CATALOG.countries}
    without = [
        country.id
        for country in CATALOG.countries.values()
        if not any(
            row.customers == "household" and row.country in (country.id, country.area)
            for row in CATALOG.electricity_prices.values()
        )
    ]
    assert without == []


def test_one_currency_means_one_country_or_the_area_around():
    """KRW is Korea; EUR, which many have, is the European Union."""
    plain = [country.currency for country in CATALOG.countries.values() if country.area is None]
    assert len(plain) == len(set(plain))


@pytest.mark.parametrize(
    ("site", "keys", "says"),
    [
        pytest.param(SERVER | {"country": "CH"}, {}, "what a business in Switzerland pays is not known", id="CH"),
        pytest.param(SERVER | {"country": "KR"}, {}, None, id="known"),
        pytest.param(SERVER | {"country": "US"}, {}, None, id="its own"),
        pytest.param(SERVER, {}, None, id="no country"),
        pytest.param(
            SERVER | {"country": "CH"}, {"assumptions": {"electricity_usd_per_kwh": 0.2}}, None, id="stated by the plan"
        ),
    ],
)
def test_a_price_of_another_country_is_said(site: dict[str, Any], keys: dict[str, Any], says: str | None) -> None:
    note = borrowed_price(Site.model_validate(site), plan(**keys), CATALOG)
    assert note is None if says is None else says in (note or "")


@pytest.mark.parametrize(
    ("assumptions", "currency", "code"),
    [
        pytest.param({"electricity_local_per_kwh": 150.0}, WON, "KRW", id="stated in the plan's currency"),
        pytest.param({"electricity_usd_per_kwh": 0.2}, WON, "USD", id="stated in dollars"),
        pytest.param({"country": "CH"}, EURO, "CHF", id="a country's tariff in its own"),
    ],
)
def test_in_what_electricity_is_paid(assumptions: dict[str, Any], currency: dict[str, Any], code: str) -> None:
    asked = plan(assumptions=assumptions, currency=currency)
    assert paid_in(Site.model_validate(PC), asked, CATALOG) == code
