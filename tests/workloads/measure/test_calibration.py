"""Best speeds of this machine: figures of the right size here, laws where a figure cannot be known."""

import pytest
import torch

from planner.launcher.collect.verdict import problems_of
from planner.model.evidence.node_shapes import NodeResult
from planner.workloads.measure.calibration import ON_CPU, CalibrationPlan, calibrate
from planner.workloads.strategies.precision import PrecisionContexts

CPU = torch.device("cpu")
TINY = CalibrationPlan(
    matmul_sizes=(32, 64),
    copy_mib=1,
    all_reduce_mib=(1,),
    peer_mib=1,
    peer_rounds=1,
    seconds_each=0.005,
    max_seconds=60.0,
)


class SingleRankAgreement:
    """The agreement of one rank with itself."""

    def max_over_ranks(self, values):
        return list(values)

    def gather_from_ranks(self, value):
        return [value]


def calibrated(plan, precision="fp32"):
    return calibrate(
        PrecisionContexts(precision, CPU), SingleRankAgreement(), rank=0, world_size=1, device=CPU, plan=plan
    )


def test_the_best_size_is_the_ceiling():
    found = calibrated(TINY)
    assert found["matmul_tflop_per_s"] == max(found["matmul_tflop_per_s_by_size"].values()) > 0
    assert found["rank_matmul_tflop_per_s"] == [found["matmul_tflop_per_s"]]
    assert found["device_copy_gb_per_s"] > 0
    assert found["host_to_device_gb_per_s"] is None
    assert found["all_reduce_bus_gb_per_s_by_size"] == {}


def test_products_are_in_the_declared_precision():
    assert calibrated(TINY, "bf16")["matmul_dtype"] == "bfloat16"
    assert calibrated(TINY, "tf32")["matmul_dtype"] == "float32"


def test_out_of_time_leaves_the_rest_out():
    found = calibrated(CalibrationPlan((32, 64), 1, (1,), 1, 1, seconds_each=0.005, max_seconds=0.0))
    assert list(found["matmul_tflop_per_s_by_size"]) == ["32"]
    assert found["device_copy_gb_per_s"] is None


@pytest.mark.slow
def test_a_real_run_is_held_against_its_own_calibration(bare_node, spec_document):
    spec = spec_document(micro_batch=2, calibrate=True, window={"max_warmup_s": 0.1, "min_s": 0.1})
    run = bare_node().run(spec, processes=2)
    assert run.code == 0, run.stderr
    result = run.result
    calibration = result["calibration"]
    assert len(calibration["rank_matmul_tflop_per_s"]) == 2
    assert list(calibration["all_reduce_bus_gb_per_s_by_size"]) == ["1_mib", "4_mib", "16_mib", "64_mib"]
    (own, there), (back, other) = calibration["peer_gb_per_s"]
    assert (own, other) == (None, None)
    assert min(there, back) > 0
    assert calibration["seconds"] == result["phases"]["calibrate_s"] < 2 * ON_CPU.max_seconds
    assert not [problem for problem in problems_of(NodeResult.model_validate(result)) if "cannot be true" in problem]
    # ... and the same run on a device that could not have done it
    calibration["rank_matmul_tflop_per_s"] = [1e-6, 1e-6]
    assert [problem for problem in problems_of(NodeResult.model_validate(result)) if "cannot be true" in problem]
