"""`planner own-or-rent` at the plan's own hours: cost a year of each, break-even in trainings, and what to do.

The plan here is by hand: a training of one step of 360,000 s is 100 h on either machine; renting is the hours alone, at
42 USD. Owning is the check value of `test_own_or_rent.py`: 101,701 - 10,382 + 22,522 + 21,887 + 7,500 = 143,228 USD a
year whatever it does, and power of 2.55 kW at rest and 7.752 at work, x 1.4 x 8,766 h x 0.0826 USD.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

IDLE_USD = 143_228 + 2.55 * 1.4 * 8766 * 0.0826
BUSY_USD_PER_HOUR = (7.752 - 2.55) * 1.4 * 0.0826
"""Cost of electricity that an hour of work adds."""
HOURS, PRICE = 100, 42.0
STEP = {"batch": 1_953_125, "seconds": 360_000.0, "basis": "measured"}
"""All of 1e9 tokens in samples of 512."""
RENT = {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "usd_per_hour": PRICE, "step": STEP}
SPOT = RENT | {"usd_per_hour": 10.0, "price": "spot"}
NOTHING_ELSE = {"setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0}
NO_DATA = {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0}
OWN, FIRM, LOOSE = "own-8xh200", "aws/p5en.48xlarge:us-east-1:on_demand", "aws/p5en.48xlarge:us-east-1:spot"


def own_usd(runs: float) -> float:
    """Return the machine's cost in a year with that many trainings on it."""
    return IDLE_USD + runs * HOURS * BUSY_USD_PER_HOUR


@pytest.fixture
def plan(plan_file):
    """Write the plan with another campaign, site or options."""

    def write(
        campaign: dict[str, Any] | None = None,
        *,
        site: str = OWN,
        options: list[dict[str, Any]] | None = None,
        **keys: Any,
    ) -> Path:
        machine = [{"site": site, "step": STEP} | ({"hold": "buy"} if site == OWN else {})]
        text = {
            "schema_version": 1, "name": "by hand", "workload": {"ref": "gpt-305m", "seq_len": 512},
            "work": {"tokens": 1e9}, "options": machine + ([RENT, SPOT] if options is None else options),
            "assumptions": NOTHING_ELSE, "data": NO_DATA,
        }  # fmt: skip
        return plan_file(yaml.safe_dump(text | ({"campaign": campaign} if campaign else {}) | keys))

    return write


@pytest.fixture
def year(planner):
    """Return the year of an answer, with its rows by id."""

    def ask(path: Path, *arguments: str) -> dict[str, Any]:
        document = planner("own-or-rent", path, "--json", *arguments).document
        found = document["by_plan"]
        rows = {row["id"]: row for row in found["options"]}
        return found | {"rows": rows, "headline": document["headline"], "document": document}

    return ask


