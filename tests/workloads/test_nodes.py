"""Two nodes for real: two torchruns on two loopback addresses of this machine, each in a folder of its own."""

import json
import socket
import subprocess
import sys
import time

import pytest

from tests.fakes.ports import free_port

pytestmark = pytest.mark.slow

QUICK = {"max_warmup_s": 0.3, "min_s": 0.1}
PEER_TIMEOUT_S = 3


def start(node, spec, *, rank, port, nodes=2, program="workloads.node"):
    """Start one node of two, or, as `workloads.train`, one rank alone with the variables that torchrun would set."""
    (node.folder / "spec.json").write_text(json.dumps(spec))
    _, variables = node.torchrun(1)
    loopback = next(name for _, name in socket.if_nameindex() if name in ("lo", "lo0"))
    variables = {**variables, "GLOO_SOCKET_IFNAME": loopback}
    given = ["--spec", "spec.json", "--out", "result.json"]
    if program == "workloads.node":
        place = [f"--nodes={nodes}", f"--node-rank={rank}", f"--local-address=127.0.0.{rank + 1}", "--devices=1"]
        given += [*place, "--main-address=127.0.0.1", f"--main-port={port}"]
    else:
        ranks = {"RANK": rank, "LOCAL_RANK": 0, "WORLD_SIZE": nodes, "LOCAL_WORLD_SIZE": 1}
        address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        variables |= {name: str(value) for name, value in (ranks | address).items()}
    return subprocess.Popen(
        [sys.executable, "-m", program, *given],
        cwd=node.folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process):
    """Wait for the end; return (code, stdout, stderr)."""
    with process:
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def left_by(node):
    return {path.name for path in node.folder.iterdir()} - {"workloads", "spec.json"}


def test_two_nodes_train_together(bare_node, spec_document, two_process_run):
    nodes, port = [bare_node(), bare_node()], free_port()
    spec = spec_document(micro_batch=2, window=QUICK)
    processes = [start(node, spec, rank=rank, port=port) for rank, node in enumerate(nodes)]
    (code, out, err), (other_code, other_out, other_err) = (ended(process) for process in processes)
    assert (code, other_code) == (0, 0), err + other_err
    result = json.loads((nodes[0].folder / "result.json").read_text())
    assert (result["nodes"], result["devices_per_node"], result["world_size"]) == (2, 1, 2)
    assert len(result["topology"]) == 2
    assert result["losses_first10"] == pytest.approx(two_process_run.result["losses_first10"], rel=1e-5)
    assert json.loads(out.splitlines()[-1]) == result
    assert left_by(nodes[0]) == {"result.json", "result.json.steps.jsonl"}
    assert (left_by(nodes[1]), other_out) == (set(), "")


@pytest.mark.parametrize("rank", [0, 1], ids=["the other node never comes", "the main node never comes"])
def test_a_node_that_is_alone_ends_in_time_and_says_so(bare_node, spec_document, rank):
    node = bare_node()
    code, out, _ = ended(start(node, spec_document(peer_timeout_s=PEER_TIMEOUT_S), rank=rank, port=free_port()))
    assert code != 0
    says = f"not all of 2 nodes came within {PEER_TIMEOUT_S} s (peer_timeout_s)."
    if rank == 0:
        result = json.loads((node.folder / "result.json").read_text())
        assert (result["exit_reason"], result["error"]) == ("peer_missing", says)
        assert (result["nodes"], result["world_size"], result["spec"]["workload"]) == (2, 2, "cpu-smoke")
        assert json.loads(out.splitlines()[-1]) == result
    else:
        reason = json.loads((node.folder / "result.json.rank1.error").read_text())
        assert (reason["exit_reason"], reason["error"]) == ("peer_missing", says)
        assert not (node.folder / "result.json").exists()


def test_a_rank_that_never_comes_is_named(bare_node, spec_document):
    """Without torchrun's own wait: as a cluster's scheduler starts ranks, or where torchrun came and its rank hung."""
    node = bare_node()
    spec = spec_document(micro_batch=1, peer_timeout_s=PEER_TIMEOUT_S)
    process = start(node, spec, rank=0, port=free_port(), nodes=3, program="workloads.train")
    code, *_ = ended(process)
    assert code == 1
    result = json.loads((node.folder / "result.json").read_text())
    assert result["exit_reason"] == "peer_missing"
    assert result["error"] == f"rank 1, 2 did not come within {PEER_TIMEOUT_S} s (peer_timeout_s)."


def test_a_node_that_dies_ends_the_others_too(bare_node, spec_document):
    nodes, port = [bare_node(), bare_node()], free_port()
    dies = "import os\ndef _dies(self, step):\n    os._exit(7)\nSyntheticTokens.micro_batches = _dies\n"
    nodes[1].append("inputs/tokens.py", dies)
    spec = spec_document(micro_batch=2, window=QUICK)
    processes = [start(node, spec, rank=rank, port=port) for rank, node in enumerate(nodes)]
    codes = [ended(process)[0] for process in processes]
    assert 0 not in codes
    result = json.loads((nodes[0].folder / "result.json").read_text())
    assert result["exit_reason"] == "error"
    assert "peer" in result["error"]


def test_a_node_that_is_asked_to_stop_leaves_what_it_has(bare_node, spec_document):
    node = bare_node()
    endless = {"min_steps": 10**6, "min_s": 600.0, "max_s": 600.0}
    process = start(node, spec_document(window=endless), rank=0, port=free_port(), nodes=1)
    steps, deadline_s = node.folder / "result.json.steps.jsonl", time.monotonic() + 60
    while not (steps.exists() and '"measure"' in steps.read_text()) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    process.terminate()
    assert ended(process)[0] != 0
    assert json.loads((node.folder / "result.json").read_text())["exit_reason"] == "interrupted"


def test_a_wrong_spec_starts_nothing(bare_node, spec_document):
    node = bare_node()
    code, _, err = ended(start(node, spec_document(micro_bach=1), rank=0, port=free_port()))
    assert code == 1
    assert err.startswith("spec.json: micro_bach: is not a known key")
    assert left_by(node) == set()
