"""The worked values of the five documents come out of the command line, from the bundled example plans.

Every expected value is arithmetic on the documents' own inputs (batches, seconds, watts, list prices), done by hand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.usefixtures("owner")
HOURS_PER_DAY = 24


def rounded(value: float, digits: int) -> str:
    """Write a value with as many digits as the document's author would."""
    return f"{value:.{digits}f}"


class TestDgxStation:
    """Document 000: 19,252 batches of 128 at 1.06 s are 20,407 s an epoch."""

    STATION = "dgx-station-v100"

    def test_an_epoch_takes_5_669_hours(self, planner, example):
        station = planner("estimate", example("dgx_station_v100"), "--json").option(self.STATION)
        assert rounded(station["epoch_hours"]["value"], 3) == "5.669"
        assert rounded(station["epoch_hours"]["value"] * 3600, 0) == "20407"

    def test_ten_epochs_take_56_69_hours_or_2_362_days(self, planner, example):
        station = planner("estimate", example("dgx_station_v100"), "--json").option(self.STATION)
        assert rounded(station["training_hours"]["value"], 2) == "56.69"
        assert rounded(station["training_hours"]["value"] / HOURS_PER_DAY, 3) == "2.362"

    @pytest.mark.parametrize(
        ("runs", "days"), [pytest.param(10, "23.62", id="10 trainings"), pytest.param(50, "118.1", id="50 trainings")]
    )
    def test_trainings_one_after_another(self, planner, changed, runs, days):
        plan = changed("dgx_station_v100", {"campaign.runs": runs})
        station = planner("campaign", plan, "--json").option(self.STATION)
        assert rounded(station["campaign_hours"]["value"] / HOURS_PER_DAY, len(days.partition(".")[2])) == days

    def test_the_plan_as_bundled_asks_for_the_search_of_50(self, planner, example):
        document = planner("campaign", example("dgx_station_v100"), "--json").document
        assert document["runs"] == 50
        station = next(option for option in document["options"] if option["id"] == self.STATION)
        assert rounded(station["campaign_hours"]["value"] / HOURS_PER_DAY, 1) == "118.1"

    def test_the_answer_is_measured_and_names_its_run(self, planner, example):
        station = planner("estimate", example("dgx_station_v100"), "--json").option(self.STATION)
        assert station["training_hours"]["basis"] == "measured"
        assert station["runs"] == ["seed-000-dgx-station-v100"]

    def test_nobody_measured_the_other_machines(self, planner, example):
        document = planner("estimate", example("dgx_station_v100"), "--json").document
        others = [option for option in document["options"] if option["id"] != self.STATION]
        assert len(others) == 12
        assert {option["training_hours"]["basis"] for option in others} == {"modelled"}


