import dataclasses
import math

import pytest
import torch

from planner.workloads.contract.spec_reader import from_json
from planner.workloads.inputs.tokens import SyntheticTokens, sequence
from planner.workloads.models.layers import AttentionLayer
from planner.workloads.models.registry import build_on_meta, count_parameters

GPT_305M = {
    "hidden": 1024,
    "layers": 16,
    "heads": 16,
    "kv_heads": 16,
    "head_dim": 64,
    "ffn_hidden": 4096,
    "norm": "layernorm",
    "bias": True,
    "max_positions": 512,
    "vocab": 50257,
}
QWEN3_06B = {
    "hidden": 1024,
    "layers": 28,
    "heads": 16,
    "kv_heads": 8,
    "head_dim": 128,
    "ffn_hidden": 3072,
    "mlp": "swiglu",
    "norm_eps": 1e-6,
    "qk_norm": True,
    "positions": "rope",
    "rope_theta": 1e6,
    "vocab": 151936,
    "tied_head": True,
}
LLAMA3_8B = {
    "hidden": 4096,
    "layers": 32,
    "heads": 32,
    "kv_heads": 8,
    "head_dim": 128,
    "ffn_hidden": 14336,
    "mlp": "swiglu",
    "positions": "rope",
    "rope_theta": 5e5,
    "vocab": 128256,
}


def filled(spec):
    model = build_on_meta(spec).to_empty(device="cpu")
    model.init_weights(spec.seed)
    return model


@pytest.fixture
def modern(spec_document):
    """Return a small model with every other choice: RoPE, grouped heads, per-head norm, SwiGLU, tied head."""
    spec = from_json(spec_document())
    changes = {"kv_heads": 2, "mlp": "swiglu", "positions": "rope", "qk_norm": True, "tied_head": True}
    return dataclasses.replace(spec, architecture=dataclasses.replace(spec.architecture, **changes))


@pytest.mark.parametrize(
    ("changes", "parameters"),
    [
        pytest.param({}, 672_384, id="cpu-smoke"),
        pytest.param(GPT_305M, 304_992_256, id="gpt-305m"),
        pytest.param(QWEN3_06B, 596_049_920, id="qwen3-0.6b, as published"),
        pytest.param(LLAMA3_8B, 8_030_261_248, id="llama3-8b, as published"),
    ],
)
def test_parameters_are_exactly_those_of_the_architecture(spec_document, changes, parameters):
    spec = from_json(spec_document())
    spec = dataclasses.replace(spec, architecture=dataclasses.replace(spec.architecture, **changes))
    assert count_parameters(build_on_meta(spec)) == parameters


def test_an_untrained_model_knows_nothing(modern):
    inputs = torch.randint(0, 1024, (2, 128), generator=torch.Generator().manual_seed(0))
    loss = filled(modern)(inputs, inputs.roll(-1, dims=1))
    assert loss.item() == pytest.approx(math.log(1024), abs=0.3)


def test_a_token_does_not_see_its_future(modern):
    model = filled(modern)
    inputs = torch.randint(0, 1024, (1, 128), generator=torch.Generator().manual_seed(0))
    other = inputs.clone()
    other[0, 100:] = 7
    with torch.no_grad():
        before, after = model.logits(inputs), model.logits(other)
    torch.testing.assert_close(before[0, :100], after[0, :100])
    assert not torch.allclose(before[0, 100:], after[0, 100:])


def test_rotary_scores_depend_on_the_distance_alone(modern):
    from planner.workloads.models.layers import _rotate, rope_tables

    rope = rope_tables(modern.architecture, seq_len=128, device=torch.device("cpu"))
    generator = torch.Generator().manual_seed(0)
    query, key = (torch.randn(32, generator=generator).expand(1, 1, 128, 32) for _ in range(2))
    scores = (_rotate(query, rope) @ _rotate(key, rope).transpose(-1, -2))[0, 0]
    torch.testing.assert_close(scores[10, 3], scores[107, 100], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("precision", [torch.bfloat16, torch.float16])
def test_a_step_under_autocast_stays_near_fp32(modern, precision):
    model = filled(modern)
    inputs, targets = SyntheticTokens(modern, rank=0, world_size=1, device=torch.device("cpu")).micro_batches(0)[0]
    with torch.no_grad():
        exact = model(inputs, targets)
        with torch.autocast("cpu", dtype=precision):
            rough = model(inputs, targets)
    assert rough.item() == pytest.approx(exact.item(), rel=0.01)


def test_data_does_not_depend_on_how_the_batch_is_split(spec_document):
    alone = from_json(spec_document(micro_batch=4))
    shared = from_json(spec_document(micro_batch=1, grad_accumulation=2))
    cpu = torch.device("cpu")
    whole = SyntheticTokens(alone, rank=0, world_size=1, device=cpu).micro_batches(3)[0][0]
    parts = [SyntheticTokens(shared, rank=rank, world_size=2, device=cpu).micro_batches(3) for rank in (0, 1)]
    assert torch.equal(whole, torch.cat([parts[rank][micro][0] for micro in (0, 1) for rank in (0, 1)]))


def test_tokens_are_in_range_and_common_words_are_common(spec_document):
    spec = from_json(spec_document())
    tokens = torch.cat([sequence(spec, number) for number in range(100)])
    assert tokens.min() >= 0
    assert tokens.max() < 1024
    # P(0) = log 2 / log 1024 = 0.1 by the formula
    assert (tokens == 0).double().mean().item() == pytest.approx(0.1, abs=0.01)


def test_a_window_hides_what_is_further_back():
    attention = AttentionLayer(8, heads=2, kv_heads=1, head_dim=4, bias=False, causal=True, window=3)
    hidden = torch.randn(1, 10, 8, generator=torch.Generator().manual_seed(0))
    before = attention(hidden, None)
    hidden[0, 4] += 1.0
    changed = (attention(hidden, None) - before).abs().amax(dim=-1)[0] > 1e-6
    assert changed.tolist() == [number in (4, 5, 6) for number in range(10)]
