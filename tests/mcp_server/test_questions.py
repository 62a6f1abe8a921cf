"""The questions that an agent asks, each answered over stdio; the commands are the second method."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_server.agent import ROOT, Agent, connected

KNOWN_STEP = """
schema_version: 1
name: two epochs on a machine with a known step
workload: {measured: seed-000-dgx-station-v100}
work: {epochs: 2, samples_per_epoch: 3600}
campaign: {runs: 1, deadline: 2030-01-01}
options:
  - {site: dgx-station-v100, power_kw: 1.0, step: {batch: 8, seconds: 2.0, basis: measured, source: by hand}}
"""
"""Steps of 8 samples in 2 s are 4 samples/s: 7,200 samples take half an hour."""
TOO_LATE = KNOWN_STEP.replace("epochs: 2", "epochs: 200000").replace("2030-01-01", "2027-01-01")
"""100,000 hours, eleven years."""
STEPS = "step,step_seconds\n" + "".join(f"{step},2.0\n" for step in range(1, 41))
"""40 steps of 2 s."""
AXOLOTL = """
base_model: NousResearch/Meta-Llama-3-8B
sequence_len: 8192
micro_batch_size: 1
num_epochs: 1
optimizer: adamw_torch
fsdp: [full_shard, auto_wrap]
"""
OWN = {"workload": "llama3-8b", "method": "lora", "data": "50000x700", "epochs": 3, "own": ["2xRTX-3090"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("folder")
    (at / "plan.yaml").write_text(KNOWN_STEP, "utf-8")
    (at / "late.yaml").write_text(TOO_LATE, "utf-8")
    (at / "steps.csv").write_text(STEPS, "utf-8")
    return at


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def agent(folder: Path, state: Path) -> Iterator[Agent]:
    with connected(folder, state) as agent:
        yield agent


@pytest.fixture
def command(folder: Path, state: Path):
    """Return what a command prints as JSON, in the same folder and workspace."""

    def run(*arguments: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "planner.cli.main", *arguments, "--json"],
            cwd=folder, capture_output=True, text=True, check=False,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PLANNER_HOME": str(state / "workspace")},
        )  # fmt: skip
        assert done.returncode in (0, 3), done.stderr
        return json.loads(done.stdout)

    return run


def middle(cell: str) -> float:
    """Return the number with which a quantity begins."""
    return float(cell.split(maxsplit=1)[0].replace(",", ""))


@pytest.mark.slow
def test_machines_of_one_s_own_beside_all_that_is_offered(agent: Agent, command, tmp_path: Path) -> None:
    answer = agent.answer("ask", **OWN, budget=300)
    told = command(
        "ask", "llama3-8b", "--method", "lora", "--data", "50000x700", "--epochs", "3", "--own", "2xRTX-3090",
        "--budget", "300",
    )  # fmt: skip
    assert answer["headline"] == told["headline"]
    assert answer["answer_id"] == told["answer_id"]
    assert [row["option"] for row in answer["rows"]] == [option["id"] for option in told["options"][:8]]
    assert answer["rows_left_out"] == len(told["options"]) - 8
    assert any(assumption.endswith("(by)") for assumption in answer["assumptions"]), (
        "in words of arguments, not of flags"
    )


def test_tokens_on_one_offer_by_a_day(agent: Agent) -> None:
    answer = agent.answer("ask", workload="llama3-8b", tokens=1e9, on=["lambda/gpu_8x_h100_sxm5"], by="2030-01")
    assert [row["option"] for row in answer["rows"]] == ["lambda/gpu_8x_h100_sxm5:any:on_demand"]
    assert not any("deadline" in assumption for assumption in answer["assumptions"])


def test_images(agent: Agent) -> None:
    answer = agent.answer("ask", workload="resnet50", data="1281167", epochs=90, own=["8xA100-40GB-SXM"], budget=2000)
    assert answer["rows"][0]["machine"]


def test_a_question_with_a_hole_names_the_argument(agent: Agent) -> None:
    error = agent.error("ask", workload="llama3-8b", own=["2xRTX-3090"])
    assert "Add data 50000x700 (samples x tokens), or tokens 1e9" in error
    assert "--" not in error


def test_a_plan_with_a_known_step(agent: Agent) -> None:
    (row,) = agent.answer("compare", plan="plan.yaml")["rows"]
    assert middle(row["hours"]) == pytest.approx(0.5 * 1.0, rel=0.2), "and its losses"
    assert row["machine"]


def test_a_plan_that_no_option_meets(agent: Agent, command) -> None:
    answer = agent.answer("compare", plan="late.yaml")
    assert answer["headline"] == command("compare", "late.yaml")["headline"]
    assert answer["rows"][0]["why not"]


@pytest.mark.parametrize(
    ("on", "fits"),
    [
        pytest.param("H100-SXM", "yes", id="0.3 billion x 16 bytes are 5 of 80 GiB"),
        pytest.param("RTX-3090", "no", id="70 billion x 16 bytes are 1,043 of 24 GiB"),
    ],
)
def test_does_it_fit(agent: Agent, on: str, fits: str) -> None:
    answer = agent.answer("memory", workload="gpt-305m" if fits == "yes" else "llama3-70b", on=on)
    full = next(row for row in answer["rows"] if row.get("checkpointing") == "full")
    assert full["fits"] == fits


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"strategy": "fsdp2", "tensor": 2, "optimizer": "adamw-8bit"}, id="divided"),
        pytest.param({"pipeline": 2, "context": 2, "weights": "16bit"}, id="stages and parts of a sequence"),
        pytest.param({"framework": "HF Trainer, liger", "offload": "optimizer"}, id="a framework"),
        pytest.param({"workload": "fsdp.yaml"}, id="a file that names its strategy"),
    ],
)
def test_memory_takes_the_settings_of_the_command(agent: Agent, command, folder: Path, settings) -> None:
    (folder / "fsdp.yaml").write_text(AXOLOTL, "utf-8")
    asked = {"workload": "llama3-8b", "on": "8xH100-SXM"} | settings
    options = [word for name, value in asked.items() if name != "workload" for word in (f"--{name}", str(value))]
    told = command("memory", str(asked["workload"]), *options)
    plain = command("memory", str(asked["workload"]), "--on", "8xH100-SXM", "--strategy", "ddp")
    needs = [row["needs"] for row in agent.answer("memory", **asked)["rows"] if "needs" in row]
    assert [middle(need) for need in needs] == pytest.approx(
        [way["total_gib"]["value"] for way in told["ways"]], rel=0.1
    )
    assert [way["total_gib"] for way in told["ways"]] != [way["total_gib"] for way in plain["ways"]]


@pytest.mark.parametrize(
    ("tool", "machines"),
    [
        pytest.param("find", {"accelerator": ["H100"], "gpus": [8]}, id="find"),
        pytest.param("ask", {"on": ["lambda/gpu_8x_h100_sxm5"]}, id="ask"),
    ],
)
def test_ask_and_find_take_optimizer_and_offload(agent: Agent, tool: str, machines) -> None:
    """16 bytes a weight of 70 billion are 1,043 of 640 GiB; with moments and fp32 weights in the host, 4 are 261."""
    whole = agent.answer(tool, workload="llama3-70b", tokens=1e8, optimizer="adamw", offload="none", **machines)
    waiting = agent.answer(tool, workload="llama3-70b", tokens=1e8, optimizer="adamw", offload="optimizer", **machines)
    assert whole["rows"][0]["why not"]
    assert waiting["headline"][0].startswith(("Rent ", "Use "))


def test_is_the_speed_of_a_log_normal(agent: Agent) -> None:
    facts = {"workload": "llama3-8b", "accelerator": "H100-SXM", "gpus": 8, "seq_len": 2048, "global_batch": 16}
    answer = agent.answer("check_run", run="steps.csv", packed=True, **facts)
    assert middle(answer["headline"][1].removeprefix("Measured ")) == pytest.approx(16 / 2.0), "16 samples in 2 s"


def test_a_log_that_does_not_say_its_machine(agent: Agent) -> None:
    assert "Add accelerator RTX-3090" in agent.error("check_run", run="steps.csv", workload="llama3-8b", seq_len=2048)


def test_what_should_i_rent(agent: Agent) -> None:
    answer = agent.answer(
        "find", workload="llama3-8b", method="lora", tokens=35e6, accelerator=["H100"], provider=["lambda"]
    )
    assert answer["rows"]
    assert all("Lambda" in row["machine"] and "H100" in row["machine"] for row in answer["rows"])


def test_prices_are_those_of_the_command(agent: Agent, command) -> None:
    answer = agent.answer("prices", accelerator="H100", kind="on_demand")
    told = command("prices", "show", "--accelerator", "H100", "--kind", "on_demand")["prices"]
    lowest = [row["usd_per_accelerator_hour"] for row in told[:8]]
    assert [float(row["USD/accelerator-h"]) for row in answer["rows"]] == pytest.approx(lowest, abs=1e-4)
    assert answer["rows_left_out"] == len(told) - 8


@pytest.mark.slow
def test_why(agent: Agent) -> None:
    asked = agent.answer("ask", **OWN, budget=300)
    answer = agent.answer("explain", answer_id=asked["answer_id"], option="1")
    assert "Recommended" in answer["headline"][0]
    shares = [float(row["share"].rstrip("%")) for row in answer["rows"]]
    assert 90 <= sum(shares) <= 101, "nearly all of a step"
    assert len(answer["headline"]) <= 3


@pytest.mark.slow
def test_the_next_rows(agent: Agent) -> None:
    asked = agent.answer("ask", **OWN, budget=300)
    rest = agent.answer("explain", answer_id=asked["answer_id"], from_row=9)
    assert [row["row"] for row in rest["rows"]][:1] == ["9"]
    assert len(rest["rows"]) == asked["rows_left_out"]


def test_every_tool_says_when_to_use_it_and_when_not(agent: Agent) -> None:
    tools = agent.tools()
    assert set(tools) == {"ask", "compare", "memory", "check_run", "find", "prices", "explain"}
    for tool in tools.values():
        assert re.search(r"\bUse it\b", tool.description), tool.name
        assert re.search(r"\bDo not\b", tool.description), tool.name
        assert tool.annotations.read_only_hint
        assert tool.input_schema["additionalProperties"] is False
    assert "never quote a middle value" in agent.instructions()


def test_every_argument_of_a_question_has_a_bound_or_a_choice(agent: Agent) -> None:
    """A text without a longest length, or a list without a most, would let a message grow without end."""

    def open_ended(schema: dict[str, Any]) -> bool:
        parts = [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else [])]
        text = schema.get("type") == "string" and not {"maxLength", "enum", "pattern"} & schema.keys()
        return text or (schema.get("type") == "array" and "maxItems" not in schema) or any(map(open_ended, parts))

    found = [
        f"{tool.name}.{name}"
        for tool in agent.tools().values()
        for name, schema in tool.input_schema["properties"].items()
        if open_ended(schema)
    ]
    assert found == []


@pytest.mark.slow
def test_no_answer_is_longer_than_a_screen_or_two(agent: Agent) -> None:
    for result in (agent.call("ask", **OWN), agent.call("find", workload="llama3-8b"), agent.call("prices")):
        assert not result.is_error
        assert len(json.dumps(result.structured_content)) < 10_000
        assert len(result.structured_content["rows"]) <= 8
        assert len(result.structured_content["headline"]) <= 3


@pytest.mark.slow
def test_the_server_never_imports_what_launches() -> None:
    code = (
        "import sys, planner.mcp_server.server\n"
        "print([name for name in sys.modules if name.startswith(('planner.launcher.drive', "
        "'planner.launcher.backends', 'planner.launcher.cloud', 'planner.use_cases.launching', 'sky', 'boto3'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_a_folder_that_is_not_there() -> None:
    command = [sys.executable, "-m", "planner.cli.main", "mcp", "--folder", "no-such-folder"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert "there is no such folder" in done.stderr


@pytest.mark.slow
def test_one_sentence_where_the_sdk_is_missing() -> None:
    code = (
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'mcp':\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "from planner.cli.main import main\n"
        "main(['mcp'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "Error: mcp is not installed.",
        "Install it with: pip install 'training-planner[mcp]'",
    ]
