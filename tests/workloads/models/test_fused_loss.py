"""The loss with its gradients is the cross-entropy of torch, by value and by gradient."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.workloads.contract.spec import SpecError
from planner.workloads.contract.spec_reader import from_json
from planner.workloads.models.base import NO_TARGET
from planner.workloads.models.decoder import fused_loss
from planner.workloads.probe.attention_trial import CANNOT_RUN_S, fastest_of
from tests.workloads.test_options import one_step


@settings(max_examples=25, deadline=None)
@given(tokens=st.integers(1, 17), pieces=st.integers(1, 5), padding=st.integers(0, 3), scale=st.floats(0.1, 10))
def test_value_and_gradients_are_those_of_torchs_cross_entropy(tokens, pieces, padding, scale):
    generator = torch.Generator().manual_seed(tokens * 31 + pieces)
    hidden = torch.randn(tokens, 6, generator=generator, requires_grad=True)
    weight = torch.randn(11, 6, generator=generator, requires_grad=True)
    targets = torch.randint(11, (tokens,), generator=generator)
    targets[:padding] = NO_TARGET
    expected = F.cross_entropy(hidden @ weight.t(), targets, reduction="sum", ignore_index=NO_TARGET) * scale
    wanted = torch.autograd.grad(expected, (hidden, weight))

    found = fused_loss(hidden, weight, targets, pieces=pieces, dtype=torch.float32) * scale
    gradients = torch.autograd.grad(found, (hidden, weight))

    assert found.item() == pytest.approx(expected.item(), rel=1e-5, abs=1e-5)
    for gradient, other in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(gradient, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("tied", [False, True], ids=["head", "tied"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_step_trains_the_same_with_it(spec_document, tied, precision):
    spec = spec_document(micro_batch=2, precision=precision)
    spec["architecture"]["tied_head"] = tied
    plain, fused = one_step(spec), one_step(spec, fused_loss=True, loss_chunks=3)

    tolerance = 1e-5 if precision == "fp32" else 2e-2
    assert fused[0] == pytest.approx(plain[0], rel=tolerance)
    for name, gradient in plain[1].items():
        error = (fused[1][name] - gradient).norm() / gradient.norm()
        assert error < (1e-4 if precision == "fp32" else 3e-2), name


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fused_loss": True, "strategy": "fsdp2"}, "goes with ddp, not with fsdp2"),
        ({"fused_loss": True, "precision": "fp16"}, "Take bf16"),
        ({"cuda_graphs": True}, "Write compile: true"),
        ({"attention": "fastest"}, "Choose one of: torch, trial"),
    ],
    ids=["sharded", "fp16", "not compiled", "unknown kernel"],
)
def test_what_it_does_not_go_with_is_refused(spec_document, changes, said):
    with pytest.raises(SpecError, match=said):
        from_json(spec_document(**changes))


def test_the_fastest_kernel_that_runs_is_taken():
    seconds = {"flash": 2.0, "efficient": 3.0, "cudnn": CANNOT_RUN_S}

    assert fastest_of(seconds) == "flash"
    assert fastest_of(dict.fromkeys(seconds, CANNOT_RUN_S)) is None