class TestTheYear:
    def test_how_busy_the_trainings_make_it(self, plan, year):
        """26 of 100 h are 2,600 of 8,766 h."""
        found = year(plan({"runs": 26}))
        assert found["hours_per_training"]["value"] == pytest.approx(100)
        assert found["busy_hours"] == pytest.approx(2600)
        assert found["busy_fraction"]["value"] == pytest.approx(2600 / 8766)
        assert found["site_busy_fraction"] == 0.7

    def test_what_each_costs_in_a_year(self, plan, year):
        rows = year(plan({"runs": 26}))["rows"]
        assert rows[OWN]["usd_per_year"]["value"] == pytest.approx(own_usd(26), abs=3)
        assert rows[FIRM]["usd_per_year"]["value"] == pytest.approx(26 * HOURS * PRICE, abs=0.01)
        assert rows[LOOSE]["usd_per_year"]["value"] == pytest.approx(26 * HOURS * 10.0, abs=0.01)
        assert rows[FIRM]["above_owning_usd_per_year"] == pytest.approx(26 * HOURS * PRICE - own_usd(26), abs=3)

    def test_the_bill_is_that_of_the_campaign_with_set_up_and_rounding(self, plan, planner, year):
        path = plan({"runs": 26}, assumptions=NOTHING_ELSE | {"setup_hours": 0.5, "support_fraction": 0.1})
        campaign = planner("campaign", path, "--json").option(FIRM)["campaign_usd"]["value"]
        assert campaign == pytest.approx(26 * (HOURS + 0.5) * PRICE * 1.1, rel=1e-6)
        assert year(path)["rows"][FIRM]["usd_per_year"]["value"] == pytest.approx(campaign)

    def test_break_even_in_trainings_share_and_hours(self, plan, year):
        """(143,228 + 2,585) / (100 x 42 - 60.16) = 35.2, so from 36: 3,600 of 8,766 h."""
        exact = IDLE_USD / (HOURS * PRICE - HOURS * BUSY_USD_PER_HOUR)
        assert 35.1 < exact < 35.3
        even = year(plan({"runs": 26}))["rows"][FIRM]["break_even"]
        assert even["trainings_per_year"] == 36
        assert even["busy_hours_per_year"] == pytest.approx(3600)
        assert even["busy_fraction"] == pytest.approx(3600 / 8766)

    @pytest.mark.parametrize("others", [pytest.param({}, id="hours"), pytest.param({"setup_hours": 3.0}, id="set-up")])
    def test_break_even_against_a_search_over_the_totals_of_campaigns(self, plan, year, others):
        """A second way: the plan is asked again with other numbers of runs until its totals change sides."""
        assumptions = NOTHING_ELSE | others

        def owning_costs_less(runs: int) -> bool:
            return year(plan({"runs": runs}, assumptions=assumptions))["rows"][FIRM]["above_owning_usd_per_year"] >= 0

        low, high = 1, 87
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if owning_costs_less(middle) else (middle, high)
        even = year(plan({"runs": 26}, assumptions=assumptions))["rows"][FIRM]["break_even"]
        assert even["trainings_per_year"] == high

    def test_no_number_of_trainings_repays_a_rent_of_its_electricity(self, plan, year):
        rows = year(plan({"runs": 26}, options=[RENT | {"usd_per_hour": 0.5}]))["rows"]
        assert rows[FIRM]["break_even"] is None

    def test_more_than_the_machine_can_do_is_said_and_not_counted(self, plan, year):
        """8,766 / 100 h."""
        found = year(plan({"runs": 200}))
        assert (found["trainings_wanted"], found["trainings"]) == (200, pytest.approx(87.66))
        assert found["rows"][FIRM]["usd_per_year"]["value"] == pytest.approx(87.66 * HOURS * PRICE)
        assert "87 of the 200 trainings a year" in found["headline"][-1]

    def test_another_machine_of_the_plan_stands_beside_it_with_as_many_nodes_as_it_needs(self, plan, year):
        """A training of 400 h there: 26 of them are 10,400 h, more than one node's 8,766 x 0.985 or so."""
        slower = {"site": "hgx-h200-8x", "step": STEP | {"seconds": 1_440_000.0}}
        rows = year(plan({"runs": 26}, options=[RENT, slower]))["rows"]
        assert rows["hgx-h200-8x"]["nodes"] == 2

    def test_others_who_use_the_machine_bear_their_share(self, plan, year):
        """Half of its busy hours: we pay half of a machine that works twice our 2,600 h."""
        shared = [{"site": OWN, "hold": "buy", "step": STEP, "other_use": 0.5}, RENT]
        text = yaml.safe_load(plan({"runs": 26}).read_text()) | {"options": shared}
        path = plan({"runs": 26})
        path.write_text(yaml.safe_dump(text))
        rows = year(path)["rows"]
        assert rows[OWN]["usd_per_year"]["value"] == pytest.approx(0.5 * own_usd(52), abs=3)


