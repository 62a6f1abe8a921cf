"""Changing one input of an example plan moves every answer by its law, in value, low and high; all through `--json`."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.adapters.workspace import catalogs_dir, examples_dir
from planner.cli.main import run

EXAMPLES = ("dgx_station_v100", "local_pc", "gpu_guide_llama3_8b", "rtx3090_cluster", "p5e_vs_a100")
IN_EPOCHS = ("dgx_station_v100", "local_pc", "p5e_vs_a100")
IN_TOKENS = ("gpu_guide_llama3_8b", "rtx3090_cluster")
QUANTITIES = (
    "throughput",
    "epoch_hours",
    "training_hours",
    "usd_per_hour",
    "usd_per_epoch",
    "usd_total",
    "usd_marginal",
    "energy_kwh",
    "power_kw",
    "rated_kw",
)
OF_THE_CAMPAIGN = ("campaign_hours", "campaign_usd")
WHOLE_TRAINING = ("training_hours", "usd_total", "usd_marginal", "energy_kwh", *OF_THE_CAMPAIGN)
TIME_AND_WHAT_IT_COSTS = ("epoch_hours", "usd_per_epoch", *WHOLE_TRAINING)
OWNED_IN_FULL = ("usd_total", "usd_per_epoch")
"""Figures of an owned machine: energy is only one part of them."""
FACTORS = st.floats(min_value=1e-2, max_value=1e3)  # a hundredth of every example is over a minute, the least billed
FEW = settings(max_examples=8, deadline=None)

Plan = dict[str, Any]
Option = dict[str, Any]


HOURS_ALONE = {"setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0}
NO_DATA = {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0}


def plan_of(name: str) -> Plan:
    """Return an example whose bill is the hours alone, at a price by the hour: then every law is a product.

    What stands beside the hours, and blocks, have their own laws (tests/cost/cloud/test_bill.py), and so has what must
    be bought first (tests/decide/campaign/test_holding.py): here every site's machines stand there.
    """
    plan = yaml.safe_load((examples_dir() / f"{name}.yaml").read_text(encoding="utf-8"))
    plan["assumptions"] = HOURS_ALONE | plan.get("assumptions", {})
    plan["data"] = NO_DATA
    for option in plan["options"]:
        if "site" in option:
            option["hold"] = "have"
        if option.get("price") == "capacity_block":
            option |= {"price": "on_demand", "usd_per_hour": 39.8}
        if option.get("offer", "").startswith("lambda/"):  # bills whole minutes
            option["usd_per_hour"] = 20.0
    return plan


def answer(plan: Plan, *, command: str = "campaign") -> list[Option]:
    """Return the options that `planner campaign PLAN --json` prints; it holds the estimate's numbers too."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.yaml"
        path.write_text(yaml.safe_dump(plan), encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
            code = run([command, str(path), "--json"])
    assert code in (0, 3)  # 3: estimated, and the limits are not kept
    return json.loads(out.getvalue())["options"]


def assert_moved(before: list[Option], after: list[Option], law: Mapping[str, float]) -> None:
    """Check that every quantity is the old one times its law's factor, 1 where the law does not name it."""
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert_option_moved(old, new, law)


def assert_option_moved(old: Option, new: Option, law: Mapping[str, float], *, but: tuple[str, ...] = ()) -> None:
    for name in (*QUANTITIES, *OF_THE_CAMPAIGN):
        if name in but:
            continue
        assert (old[name] is None) == (new[name] is None), f"{old['id']} {name}"
        if old[name] is None:
            continue
        for part in ("value", "low", "high"):
            expected = old[name][part] * law.get(name, 1.0)
            assert new[name][part] == pytest.approx(expected, rel=1e-9), f"{old['id']} {name} {part}"
        for part in ("unit", "basis"):
            assert new[name][part] == old[name][part], f"{old['id']} {name} {part}"


def times(factor: float, names: tuple[str, ...]) -> dict[str, float]:
    return dict.fromkeys(names, factor)


class TestWork:
    @pytest.mark.parametrize("name", IN_EPOCHS)
    def test_twice_the_epochs_take_and_cost_twice(self, name):
        plan = plan_of(name)
        before = answer(plan)
        plan["work"]["epochs"] *= 2
        assert_moved(before, answer(plan), times(2, WHOLE_TRAINING))

    @pytest.mark.parametrize("name", IN_EPOCHS)
    def test_twice_the_samples_make_each_epoch_twice_as_long(self, name):
        plan = plan_of(name)
        before = answer(plan)
        plan["work"]["samples_per_epoch"] *= 2
        assert_moved(before, answer(plan), times(2, TIME_AND_WHAT_IT_COSTS))

    @pytest.mark.parametrize("name", IN_TOKENS)
    def test_twice_the_tokens_take_and_cost_twice(self, name):
        plan = plan_of(name)
        before = answer(plan)
        plan["work"]["tokens"] *= 2
        assert_moved(before, answer(plan), times(2, TIME_AND_WHAT_IT_COSTS))

    @pytest.mark.slow
    @FEW
    @given(factor=FACTORS)
    def test_any_number_of_epochs_scales(self, factor):
        plan = plan_of("p5e_vs_a100")
        before = answer(plan)
        plan["work"]["epochs"] *= factor
        assert_moved(before, answer(plan), times(factor, WHOLE_TRAINING))

    @pytest.mark.slow
    @FEW
    @given(factor=FACTORS)
    def test_any_number_of_tokens_scales(self, factor):
        plan = plan_of("rtx3090_cluster")
        before = answer(plan)
        plan["work"]["tokens"] *= factor
        assert_moved(before, answer(plan), times(factor, TIME_AND_WHAT_IT_COSTS))

    @pytest.mark.parametrize("name", EXAMPLES)
    def test_half_the_goodput_takes_twice_the_time(self, name):
        plan = plan_of(name)
        before = answer(plan)
        plan.setdefault("assumptions", {})["goodput_fraction"] = 0.5
        assert_moved(before, answer(plan), times(2, TIME_AND_WHAT_IT_COSTS))


class TestSpeed:
    @FEW
    @given(factor=FACTORS)
    def test_a_stated_step_s_seconds_scale_its_option_alone(self, factor):
        plan = plan_of("local_pc")
        before = answer(plan)
        stated = [option["step"] for option in plan["options"] if "step" in option]
        assert len(stated) == 4
        for step in stated:
            for key in ("seconds", "low_seconds", "high_seconds"):
                if key in step:
                    step[key] *= factor
        law = times(factor, TIME_AND_WHAT_IT_COSTS) | {"throughput": 1 / factor}
        for old, new in zip(before, answer(plan), strict=True):
            assert_option_moved(old, new, {} if old["site"] == "dgx-station-v100" else law)

    @pytest.mark.parametrize("name", ["dgx_station_v100", "p5e_vs_a100"])
    def test_a_measured_step_twice_as_long_halves_every_speed_that_rests_on_it(self, planner, tmp_path, name):
        plan = plan_of(name)
        source = json.loads((catalogs_dir() / "runs" / f"{plan['workload']['measured']}.json").read_text("utf-8"))
        for run_id, factor in (("as-it-was", 1.0), ("twice-as-slow", 2.0)):
            record = source | {"id": run_id, "workload": run_id, "architecture": None, "parameters": None}
            record |= {"verdict": [], "samples": None, "wall_seconds": None}  # or the audit would doubt it
            record["throughput"] = source["throughput"] | {
                part: source["throughput"][part] / factor for part in ("value", "low", "high")
            }
            if source.get("step_seconds"):
                record["step_seconds"] = source["step_seconds"] * factor
            path = tmp_path / f"{run_id}.json"
            path.write_text(json.dumps(record), encoding="utf-8")
            assert planner("runs", "add", path).code == 0
        before = answer(plan | {"workload": {"measured": "as-it-was"}})
        after = answer(plan | {"workload": {"measured": "twice-as-slow"}})
        assert any(option["throughput"]["basis"] == "measured" for option in before)
        assert_moved(before, after, times(2, TIME_AND_WHAT_IT_COSTS) | {"throughput": 0.5})

    def test_half_the_assumed_utilisation_takes_twice_the_time(self):
        plan = plan_of("gpu_guide_llama3_8b")
        before = answer(plan)
        plan["assumptions"]["mfu"] = 0.25
        assert_moved(before, answer(plan), times(2, TIME_AND_WHAT_IT_COSTS) | {"throughput": 0.5})


class TestMoney:
    RENTED = ("usd_per_hour", "usd_per_epoch", "usd_total", "usd_marginal", "campaign_usd")

    @pytest.mark.parametrize("name", ["dgx_station_v100", "gpu_guide_llama3_8b", "p5e_vs_a100"])
    @FEW
    @given(factor=FACTORS)
    def test_a_price_scales_its_rent_and_nothing_else(self, name, factor):
        plan = plan_of(name)

        def with_price(usd_per_hour: float) -> list[Option]:
            options = [
                option | ({"usd_per_hour": usd_per_hour} if "offer" in option else {}) for option in plan["options"]
            ]
            return answer(plan | {"options": options})

        for old, new in zip(with_price(10.0), with_price(10.0 * factor), strict=True):
            assert_option_moved(old, new, times(factor, self.RENTED) if old["offer"] else {})

    @pytest.mark.parametrize("name", ["dgx_station_v100", "gpu_guide_llama3_8b", "p5e_vs_a100"])
    def test_the_list_price_given_by_hand_gives_the_list_s_answer(self, name):
        plan = plan_of(name)
        listed = answer(plan)
        rented = [option for option in listed if option["offer"]]
        for option, known in zip(rented, self._rented(plan), strict=True):
            if option["usd_per_hour"] and option["usd_per_hour"]["low"] == option["usd_per_hour"]["high"]:
                given = answer(plan | {"options": [known | {"usd_per_hour": option["usd_per_hour"]["value"]}]})
                assert given[0]["usd_total"]["value"] == pytest.approx(option["usd_total"]["value"], rel=1e-12)

    @staticmethod
    def _rented(plan: Plan) -> list[Option]:
        """Return the plan's offers, one entry for each number of nodes."""
        offers = [option for option in plan["options"] if "offer" in option]
        counts = [nodes if isinstance(nodes := offer.get("nodes", 1), list) else [nodes] for offer in offers]
        return [offer | {"nodes": count} for offer, several in zip(offers, counts, strict=True) for count in several]

    @pytest.mark.parametrize("name", ["dgx_station_v100", "local_pc", "rtx3090_cluster", "p5e_vs_a100"])
    @pytest.mark.parametrize(("key", "base"), [("electricity_usd_per_kwh", 0.1), ("pue", 1.25)])
    def test_tariff_and_pue_scale_what_owned_machines_cost(self, name, key, base):
        plan = plan_of(name)
        assumed = plan.get("assumptions", {})
        before = answer(plan | {"assumptions": assumed | {key: base}})
        after = answer(plan | {"assumptions": assumed | {key: base * 2}})
        assert any(option["site"] for option in before)
        for old, new in zip(before, after, strict=True):
            law = times(2, ("usd_marginal", "campaign_usd")) if old["site"] else {}
            assert_option_moved(old, new, law, but=OWNED_IN_FULL if old["site"] else ())
            if old["usd_total"] is not None and old["site"]:
                more = new["usd_total"]["value"] - old["usd_total"]["value"]
                assert 0 < more < old["usd_total"]["value"], "electricity is a part of owning"

    def test_free_electricity_costs_nothing_and_still_uses_energy(self):
        plan = plan_of("local_pc")
        before = answer(plan)
        after = answer(plan | {"assumptions": HOURS_ALONE | {"electricity_usd_per_kwh": 0.0}})
        for old, new in zip(before, after, strict=True):
            assert_option_moved(old, new, times(0, ("usd_marginal", "campaign_usd")), but=OWNED_IN_FULL)
            assert 0 < new["usd_total"]["value"] < old["usd_total"]["value"]

    @pytest.mark.parametrize("factor", [0.5, 2.0])
    def test_power_scales_energy_and_its_bill(self, factor):
        plan = plan_of("local_pc")
        before = answer(plan)
        for option in plan["options"]:
            if "power_kw" in option:
                option["power_kw"] *= factor
        law = times(factor, ("power_kw", "energy_kwh", "usd_marginal", "campaign_usd"))
        stated = {"dgx-station-v100", "pc-rtx4090"}
        for old, new in zip(before, answer(plan), strict=True):
            changed = old["site"] in stated
            assert_option_moved(old, new, law if changed else {}, but=OWNED_IN_FULL if changed else ())


class TestCampaign:
    @pytest.mark.parametrize("name", EXAMPLES)
    def test_twice_the_runs_take_and_cost_twice(self, name):
        plan = plan_of(name)
        runs = plan.setdefault("campaign", {}).get("runs", 1)
        plan["campaign"].setdefault("at_once", 1)
        before = answer(plan)
        plan["campaign"]["runs"] = runs * 2
        assert_moved(before, answer(plan), times(2, OF_THE_CAMPAIGN))

    @settings(max_examples=8, deadline=None)
    @given(runs=st.integers(min_value=1, max_value=300))
    def test_any_number_of_runs_is_that_many_trainings(self, runs):
        plan = plan_of("p5e_vs_a100") | {"campaign": {"runs": runs}}
        for option in answer(plan):
            for part in ("value", "low", "high"):
                assert option["campaign_hours"][part] == pytest.approx(runs * option["training_hours"][part])

    def test_a_cloud_runs_them_side_by_side_and_one_machine_does_not(self):
        plan = plan_of("dgx_station_v100")
        before = answer(plan)
        plan["campaign"]["at_once"] = 10
        for old, new in zip(before, answer(plan), strict=True):
            assert new["at_once"] == (10 if old["offer"] else 1)
            assert_option_moved(old, new, {"campaign_hours": 0.1} if old["offer"] else {})

    @pytest.mark.parametrize("name", EXAMPLES)
    def test_the_estimate_and_the_campaign_say_the_same_of_one_training(self, name):
        plan = plan_of(name)
        for single, many in zip(answer(plan, command="estimate"), answer(plan), strict=True):
            limits = ("why_not", "why_not_codes", "reasons")  # which an estimate of one training has not
            of_the_campaign = ("notes", "bill", "smallest_purchase_usd", *limits)
            assert {k: v for k, v in many.items() if k in single and k not in of_the_campaign} == {
                k: v for k, v in single.items() if k not in of_the_campaign
            }


class TestEveryNumber:
    """Laws for each quantity that any example prints."""

    ORDER = ("measured", "quoted", "modelled", "assumed")

    @pytest.fixture(params=EXAMPLES)
    def options(self, request: pytest.FixtureRequest) -> list[Option]:
        return answer(plan_of(request.param))

    def weakest(self, *quantities: Option) -> str:
        return max((quantity["basis"] for quantity in quantities), key=self.ORDER.index)

    def test_the_range_holds_the_value_and_is_positive(self, options):
        for option in options:
            for name in (*QUANTITIES, *OF_THE_CAMPAIGN):
                if option[name] is not None:
                    assert 0 < option[name]["low"] <= option[name]["value"] <= option[name]["high"], option["id"]

    def test_a_measured_number_names_a_run_and_no_other_does_as_measured(self, options):
        for option in options:
            if option["throughput"]["basis"] == "measured":
                assert option["runs"], option["id"]

    def test_no_number_is_better_known_than_what_it_was_computed_from(self, options):
        for option in options:
            expected: dict[str, tuple[str, ...]] = {"epoch_hours": ("throughput",), "training_hours": ("throughput",)}
            expected["energy_kwh"] = ("training_hours", "power_kw")
            if option["offer"]:
                expected |= {
                    "usd_per_epoch": ("epoch_hours", "usd_per_hour"),
                    "usd_total": ("training_hours", "usd_per_hour"),
                    "usd_marginal": ("training_hours", "usd_per_hour"),
                }
            else:
                expected["usd_marginal"] = ("energy_kwh",)
            expected |= {"campaign_hours": ("training_hours",), "campaign_usd": ("usd_marginal",)}
            for name, parts in expected.items():
                if option[name] is not None:
                    weakest = self.weakest(*(option[part] for part in parts))
                    assert self.ORDER.index(option[name]["basis"]) >= self.ORDER.index(weakest), (option["id"], name)

    def test_what_a_plan_assumes_is_assumed_in_all_that_follows(self):
        plan = plan_of("local_pc")
        plan["assumptions"] = {"electricity_usd_per_kwh": 0.12, "pue": 1.4}
        for option in answer(plan):
            assert option["usd_marginal"]["basis"] == "assumed"
            if option["site"] in ("dgx-station-v100", "pc-rtx4090"):
                assert option["power_kw"]["basis"] == option["energy_kwh"]["basis"] == "assumed"

    def test_a_computed_number_is_as_old_as_its_oldest_input(self, options):
        for option in options:
            for name, parts in {
                "training_hours": ("throughput",),
                "energy_kwh": ("training_hours", "power_kw"),
                **({"usd_total": ("training_hours", "usd_per_hour")} if option["offer"] else {}),
            }.items():
                if option[name] is not None:
                    dates = [option[part]["as_of"] for part in parts if option[part]["as_of"]]
                    assert option[name]["as_of"] == min(dates, default=None), (option["id"], name)

    def test_power_that_rests_on_an_assumed_idle_share_is_assumed(self):
        plan = plan_of("local_pc") | {"options": [{"site": "dgx-station-v100", "accelerators": 2}]}
        assert answer(plan)[0]["power_kw"]["basis"] == "assumed"

    def test_power_from_a_share_of_the_rated_is_as_old_as_that_share(self):
        plan = plan_of("local_pc") | {"options": [{"site": "dgx-station-v100"}]}
        assert answer(plan)[0]["power_kw"]["as_of"] == "2025-06-01"  # catalogs/defaults.yaml, training_power_fraction

    def test_every_source_says_something(self, options):
        for option in options:
            for name in (*QUANTITIES, *OF_THE_CAMPAIGN):
                assert option[name] is None or len(option[name]["source"]) > 10
