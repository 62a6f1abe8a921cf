"""`planner own-or-rent`: the published check value from the bundled example, the document's shape, wrong input."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.cli.refusals import one_error

EXAMPLE = "own_8xh200"
KEYS = {
    "answer_id",
    "schema_version", "kind", "plan", "site", "name", "acquisition", "nodes", "accelerators_per_node", "accelerator",
    "full_question", "currency", "usd_per_busy_gpu_hour", "local_per_busy_gpu_hour", "usd_per_allocated_gpu_hour",
    "usd_per_node_hour", "usd_per_training",
    "marginal_question", "marginal_usd_per_busy_gpu_hour", "marginal_usd_per_training", "annual", "annual_usd_per_node",
    "against", "break_even_utilisation", "npv_usd", "npv_after_tax_usd", "payback_months", "curve", "rivals", "choices",
    "sensitivities", "incentives", "fits_circuit", "confidence", "by_plan", "horizons", "headline", "sentence",
    "site_sentence", "inputs", "notes", "why_not", "why_not_codes", "formulas", "year_parts",
}  # fmt: skip


class TestTheCheckValue:
    """One 8x H200 server at 312,667 USD; every expected number is published with its inputs."""

    @pytest.fixture
    def document(self, planner, example):
        return planner("own-or-rent", example(EXAMPLE), "--json").document

    def test_part_by_part(self, document):
        parts = {line["part"]: line["usd_per_node_year"]["value"] for line in document["annual"]}
        published = {"recovery": 101_701, "residual": -10_382, "colocation": 22_522, "maintenance": 21_887}
        published |= {"staff": 7_500, "power": 6_276}
        for part, usd in published.items():
            assert parts[part] == pytest.approx(usd, rel=1e-3), part
        assert sum(parts.values()) == pytest.approx(149_503, rel=1e-3)
        assert document["annual_usd_per_node"]["value"] == pytest.approx(149_503, rel=1e-3)

    def test_a_busy_hour_and_the_curve(self, document):
        assert document["usd_per_busy_gpu_hour"]["value"] == pytest.approx(3.046, rel=1e-3)
        curve = {round(point["busy_fraction"], 2): point["usd_per_busy_gpu_hour"] for point in document["curve"]}
        assert curve[0.7] == pytest.approx(3.046, rel=1e-3)
        assert curve[0.3] == pytest.approx(7.006, rel=1e-3)
        assert curve[0.9] == pytest.approx(2.385, rel=1e-3)

    def test_an_allocated_hour_and_an_hour_of_the_node(self, document):
        """149,503 over the 80 % of the hours that are promised, and over all of them."""
        assert document["usd_per_allocated_gpu_hour"]["value"] == pytest.approx(149_503 / (8 * 8766 * 0.8), rel=1e-3)
        assert document["usd_per_node_hour"]["value"] == pytest.approx(149_503 / 8766, rel=1e-3)

    def test_break_even_by_price_kind(self, document):
        found = {kind: share and 100 * share["value"] for kind, share in document["break_even_utilisation"].items()}
        assert found == {
            "on_demand": pytest.approx(26.5, abs=0.2),
            "capacity_block": pytest.approx(26.5 * 63.296 / 63.16, abs=0.2),
            "spot": pytest.approx(62.5, abs=0.2),
        }

    def test_break_even_at_the_prices_of_early_2026(self, planner, changed):
        """40.6 % against a block at 5.201 USD a GPU-hour, 48.2 % against RunPod at 4.39."""
        step = {"batch": 8, "seconds": 1.0, "basis": "assumed"}
        block = {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "price": "capacity_block", "usd_per_hour": 41.61}
        runpod = {"offer": "runpod/8x-h200-sxm", "usd_per_hour": 35.12}
        options = [choice | {"step": step} for choice in ({"site": "own-8xh200"}, block, runpod)]
        then = planner("own-or-rent", changed(EXAMPLE, {"options": options}), "--json").document
        found = {
            rival["id"].partition("/")[0]: 100 * rival["break_even_utilisation"]["value"] for rival in then["rivals"]
        }
        assert found == {"aws": pytest.approx(40.6, abs=0.2), "runpod": pytest.approx(48.2, abs=0.2)}

    def test_break_even_against_spot(self, document, planner, changed):
        """At 27.20 USD/h of August a year of 8 x 8,766 h x 3.40 a GPU-hour is 238,435 USD, and owning costs 143,227 and
        6,276 / 0.7 of power for each busy share: about 143,227 / (238,435 - 8,966) = 62.4 %. At 14.82 of May, 129,918
        USD a year, it never did.
        """
        assert 100 * document["break_even_utilisation"]["spot"]["value"] == pytest.approx(62.4, abs=0.2)
        rented = {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "price": "spot", "usd_per_hour": 14.8209}
        step = {"batch": 8, "seconds": 1.0, "basis": "assumed"}
        options = [{"site": "hgx-h200-8x", "step": step}, rented | {"step": step}]
        then = planner("own-or-rent", changed(EXAMPLE, {"options": options}), "--json").document
        assert then["break_even_utilisation"]["spot"] is None
        assert "never" in then["rivals"][-1]["why_not"]

    def test_payback_by_hand(self, document):
        """406,061 / (7.912 x 8 x 8,766 x 0.7 - 58,185 running) x 12 months."""
        running = 22_522 + 21_887 + 7_500 + 6_276
        saved = 7.912 * 8 * 8766 * 0.7 - running
        assert document["payback_months"]["value"] == pytest.approx(406_061 / saved * 12, rel=1e-3)

    def test_npv_by_hand(self, document):
        """An equal yearly surplus is worth surplus / 0.250456."""
        surplus = 7.912 * 8 * 8766 * 0.7 - 149_503
        assert document["npv_usd"]["value"] == pytest.approx(surplus / 0.250456, rel=1e-3)


class TestTheDocument:
    def test_its_keys_and_that_the_first_rented_option_is_the_measure(self, planner, example):
        document = planner("own-or-rent", example(EXAMPLE), "--json").document
        assert set(document) == KEYS
        assert (document["schema_version"], document["kind"]) == (1, "own_or_rent")
        assert document["against"] == "aws/p5en.48xlarge:us-east-1:on_demand"
        assert document["npv_usd"] == document["rivals"][0]["npv_usd"]
        assert document["npv_after_tax_usd"] is None
        assert "the site names no tax" in document["rivals"][0]["why_not"]

    def test_the_curve_falls_and_carries_a_band(self, planner, example):
        curve = planner("own-or-rent", example(EXAMPLE), "--json").document["curve"]
        assert [round(point["busy_fraction"], 2) for point in curve] == [round(0.05 * n, 2) for n in range(1, 21)]
        for point, two in pairwise(curve):
            assert point["usd_per_busy_gpu_hour"] > two["usd_per_busy_gpu_hour"]
        for point in curve:
            low, high = point["low_usd_per_busy_gpu_hour"], point["high_usd_per_busy_gpu_hour"]
            assert 0 < point["marginal_usd_per_busy_gpu_hour"] < low < point["usd_per_busy_gpu_hour"] < high

    def test_every_default_is_named_with_its_source(self, planner, example):
        document = planner("own-or-rent", example(EXAMPLE), "--site", "hgx-h200-8x", "--json").document
        taken = {found["name"]: found["quantity"] for found in document["inputs"] if found["default"]}
        assert {"years", "availability", "busy_fraction", "usd_per_kwh"} <= taken.keys()
        assert all(quantity["source"] for quantity in taken.values())

    def test_a_slower_machine_needs_more_hours_for_the_same_work(self, planner, changed):
        """Owned V100s measured at 120.8 samples/s on four, 30.2 each; rented ones stated at 241.5, 60.4 each."""
        step = {"batch": 128, "seconds": 0.53, "basis": "measured"}
        plan = changed(
            "dgx_station_v100",
            {"options": [{"site": "dgx-station-v100"}, {"offer": "aws/p3.8xlarge", "usd_per_hour": 8.0, "step": step}]},
        )
        rival = planner("own-or-rent", plan, "--json").document["rivals"][0]
        assert rival["speed_ratio"]["value"] == pytest.approx(0.53 / 1.06)
        assert rival["usd_per_gpu_hour"]["value"] == pytest.approx(2.0)
        assert rival["usd_per_owned_gpu_hour"]["value"] == pytest.approx(1.0)

    def test_choices_beside_renting(self, planner, example):
        kept = planner("own-or-rent", example("dgx_station_v100"), "--json").document
        kinds = {choice["kind"] for choice in kept["choices"]}
        assert kinds == {"keep", "sell_and_buy", "sell_and_rent"}
        sold = next(choice for choice in kept["choices"] if choice["kind"] == "sell_and_rent")
        assert sold["usd_upfront"] < 0
        bought = planner("own-or-rent", example(EXAMPLE), "--json").document
        more = next(choice for choice in bought["choices"] if choice["kind"] == "add_nodes")
        assert more["why_not"] == "does not fit its circuit: 2 x 10.2 kW = 20.4 kW, circuit_kw is 12"
        assert bought["fits_circuit"] is True

    def test_choices_count_the_hours_with_what_stops_a_training(self, planner, changed):
        """Evaluation as long as the steps doubles the hours: half as many trainings a year, each twice as dear.

        What is sold by the day is bought up to the day, so its cost does not double.
        """
        plain, longer = (
            planner("own-or-rent", changed(EXAMPLE, {"goodput": {"evaluation_fraction": share}}), "--json").document
            for share in (0.0, 1.0)
        )
        for choice, other in zip(plain["choices"], longer["choices"], strict=True):
            assert other["trainings_per_year"] == pytest.approx(choice["trainings_per_year"] / 2, rel=1e-3)
            if "unused (minimum, rounding or term)" not in choice["usd_per_training"]["source"]:
                assert other["usd_per_training"]["value"] == pytest.approx(
                    2 * choice["usd_per_training"]["value"], rel=0.05
                )

    def test_a_lease_has_no_purchase_to_recover_and_says_that_it_overloads_its_circuit(
        self, planner, example, own_site
    ):
        own_site(
            purchase=None,
            life_years=None,
            residual=[],
            maintenance_fraction_per_year=None,
            lease={"usd_per_month": 9_000, "term_months": 36, "maintenance_included": True},
            nodes=2,
        )
        document = planner("own-or-rent", example(EXAMPLE), "--site", "mine", "--json").document
        parts = {line["part"]: line["usd_per_node_year"]["value"] for line in document["annual"]}
        assert parts["lease"] == 108_000
        assert not {"recovery", "residual"} & parts.keys()
        leased = next(choice for choice in document["choices"] if choice["kind"] == "keep")
        assert "does not fit its circuit" in leased["why_not"]
        assert document["fits_circuit"] is False

    def test_the_five_inputs_that_move_it_most_come_widest_first(self, planner, example):
        rows = planner("own-or-rent", example(EXAMPLE), "--json").document["sensitivities"]
        widths = [abs(row["at_high_usd"] - row["at_low_usd"]) for row in rows]
        assert len(rows) == 5
        assert widths == sorted(widths, reverse=True)
        busy = next(row for row in rows if row["input"] == "busy_fraction")
        assert 100 * busy["flips_at"] == pytest.approx(26.5, abs=0.2)

    def test_tax_lines(self, planner, example, own_site):
        """25 % off the taxes of the first year is worth 0.25 x 406,061 / 1.08 more."""
        line = {"name": "credit", "kind": "tax_credit", "rate": 0.25, "eligibility": "a law", "source": "a law"}
        line |= {"as_of": "2026-01-01"}
        worth = []
        for eligible in (False, True):
            own_site(tax={"rate": 0.24, "source": "a law"}, incentives=[line | {"eligible": eligible}])
            document = planner("own-or-rent", example(EXAMPLE), "--site", "mine", "--json").document
            assert document["incentives"][0]["counts"] is eligible
            worth.append(document["npv_after_tax_usd"]["value"])
        assert worth[1] - worth[0] == pytest.approx(0.25 * 406_061 / 1.08, rel=1e-4)

    def test_the_details_hold_both_questions_and_the_sentence_at_the_site_s_share(self, planner, example):
        answer = planner("own-or-rent", example(EXAMPLE), "--details", "--format", "table")
        assert (answer.code, answer.err) == (0, "")
        assert "Should we have this machine?" in answer.out
        assert "Where should the next training run?" in answer.out
        words = " ".join(answer.out.split())
        assert "3.05 USD per busy GPU-hour in full at 70 % busy" in words
        assert "breaks even at 26.5 %" in words


class TestTheTariff:
    def test_the_korean_tariff_takes_the_plan_s_place(self, planner, example):
        plan = example("dgx_station_v100")
        document = planner("own-or-rent", plan, "--tariff", "kr-industrial-a2-hv", "--json").document
        inputs = {found["name"]: found["quantity"] for found in document["inputs"]}
        assert "KRW" in inputs["usd_per_kwh"]["source"]
        assert inputs["demand_usd_per_kw_month"]["value"] == pytest.approx(7470 / 1439)


class TestRanking:
    def test_full_owning_adds_a_figure_and_ranks_nothing(self, planner, changed):
        keep = [0, 5]
        marginal = planner("compare", changed("dgx_station_v100", {"campaign": {"runs": 2}}, only=keep), "--json")
        full = planner(
            "compare", changed("dgx_station_v100", {"campaign": {"runs": 2}, "owning": "full"}, only=keep), "--json"
        )
        first, two = marginal.option("dgx-station-v100"), full.option("dgx-station-v100")
        assert first == two
        assert first["campaign_usd"]["value"] == pytest.approx(2 * first["usd_marginal"]["value"])
        assert first["full_usd"]["value"] == pytest.approx(2 * first["usd_total"]["value"])
        assert [line["what"] for line in first["bill"]["lines"]] == ["electricity"]

    def test_a_machine_that_stands_there_ranks_though_its_full_cost_is_not_known(self, planner, changed, write):
        write(
            "mine",
            "schema_version: 1\nid: mine\nname: Mine\nnode: pc-rtx4090\npower: 0.4\nsource: me\nas_of: 2026-11-20\n",
        )
        step = {"batch": 64, "seconds": 1.0, "basis": "measured"}
        plan = changed("local_pc", {"options": [{"site": "mine", "step": step}], "owning": "full"})
        answer = planner("compare", plan, "--json")
        assert answer.code == 0
        assert answer.document["recommended"] == "mine"
        assert answer.option("mine")["full_usd"] is None

    def test_a_machine_that_overloads_its_circuit_is_no_option(self, planner, changed, own_site):
        own_site(nodes=2)
        option = planner("estimate", changed(EXAMPLE, {"options": [{"site": "mine"}]}), "--json").option("mine")
        assert option["fits"] is False
        assert option["why_not_codes"] == ["circuit_overloaded"]
        assert "does not fit its circuit: 2 x 10.2 kW = 20.4 kW, circuit_kw is 12" in option["why_not"]


class TestWrongInput:
    def test_a_plan_without_an_owned_machine(self, planner, changed):
        one_error(planner("own-or-rent", changed(EXAMPLE, only=[1])), "no owned machine", "--site")

    def test_an_unknown_site(self, planner, example):
        one_error(planner("own-or-rent", example(EXAMPLE), "--site", "hgx-h200-8y"), "--site", "hgx-h200-8y")

    def test_an_unknown_tariff(self, planner, example):
        one_error(planner("own-or-rent", example(EXAMPLE), "--tariff", "kr"), "--tariff", "Known", "us-industrial-2025")

    def test_an_unknown_tariff_in_the_plan(self, planner, changed):
        plan = changed("dgx_station_v100", {"assumptions": {"tariff": "us-industrial-2024"}}, only=[0])
        one_error(planner("estimate", plan), "assumptions.tariff", "Did you mean us-industrial-2025")

    def test_a_tariff_and_a_price_of_electricity(self, planner, changed):
        plan = changed("dgx_station_v100", {"assumptions.tariff": "us-industrial-2025"})
        one_error(planner("estimate", plan), "electricity_usd_per_kwh and tariff", "keep one")

    def test_a_site_that_does_not_say_what_it_cost(self, planner, example, own_site):
        own_site(purchase=None, already_owned={"paid_usd": 5})
        one_error(planner("own-or-rent", example(EXAMPLE), "--site", "mine"), "bought_on", "docs/owning.md")

    def test_a_site_that_contradicts_itself_names_file_and_key(self, planner, example, own_site):
        path = own_site(lease={"usd_per_month": 1, "term_months": 12})
        answer = planner("own-or-rent", example(EXAMPLE))
        assert answer.code == 2
        assert str(path) in answer.err
        assert "purchase and lease contradict each other" in answer.err


class TestTheFirstTwoDocumentsWithMoney:
    """Keep the DGX Station, buy a PC, an A100 or an H200 server, or rent; at two tariffs, in won and dollars."""

    PLAN = "station_own_or_rent"
    OWNED = ("dgx-station-v100", "pc-rtx4090", "a100-40gb-x4", "h200-x1", "hgx-h200-8x")

    def test_every_option_has_its_whole_cost_in_both_currencies(self, planner, example):
        document = planner("compare", example(self.PLAN), "--json").document
        assert {option["site"] for option in document["options"] if option["site"]} >= set(self.OWNED)
        for option in document["options"]:
            assert option["campaign_usd"]["value"] > 0
            assert option["bill"]["local_total"]["code"] == "KRW"
            assert option["bill"]["local_total"]["value"] == pytest.approx(
                option["campaign_usd"]["value"] * 1439, rel=1e-3
            )

    @pytest.mark.parametrize("tariff", ["kr-industrial-a2-hv", "us-industrial-2025"])
    def test_the_station_at_a_tariff_by_hand(self, planner, example, tariff):
        """1.5 kW, 0.76 of it in training, over 56.69 h, x PUE 1.4, at the mean price of a kWh."""
        document = planner("own-or-rent", example(self.PLAN), "--tariff", tariff, "--json").document
        usd_per_kwh = {"kr-industrial-a2-hv": 121.99 / 1439, "us-industrial-2025": 0.0826}[tariff]
        by_hand = 1.5 * 0.76 * 56.6864 * 1.4 * usd_per_kwh
        assert document["marginal_usd_per_training"]["value"] == pytest.approx(by_hand, rel=1e-3)
        for choice in document["choices"]:
            assert choice["local_per_training"]["value"] == pytest.approx(
                choice["usd_per_training"]["value"] * 1439,
                abs=0.5,  # a won has no smaller coin
            )


def test_what_a_person_reads(planner, changed, golden, monkeypatch):
    """Report with stated speeds and prices, so that it changes only with owning; and all of it as Markdown."""
    step = {"batch": 8, "seconds": 1.0, "basis": "measured"}
    rented = {"offer": "aws/p5en.48xlarge", "region": "us-east-1"}
    options = [
        {"site": "own-8xh200", "step": step},
        rented | {"usd_per_hour": 63.296, "step": step},
        rented | {"usd_per_hour": 14.8209, "price": "spot", "step": step | {"seconds": 1.1}},
    ]
    plan = changed(EXAMPLE, {"options": options})
    monkeypatch.setenv("COLUMNS", "100")
    golden.check("own_or_rent.txt", planner("own-or-rent", plan, "--format", "table").out)
    golden.check("own_or_rent.md", planner("own-or-rent", plan, "--format", "md", "--details", "--inputs").out)


def test_the_curve_is_drawn_and_another_ending_refused(planner, example, tmp_path):
    answer = planner("own-or-rent", example(EXAMPLE), "--chart", tmp_path / "curve.svg", "--json")
    assert answer.document["kind"] == "own_or_rent"
    assert (tmp_path / "curve.svg").read_text("utf-8").startswith("<svg")
    one_error(planner("own-or-rent", example(EXAMPLE), "--chart", tmp_path / "curve.png"), "curve.png", ".svg")