class TestHowManyTrainingsAYear:
    @pytest.mark.parametrize(
        ("campaign", "trainings", "source"),
        [
            pytest.param({"runs": 26}, 26, "campaign", id="a campaign is a year's work"),
            pytest.param({"runs": 26, "runs_per_year": 52}, 52, "runs_per_year", id="stated"),
            pytest.param({"runs": 5, "start": "2026-12-01", "deadline": "2026-12-31"}, 5, "campaign", id="a month"),
            # 2026-12-01 to 2028-11-30 are 731 days, 2.0014 years.
            pytest.param(
                {"runs": 50, "start": "2026-12-01", "deadline": "2028-11-30"}, 50 / (731 / 365.25), "campaign_pace",
                id="two years",
            ),
            pytest.param(None, 0.7 * 8766 / 100, "site", id="not said: as busy as the site"),
        ],
    )  # fmt: skip
    def test_trainings(self, plan, year, campaign, trainings, source):
        found = year(plan(campaign))
        assert (found["trainings"], found["counted_from"]) == (pytest.approx(trainings), source)

    def test_of_a_training_without_a_known_time_the_site_s_share_counts_and_that_is_said(self, planner, plan, year):
        """No run had that power limit. The same eight GPUs rented: 70 % of 8,766 h at 42 USD; owned, with
        5 kW at work."""
        path = plan({"runs": 26}, options=[{key: value for key, value in RENT.items() if key != "step"}])
        text = yaml.safe_load(path.read_text())
        text["options"][0] = {"site": OWN, "hold": "buy", "power_cap_w": 400.0, "power_kw": 5.0}
        path.write_text(yaml.safe_dump(text))
        found = year(path)
        assert (found["counted_from"], found["trainings"], found["busy_fraction"]["value"]) == ("site", None, 0.7)
        assert found["rows"][FIRM]["usd_per_year"]["value"] == pytest.approx(0.7 * 8766 * PRICE, rel=1e-4)
        own = 143_228 + (5.0 * 0.7 + 2.55 * 0.3) * 1.4 * 8766 * 0.0826
        assert found["rows"][found["owning"]]["usd_per_year"]["value"] == pytest.approx(own, abs=5)
        assert "at 70 % busy" in found["headline"][0]
        assert "the time of a training is not known" in planner("own-or-rent", path, "--format", "table").out


class TestWhatToDo:
    def test_52_trainings_of_the_example_fill_27_percent_and_the_machine_is_kept(self, planner, example, year):
        """45 h x 52 = 2,362 of 8,766 h. RunPod's hour is 5.29 USD a GPU: 2,362 x 8 x 5.29 = 100,000 USD and set-up.

        The machine stands there: without its price it costs 22,522 + 21,887 + 7,500 = 51,909 USD whatever it does, and
        its power; with that price 143,228 and the same power.
        """
        found = year(example("own_8xh200"))
        hours = found["hours_per_training"]["value"]
        assert found["busy_fraction"]["value"] == pytest.approx(52 * hours / 8766)
        assert found["busy_fraction"]["value"] == pytest.approx(0.27, abs=0.01)
        runpod = found["rows"]["runpod/8x-h200-sxm:any:on_demand"]["usd_per_year"]["value"]
        assert runpod == pytest.approx(52 * hours * 8 * 5.29, rel=0.03)
        own, power = found["rows"][OWN], IDLE_USD - 143_228 + 52 * hours * BUSY_USD_PER_HOUR
        assert own["usd_per_year"]["value"] == pytest.approx(51_909 + power, abs=5)
        assert own["usd_per_year_as_if_bought"]["value"] == pytest.approx(143_228 + power, abs=5)
        assert found["cheapest_firm"] == "runpod/8x-h200-sxm:any:on_demand"
        assert found["recommended"] == OWN
        assert found["headline"][0].startswith("Keep Our HGX H200, 8x H200: ")
        assert "spot" in found["headline"][1]
        assert "may be taken away" in found["headline"][1]

    def test_to_buy_it_for_half_as_many_is_surely_dearer(self, example, year, tmp_path):
        """The plan is for the same machine, but it must first be bought."""
        text = example("own_8xh200").read_text(encoding="utf-8").replace("runs: 52", "runs: 26")
        path = tmp_path / "few.yaml"
        path.write_text(text.replace("{site: own-8xh200}", "{site: own-8xh200, hold: buy}"), encoding="utf-8")
        found = year(path)
        assert found["trainings"] == 26
        assert found["headline"][0].startswith("Rent RunPod, 8x H200: ")
        assert found["rows"][OWN]["usd_per_year_as_if_bought"] is None

    @pytest.mark.parametrize(
        ("runs", "first", "why"),
        [
            pytest.param(26, "Rent", "109,200 USD against 147,000", id="too few"),
            pytest.param(38, "Rent", "159,600 against 148,100: 7 % is no cause to buy", id="a tie"),
            pytest.param(80, "Buy", "336,000 against 150,600", id="enough"),
        ],
    )
    def test_a_machine_is_bought_only_where_that_surely_pays(self, plan, year, runs, first, why):
        assert year(plan({"runs": runs}))["headline"][0].startswith(f"{first} "), why

    def test_a_purchase_says_what_it_takes_at_once(self, plan, year):
        """312,667 / (1 - 0.15 - 0.08)."""
        assert any("406,000 USD at once" in sentence for sentence in year(plan({"runs": 80}))["headline"])

    def test_what_is_over_the_budget_at_once_is_not_bought(self, plan, year):
        found = year(plan({"runs": 80, "budget_usd": 400_000.0}))
        assert found["recommended"] == FIRM
        assert "406,000 USD at once, over the plan's budget" in found["headline"][-1]
        assert year(plan({"runs": 80, "budget_usd": 410_000.0}))["recommended"] == OWN

    def test_so_is_what_is_over_a_budget_in_the_plan_s_currency(self, plan, year):
        """300,000 EUR at 0.75 a USD are 400,000 USD, under the 406,000."""
        euro = {"code": "EUR", "per_usd": 0.75, "as_of": "2026-11-20", "source": "a bank"}
        assert year(plan({"runs": 80, "budget_local": 300_000.0}, currency=euro))["recommended"] == FIRM
        assert year(plan({"runs": 80, "budget_local": 310_000.0}, currency=euro))["recommended"] == OWN

    @pytest.mark.parametrize(
        ("runs", "first"), [pytest.param(2, "Rent", id="hardly used"), pytest.param(80, "Keep", id="busy")]
    )
    def test_a_machine_that_stands_there_is_kept_or_given_up(self, plan, year, own_site, runs, first):
        """It would sell for 100,000 USD: over 80,000 a year with place, support and people. Two trainings rent for
        8,400; eighty for 336,000."""
        own_site(purchase=None, already_owned={"resale_usd": 100_000, "remaining_life_years": 3.0}, residual=[])
        assert year(plan({"runs": runs}, site="mine"))["headline"][0].startswith(f"{first} ")

    def test_of_two_that_cost_about_the_same_what_stands_there_is_kept(self, plan, year, own_site):
        own_site(purchase=None, already_owned={"resale_usd": 100_000, "remaining_life_years": 3.0}, residual=[])
        own = year(plan({"runs": 26}, site="mine"))["rows"]["mine"]["usd_per_year"]["value"]
        cheaper = RENT | {"usd_per_hour": round(0.95 * own / (26 * HOURS), 2)}
        found = year(plan({"runs": 26}, site="mine", options=[cheaper]))
        assert found["rows"][FIRM]["above_owning_usd_per_year"] < 0
        assert found["recommended"] == "mine"
        cases = round(100 * (1 - found["rows"][FIRM]["chance_owning_cheaper"]))
        assert f"costs less in {cases} of 100 cases, and 80 are asked for" in found["headline"][0]

    def test_spot_is_named_and_never_taken(self, plan, year):
        found = year(plan({"runs": 26}, options=[SPOT]))
        assert (found["recommended"], found["cheapest_rent"], found["cheapest_firm"]) == (OWN, LOOSE, None)

    def test_a_machine_that_its_site_cannot_power_is_not_taken(self, plan, year, own_site):
        own_site(nodes=2)
        found = year(plan({"runs": 80}, site="mine"))
        assert found["recommended"] == FIRM
        assert "does not fit its circuit" in found["headline"][-1]