class TestLocalPcs:
    """Document 001: 2,464,256 samples an epoch, in steps of `batch` samples and `seconds` each."""

    @pytest.mark.parametrize(
        ("site", "epoch_hours", "times_the_station"),
        [
            pytest.param("pc-rtx4090", "9.626", "1.70", id="RTX 4090: 64 in 0.9 s"),
            pytest.param("pc-rtx3080", "51.34", "9.06", id="RTX 3080: 24 in 1.8 s"),
            pytest.param("pc-rtx3060", "106.96", "18.87", id="RTX 3060: 16 in 2.5 s, printed as 83.5 h and 14.7x"),
            pytest.param("pc-cpu", "1711.3", "301.9", id="CPU: 8 in 20 s"),
        ],
    )
    def test_an_epoch(self, planner, example, site, epoch_hours, times_the_station):
        answer = planner("estimate", example("local_pc"), "--json")
        hours = answer.option(site)["epoch_hours"]["value"]
        station = answer.option("dgx-station-v100")["epoch_hours"]["value"]
        assert rounded(hours, len(epoch_hours.partition(".")[2])) == epoch_hours
        assert rounded(hours / station, len(times_the_station.partition(".")[2])) == times_the_station

    @pytest.mark.parametrize("site", ["pc-rtx4090", "pc-rtx3080", "pc-rtx3060", "pc-cpu"])
    def test_a_guessed_step_stays_a_guess(self, planner, example, site):
        option = planner("estimate", example("local_pc"), "--json").option(site)
        assert option["throughput"]["basis"] == option["training_hours"]["basis"] == "assumed"

    @pytest.mark.parametrize(
        ("site", "kwh"),
        [
            pytest.param("dgx-station-v100", "170.1", id="3 kW over 56.69 h"),
            pytest.param("pc-rtx4090", "43.3", id="0.45 kW over 96.26 h"),
        ],
    )
    def test_energy_at_the_node_with_the_document_s_power(self, planner, example, site, kwh):
        option = planner("estimate", example("local_pc"), "--json").option(site)
        assert rounded(option["energy_kwh"]["value"], 1) == kwh
        assert option["energy_kwh"]["basis"] == "assumed"

    def test_the_station_s_data_sheet_stands_beside_the_document_s_power(self, planner, example):
        station = planner("estimate", example("local_pc"), "--json").option("dgx-station-v100")
        assert (station["power_kw"]["value"], station["power_kw"]["basis"]) == (3.0, "assumed")
        assert (station["rated_kw"]["value"], station["rated_kw"]["basis"]) == (1.5, "quoted")

    @pytest.mark.parametrize(
        ("site", "usd"),
        [
            pytest.param("dgx-station-v100", 170.06 * 1.4 * 0.12, id="170.06 kWh x PUE 1.4 x 0.12 USD"),
            pytest.param("pc-rtx4090", 43.317 * 1.4 * 0.12, id="43.317 kWh x PUE 1.4 x 0.12 USD"),
        ],
    )
    def test_energy_costs_the_tariff_times_pue(self, planner, changed, site, usd):
        plan = changed("local_pc", {"assumptions": {"electricity_usd_per_kwh": 0.12, "pue": 1.4}})
        option = planner("estimate", plan, "--json").option(site)
        assert option["usd_marginal"]["value"] == pytest.approx(usd, rel=1e-4)


class TestSupportCase:
    """Document 004: both machines trained 14,186,582 samples, P5e at 549.465 and the A100 nodes at 359.184 a second."""

    P5E = "aws/p5e.48xlarge:us-east-2:capacity_block:4n"
    A100 = "onprem-a100-40gb:4n"

    @pytest.mark.parametrize(
        ("option", "run", "why"),
        [
            pytest.param(P5E, "seed-004-p5e-h200", "doubtful", id="P5e"),
            pytest.param(A100, "seed-004-onprem-a100", "impossible", id="A100: over 94 % of the peak"),
        ],
    )
    def test_neither_run_decides_anything(self, planner, example, option, run, why):
        answer = planner("estimate", example("p5e_vs_a100"), "--json")
        asked = answer.option(option)
        assert asked["training_hours"]["basis"] == "modelled"
        assert run not in asked["runs"]
        assert f"run {run} decides nothing: the audit finds it {why}: planner audit {run}" in answer.document["notes"]

    def test_four_nodes_at_the_capacity_block_price(self, planner, example):
        option = planner("estimate", example("p5e_vs_a100"), "--json").option(self.P5E)
        assert option["usd_per_hour"]["value"] == 54.928
        compute = option["bill"]["lines"][0]
        assert compute["what"] == "compute"
        hours = 14_186_582 / option["throughput"]["value"] / 3600
        assert compute["usd"]["value"] == pytest.approx(hours * 4 * 54.928, abs=0.01)

    def test_a_block_is_bought_by_the_day(self, planner, example):
        """A day of four nodes is the least that is sold: 24 h x 4 x 54.928 USD."""
        option = planner("estimate", example("p5e_vs_a100"), "--json").option(self.P5E)
        assert option["smallest_purchase_usd"]["value"] == pytest.approx(24 * 4 * 54.928)
        assert 24 * 4 * 54.928 <= option["usd_total"]["value"] < 24 * 4 * 54.928 + 10

    def test_no_on_demand_price_is_no_price_and_never_zero(self, planner, example):
        option = planner("estimate", example("p5e_vs_a100"), "--json").option("aws/p5e.48xlarge:us-east-2:on_demand:4n")
        assert option["usd_total"] is None
        assert option["usd_marginal"] is None
        assert "no price" in option["why_not"]


