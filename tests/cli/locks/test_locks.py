"""Frozen plans: the same numbers a year later, refused where they do not match, and what moved since."""

from __future__ import annotations

import errno
import json
import os
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner import clock
from planner.use_cases import locks
from planner.use_cases.version import planner_version
from tests.cli.refusals import one_error
from tests.conftest import NOON

ON_DEMAND = {"offer": "aws/p4d.24xlarge", "region": "us-east-1", "price": "on_demand"}
STATION = {"site": "dgx-station-v100"}
TWICE_AS_FAST = {
    "step_seconds": 0.53,
    "throughput": {
        "value": 128 / 0.53, "low": 240.0, "high": 243.0, "unit": "samples/s", "basis": "measured", "source": "ours",
    },
}  # fmt: skip
PRICES = "provider,instance_type,region,price_kind,usd_per_hour,source,as_of\n"


@pytest.fixture
def own_price(tmp_path: Path):
    """State the on-demand price of p4d in the workspace."""

    def write(usd_per_hour: float) -> None:
        folder = tmp_path / "planner-home" / "prices"
        folder.mkdir(parents=True, exist_ok=True)
        row = f"aws,p4d.24xlarge,us-east-1,on_demand,{usd_per_hour},a reseller,2026-11-20\n"
        (folder / "mine.csv").write_text(PRICES + row, encoding="utf-8")

    return write


@pytest.fixture
def frozen(planner, changed):
    """Freeze a changed example, and return the plan's path."""

    def freeze(changes: dict[str, Any] | None = None) -> Path:
        path = changed("dgx_station_v100", {"options": [ON_DEMAND, STATION]} | (changes or {}))
        answer = planner("estimate", path, "--freeze")
        assert answer.code == 0, answer.err
        return path

    return freeze


def lock_of(plan: Path) -> Path:
    return plan.with_name(f"{plan.stem}.lock.json")


def signed(lock: dict[str, Any]) -> str:
    lock["content_sha256"] = locks._content_sha256(lock)
    return json.dumps(lock)


class TestFreezing:
    @pytest.mark.parametrize("command", ["estimate", "compare"])
    def test_the_lock_gives_the_plan_s_answer(self, planner, frozen, command):
        plan = frozen()
        assert planner(command, plan, "--locked", "--json").out == planner(command, plan, "--json").out

    @pytest.mark.slow
    @pytest.mark.parametrize("ending", ["html", "md"])
    def test_the_report_of_a_lock_is_the_plan_s(self, planner, frozen, tmp_path, ending):
        plan, locked, now = frozen(), tmp_path / f"locked.{ending}", tmp_path / f"now.{ending}"
        assert planner("report", plan, "--locked", "--out", locked).code == 0
        assert planner("report", plan, "--out", now).code == 0
        first, second = (re.sub(r"clip\d+", "clip", path.read_text(encoding="utf-8")) for path in (locked, now))
        assert first == second, "but for the numbers that the chart's clip paths get in this process"

    @pytest.mark.parametrize("command", ["estimate", "compare"])
    def test_the_table_of_a_lock_is_the_plan_s(self, planner, frozen, command):
        plan = frozen()
        locked, now = (planner(command, plan, *flag, "--format", "tsv").out for flag in (["--locked"], []))
        assert locked == now

    def test_a_year_later_on_other_prices_and_runs_it_gives_the_same_numbers(
        self, planner, frozen, own_price, own_run, monkeypatch
    ):
        plan = frozen()
        then = [planner(command, plan, "--json").out for command in ("estimate", "compare")]
        report = planner("report", plan).out
        own_price(40.0)
        assert planner("runs", "add", own_run("faster", **TWICE_AS_FAST)).code == 0
        monkeypatch.setattr(clock, "now", lambda: NOON + timedelta(days=365))
        assert [planner(command, plan, "--json").out for command in ("estimate", "compare")] != then
        assert [planner(command, plan, "--locked", "--json").out for command in ("estimate", "compare")] == then
        assert planner("report", plan, "--locked").out == report

    @pytest.mark.parametrize("name", ["local_pc", "gpu_guide_llama3_8b", "rtx3090_cluster", "p5e_vs_a100"])
    def test_every_example_freezes(self, planner, changed, name):
        plan = changed(name)
        assert planner("estimate", plan, "--freeze").code == 0
        assert planner("compare", plan, "--locked", "--json").out == planner("compare", plan, "--json").out

    def test_a_lock_holds_inputs_and_their_fingerprints(self, frozen):
        lock = json.loads(lock_of(frozen()).read_text("utf-8"))
        assert lock["schema_version"] == 1
        assert lock["kind"] == "lock"
        assert lock["planner_version"] == planner_version()
        assert lock["frozen_on"] == str(NOON.date())
        assert {row["instance_type"] for row in lock["catalog"]["prices"]} == {"p4d.24xlarge"}
        assert lock["run_sha256"].keys() == lock["catalog"]["runs"].keys()
        assert list(lock["catalog"]["sites"]) == ["dgx-station-v100"]

    def test_ids_have_an_order_that_every_process_keeps(self, frozen):
        ids = json.loads(lock_of(frozen()).read_text())["catalog"]["bundled_runs"]
        assert len(ids) > 10
        assert ids == sorted(ids)

    def test_comments_and_the_order_of_keys_do_not_count(self, planner, frozen):
        plan = frozen()
        data = yaml.safe_load(plan.read_text("utf-8"))
        plan.write_text("# a remark\n" + yaml.safe_dump(dict(reversed(data.items())), sort_keys=False), "utf-8")
        assert planner("estimate", plan, "--locked", "--json").code == 0


