"""The client is killed at every state of the ledger; the next command finds the launch and brings it to its end.

Really launched, on this machine, with planted secrets: none of them may reach a file of the workspace.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
CANARY = "CANARY-9f8e7d6c"
SECRETS = {
    "AWS_ACCESS_KEY_ID": f"AKIA{CANARY}",
    "AWS_SECRET_ACCESS_KEY": f"aws-{CANARY}",
    "AWS_SESSION_TOKEN": f"session-{CANARY}",
    "LAMBDA_API_KEY": f"lambda-{CANARY}",
    "HF_TOKEN": f"hf-{CANARY}",
}
KILLED_AFTER = """
import os, signal, sys
from planner.launcher.ledger import ledger
def deadly(method, position):
    def call(self, *arguments, **named):
        answer = method(self, *arguments, **named)
        state = arguments[position] if position is not None else ledger.State.PLANNED
        if str(state) == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer
    return call
ledger.Ledger.plan = deadly(ledger.Ledger.plan, None)
ledger.Ledger.move = deadly(ledger.Ledger.move, 1)
from planner.cli.main import main
main(sys.argv[2:])
"""
WORKLOAD = """
name: tiny
architecture: {layers: 1, hidden: 64, heads: 2, kv_heads: 1, head_dim: 32, ffn_hidden: 128, mlp: swiglu, norm: rmsnorm,
  positions: rope, max_positions: 64, vocab: 256, tied_head: true}
seq_len: 64
micro_batch: 2
"""


class Client:
    """The command line in a process of its own, as a person has it, with secrets in its environment."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        (folder / "tiny.yaml").write_text(WORKLOAD, encoding="utf-8")
        self.launch = ("launch", str(folder / "tiny.yaml"), "--on", "local", "--quick", "--yes", "--max-minutes", "5")
        self.environment = os.environ | SECRETS | {"PLANNER_HOME": str(self.home), "OMP_NUM_THREADS": "1"}

    def run(self, *arguments: str, killed_at: str | None = None) -> subprocess.CompletedProcess[str]:
        start = ["-c", KILLED_AFTER, killed_at] if killed_at else ["-m", "planner.cli.main"]
        done = subprocess.run(
            [sys.executable, *start, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env=self.environment,
        )
        if killed_at is not None:
            assert done.returncode == -signal.SIGKILL, done.stderr
        return done

    def only_launch(self) -> dict[str, Any]:
        (launch,) = json.loads(self.run("launches", "list", "--json").stdout)["launches"]
        return launch

    def processes(self) -> list[str]:
        """Return the launch's processes, from /proc."""
        wanted = f"PLANNER_RUN_ID={self.only_launch()['run_id']}".encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if wanted in (process / "environ").read_bytes().split(b"\0"):
                    found.append(process.name)
            except OSError:
                continue
        return found


@pytest.fixture
def client(tmp_path):
    return Client(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "outcome", "code"),
    [
        pytest.param("PLANNED", "never_submitted", 4, id="before anything was submitted"),
        pytest.param("SUBMITTED", "refused", 4, id="in the middle of submitting"),
    ],
)
def test_killed_before_the_job_began_nothing_is_started_later(client, state, outcome, code):
    client.run(*client.launch, killed_at=state)
    assert client.only_launch()["state"] == state
    again = client.run("launches", "collect")
    assert again.returncode == code, again.stderr
    launch = client.only_launch()
    assert (launch["state"], launch["outcome"]) == ("DOWN_VERIFIED", outcome)
    assert client.processes() == []


@pytest.mark.slow
def test_killed_while_it_runs_and_again_at_every_later_state_the_result_comes_home(client):
    """At RUNNING the job goes on alone; after COLLECTED the next client takes down, and the last makes the record."""
    client.run(*client.launch, killed_at="RUNNING")
    assert client.only_launch()["state"] == "RUNNING"
    assert client.processes() != []

    client.run("launches", "collect", killed_at="COLLECTED")
    assert client.only_launch()["state"] == "COLLECTED"
    client.run("launches", "collect", killed_at="DOWN_VERIFIED")
    launch = client.only_launch()
    assert (launch["state"], launch["record_id"]) == ("DOWN_VERIFIED", None)

    last = client.run("launches", "collect", launch["run_id"])
    assert last.returncode == 0, last.stderr
    assert client.processes() == []
    record = json.loads(client.run("runs", "show", "latest").stdout)
    assert record["id"] == client.only_launch()["record_id"]
    assert (record["launch"]["target"], record["launch"]["run_id"]) == ("local", launch["run_id"])
    assert (record["launch"]["price"], record["launch"]["billed"]) == (None, None)
    assert "is there already" in record["launch"]["no_price_reason"]

    said = [last.stdout, last.stderr, client.run("launches", "show", launch["run_id"]).stdout]
    said += [client.run("launches", "logs", launch["run_id"]).stdout]
    assert not any(CANARY in text for text in said)
    files = [path for path in client.home.rglob("*") if path.is_file()]
    assert {"ledger.sqlite", "result.json", "job.log"} <= {path.name for path in files}
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []
