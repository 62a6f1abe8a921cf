"""Plans that name their own cards, and say what is had and what must be bought."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.refusals import one_error
from tests.conftest import NOON

TODAY = NOON.date()
STEP = {"batch": 128, "seconds": 1.0, "basis": "measured"}
LAMBDA = {"offer": "lambda/gpu_1x_h100_sxm5"}


@pytest.fixture
def plan(changed):
    """Write the DGX Station's plan with other options."""
    return lambda *options, **changes: changed("dgx_station_v100", {"options": list(options)} | changes)


class TestOwnCards:
    def test_they_are_an_option_like_a_site(self, planner, plan):
        path = plan({"own": "RTX 3090", "count": 2, "step": STEP}, LAMBDA)
        option = planner("compare", path, "--json").option("own/RTX-3090-x2")
        assert (option["site"], option["hold"], option["accelerators"]) == ("own/RTX-3090-x2", "have", 2)
        assert option["display_name"] == "your 2x RTX 3090"
        assert option["ready_on"] == str(TODAY)
        assert any("assumed: PCIe without P2P between its accelerators, no network" in note for note in option["notes"])

    def test_what_is_assumed_of_their_host_is_named(self, planner, plan):
        document = planner("estimate", plan({"own": "RTX 3090", "count": 2, "step": STEP}), "--json").document
        host = next(
            assumption
            for assumption in document["assumptions"]
            if assumption["name"] == "power of the host of own/RTX-3090-x2"
        )
        assert (host["quantity"]["value"], host["quantity"]["basis"]) == (0.1, "assumed")

    def test_a_name_that_was_completed_is_said(self, planner, plan):
        option = planner("compare", plan({"own": "A100 80GB", "step": STEP}), "--json").option("own/A100-80GB-SXM-x1")
        assert any("'A100 80GB' is taken as A100-80GB-SXM" in note for note in option["notes"])

    def test_some_of_them_and_another_power(self, planner, plan):
        option = {"own": "H100-SXM", "count": 8, "accelerators": [4, 8], "power_kw": 6.0, "step": STEP}
        got = planner("compare", plan(option), "--json").option("own/H100-SXM-x8:x4")
        assert (got["accelerators"], got["power_kw"]["value"]) == (4, 6.0)

    def test_bought_they_need_a_price(self, planner, plan):
        answer = planner("compare", plan({"own": "RTX 3090", "hold": "buy", "step": STEP}), "--json")
        assert answer.code == 3
        assert answer.document["recommended"] is None
        assert "its price is not known; give purchase_usd" in answer.option("own/RTX-3090-x1")["why_not"]

    def test_a_frozen_plan_keeps_them(self, planner, plan):
        path = plan({"own": "rtx3090", "count": 2, "step": STEP}, {"own": "A100 80GB", "step": STEP})
        assert planner("estimate", path, "--freeze").code == 0
        first = planner("compare", path, "--json").document["options"]
        locked = planner("compare", path, "--locked", "--json")
        assert locked.code == 0, locked.err
        assert locked.document["options"] == first


class TestWhatMustBeBought:
    def test_neither_a_week_nor_500_usd_buys_a_server(self, planner, plan):
        """312,667 USD for the server alone, due at once; it comes in three months."""
        days = {"campaign.start": str(TODAY), "campaign.deadline": "2026-11-28", "campaign.budget_usd": 500}
        answer = planner("compare", plan({"site": "hgx-h200-8x", "step": STEP}, **days), "--json")
        got = answer.option("hgx-h200-8x")
        assert answer.code == 3
        assert answer.document["recommended"] is None
        assert got["ready_on"] == "2027-02-21"  # 92 days from 2026-11-21
        assert got["done_by"] >= got["ready_on"]
        assert got["cash_usd"]["value"] >= got["pay_now_usd"]["value"] >= 312_667
        assert got["why_not_codes"] == ["misses_deadline", "over_budget"]

    def test_the_same_machine_that_stands_there_starts_today(self, planner, plan):
        days = {"campaign.start": str(TODAY), "campaign.runs": 1, "campaign.budget_usd": 500}
        got = planner("compare", plan({"site": "hgx-h200-8x", "hold": "have", "step": STEP}, **days), "--json")
        assert got.document["recommended"] == "hgx-h200-8x"
        assert got.option("hgx-h200-8x")["pay_now_usd"] is None

    def test_no_purchase_of_an_example_is_ranked_by_its_electricity(self, planner, example):
        for name in ("dgx_station_v100", "local_pc", "station_own_or_rent"):
            document = planner("compare", example(name), "--json").document
            assert document["recommended"] == "dgx-station-v100", name
            bought = [option for option in document["options"] if option["hold"] == "buy"]
            assert bought, name
            assert all(option["usd_confident"] >= option["pay_now_usd"]["low"] for option in bought), name