class TestRefusals:
    def test_a_plan_changed_since(self, planner, frozen):
        plan = frozen()
        plan.write_text(plan.read_text("utf-8").replace("epochs: 10", "epochs: 11"), "utf-8")
        one_error(planner("estimate", plan, "--locked"), "was changed after it was frozen", "--freeze")

    def test_no_lock(self, planner, changed):
        one_error(planner("compare", changed("local_pc"), "--locked"), "lock.json: there is no such file", "--freeze")

    def test_a_lock_changed_by_hand(self, planner, frozen):
        plan = frozen()
        lock = lock_of(plan)
        lock.write_text(lock.read_text("utf-8").replace("21.95", "11.95"), "utf-8")
        one_error(planner("estimate", plan, "--locked"), "content_sha256", "was changed after it was written")

    def test_half_a_lock(self, planner, frozen):
        plan = frozen()
        lock = lock_of(plan)
        lock.write_text(lock.read_text("utf-8")[:1000], "utf-8")
        one_error(planner("estimate", plan, "--locked"), "ends too early")

    def test_a_newer_lock(self, planner, frozen):
        plan = frozen()
        data = json.loads(lock_of(plan).read_text("utf-8"))
        lock_of(plan).write_text(signed(data | {"schema_version": 2}), "utf-8")
        one_error(planner("estimate", plan, "--locked"), "newer than this planner reads")

    def test_another_document_for_a_lock(self, planner, frozen):
        plan = frozen()
        lock_of(plan).write_text(planner("estimate", plan, "--json").out, "utf-8")
        one_error(planner("estimate", plan, "--locked"), "kind", "'estimate'")

    def test_a_plan_that_cannot_be_answered_leaves_the_old_lock(self, planner, frozen):
        plan = frozen()
        before = lock_of(plan).read_bytes()
        plan.write_text(plan.read_text("utf-8").replace("dgx-station-v100}", "nowhere}").replace(
            "site: dgx-station-v100", "site: nowhere"), "utf-8")  # fmt: skip
        assert planner("estimate", plan, "--freeze").code == 2
        assert lock_of(plan).read_bytes() == before

    def test_a_full_disk_leaves_the_old_lock(self, planner, frozen, monkeypatch):
        plan = frozen()
        before = lock_of(plan).read_bytes()

        def full(_: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", full)
        one_error(planner("estimate", plan, "--freeze"), "lock.json", "No space left")
        assert lock_of(plan).read_bytes() == before

    def test_both_flags(self, planner, frozen):
        one_error(planner("estimate", frozen(), "--freeze", "--locked"), "contradict")


def shares(document: dict[str, Any], option: str, quantity: str = "campaign_usd") -> dict[str, float]:
    moves: list[dict[str, Any]] = next(
        (change["moves"] for change in document["options"] if change["option"].startswith(option)), []
    )
    move = next((move for move in moves if move["quantity"] == quantity), None)
    if move is None:
        return {}
    found = {share["cause"]: share["change"] for share in move["causes"]}
    assert sum(found.values()) == pytest.approx(move["change"])
    assert move["new"] - move["old"] == pytest.approx(move["change"])
    return found


class TestDiff:
    @pytest.fixture
    def before(self, frozen, tmp_path) -> Path:
        path = tmp_path / "before.json"
        path.write_bytes(lock_of(frozen()).read_bytes())
        return path

    def test_a_price(self, planner, frozen, before, own_price):
        own_price(43.9)
        document = planner("diff", before, lock_of(frozen()), "--json").document
        assert set(shares(document, "aws/p4d")) == {"price"}
        assert shares(document, "dgx-station") == {}
        (price,) = (entry for entry in document["inputs"] if entry["cause"] == "price")
        assert price["new"].startswith("43.9 USD/h of 2026-11-20")

    def test_a_measurement(self, planner, frozen, before, own_run):
        planner("runs", "add", own_run("again", **TWICE_AS_FAST))
        document = planner("diff", before, lock_of(frozen()), "--json").document
        assert set(shares(document, "dgx-station", "training_hours")) == {"measurement"}
        assert any(entry["what"] == "runs.again" for entry in document["inputs"])

    def test_hardware(self, planner, frozen, before, tmp_path):
        site = {"schema_version": 1, "id": "dgx-station-v100", "name": "ours", "node": "dgx-station-v100"}
        power = {"value": 1.3, "low": 1.2, "high": 1.4, "unit": "kW", "basis": "measured", "source": "a meter"}
        folder = tmp_path / "planner-home" / "sites"
        folder.mkdir(parents=True)
        site |= {"power": power, "source": "ours", "as_of": "2026-11-20"}
        (folder / "ours.yaml").write_text(json.dumps(site), encoding="utf-8")
        document = planner("diff", before, lock_of(frozen()), "--json").document
        assert set(shares(document, "dgx-station")) == {"hardware"}

    def test_the_plan_s_assumptions_and_a_price_at_once(self, planner, frozen, before, own_price):
        """Price first, at the old plan's 10 epochs; then the plan, at the new price: 2 x 20 USD for the whole."""
        own_price(43.9)
        document = planner("diff", before, lock_of(frozen({"work.epochs": 20})), "--json").document
        found = shares(document, "aws/p4d")
        assert set(found) == {"price", "assumption"}
        assert found["assumption"] > found["price"] > 0
        assert any(entry["what"] == "plan.work.epochs" for entry in document["inputs"])

    def test_another_planner_version(self, planner, frozen, before):
        """A lock whose stored answer is not what today's formulas give: the difference is the model's."""
        data = json.loads(before.read_text("utf-8"))
        for option in data["comparison"]["options"]:
            for part in ("value", "low", "high"):
                option["campaign_usd"][part] *= 0.5
        before.write_text(signed(data | {"planner_version": "0.0.1"}), "utf-8")
        document = planner("diff", before, lock_of(frozen()), "--json").document
        assert set(shares(document, "aws/p4d")) == {"model"}

    def test_the_frozen_numbers_stand_where_this_planner_computes_others(self, planner, frozen):
        plan = frozen()
        data = json.loads(lock_of(plan).read_text("utf-8"))
        data["comparison"]["options"][0]["campaign_usd"] |= {"value": 1.0, "low": 1.0, "high": 1.0}
        lock_of(plan).write_text(signed(data), "utf-8")
        answer = planner("compare", plan, "--locked", "--json")
        assert answer.document["options"][0]["campaign_usd"]["value"] == 1.0
        assert "numbers otherwise" in answer.err

    def test_options_that_come_and_go(self, planner, frozen, before):
        document = planner(
            "diff", before, lock_of(frozen({"options": [STATION, {"site": "h200-x1"}]})), "--json"
        ).document
        assert document["added"] == ["h200-x1"]
        assert document["removed"] == ["aws/p4d.24xlarge:us-east-1:on_demand"]

    def test_two_answers_say_what_moved_but_not_why(self, planner, changed, tmp_path):
        paths = [tmp_path / "one.json", tmp_path / "two.json"]
        for path, epochs in zip(paths, (10, 20), strict=True):
            path.write_text(planner("compare", changed("local_pc", {"work.epochs": epochs}), "--json").out, "utf-8")
        document = planner("diff", *paths, "--json").document
        assert document["options"][0]["moves"][0]["change"] > 0
        assert document["options"][0]["moves"][0]["causes"] == []
        assert "only two locks" in document["notes"][0]

    def test_nothing_moved(self, planner, frozen, before):
        assert "No number moved." in planner("diff", before, lock_of(frozen())).out

    def test_markdown(self, planner, frozen, own_price, golden):
        own_price(20.0)
        before = lock_of(frozen())
        own_price(25.0)
        after = lock_of(frozen({"campaign.runs": 60}))
        answer = planner("diff", before, after, "--format", "md")
        golden.check("diff.md", answer.out.replace(str(before), "OLD").replace(str(after), "NEW"))

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            pytest.param("", ["holds nothing"], id="empty"),
            pytest.param('{"a": 1', ["ends too early"], id="truncated"),
            pytest.param('{"kind": "plan"}', ["kind", "'plan'", "comparison"], id="another kind"),
            pytest.param('{"kind": "estimate", "plan": "x"}', ["assumptions: is missing"], id="half an answer"),
        ],
    )
    def test_no_such_document(self, planner, before, tmp_path, content, words):
        path = tmp_path / "bad.json"
        path.write_text(content, encoding="utf-8")
        one_error(planner("diff", before, path), "bad.json", *words)