class TestMoneyOfAYear:
    def test_the_price_book_s_discount_reaches_the_year(self, plan, planner, year):
        """No price of the plan's own: the list's, and 10 % less."""
        bare = [{"offer": "aws/p5en.48xlarge", "region": "us-east-1", "step": STEP}]
        path = plan({"runs": 26}, options=bare)
        listed = year(path)["rows"][FIRM]["usd_per_year"]["value"]
        home = Path(os.environ["PLANNER_HOME"])
        home.mkdir(parents=True, exist_ok=True)
        (home / "price_book.yaml").write_text(
            "schema_version: 1\nas_of: 2026-11-01\n"
            "discounts:\n  - {name: contract, provider: aws, discount_fraction: 0.1, source: contract 7}\n"
        )
        assert year(path)["rows"][FIRM]["usd_per_year"]["value"] == listed
        net = year(path, "--with-price-book")["rows"][FIRM]["usd_per_year"]["value"]
        assert net == pytest.approx(0.9 * listed, rel=1e-6)

    def test_every_row_has_its_amount_in_the_plan_s_currency(self, plan, planner, year, monkeypatch):
        won = {"code": "KRW", "per_usd": 1400.0, "as_of": "2026-11-20", "source": "a bank"}
        path = plan({"runs": 26}, currency=won)
        found = year(path)
        for row in found["rows"].values():
            assert row["local_per_year"]["value"] == pytest.approx(row["usd_per_year"]["value"] * 1400, abs=0.5)
        assert "153 million KRW a year" in found["headline"][0]  # 109,200 x 1,400 = 152,880,000
        assert "USD" not in " ".join(found["headline"])
        monkeypatch.setenv("COLUMNS", "100")
        assert "KRW a year" in planner("own-or-rent", path, "--format", "table").out


