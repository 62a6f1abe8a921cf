"""A probe on the CPU, by two processes: what it measures, what it leaves out, and the record that it becomes."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from planner.launcher.collect.probe_record import is_probe, probe_record_of
from planner.model.evidence.probe import KernelKind
from planner.workloads.measure.device_load import cpu_busy_share, cpu_problem
from planner.workloads.probe.plan import ON_CPU, ON_CUDA
from tests.workloads.conftest import BareNode, NodeRun

TINY = """
ON_CPU = ProbePlan(
    products=(LayerShape(16, 64, 32, 128, head_dim=32), LayerShape(32, 64, 32, 128, head_dim=32)),
    attention=(AttentionShape(1, 2, 32, 16),),
    vocabularies=(100, 200),
    loss_tokens=16,
    loss_hidden=64,
    optimizer_parameters=2**20,
    copy_mib=1,
    flush_mib=1,
    layer_length=16,
    collective_mib=(1,),
    precisions=("fp32", "bf16", "fp16"),
    seconds_each=0.001,
    sustained_s=0.2,
    max_seconds=60.0,
)
"""


@pytest.fixture(scope="module")
def probed(bare_node: Callable[[], BareNode], spec_document: Callable[..., dict[str, Any]]) -> NodeRun:
    node = bare_node()
    node.append("probe/plan.py", TINY)
    (node.folder / "data").mkdir()
    (node.folder / "data" / "tokens.bin").write_bytes(bytes(5 * 2**20))
    spec = spec_document(probe={"folder": "data"}, busy_device="allow", workload="probe")
    return node.run(spec, processes=2)


def test_every_kind_that_a_cpu_has_is_measured(probed: NodeRun) -> None:
    assert probed.code == 0, probed.stderr
    kinds = {row["kind"] for row in probed.result["probe"]["kernels"]}

    assert kinds == {
        "copy", "products", "optimizer", "loss", "elementwise", "attention", "layer", "read", "all_reduce",
        "all_gather", "reduce_scatter",
    }  # fmt: skip
    assert all(row["seconds"] > 0 for row in probed.result["probe"]["kernels"])


def test_products_have_four_shapes_a_layer_in_each_format_and_seven_maps_in_all(probed: NodeRun) -> None:
    products = [row for row in probed.result["probe"]["kernels"] if row["kind"] == "products"]

    by_layer: dict[tuple[int, str], int] = {}
    for row in products:
        key = (row["shape"]["tokens"], row["precision"])
        by_layer[key] = by_layer.get(key, 0) + row["shape"]["times"]
    assert by_layer == {(16, "fp32"): 7, (32, "fp32"): 7, (16, "bf16"): 7, (32, "bf16"): 7}


def test_what_is_left_out_is_named_with_its_reason(probed: NodeRun) -> None:
    left_out = "; ".join(probed.result["probe"]["left_out"])

    assert "products fp16: this device has no hardware for it" in left_out
    assert "host_to_device: the device is the host" in left_out
    assert "layer fp32 compiled: " in left_out, "the node has no compiler"


def test_collectives_are_among_two_devices_and_the_folder_is_read_whole(probed: NodeRun) -> None:
    rows = probed.result["probe"]["kernels"]

    assert {row["devices"] for row in rows if row["kind"] == "all_reduce"} == {2}
    assert [row["shape"] for row in rows if row["kind"] == "read"] == [{"bytes": 5 * 2**20}]


def test_the_result_becomes_a_checked_record(probed: NodeRun) -> None:
    assert is_probe(probed.result)
    record = probe_record_of(probed.result, aliases={})

    assert record.hardware.accelerator == "CPU"
    assert record.hardware.accelerators == 2
    assert record.sustained is not None
    assert set(record.of_kind) <= set(KernelKind)
    assert json.loads(record.model_dump_json())["id"].startswith("probe-cpu-x2-")


def test_standard_shapes_are_24_products_from_1024_to_8192_and_2048_to_32768_tokens() -> None:
    assert len(ON_CUDA.products) * 4 == len(ON_CPU.products) * 4 == 24
    assert {layer.hidden for layer in ON_CUDA.products} == {1024, 2048, 4096, 8192}
    assert {min(layer.tokens for layer in ON_CUDA.products), max(layer.tokens for layer in ON_CUDA.products)} == {
        2048,
        32768,
    }
    assert ON_CUDA.sustained_s >= 20
    assert ON_CPU.sustained_s >= 20


@pytest.mark.parametrize(
    ("second", "share"),
    [("cpu  110 0 10 880 0 0 0 0 0 0\n", 0.2), ("cpu  150 0 50 800 0 0 0 0 0 0\n", 1.0)],
    ids=["a fifth", "all"],
)
def test_busy_share_is_what_of_the_passed_time_was_not_idle(second: str, share: float) -> None:
    texts = iter(["cpu  100 0 0 800 0 0 0 0 0 0\n", second])

    busy = cpu_busy_share(read=lambda: next(texts), pause_s=0.0)

    assert busy == pytest.approx(share)
    assert (cpu_problem(busy) is None) is (share < 0.3)


def test_a_system_that_does_not_tell_refuses_nothing() -> None:
    assert cpu_problem(cpu_busy_share(read=lambda: "", pause_s=0.0)) is None
