"""FLOPs of the passes over completions are those that torch counts."""

from __future__ import annotations

import pytest

from planner.model.plan.plan import FlopsConvention
from planner.network.flops import flops_per_sample
from planner.speed.generation.engine import EngineCopy, EngineDevice
from planner.speed.generation.rollout_step import TrainedPasses

torch = pytest.importorskip("torch")

COMPLETIONS = 4
DEVICE = EngineDevice(bandwidth=1e12, peak=1e14, memory=80e9, link=1e11)


@pytest.mark.parametrize(("reference", "old_policy"), [(True, True), (True, False), (False, True), (False, False)])
def test_flops_of_a_grpo_step_are_those_of_torchs_counter(*, reference: bool, old_policy: bool) -> None:
    """Group-relative loss with its clipped ratio and divergence (Shao et al. 2024, equation 3), within one per cent."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    from tests.workloads.preference_steps import SEQ_LEN, model_of_network, network, pairs
    from tests.workloads.rollout_steps import grpo

    decoder = network(layers=2, hidden=128)
    model = model_of_network(decoder)
    frozen = model_of_network(decoder) if reference else None
    tokens = pairs(decoder, COMPLETIONS // 2)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        grpo(model, frozen, tokens, old_policy=old_policy).backward()
    passes = TrainedPasses(1.0, 0.25, reference=reference, old_policy=old_policy, reward_model=False, critic=False)
    counted = COMPLETIONS * flops_per_sample(
        decoder, seq_len=SEQ_LEN, convention=FlopsConvention.FULL_ATTENTION, forward_only=passes.forward_passes
    )
    assert counted == pytest.approx(counter.get_total_flops(), rel=0.01)


def test_flops_of_prompts_are_those_of_torchs_counter() -> None:
    """A forward pass over whole prompts: products, and attention of every token to all of them."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    from tests.workloads.preference_steps import SEQ_LEN, model_of_network, network, pairs

    decoder = network(layers=2, hidden=128)
    tokens = pairs(decoder, COMPLETIONS // 2)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        model_of_network(decoder).logits(tokens)
    copy = EngineCopy(decoder, DEVICE)
    counted = copy.flops(COMPLETIONS * SEQ_LEN) + copy.attention_flops(COMPLETIONS * SEQ_LEN, SEQ_LEN)
    assert counted == pytest.approx(counter.get_total_flops(), rel=0.01)
