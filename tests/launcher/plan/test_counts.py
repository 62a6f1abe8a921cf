"""The planner's counts of each kind of network equal torch's parameters and multiplications."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from pydantic import TypeAdapter

from planner.model.network.architecture import Architecture, TextModel
from planner.model.network.image_architecture import Resnet, Vit
from planner.model.plan.plan import FlopsConvention
from planner.network.flops import flops_per_sample, parameters
from tests.workloads.kinds import KINDS, TINY_MOE, TINY_RESNET, TINY_VIT

torch = pytest.importorskip("torch")

ONES: dict[str, Any] = {**TINY_MOE, "layers": 1, "dense_layers": [], "ffn_hidden": None}
CASES = {
    **KINDS,
    "moe without shared experts": {**TINY_MOE, "shared_experts": 0},
    "moe with biases and gelu": {**TINY_MOE, "bias": True, "mlp": "gelu", "norm": "layernorm", "positions": "learned"},
    "moe of one layer": {key: value for key, value in ONES.items() if value is not None},
    "resnet of an odd size": {**TINY_RESNET, "blocks": [1, 2, 1], "image_size": 45},
    "vit with more patches": {**TINY_VIT, "patch_size": 4},
}


def torch_model(document: dict[str, Any]) -> Any:
    from planner.workloads.contract.spec_reader import architecture_of
    from planner.workloads.models.registry import model_of

    shape = architecture_of(document)
    return model_of(shape, seq_len=32 if document["kind"] == "moe_decoder" else None)


def planned(document: dict[str, Any]) -> Any:
    return TypeAdapter(Architecture).validate_python(document)


@pytest.mark.parametrize("case", CASES)
def test_parameters(case: str) -> None:
    from planner.workloads.models.registry import count_parameters

    with torch.device("meta"):
        assert parameters(planned(CASES[case])) == count_parameters(torch_model(CASES[case]))


@pytest.mark.parametrize("case", CASES)
def test_training_flops_of_one_sample_are_those_of_the_operators(case: str) -> None:
    """Counts are exact: forward and backward, without the gradient of the image.

    A fused attention kernel computes the scores a second time in its backward pass, which the convention leaves out.
    """
    from planner.workloads.measure.op_recorder import OpRecorder

    network = planned(CASES[case])
    model = torch_model(CASES[case])
    model.init_weights(seed=0)
    if isinstance(network, TextModel):
        inputs = torch.randint(0, network.vocab, (1, 32))
        targets, tokens, width = inputs, 32, network.heads * network.head_dim
    else:
        inputs = torch.randint(0, 256, (1, 3, network.image_size, network.image_size), dtype=torch.uint8)
        targets, tokens, width = torch.zeros(1, dtype=torch.long), getattr(network, "tokens", 0), 0
        width = network.hidden if isinstance(network, Vit) else 0
    with OpRecorder() as recorder:
        model(inputs, targets).backward()
    scores_again = 0 if isinstance(network, Resnet) else network.layers * 2 * tokens**2 * width
    seq_len = 32 if isinstance(network, TextModel) else None
    expected = flops_per_sample(network, seq_len=seq_len, convention=FlopsConvention.FULL_ATTENTION) + scores_again
    assert recorder.matmul_flops_by_dtype == {"float32": expected}


def test_float8_products_are_seen_by_the_type_they_hold() -> None:
    """torchao's tensors name the type that they stand for, and hold another."""
    from planner.workloads.measure.op_recorder import matmul_flops

    @dataclasses.dataclass
    class Scaled:
        shape: tuple[int, int]
        dtype: Any
        _data: Any

        def numel(self) -> int:
            return self.shape[0] * self.shape[1]

    held = [torch.empty(size, dtype=torch.float8_e4m3fn) for size in ((2, 3), (3, 5))]
    left, right = (Scaled(tuple(tensor.shape), torch.bfloat16, tensor) for tensor in held)
    assert matmul_flops("mm", [left, right], None) == ("float8_e4m3fn", 60.0)
    assert matmul_flops("_scaled_mm", held, None) == ("float8_e4m3fn", 60.0)
