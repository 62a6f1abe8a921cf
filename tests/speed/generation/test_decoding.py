"""Seconds of a decoding step against sums done by hand, and laws that every engine keeps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.network.architecture import Decoder, MoeDecoder
from planner.network.flops import matmul_parameters, parameters
from planner.speed.generation.engine import (
    DECODING,
    TRAINERS_OWN,
    EngineConstants,
    EngineCopy,
    EngineDevice,
    decoding_step,
    prompt_seconds,
)

SHAPE = {
    "layers": 10, "hidden": 1000, "heads": 10, "kv_heads": 2, "head_dim": 100, "mlp": "swiglu", "norm": "rmsnorm",
    "positions": "rope", "max_positions": 4096, "vocab": 5000, "tied_head": True,
}  # fmt: skip
DENSE = Decoder.model_validate(SHAPE | {"ffn_hidden": 2000})
MIXTURE = MoeDecoder.model_validate(
    SHAPE | {"kind": "moe_decoder", "experts": 8, "experts_per_token": 2, "moe_ffn_hidden": 2000}
)
DEVICE = EngineDevice(bandwidth=1e12, peak=1e14, memory=80e9, link=1e11)
WHOLE = EngineConstants(bandwidth=1.0, compute=1.0, layer_us=0.0, sequence_us=0.0, exchange_us=0.0)
"""Engine that reaches its hardware's peaks and has no work of its own."""


def test_one_sequence_reads_weights_and_its_cache() -> None:
    """10 layers x (2.4e6 attention + 6e6 MLP) + head 5e6 = 89e6 numbers of 2 bytes, at 1 TB/s; a token keeps 8 kB."""
    step = decoding_step(EngineCopy(DENSE, DEVICE), WHOLE, batch=1, context=1000)
    assert step.products == pytest.approx(89e6 * 2 / 1e12, rel=1e-4)
    assert step.cache == pytest.approx(1000 * 2 * 10 * 2 * 100 * 2 / 1e12)
    assert step.exchange == step.engine == 0


def test_a_large_batch_is_bound_by_products() -> None:
    """2 FLOPs a parameter and token at 100 TFLOP/s are longer than reading 178 MB where 10,000 tokens are computed."""
    step = decoding_step(EngineCopy(DENSE, DEVICE), WHOLE, batch=10_000, context=0)
    assert step.products == pytest.approx(2 * matmul_parameters(DENSE) * 10_000 / 1e14, rel=0.01)


def test_few_tokens_meet_few_experts() -> None:
    """One token of a mixture reads 2 of 8 experts; of many tokens the weights of all are read."""
    copy = EngineCopy(MIXTURE, DEVICE)
    expert = 10 * 3 * 1000 * 2000 * 2
    assert copy.weights_read(1000) - copy.weights_read(1) == pytest.approx(6 * expert, rel=1e-6)


def test_devices_divide_weights_and_add_exchanges() -> None:
    """Two devices read half each; 10 layers x 2 all-reduces x (10 us + 1 x 2,000 bytes / 70 GB/s)."""
    constants = EngineConstants(bandwidth=1.0, compute=1.0, layer_us=0.0, sequence_us=0.0, exchange_us=10.0)
    whole, two = (EngineCopy(DENSE, DEVICE, tensor=tensor) for tensor in (1, 2))
    assert two.weights == parameters(DENSE)
    assert two.token_cache == whole.token_cache / 2
    assert EngineCopy(DENSE, DEVICE, tensor=4).token_cache == two.token_cache, "two heads cannot be cut into four"
    step = decoding_step(two, constants, batch=1, context=0)
    assert step.exchange == pytest.approx(20 * (10e-6 + 2000 / 70e9))


def test_launches_from_python_hide_the_device() -> None:
    """The trainer's own generation takes as long as its launches, which a small network does not outlast."""
    step = decoding_step(EngineCopy(DENSE, DEVICE), TRAINERS_OWN, batch=1, context=100)
    assert step.seconds == pytest.approx(10 * TRAINERS_OWN.launch_us * 1e-6, rel=0.01)


def test_prompts_are_products() -> None:
    """8,192 prompt tokens: 2 FLOPs a parameter, and attention over half a prompt of 1,024 tokens on average."""
    copy = EngineCopy(DENSE, DEVICE)
    linear, attention = 2 * matmul_parameters(DENSE) * 8192, 4 * 10 * 1000 * 512 * 8192
    expected = (linear + attention) / 1e14
    assert prompt_seconds(copy, WHOLE, prompts=8, tokens=1024) == pytest.approx(expected, rel=0.01)


@given(
    batch=st.floats(1, 2000), more=st.floats(1, 4), context=st.floats(1, 50_000), tensor=st.sampled_from([1, 2, 4]),
    network=st.sampled_from([DENSE, MIXTURE]), constants=st.sampled_from([DECODING, TRAINERS_OWN]),
)  # fmt: skip
def test_more_work_takes_longer_and_less_for_each_token(
    batch: float, more: float, context: float, tensor: int, network: Decoder | MoeDecoder, constants: EngineConstants
) -> None:
    """A larger batch takes longer, and no longer for each token; a longer context never helps."""
    copy = EngineCopy(network, DEVICE, tensor=tensor)
    small = decoding_step(copy, constants, batch=batch, context=context).seconds
    large = decoding_step(copy, constants, batch=batch * more, context=context).seconds
    longer = decoding_step(copy, constants, batch=batch, context=context * more).seconds
    assert small <= large * (1 + 1e-9) <= small * more * (1 + 1e-6)
    assert small <= longer * (1 + 1e-9)
