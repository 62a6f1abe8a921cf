"""A site refuses what cannot be, with the key and the reason."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from planner.model.owning.site import Site

BARE = {"schema_version": 1, "id": "s", "name": "S", "node": "n", "source": "me", "as_of": date(2026, 11, 1)}
PURCHASE = {"server_usd": 100_000}
LEASE = {"usd_per_month": 3_000, "term_months": 36}
PUE = {"value": 1.4, "low": 1.4, "high": 1.4, "unit": "ratio", "basis": "assumed", "source": "me"}
POWER = PUE | {"value": 9, "low": 9, "high": 9, "unit": "kW"}
TARIFF = PUE | {"value": 0.1, "low": 0.1, "high": 0.1, "unit": "USD/kWh"}
COLOCATION = {"usd_per_kw_month": 184, "power_included": False}
INCENTIVE = {"name": "i", "kind": "grant", "rate": 0.1, "eligibility": "anyone", "source": "law", "as_of": "2026-01-01"}


def site(**changes: Any) -> Site:
    return Site.model_validate(BARE | changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"purchase": PURCHASE, "lease": LEASE}, "purchase and lease contradict", id="bought and leased"),
        pytest.param(
            {"purchase": PURCHASE, "already_owned": {}}, "purchase and already_owned contradict", id="bought twice"
        ),
        pytest.param({"electricity": TARIFF, "tariff": "t"}, "electricity and tariff contradict", id="two tariffs"),
        pytest.param(
            {"colocation": COLOCATION, "room": {"usd_per_month": 1}}, "colocation and room contradict", id="two places"
        ),
        pytest.param(
            {"maintenance_fraction_per_year": 0.1, "maintenance_usd_per_node_year": 1},
            "maintenance_fraction_per_year and maintenance_usd_per_node_year contradict",
            id="maintenance twice",
        ),
        pytest.param({"pue": PUE | {"value": 0.9, "low": 0.9, "high": 0.9}}, "pue 0.9 is under 1", id="PUE under 1"),
        pytest.param({"pue": PUE | {"high": 1e300}}, "at most 1000, has 1e.300", id="PUE that no building has"),
        pytest.param({"pue": PUE | {"low": 0.9}}, "pue 0.9 is under 1", id="PUE that may be under 1"),
        pytest.param(
            {"availability": 0.6, "utilisation": {"busy": 0.7}},
            r"utilisation.busy 0.7 is over availability 0.6",
            id="busier than it is up",
        ),
        pytest.param(
            {"availability": 0.8, "utilisation": {"allocated": 0.9, "busy": 0.7}},
            r"utilisation.allocated 0.9 is over availability 0.8",
            id="allocated more than it is up",
        ),
        pytest.param(
            {"utilisation": {"allocated": 0.5, "busy": 0.7}},
            r"busy 0.7 is over allocated 0.5",
            id="busier than allocated",
        ),
        pytest.param(
            {"electricity": TARIFF, "colocation": COLOCATION | {"power_included": True}},
            "power_included is true, so electricity would charge the power twice",
            id="power paid twice",
        ),
        pytest.param(
            {"tariff": "t", "colocation": COLOCATION | {"power_included": True}},
            "power_included is true, so tariff would charge the power twice",
            id="a tariff where power is included",
        ),
        pytest.param(
            {"colocation": {"usd_per_kw_month": 1, "usd_per_kw_hour": 1, "power_included": False}},
            "either usd_per_kw_month or usd_per_kw_hour",
            id="colocation by month and by hour",
        ),
        pytest.param({"colocation": {"usd_per_kw_month": 1}}, "power_included", id="colocation that hides the power"),
        pytest.param(
            {"purchase": PURCHASE | {"network_fraction_of_capex": 0.6, "storage_fraction_of_capex": 0.4}},
            "leave nothing of capex for the server",
            id="no server left",
        ),
        pytest.param({"rated_kw": 5, "power": POWER}, "power 9 kW is over rated_kw 5", id="draws more than rated"),
        pytest.param({"rated_kw": 5, "idle_kw": 6}, "idle_kw 6 is over rated_kw 5", id="idles over rated"),
        pytest.param({"lease": LEASE, "life_years": 5}, "belong to the owner", id="the life of a leased machine"),
        pytest.param({"life_years": 0}, "over 0", id="no life from new"),
        pytest.param({"discount_rate_per_year": 8}, "at most 1", id="8 for 8 %"),
        pytest.param({"purchase": {"server_usd": -5}}, "over 0", id="a negative price"),
        pytest.param({"purchase": {"server_usd": "cheap"}}, "server_usd", id="text for a price"),
        pytest.param({"purchase": {"server_usd": True}}, "server_usd", id="bool for a price"),
        pytest.param({"purchase": {"server_usd": {"value": 5, "low": 6}}}, "outside its range", id="outside its range"),
        pytest.param(
            {"purchase": {"server_usd": {"value": 5, "basis": "quoted"}}}, "needs a source", id="no quoted source"
        ),
        pytest.param(
            {"residual": [{"age_years": 3, "fraction": 0.4}, {"age_years": 3, "fraction": 0.3}]},
            "age_years must rise",
            id="a curve that turns back",
        ),
        pytest.param({"incentives": [INCENTIVE | {"rate": None}]}, "rate is missing", id="a grant of nothing"),
        pytest.param(
            {"incentives": [INCENTIVE | {"kind": "accelerated_depreciation", "rate": None}]},
            "schedule_fractions",
            id="a write-off without a schedule",
        ),
        pytest.param(
            {
                "incentives": [
                    INCENTIVE | {"kind": "accelerated_depreciation", "rate": None, "schedule_fractions": [0.5, 0.4]}
                ]
            },
            "add up to 0.9",
            id="a write-off that leaves a tenth",
        ),
    ],
)
def test_a_contradiction_names_the_key_and_the_reason(changes, words):
    with pytest.raises(ValidationError, match=words):
        site(**changes)


def test_a_bare_number_is_somebody_s_word_and_a_full_one_keeps_its_source():
    bare = site(purchase=PURCHASE).purchase
    full = site(purchase={"server_usd": {"value": 5.0, "low": 4, "basis": "quoted", "source": "a shop"}}).purchase
    assert bare is not None
    assert full is not None
    assert (bare.server_usd.value, bare.server_usd.basis, bare.server_usd.highest) == (100_000, "assumed", 100_000)
    assert (full.server_usd.lowest, full.server_usd.highest, full.server_usd.source) == (4, 5, "a shop")


@pytest.mark.parametrize(
    ("name", "value", "unit"),
    [("pue", 1.3, "ratio"), ("power", 9, "kW"), ("electricity", 0.1, "USD/kWh")],
)
def test_power_tariff_and_pue_may_be_bare_too(name, value, unit):
    for given in (value, {"value": value}):
        read = getattr(site(**{name: given}), name)
        assert (read.value, read.low, read.high, read.unit, read.basis) == (value, value, value, unit, "assumed")
    with pytest.raises(ValidationError, match=rf"{name}\.source"):
        site(**{name: {"value": value, "basis": "quoted"}})
    if name == "pue":
        with pytest.raises(ValidationError, match=r"pue 0\.9 is under 1"):
            site(pue=0.9)


def test_a_site_of_the_first_version_still_reads():
    """Sites written before owning was counted have power, electricity and PUE alone."""
    old = site(power=POWER, electricity=TARIFF, pue=PUE)
    assert old.acquisition is None


def test_the_lines_of_the_documentation_are_a_site_s():
    text = (Path(__file__).parents[3] / "docs" / "owning.md").read_text(encoding="utf-8")
    block = text.partition("```yaml\n")[2].partition("```")[0]
    owned = site(**yaml.safe_load(block))
    assert owned.tax is not None
    assert [line.eligible for line in owned.incentives] == [True, False]