@pytest.mark.parametrize(
    ("option", "words"),
    [
        pytest.param({"own": "RTX 3009"}, ["options.0.own", "RTX 3009", "RTX-3090"], id="a card that is misspelt"),
        pytest.param({"site": "h200-x1", "count": 2}, ["count belongs to own", "accelerators"], id="count of a site"),
        pytest.param({"own": "RTX-3090", "site": "h200-x1"}, ["exactly one of", "site and own"], id="own and a site"),
        pytest.param({"own": ""}, ["options.0.own: must not be empty"], id="no card"),
        pytest.param({"own": "RTX"}, ["options.0.own", "there is no accelerator 'RTX'"], id="any of many cards"),
        pytest.param({"own": "RTX-3090", "ready_on": "soon"}, ["options.0.ready_on: must be a date"], id="no day"),
        pytest.param(
            {"own": "RTX-3090", "hold": "buy", "sell_after": "later"}, ["must be true or false"], id="no yes"
        ),
        pytest.param({"own": "RTX-3090", "count": 0}, ["options.0.count"], id="no cards"),
        pytest.param({"own": "RTX-3090", "count": 2, "accelerators": 3}, ["3 are asked for"], id="more than there are"),
        pytest.param({"own": "RTX-3090", "hold": "rent"}, ["has no lease", "have or buy"], id="renting one's own"),
        pytest.param({"own": "RTX-3090", "purchase_usd": 9.0}, ["not to be bought", "hold: buy"], id="bought already"),
        pytest.param({"site": "own-8xh200", "sell_after": True}, ["not to be bought"], id="selling what one keeps"),
        pytest.param(
            {"site": "h200-x1", "hold": "have", "sell_after": True}, ["sell_after belongs"], id="selling what one has"
        ),
        pytest.param({"site": "h200-x1", "hold": "use"}, ["belongs to a grant or a service"], id="a granted site"),
        pytest.param({"site": "h200-x1", "hold": "borrow"}, ["options.0.hold", "'buy'"], id="a word that is none"),
        pytest.param(LAMBDA | {"hold": "buy"}, ["hold: buy does not go with this offer"], id="buying an offer"),
        pytest.param(LAMBDA | {"purchase_usd": 1.0}, ["purchase_usd belongs to a machine of your own"], id="its price"),
        pytest.param(LAMBDA | {"other_use": 0.5}, ["other_use belongs to a machine of your own"], id="sharing it"),
        pytest.param({"own": "RTX-3090", "other_use": 1.0}, ["options.0.other_use", "less than 1"], id="no hour left"),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused(planner, plan, option: dict[str, Any], words: list[str]):
    one_error(planner("compare", plan(option)), *words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hold": "use"}, ["hold: use belongs to a grant or a service"]),
        ({"hold": "rent"}, ["hold: rent needs a lease that is to be signed"]),
    ],
    ids=str,
)
def test_a_site_s_word_must_fit_it(planner, plan, tmp_path, changes: dict[str, str], words: list[str]):
    folder = tmp_path / "planner-home" / "sites"
    folder.mkdir(parents=True)
    text = "schema_version: 1\nid: mine\nname: Mine\nnode: pc-rtx4090\nsource: me\nas_of: 2026-11-20\n"
    (folder / "mine.yaml").write_text(text + "".join(f"{key}: {value}\n" for key, value in changes.items()))
    answer = planner("compare", plan({"site": "mine"}))
    assert answer.code == 2
    assert answer.err.startswith("Error: ")
    assert all(word in answer.err for word in ["mine.yaml", *words])
