"""One spec, and torchrun as a person would start it on a bare node: workloads/ copied alone to an empty folder."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from planner import workloads

CPU_SMOKE: dict[str, Any] = {
    "schema_version": 1,
    "kind": "spec",
    "workload": "cpu-smoke",
    "architecture": {
        "layers": 2,
        "hidden": 128,
        "heads": 4,
        "kv_heads": 4,
        "head_dim": 32,
        "ffn_hidden": 512,
        "mlp": "gelu",
        "norm": "rmsnorm",
        "norm_eps": 1e-5,
        "bias": False,
        "positions": "learned",
        "max_positions": 128,
        "rope_theta": 10000.0,
        "qk_norm": False,
        "vocab": 1024,
        "tied_head": False,
    },
    "seq_len": 128,
    "micro_batch": 4,
    "grad_accumulation": 1,
    "strategy": "ddp",
    "precision": "fp32",
    "seed": 0,
    "window": {
        "min_warmup_steps": 10,
        "min_warmup_s": 0.0,
        "max_warmup_s": 2.0,
        "min_steps": 10,
        "min_s": 0.3,
        "max_s": 10.0,
    },
}


def smoke(**changes: Any) -> dict[str, Any]:
    """cpu-smoke with a window of under a second; `window` is merged, other keys are replaced."""
    spec = json.loads(json.dumps(CPU_SMOKE))
    spec["window"].update(changes.pop("window", {}))
    spec.update(changes)
    return spec


@dataclass(frozen=True)
class NodeRun:
    """Files that one run left in its folder."""

    folder: Path
    code: int
    stdout: str
    stderr: str

    @property
    def result(self) -> dict[str, Any]:
        return json.loads((self.folder / "result.json").read_text())

    @property
    def steps(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "result.json.steps.jsonl").read_text().splitlines()]


class BareNode:
    """A folder with workloads/ and nothing else of ours."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(
            Path(workloads.__file__).parent, folder / "workloads", ignore=shutil.ignore_patterns("__pycache__")
        )

    def append(self, name: str, text: str) -> None:
        """Change this copy of workloads/, to make a run fail as machines do."""
        path = self.folder / "workloads" / name
        path.write_text(path.read_text() + text)

    def curves(self, specs: list[dict[str, Any]], *, processes: int, compiler: bool = False) -> list[list[float]]:
        """Return the first losses of every spec, all trained by the same processes one after the other."""
        shutil.copy(Path(__file__).with_name("curves.py"), self.folder)
        (self.folder / "specs.json").write_text(json.dumps(specs))
        torchrun, variables = self.torchrun(processes)
        if compiler:
            variables = {name: value for name, value in variables.items() if name not in ("CC", "CXX")}
        done = subprocess.run(
            [*torchrun, "curves.py", "specs.json"],
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def prepare(self, spec: dict[str, Any], processes: int) -> tuple[list[str], dict[str, str]]:
        (self.folder / "spec.json").write_text(json.dumps(spec))
        torchrun, variables = self.torchrun(processes)
        return [*torchrun, "-m", "workloads.train", "--spec", "spec.json", "--out", "result.json"], variables

    def torchrun(self, processes: int) -> tuple[list[str], dict[str, str]]:
        """Return the command and its variables; whatever wants to compile something fails."""
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "OMP_"))}
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1"]
        no_compiler = {
            "CC": "/no/compiler",
            "CXX": "/no/compiler",
            "TORCH_EXTENSIONS_DIR": str(self.folder / "extensions"),
        }
        return [*torchrun, f"--nproc_per_node={processes}"], {**variables, **no_compiler, "OMP_NUM_THREADS": "1"}

    def run(self, spec: dict[str, Any], *, processes: int) -> NodeRun:
        command, variables = self.prepare(spec, processes)
        done = subprocess.run(
            command, cwd=self.folder, env=variables, capture_output=True, text=True, timeout=120, check=False
        )
        return NodeRun(self.folder, done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def bare_node(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], BareNode]:
    return lambda: BareNode(tmp_path_factory.mktemp("node"))


@pytest.fixture(scope="session")
def spec_document() -> Callable[..., dict[str, Any]]:
    return smoke


@pytest.fixture(scope="session")
def two_process_run(bare_node: Callable[[], BareNode]) -> NodeRun:
    """Return the one real run that most tests read: 2 processes, micro-batch 2, so a global batch of 4."""
    return bare_node().run(smoke(micro_batch=2), processes=2)


@pytest.fixture(scope="session")
def strategy_runs(bare_node: Callable[[], BareNode], two_process_run: NodeRun) -> dict[str, NodeRun]:
    """Return the same run by every strategy, each from a fresh start."""
    window = {"max_warmup_s": 0.5, "min_s": 0.1}
    others = [name for name in workloads.contract.spec.STRATEGIES if name != "ddp"]
    return {
        "ddp": two_process_run,
        **{name: bare_node().run(smoke(micro_batch=2, strategy=name, window=window), processes=2) for name in others},
    }