class TestLlama:
    """Document 002: 100 billion tokens of Llama 3 8B (8.03e9 parameters) on 8x A100 (312 TFLOP/s) at 50 % MFU."""

    P4D = "aws/p4d.24xlarge:us-east-1:on_demand"

    def test_with_attention_at_4096_tokens(self, planner, example):
        option = planner("estimate", example("gpu_guide_llama3_8b"), "--json").option(self.P4D)
        assert rounded(option["training_hours"]["value"] / HOURS_PER_DAY, 1) == "47.7"

    def test_six_n_alone(self, planner, changed):
        plan = changed("gpu_guide_llama3_8b", {"assumptions.flops_convention": "six_n"})
        option = planner("estimate", plan, "--json").option(self.P4D)
        by_hand = 6 * 8.03e9 * 1e11 / (8 * 312e12 * 0.5) / 3600
        assert option["training_hours"]["value"] == pytest.approx(by_hand, rel=1e-3)
        assert rounded(option["training_hours"]["value"] / HOURS_PER_DAY, 1) == "44.7"
        assert option["usd_per_hour"]["value"] == pytest.approx(21.96, abs=0.005)
        assert option["usd_total"]["value"] == pytest.approx(23_500, rel=0.005)

    def test_an_assumed_utilisation_gives_an_assumed_answer(self, planner, example):
        option = planner("estimate", example("gpu_guide_llama3_8b"), "--json").option(self.P4D)
        assert {option[key]["basis"] for key in ("throughput", "training_hours", "usd_total")} == {"assumed"}


class TestRtx3090Cluster:
    """Document 003: a billion tokens in samples of 512 are 1,953,125 samples."""

    @pytest.mark.parametrize(
        ("option", "samples_per_s"),
        [
            pytest.param("rtx3090-x10:x1:ddp", 27.4, id="one card, DDP"),
            pytest.param("rtx3090-x10:x4:ddp", 28.6, id="four cards, DDP"),
            pytest.param("rtx3090-x10:x8:zero2", 59.4, id="eight cards, ZeRO-2"),
            pytest.param("rtx3090-x10:2n:ddp", 73.3, id="two nodes, DDP"),
            pytest.param("rtx3090-x10:2n:zero2", 82.8, id="two nodes, ZeRO-2"),
        ],
    )
    def test_a_measured_row_is_arithmetic(self, planner, example, option, samples_per_s):
        hours = planner("estimate", example("rtx3090_cluster"), "--json").option(option)["training_hours"]
        assert hours["value"] == pytest.approx(1_953_125 / samples_per_s / 3600, rel=1e-6)
        assert hours["basis"] == "measured"

    def test_ten_cards_are_1_75_times_one_with_ddp(self, planner, example):
        answer = planner("estimate", example("rtx3090_cluster"), "--json")
        single, ten = (answer.option(f"rtx3090-x10:{count}")["throughput"]["value"] for count in ("x1:ddp", "ddp"))
        assert rounded(ten / single, 2) == "1.75"

    def test_both_runs_of_ten_cards_with_zero2_count(self, planner, example):
        option = planner("estimate", example("rtx3090_cluster"), "--json").option("rtx3090-x10:zero2")
        assert sorted(option["runs"]) == ["seed-003-rtx3090-zero2-x10", "seed-003-rtx3090-zero2-x10-b"]
        assert 51.6 <= option["throughput"]["value"] <= 52.6
        assert option["throughput"]["low"] <= 51.6
        assert option["throughput"]["high"] >= 52.6


def test_the_values_come_out_of_a_real_process(example, tmp_path):
    command = [sys.executable, "-m", "planner.cli.main", "campaign", str(example("dgx_station_v100")), "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=tmp_path, env=os.environ | checkout()
    )
    station = json.loads(done.stdout)["options"][0]
    assert rounded(station["epoch_hours"]["value"], 3) == "5.669"
    assert rounded(station["campaign_hours"]["value"] / HOURS_PER_DAY, 1) == "118.1"


def checkout() -> dict[str, str]:
    """Let a process in another folder find this checkout, installed or not."""
    import planner

    return {"PYTHONPATH": os.path.dirname(os.path.dirname(planner.__file__))}  # noqa: PTH120
