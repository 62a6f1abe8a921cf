import ast
import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from planner import workloads

PACKAGE = Path(workloads.__file__).parent

RESULT_KEYS = [
    *("schema_version", "kind", "method_version", "exit_reason", "error", "spec", "parameters", "trained_parameters"),
    *("world_size", "nodes", "devices_per_node", "device_type", "backend", "global_batch"),
    *("warmup_steps", "warmup_steady", "steps", "step_seconds", "window_s"),
    *(
        "rank_step_seconds",
        "rank_work_seconds",
        "data_wait_s",
        "device_busy_seconds",
        "busy_before_share",
        "samples",
        "tokens",
        "padding_tokens",
    ),
    "images",
    *("phases", "losses_first10", "loss_last", "memory", "state_bytes", "matmul_flops_by_dtype", "sdpa_backend"),
    *("tf32_allowed", "topology", "calibration", "probe", "telemetry", "environment", "disk_problem"),
    *("started_at", "finished_at"),
]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_syntax_is_that_of_python_3_9(path):
    ast.parse(path.read_text(), feature_version=(3, 9))


@pytest.mark.slow
def test_workloads_runs_alone_on_a_bare_node(two_process_run):
    assert two_process_run.code == 0, two_process_run.stderr
    assert two_process_run.result["exit_reason"] in ("completed", "not_steady")
    assert {path.name for path in two_process_run.folder.iterdir()} == {
        "workloads",
        "spec.json",
        "result.json",
        "result.json.steps.jsonl",
    }


@pytest.mark.slow
def test_the_result_agrees_with_itself(two_process_run):
    result = two_process_run.result
    assert list(result) == RESULT_KEYS
    assert result["parameters"] == 672_384
    assert (result["world_size"], result["nodes"], result["devices_per_node"]) == (2, 1, 2)
    assert (result["device_type"], result["backend"], result["sdpa_backend"]) == ("cpu", "gloo", "flash_cpu")
    assert result["global_batch"] == 4
    assert result["steps"] == len(result["step_seconds"]) >= 10
    assert result["samples"] == result["steps"] * 4
    assert result["tokens"] == result["samples"] * 128
    assert sum(result["step_seconds"]) <= result["window_s"] * 1.001
    phases = {"import_s", "topology_s", "init_s", "first_step_s", "warmup_s", "measure_s", "teardown_s"}
    assert set(result["phases"]) == phases
    (node,) = result["topology"]
    assert (node["gpus"], node["gpus_unknown_because"]) == (None, "the run is on the CPU")
    assert result["calibration"] is None
    assert result["telemetry"] == {
        "unknown_because": "the run is on the CPU",
        "energy_j": None,
        "energy_from": None,
        "devices": [],
    }
    assert (result["device_busy_seconds"], result["busy_before_share"]) == (None, None)
    assert result["memory"]["peak_rss_gib"] > 0
    assert result["tf32_allowed"] is False
    assert len(result["rank_step_seconds"]) == len(result["rank_work_seconds"]) == 2
    assert max(result["rank_step_seconds"]) * result["steps"] == pytest.approx(result["window_s"])
    assert 0 <= result["data_wait_s"] < 0.02 * result["window_s"]
    assert result["spec"]["workload"] == "cpu-smoke"


@pytest.mark.slow
def test_the_last_line_of_stdout_is_the_result(two_process_run):
    assert json.loads(two_process_run.stdout.splitlines()[-1]) == two_process_run.result


@pytest.mark.slow
def test_every_step_is_in_the_steps_file(two_process_run):
    result, rows = two_process_run.result, two_process_run.steps
    assert [row["step"] for row in rows] == list(range(1, len(rows) + 1))
    assert sum(row["phase"] == "warmup" for row in rows) == result["warmup_steps"]
    measured = [row["seconds"] for row in rows if row["phase"] == "measure"]
    assert measured == pytest.approx(result["step_seconds"])
    assert {row["tokens"] for row in rows} == {4 * 128}


@pytest.mark.slow
def test_the_loss_falls(two_process_run):
    losses = two_process_run.result["losses_first10"]
    assert len(losses) == 10
    assert losses[-1] < losses[0]
    assert two_process_run.result["loss_last"] < losses[-1]


