"""float8 is refused with what is missing; where nothing is, only the blocks' linear maps are converted."""

import importlib.util

import pytest
import torch

from planner.workloads.contract.failure import RunError
from planner.workloads.contract.spec_reader import from_json
from planner.workloads.models import float8
from planner.workloads.models.registry import build_on_meta


@pytest.mark.parametrize(
    ("device_type", "capability", "torchao", "says"),
    [
        pytest.param("cpu", None, True, "this device is none", id="CPU"),
        pytest.param("cuda", (8, 0), True, "this device has 8.0", id="A100"),
        pytest.param("cuda", (7, 0), True, "this device has 7.0", id="V100"),
        pytest.param("cuda", (9, 0), False, "Run: pip install torchao", id="H100 without torchao"),
        pytest.param("cuda", (8, 9), True, None, id="L4"),
        pytest.param("cuda", (12, 0), True, None, id="RTX PRO 6000"),
    ],
)
def test_what_is_missing_is_named(monkeypatch, device_type, capability, torchao, says):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object() if torchao else None)
    problem = float8.problem(device_type, capability)
    assert problem is None if says is None else says in problem


@pytest.mark.skipif(torch.cuda.is_available(), reason="of a CPU")
def test_a_model_is_not_converted_where_it_cannot_run(spec_document):
    model = build_on_meta(from_json(spec_document()))
    with pytest.raises(RunError, match="this device is none"):
        float8.use_float8(model)


@pytest.mark.slow
def test_a_node_without_float8_leaves_a_record_that_says_so(bare_node, spec_document):
    run = bare_node().run(spec_document(precision="float8"), processes=1)
    if torch.cuda.is_available():
        pytest.skip("of a CPU")
    assert run.code == 1
    assert (run.result["exit_reason"], "this device is none" in run.result["error"]) == ("error", True)


def test_only_maps_with_sides_of_sixteen_are_converted():
    assert float8._can_be_float8(torch.nn.Linear(32, 16), "up")
    assert not float8._can_be_float8(torch.nn.Linear(32, 24), "up")


def test_a_batch_of_odd_tokens_is_refused(spec_document):
    with pytest.raises(ValueError, match="is not a multiple of 16"):
        from_json(spec_document(precision="float8", seq_len=9, micro_batch=1))
