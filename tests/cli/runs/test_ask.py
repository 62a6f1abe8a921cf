"""`planner ask`: newcomers' jobs in one command each; the plan that is written; what is assumed or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from planner.model.network.training_method import MethodSettings
from planner.model.plan.plan import Training

LOGS = Path(__file__).parents[2] / "adapters" / "trainer_logs" / "logs"
LORA = (
    "ask", "llama3-8b", "--method", "lora", "--data", "50000x700", "--epochs", "3", "--own", "2xRTX-3090",
    "--budget", "300",
)  # fmt: skip


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "ask.yaml"


def test_lora_of_llama_on_two_cards_of_ones_own_for_300_usd(planner, out):
    """Three epochs of 35e6 tokens: 2/3 x 6 x 8.03e9 x 105e6 = 3.4e18 operations; two cards of 71 TFLOP/s need 6.6 h."""
    answer = planner(*LORA, "--write", out, "--json")
    assert answer.code == 0, answer.err
    recommended = answer.document["options"][0]
    assert recommended["id"] == answer.document["recommended"]
    assert recommended["hold"] == "have"
    assert 6.6 < recommended["campaign_hours"]["value"] < 60
    assert recommended["usd_confident"] < 10


def test_fifty_experiments_of_the_dgx_station_until_june(planner, out):
    answer = planner(
        "ask", "seed-000-dgx-station-v100", "--data", "2464256", "--epochs", "10", "--runs", "50", "--own",
        "dgx-station-v100", "--by", "2027-06", "--on", "p4d", "--write", out, "--json",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    plan = yaml.safe_load(out.read_text(encoding="utf-8"))
    assert plan["campaign"] == {"runs": 50, "deadline": "2027-06-30"}
    station = next(option for option in answer.document["options"] if option["id"].startswith("dgx-station-v100"))
    # 1.06 s a batch of 128: 50 x 10 x 2,464,256 / 128 x 1.06 s = 2,834 hours of steps
    assert 2834 < station["campaign_hours"]["value"] < 1.15 * 2834
    assert answer.document["recommended"] == station["id"]


def test_p5_against_p4d_against_eight_h100_of_ones_own(planner, out):
    answer = planner(
        "ask", "llama3-8b", "--tokens", "10e9", "--on", "p5", "--on", "p4d", "--own", "8xH100", "--write", out, "--json"
    )
    assert answer.code == 0, answer.err
    plan = yaml.safe_load(out.read_text(encoding="utf-8"))
    named = [option.get("own") or option["offer"] for option in plan["options"]]
    assert named == ["H100-SXM", "aws/p5.48xlarge", "aws/p4d.24xlarge"]
    assert "Assumed: p5 is aws/p5.48xlarge (--on aws/p5.4xlarge)" in answer.err
    hours = {option["accelerator"]: option["campaign_hours"]["value"] for option in answer.document["options"]}
    assert hours["H100-SXM"] < hours["A100-40GB-SXM"]


def test_the_plan_that_is_written_gives_the_same_answer(planner, out):
    asked = planner(*LORA, "--on", "lambda/gpu_1x_h100_sxm5", "--write", out, "--json").document
    compared = planner("compare", out, "--json").document
    assert asked["headline"] == compared["headline"]
    assert [option["id"] for option in asked["options"]] == [option["id"] for option in compared["options"]]


EVERY_SETTING = {
    "precision": "fp16", "strategy": "fsdp2", "checkpointing": "full", "micro_batch": 2, "global_batch": 32,
    "framework": "HF Trainer", "loss": "chunked", "kernels": "fused", "optimizer": "adamw-8bit", "weights": "16bit",
    "offload": "optimizer", "attention": "sdpa", "packing": True,
}  # fmt: skip
STATED = [
    "--packed" if name == "packing" else f"--{name.replace('_', '-')}={value}" for name, value in EVERY_SETTING.items()
]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("ask", "llama3-8b", "--data", "50000x700", "--own", "2xA100-80GB", "--on", "p4d"), id="ask"),
        pytest.param(("find", "llama3-8b", "--tokens", "1e9", "--accelerator", "H100"), id="find"),
    ],
)
def test_every_setting_of_a_training_can_be_stated(planner, out, command):
    assert EVERY_SETTING.keys() == Training.model_fields.keys() - {"adapters"} - MethodSettings.model_fields.keys()
    answer = planner(*command, *STATED, "--write", out)
    assert answer.code in (0, 3), answer.err
    assert yaml.safe_load(out.read_text(encoding="utf-8"))["training"] == EVERY_SETTING
    assert "--precision" not in answer.err


def test_a_plan_that_is_searched_states_its_training_itself(planner, out):
    planner(*LORA, "--on", "p4d", "--write", out)
    for stated in (("--kernels", "fused"), ("--method", "full"), ("--seq-len", "512"), ("--tokens", "1e9")):
        refused = planner("find", out, *stated)
        assert (refused.code, refused.out) == (2, "")
        assert "is a plan" in refused.err


def test_what_is_assumed_names_the_option_that_changes_it(planner, out):
    lines = [
        line for line in planner(*LORA, "--on", "p4d", "--write", out).err.splitlines() if line.startswith("Assumed: ")
    ]
    assert "Assumed: sequences of 2,048 tokens, samples joined to full ones (--seq-len)" in lines
    assert all("(--" in line for line in lines)
    fewer = planner(*LORA, "--on", "p4d", "--seq-len", "1024", "--by", "2027-01-31", "--runs", "2", "--write", out).err
    assert "--seq-len" not in fewer
    assert "--by" not in fewer


def test_a_log_gives_batch_and_speed_to_the_machine_it_was_written_on(planner, out):
    answer = planner(
        "ask", "HuggingFaceTB/SmolLM2-135M", "--log", LOGS / "megatron", "--own", "2xRTX-3090", "--on",
        "lambda/gpu_1x_h100_sxm5", "--write", out,
    )  # fmt: skip
    assert answer.code in (0, 3), answer.err
    plan = yaml.safe_load(out.read_text(encoding="utf-8"))
    own = plan["options"][0]
    # megatron.log: 8 samples in 0.1368 s, see timed_steps/loop.csv
    assert own["step"]["batch"] / own["step"]["seconds"] == pytest.approx(8 / 0.1368, rel=0.005)
    assert (plan["training"]["global_batch"], plan["training"]["framework"]) == (8, "Megatron-LM")
    assert plan["training"]["micro_batch"] == 4
    assert "Assumed: the whole job that the log states" in answer.err
    assert "12 lines used, 0 skipped" in answer.err


def test_a_speed_that_no_card_reaches_is_not_that_of_the_machine(planner, out):
    answer = planner(
        "ask", "llama3-8b", "--log", LOGS / "megatron", "--own", "2xRTX-3090", "--on", "lambda/gpu_1x_h100_sxm5",
        "--write", out,
    )  # fmt: skip
    assert "step" not in yaml.safe_load(out.read_text(encoding="utf-8"))["options"][0]
    (told,) = [line for line in answer.err.splitlines() if "cannot be true" in line]
    assert "958% of the dense bf16 peak" in told
    assert "planner check-run LOG" in told


def test_a_site_is_all_of_its_cards(planner, out):
    answer = planner(
        "ask", "HuggingFaceTB/SmolLM2-135M", "--log", LOGS / "megatron", "--own", "a100-80gb-x2", "--on",
        "lambda/gpu_1x_h100_sxm5", "--write", out,
    )  # fmt: skip
    assert answer.code in (0, 3), answer.err
    own = yaml.safe_load(out.read_text(encoding="utf-8"))["options"][0]
    assert own["site"] == "a100-80gb-x2"
    assert own["step"]["batch"] == 8


def test_the_speed_of_a_doubtful_log_is_assumed(planner, out):
    answer = planner(
        "ask", "HuggingFaceTB/SmolLM2-360M", "--log", LOGS / "hf_trainer" / "trainer_state.json", "--own", "RTX-3090",
        "--seq-len", "128", "--on", "p4d", "--write", out,
    )  # fmt: skip
    assert yaml.safe_load(out.read_text(encoding="utf-8"))["options"][0]["step"]["basis"] == "assumed"
    assert "Assumed: the log's speed, which is doubtful: only totals" in answer.err


def test_a_configuration_names_the_network(planner, out, tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({
        "model_type": "llama", "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 22,
        "num_attention_heads": 32, "num_key_value_heads": 4, "vocab_size": 32000, "max_position_embeddings": 2048,
        "rms_norm_eps": 1e-5, "tie_word_embeddings": False, "hidden_act": "silu",
    }), encoding="utf-8")  # fmt: skip
    answer = planner("ask", config, "--tokens", "1e9", "--own", "RTX-4090", "--on", "p4d", "--write", out)
    assert answer.code == 0, answer.err
    assert yaml.safe_load(out.read_text(encoding="utf-8"))["workload"]["architecture"]["layers"] == 22


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param((), "planner ask llama3-8b", id="no workload"),
        pytest.param(("llama3-8b",), "--data 50000x700", id="no amount"),
        pytest.param(("llama3-8b", "--data", "many"), "--data many", id="amount that is none"),
        pytest.param(("llama3-8b", "--data", "0x700"), "--data 0x700", id="no sample"),
        pytest.param(("llama3-8b", "--data", "9", "--tokens", "9"), "Keep one", id="two amounts"),
        pytest.param(("llama3-8b", "--tokens", "1e9", "--epochs", "2"), "--data instead", id="epochs of tokens"),
        pytest.param(("llama3-8b", "--tokens", "1e9", "--by", "soon"), "--by soon", id="no date"),
        pytest.param(("llama3-8b", "--tokens", "1e9", "--by", "2027-13"), "--by 2027-13", id="no month"),
        pytest.param(("llama3-8b", "--tokens", "1e9", "--own", "2x"), "--own 2x", id="no card"),
        pytest.param(("llama3-8b", "--tokens", "1e9", "--own", "A100", "--on", "p5"), "A100-40GB", id="which A100"),
        pytest.param(("llama3-8b", "--tokens", "1e9", "--on", "nowhere"), "no offer 'nowhere'", id="no offer"),
        pytest.param(("llama3-8b", "--tokens", "1e9", "--budget", "-1"), "--budget -1", id="less than nothing"),
        pytest.param(("llama3-8b", "--log", LOGS / "megatron"), "--own 2xRTX-3090", id="a log of no machine"),
        pytest.param(
            ("--log", LOGS / "trl", "--own", "RTX-3090"), "planner ask llama3-8b --log", id="a log of nothing"
        ),
        pytest.param(
            ("llama3-8b", "--log", LOGS / "lightning", "--own", "RTX-3090", "--seq-len", "128"),
            "--global-batch",
            id="a log without its batch",
        ),
        pytest.param(("llama3-8b", "--log", "nowhere.log", "--own", "RTX-3090"), "nowhere.log", id="no log"),
        pytest.param(("lama3-8b", "--tokens", "1e9"), "Did you mean", id="a slip"),
    ],
)
def test_what_cannot_be_answered_is_refused_and_nothing_is_written(planner, out, arguments, told):
    answer = planner("ask", *arguments, "--write", out)
    assert answer.code == 2
    assert told in answer.err
    assert not out.exists()


def test_a_plan_of_ones_own_is_not_replaced_and_that_of_a_question_is(planner, out):
    out.write_text("schema_version: 1\n", encoding="utf-8")
    refused = planner(*LORA, "--on", "p4d", "--write", out)
    assert (refused.code, out.read_text(encoding="utf-8")) == (2, "schema_version: 1\n")
    out.unlink()
    for _ in range(2):
        assert planner(*LORA, "--on", "p4d", "--write", out).code == 0


@pytest.mark.slow
def test_on_a_terminal_it_asks_for_what_is_missing_at_most_five_times(planner, out, monkeypatch):
    answers = iter(["RTX-4090", "200", "", "llama3-8b", "1000x700"])
    asked: list[str] = []

    def prompt(text, **options):
        asked.append(text)
        return next(answers)

    monkeypatch.setattr("planner.cli.ask_command.may_ask", lambda: True)
    monkeypatch.setattr("typer.prompt", prompt)
    answer = planner("ask", "--method", "lora", "--write", out)
    assert answer.code == 0, answer.err
    plan = yaml.safe_load(out.read_text(encoding="utf-8"))
    assert (plan["options"][0]["own"], plan["campaign"]) == ("RTX-4090", {"budget_usd": 200.0})
    assert plan["work"] == {"epochs": 1.0, "samples_per_epoch": 1000.0, "tokens_per_sample": 700.0}
    assert len(asked) == 5