@pytest.mark.slow
def test_torch_has_nothing_to_warn_about(two_process_run):
    assert "Warning" not in two_process_run.stderr


@pytest.mark.slow
def test_splitting_the_batch_does_not_change_the_losses(two_process_run, bare_node, spec_document):
    whole = bare_node().run(spec_document(micro_batch=2, grad_accumulation=2), processes=1).result
    assert whole["global_batch"] == two_process_run.result["global_batch"]
    assert whole["losses_first10"] == pytest.approx(two_process_run.result["losses_first10"], rel=1e-5)


@pytest.mark.slow
def test_a_spec_that_is_wrong_leaves_a_record_that_says_so(bare_node, spec_document):
    run = bare_node().run(spec_document(micro_bach=1), processes=1)
    assert run.code != 0
    assert list(run.result) == RESULT_KEYS
    assert run.result["exit_reason"] == "error"
    assert run.result["error"].startswith("spec.json: micro_bach: is not a known key")


@pytest.mark.slow
def test_the_rank_that_failed_first_gives_the_reason(bare_node, spec_document):
    node = bare_node()
    node.append(
        "inputs/tokens.py",
        """
import os
if os.environ["RANK"] == "1":
    def _fails(self, step):
        if step == 5:
            raise RuntimeError("CUDA out of memory, made up")
        return self._steps[step]
    SyntheticTokens.micro_batches = _fails
""",
    )
    run = node.run(spec_document(micro_batch=2), processes=2)
    assert run.code != 0
    assert run.result["exit_reason"] == "out_of_memory"
    assert run.result["error"] == "rank 1: RuntimeError: CUDA out of memory, made up"
    assert run.steps


@pytest.mark.slow
def test_a_loss_that_blows_up_is_not_measured(bare_node, spec_document):
    node = bare_node()
    node.append("strategies/base.py", "LEARNING_RATE = 1e30\n")
    run = node.run(spec_document(), processes=1)
    assert run.code != 0
    assert run.result["exit_reason"] == "loss_not_finite"
    assert run.result["steps"] == 0
    assert run.result["losses_first10"][-1] is None


def ask_torchrun(folder, torchrun):
    torchrun.terminate()


def kill_torchrun(folder, torchrun):
    torchrun.kill()


def kill_everything(folder, torchrun):
    """Kill every process of the run, torchrun among them: each works in the run's own folder."""
    for process in processes_in(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kill", "leaves_a_result"),
    [
        pytest.param(ask_torchrun, True, id="asked to stop: a record"),
        pytest.param(kill_torchrun, True, id="torchrun killed: a record, no orphans"),
        pytest.param(kill_everything, False, id="all killed: the steps so far"),
    ],
)
def test_a_run_that_is_cut_short_leaves_evidence(bare_node, spec_document, kill, leaves_a_result):
    node = bare_node()
    endless = {"min_steps": 10**6, "min_s": 600.0, "max_s": 600.0}
    command, variables = node.prepare(spec_document(micro_batch=2, window=endless), 2)
    steps = node.folder / "result.json.steps.jsonl"
    with subprocess.Popen(
        command, cwd=node.folder, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as torchrun:
        until(lambda: steps.exists() and '"measure"' in steps.read_text())
        kill(node.folder, torchrun)
        torchrun.wait(timeout=60)
    until(lambda: not processes_in(node.folder))
    measured = [row for row in map(json.loads, steps.read_text().splitlines()) if row["phase"] == "measure"]
    assert measured
    result = node.folder / "result.json"
    assert result.exists() == leaves_a_result
    if leaves_a_result:
        document = json.loads(result.read_text())
        assert document["exit_reason"] == "interrupted"
        assert document["steps"] == len(measured)
        assert document["tokens"] == document["steps"] * 4 * 128


def until(condition, *, timeout_s=60.0):
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, "did not happen in time"
        time.sleep(0.05)


def processes_in(folder):
    """Processes that work in the folder, from /proc."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").samefile(folder):
                found.append(int(process.name))
        except OSError:
            continue
    return found