class TestTheScreen:
    EXAMPLES = ("own_8xh200", "station_own_or_rent", "local_pc", *(
        pytest.param(name, marks=pytest.mark.slow)
        for name in ("dgx_station_v100", "p5e_vs_a100", "qlora_llama3_8b", "rtx3090_cluster")
    ))  # fmt: skip

    @pytest.mark.parametrize("name", EXAMPLES)
    def test_an_answer_is_30_lines_of_100_columns_and_as_narrow_as_the_screen(
        self, planner, example, monkeypatch, name
    ):
        wide: set[str] = set()
        for width in (100, 80, 60):
            monkeypatch.setenv("COLUMNS", str(width))
            answer = planner("own-or-rent", example(name), "--format", "table")
            assert (answer.code, answer.err) == (0, "")
            lines = answer.out.splitlines()
            assert max(map(len, lines)) <= width
            if width == 100:
                assert len(lines) <= 30
                wide = set(answer.out.split())
            assert set(answer.out.split()) <= wide, "a word was cut"

    @pytest.mark.parametrize("name", EXAMPLES)
    def test_a_headline_is_three_short_sentences_that_begin_with_what_to_do(self, planner, example, name):
        document = planner("own-or-rent", example(name), "--json").document
        headline = document["headline"]
        assert 1 <= len(headline) <= 3
        assert headline[0].split()[0] in {"Keep", "Rent", "Buy", "Use"}
        assert all(len(sentence.split()) <= 20 for sentence in headline)
        assert document["sentence"] == " ".join(headline)

    def test_tab_separated_values_are_the_table_alone(self, planner, example):
        answer = planner("own-or-rent", example("own_8xh200"), "--format", "tsv")
        assert answer.err == ""
        head, *rows = [line.split("\t") for line in answer.out.splitlines()]
        assert len(rows) == 5
        assert {len(row) for row in rows} == {len(head)}
        assert float(rows[0][head.index("USD a year")]) > 0


@pytest.mark.parametrize(
    ("runs", "names"),
    [
        pytest.param(80, {"AWS p5en, 8x H200"}, id="80 trainings of 100 h fit into a year of 8,766 h"),
        pytest.param(100, {"2x AWS p5en, 8x H200"}, id="100 take two machines"),
    ],
)
def test_a_year_names_how_many_machines_it_takes(planner, plan, runs, names):
    """Our machine does 87.66 of 100; 88 whole ones of 100 h are 8,800 h, more than the 8,766 h of a year."""
    written = plan(
        {"runs_per_year": runs}, site="hgx-h200-8x", options=[{"site": OWN, "hold": "buy", "step": STEP}, RENT]
    )
    year = planner("own-or-rent", written, "--site", OWN, "--json").document["by_plan"]
    rented = {row["display_name"] for row in year["options"] if row["id"] == FIRM}
    assert rented == names


def test_what_can_be_done_costs_its_trainings_in_a_year(planner, plan):
    """USD a year = trainings x USD a training, of blocks too, whose days the year shares."""
    block = RENT | {"price": "capacity_block"}
    document = planner("own-or-rent", plan({"runs_per_year": 10}, options=[RENT, block]), "--json").document
    rows = [choice for choice in document["choices"] if choice["kind"] == "rent"]
    assert len(rows) == 2
    for row in rows:
        whole = row["trainings_per_year"] * row["usd_per_training"]["value"]
        assert whole == pytest.approx(row["usd_per_year"]["value"])


def test_every_amount_of_the_screen_is_in_the_plan_s_currency(planner, plan):
    """At 0.5 EUR a USD; the column of dollars is headed."""
    currency = {"code": "EUR", "per_usd": 0.5, "as_of": "2026-11-20", "source": "a bank"}
    document = planner("own-or-rent", plan({"runs_per_year": 10}, currency=currency), "--json").document
    screen = planner("own-or-rent", plan({"runs_per_year": 10}, currency=currency)).out
    [heading] = [line for line in screen.splitlines() if "USD" in line]
    assert "USD a year" in heading
    above = next(row for row in document["by_plan"]["options"] if row["id"] == FIRM)["above_owning_usd_per_year"]
    assert f"{float(f'{above / 2:.3g}'):,.0f}" in screen
