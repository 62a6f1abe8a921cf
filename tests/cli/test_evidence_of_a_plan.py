"""Effects of a plan's own statements: a network between nodes, and a step on a machine of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

PODS = """\
schema_version: 1
name: two nodes
workload: {ref: llama3-8b}
work: {tokens: 1.0e+9}
training: {precision: bf16, strategy: fsdp2}
options:
  - {offer: runpod/8x-h100-sxm}
  - {offer: runpod/8x-h100-sxm, nodes: 2}
"""
ONE, TWO = "runpod/8x-h100-sxm:any:on_demand", "runpod/8x-h100-sxm:any:on_demand:2n"
STATED = PODS.replace("nodes: 2", "nodes: 2, network_gbit_per_s: 3200")
OWN_CARD = """\
schema_version: 1
name: own step
workload: {ref: gpt-305m, seq_len: 512}
work: {tokens: 2.0e+9}
training: {precision: bf16, strategy: ddp}
options:
  - {site: pc-rtx4090STEP}
  - {offer: lambda/gpu_1x_h100_sxm5}
"""
STEP = ", step: {batch: 16, seconds: 0.41, basis: measured}"
H100 = "lambda/gpu_1x_h100_sxm5:any:on_demand"


@pytest.fixture
def plan_file(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "plan.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_two_nodes_that_nobody_says_what_joins_are_not_recommended_and_say_what_to_state(planner, plan_file):
    """RunPod joins no two of these pods; what one does alone is known."""
    answer = planner("compare", plan_file(PODS), "--json")
    single, two = answer.option(ONE), answer.option(TWO)
    assert answer.document["recommended"] == ONE
    assert single["campaign_hours"] is not None
    assert (two["throughput"], two["campaign_hours"], two["campaign_usd"], two["known_from"]) == (None,) * 4
    assert two["fits"] is True
    assert "state network_gbit_per_s on the option" in two["why_not"]
    assert "node_network_not_known" in two["why_not_codes"]


def test_a_stated_network_answers_and_is_named(planner, plan_file):
    """Over 3,200 Gbit/s two nodes are faster than one, at most twice as fast and a little more: shards leave room."""
    answer = planner("compare", plan_file(STATED), "--json")
    single, two = (answer.option(name)["throughput"]["value"] for name in (ONE, TWO))
    assert single < two <= 2.2 * single
    assert "3200 Gbit/s between nodes, of each: the plan's word" in answer.option(TWO)["notes"]


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        pytest.param(STATED.replace("s: 3200", "s: 0"), ["options.1.network_gbit_per_s", "0"], id="no network at all"),
        pytest.param(STATED.replace("s: 3200", "s: fast"), ["options.1.network_gbit_per_s", "number"], id="a word"),
        pytest.param(
            PODS + "  - {offer: ori/lora-up-to-10b, price: hosted_training, network_gbit_per_s: 100}\n",
            ["options.2", "network_gbit_per_s belongs to a machine"], id="of a service",
        ),
    ],
)  # fmt: skip
def test_a_wrong_network_is_one_clear_error(planner, plan_file, plan, words):
    answer = planner("compare", plan_file(plan))
    assert answer.code == 2
    assert answer.out == ""
    assert all(word in answer.err for word in words), answer.err


def test_strategies_ask_for_the_network_too(planner):
    asked = ("strategies", "llama3-8b", "--on", "lambda/gpu_8x_h100_sxm5", "--json")
    refused = planner(*asked, "--nodes", 2)
    assert refused.code == 2
    assert "--network-gbit-per-s" in refused.err
    best = {
        gbit: planner(*asked, "--nodes", 2, "--network-gbit-per-s", gbit).document["ways"][0]["samples_per_s"]
        for gbit in (10, 3200)
    }
    alone = planner(*asked).document["ways"][0]["samples_per_s"]
    assert best[10] < best[3200] <= 2.1 * alone


def test_a_measured_step_of_one_s_own_moves_the_other_machines_and_explain_shows_by_how_much(planner, plan_file):
    """The card is estimated at about 80 samples/s for this step; 16 in 0.41 s are 39, so others are slower too."""
    before = planner("estimate", plan_file(OWN_CARD.replace("STEP", "")), "--json").option(H100)
    answer = planner("estimate", plan_file(OWN_CARD.replace("STEP", STEP)), "--json")
    own, after = answer.option("pc-rtx4090"), answer.option(H100)
    assert own["throughput"]["value"] == pytest.approx(16 / 0.41)
    assert own["known_from"] == "measured by you (step)"
    moved = after["throughput"]["value"] / before["throughput"]["value"]
    assert 0.5 < moved < 0.95
    assert after["known_from"].endswith("published runs and your step")
    assert "your step on RTX 4090" in after["notes"][0]
    assert not before["known_from"].endswith("your step")

    explained = planner("explain", plan_file(OWN_CARD.replace("STEP", STEP)), "--option", H100, "--json")
    (option,) = explained.document["options"]
    effect = next(run for run in option["runs"] if run["id"] == "step of pc-rtx4090")
    assert effect["change_fraction"] == pytest.approx(moved - 1)
    assert effect["without"]["value"] == pytest.approx(before["throughput"]["value"])
    assert 0 < effect["weight"] < 1
    assert "step of pc-rtx4090" in planner("explain", plan_file(OWN_CARD.replace("STEP", STEP)), "--all").out


def test_an_assumed_step_moves_nothing_and_the_others_say_so(planner, plan_file):
    assumed = plan_file(OWN_CARD.replace("STEP", STEP.replace("measured", "assumed")))
    after = planner("estimate", assumed, "--json").option(H100)
    before = planner("estimate", plan_file(OWN_CARD.replace("STEP", "")), "--json").option(H100)
    assert after["throughput"] == before["throughput"]
    note = "not corrected by the step of pc-rtx4090: assumed, and only a measured step corrects other machines"
    assert note in after["notes"]


def test_the_default_power_share_is_not_named_where_the_site_says_its_own(planner, example):
    names = [
        assumption["name"] for assumption in planner("compare", example("own_8xh200"), "--json").document["assumptions"]
    ]
    assert "electricity" in names
    assert "power in training" not in names
