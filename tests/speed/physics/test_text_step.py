"""Single parts of a step, compared with hand calculation, and the settings that change them."""

from __future__ import annotations

import numpy as np
import pytest

from planner.speed.physics import communication, compute, part_formula
from planner.speed.physics.accelerator_facts import accelerator_facts, peak_flops, power_budget
from planner.speed.physics.config_arrays import GENERATIONS, from_rows
from planner.speed.physics.step import smooth_maximum, step
from tests.bundled import bundled_catalog
from tests.speed.physics.decoder_configs import FFN, FREE, HIDDEN, PRIORS, configs, described


def test_the_last_wave_of_small_products_is_counted() -> None:
    """Half a wave of a million outputs, with inner sizes of 1024 (three times) and 4096: 7.168 GFLOP per layer."""
    found = compute.wasted_flops(configs(), PRIORS | {"wave_k": 1000.0})
    assert float(found[0]) == pytest.approx(2 * (2 * HIDDEN + HIDDEN + FFN) * 0.5e6)


@pytest.mark.parametrize(
    ("budget", "vector", "share"),
    [
        pytest.param(1.0, 0.0, 0.8, id="the common power"),
        pytest.param(0.5, 0.0, 0.8 / 2**0.25, id="half of it"),
        pytest.param(2.0, 0.0, 0.8 * 2**0.25, id="twice"),
        pytest.param(16.0, 0.0, 1.1, id="no clock above a tenth over the rated one"),
        pytest.param(0.5, 1.0, 0.95, id="ordinary cores: the same in all generations"),
    ],
)
def test_power_limits_the_clock_of_large_products(budget: float, vector: float, share: float) -> None:
    constants = PRIORS | {"gemm_ampere": 0.8, "gemm_power": 0.25, "gemm_vector": 0.95}
    found = compute.gemm_share(configs(power=budget, vector_rate=vector), constants)
    assert float(found[0]) == pytest.approx(share)


def test_blackwell_scales_blocks_of_narrow_numbers_itself() -> None:
    """Blackwell's 8-bit share is its 16-bit share x 0.9 x 1.1; Ampere lacks the last factor."""
    constants = PRIORS | {"gemm_blackwell": 0.7, "gemm_ampere": 0.8, "gemm_8bit": 0.9, "gemm_scaled": 1.1}
    blackwell = GENERATIONS.index("blackwell")
    shares = [
        float(compute.gemm_share(configs(power=1.0, **changes), constants)[0])
        for changes in ({"generation": blackwell, "format_step": 1.0}, {"generation": blackwell}, {"format_step": 1.0})
    ]
    assert shares == pytest.approx([0.7 * 0.9 * 1.1, 0.7, 0.8 * 0.9])


def test_8_bit_products_read_one_byte_and_write_two() -> None:
    """A number takes 1.5 bytes on average in place of two, weights included."""
    narrow, usual = (float(compute.layer_parts(configs(format_step=step), PRIORS)["traffic"][0]) for step in (1.0, 0.0))
    assert narrow == pytest.approx(usual * 0.75)


def test_a_power_budget_follows_from_data_sheets() -> None:
    """An RTX 4090 has 450 W for 165.2 TFLOPS, an L40S 350 W for 362; a TPU's power is unknown."""
    of = bundled_catalog().accelerators
    assert power_budget(of["RTX-4090"]) == pytest.approx(450 / 165.2 / (350 / 362))
    assert power_budget(of["MI100"]) == pytest.approx(300 / 184.6 / (750 / 1307.4)), "by its faster 16 bits"
    assert power_budget(of["TPU-v5e"]) == 1


@pytest.mark.parametrize(
    "usual",
    ["P100-SXM2-16GB", "V100-SXM2-32GB", "T4", "A100-80GB-SXM", "L40S", "H100-SXM", "B200-SXM", "MI300X", "Gaudi2"],
)
def test_the_common_card_of_a_generation_has_a_budget_of_one(usual: str) -> None:
    assert power_budget(bundled_catalog().accelerators[usual]) == pytest.approx(1)


def test_16_bits_are_never_slower_than_32() -> None:
    """Large products on every accelerator reach at least the fp32 rate in fp16 and bf16, by the shipped constants."""
    catalog = bundled_catalog()
    assert catalog.calibration is not None
    constants, slower = catalog.calibration.constants, []
    for accelerator in catalog.accelerators.values():
        rates = {}
        for name in ("16bit", "bf16", "fp32"):
            if peak_flops(accelerator, name) is not None and accelerator.hbm_gb_per_s is not None:
                facts = configs(**accelerator_facts(accelerator, name))
                rates[name] = float((facts.peak * compute.gemm_share(facts, constants))[0])
        if "fp32" in rates and min(rates.values()) < rates["fp32"] * 0.999:
            slower.append((accelerator.id, rates))
    assert slower == []


def test_a_product_ten_times_as_large_loses_a_tenth_of_the_share() -> None:
    """The wave is lost once for any number of tokens."""
    shares = []
    for tokens in (1, 10):
        c = configs(micro_batch=tokens)
        useful = 2 * part_formula.micro_tokens(c) * part_formula.layer_matrices(c)
        shares.append(float((compute.wasted_flops(c, PRIORS) / useful)[0]))
    assert shares[1] == pytest.approx(shares[0] / 10)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        pytest.param({"unaligned": 1.0}, "logits", id="a vocabulary that is not a multiple of eight"),
        pytest.param({"outliers": 1.0, "adapters": 1.0}, "products", id="8-bit weights with outliers apart"),
        pytest.param({"early": 1.0}, "attention", id="an attention kernel of the first kind"),
        pytest.param({"flash": 0.5}, "attention", id="an attention kernel that may be fused or not"),
    ],
)
def test_a_slower_kernel_takes_longer(changes: dict[str, float], part: str) -> None:
    before = configs(**({"adapters": 1.0} if "adapters" in changes else {}))
    usual, other = step(before, PRIORS), step(configs(**changes), PRIORS)
    assert float(other.seconds[0] * other.shares[part][0]) > float(usual.seconds[0] * usual.shares[part][0])


@pytest.mark.parametrize(
    ("head", "like", "slower"),
    [
        pytest.param(80, 96, 1.0, id="a last tile that is half empty"),
        pytest.param(64, 64, 1.0, id="whole tiles"),
        pytest.param(256, 256, 1 / 0.8, id="wider than most kernels are made for"),
        pytest.param(160, 192, 1 / 0.8, id="wide heads have wider tiles"),
    ],
)
def test_a_fused_kernel_computes_whole_tiles_of_a_head(head: int, like: int, slower: float) -> None:
    """Half of 4 x 1,024 x 1,024 FLOPs per number of 16 heads, in 3.5 passes at 0.5 of 312 TFLOPS."""
    c = configs(q_dim=16.0 * head, early=0.0)
    constants = PRIORS | {"attention": 0.5, "attention_wide": 0.8}
    expected = 4 * 1024 * 1024 * 0.5 * 16 * like * 3.5 * slower / (0.5 * 312e12)
    assert float(compute.layer_parts(c, constants)["attention"][0]) == pytest.approx(expected)


def test_ordinary_cores_need_no_alignment() -> None:
    plain = {"vector_rate": 1.0}
    aligned, unaligned = (compute.head_seconds(configs(**plain, unaligned=flag), PRIORS) for flag in (0.0, 1.0))
    assert float(aligned[0]) == pytest.approx(float(unaligned[0]))


def test_launches_are_saved_by_compiling_and_not_by_fusing_by_hand() -> None:
    eager, by_hand, compiled = (
        float(compute.host_seconds(configs(**changes), PRIORS)[0])
        for changes in ({}, {"fused": 1.0}, {"fused": 1.0, "compiled": 1.0})
    )
    assert by_hand == pytest.approx(eager)
    assert compiled == pytest.approx(eager * PRIORS["host_fused"])


@pytest.mark.parametrize(
    ("small", "large", "exponent", "value"),
    [
        (3.0, 4.0, 2.0, 5.0),
        (3.0, 4.0, 1.0, 7.0),
        (2.0, 2.0, 6.0, 2 * 2 ** (1 / 6)),
        (5.0, 0.0, 3.0, 5.0),
        (1e-9, 1e9, 6.0, 1e9),
    ],
    ids=["Pythagoras", "a sum", "equals", "nothing beside", "far apart"],
)
def test_a_smooth_maximum(small: float, large: float, exponent: float, value: float) -> None:
    """(a^k + b^k)^(1/k), in either order."""
    for first, second in ((small, large), (large, small)):
        assert float(smooth_maximum(np.array([first]), np.array([second]), exponent)[0]) == pytest.approx(value)


def test_autocast_costs_passes_and_launches() -> None:
    stored, cast = (configs(autocast=flag) for flag in (0.0, 1.0))
    passes = [float(compute.layer_parts(config, PRIORS)["elementwise"][0]) for config in (stored, cast)]
    launches = [float(compute.host_seconds(config, PRIORS)[0]) for config in (stored, cast)]
    assert passes[1] == pytest.approx(passes[0] * PRIORS["elementwise_cast"])
    compiled = [
        float(compute.layer_parts(configs(autocast=flag, fused=1.0), PRIORS)["elementwise"][0]) for flag in (0.0, 1.0)
    ]
    assert compiled[0] == compiled[1]
    assert launches[1] == pytest.approx(launches[0] * PRIORS["host_cast"])


def test_a_pipeline_keeps_sharded_weights_gathered() -> None:
    """Four stages of two replicas send nothing per micro-batch, and per step the same bytes as ZeRO-2."""
    spread = {"dp": 2.0, "pp": 4.0, "shards": 2.0, "gradient_bytes": 2.0}
    sharded, reduced = configs(**spread, zero=3.0), configs(**spread, zero=2.0)
    assert float(communication.sharded_seconds(sharded, PRIORS)[0]) == 0.0
    seconds = [float(communication.gradient_seconds(config, PRIORS)[0]) for config in (sharded, reduced)]
    assert seconds[0] == pytest.approx(seconds[1])
    alone = configs(**spread | {"pp": 1.0, "dp": 8.0, "shards": 8.0}, zero=3.0)
    assert float(communication.sharded_seconds(alone, PRIORS)[0]) > 0.0


def test_a_newer_accelerator_has_a_newer_host() -> None:
    older, usual, newer = (
        float(compute.host_seconds(from_rows([described(machine)]), PRIORS)[0])
        for machine in ("aws/p3.16xlarge", "aws/p4d.24xlarge", "aws/p5.48xlarge")
    )
    assert older / usual == pytest.approx(PRIORS["host_older"])
    assert newer / usual == pytest.approx(PRIORS["host_newer"])


def test_traffic_inside_a_layer_hides_behind_a_slow_host() -> None:
    """Collectives wait in the device's queue, so a device that waits for launches does them in that time."""
    slow_host = PRIORS | {"host_us": 3000.0}
    seconds = [
        float(step(configs(tp=8.0, dp=1.0, intra=described()["intra"] * factor), slow_host).seconds[0])
        for factor in (1.0, 0.7)
    ]
    assert np.log(seconds[1] / seconds[0]) < 0.05


def test_context_traffic_hides_behind_attention() -> None:
    """Traffic of t seconds is exposed for (t^3 + a^3)^(1/3) - a, if attention takes a; nothing else is split."""
    c = configs(cp=2.0, dp=1.0, seq_len=32768.0, intra=5e9)
    found = step(c, PRIORS)
    attention = float(compute.layer_parts(c, PRIORS)["attention"][0] * c.layers[0])
    traffic = float(communication.context_seconds(c, PRIORS)[0] * c.layers[0])
    exposed = (traffic**3 + attention**3) ** (1 / 3) - attention
    assert float((found.shares["split"] / found.shares["attention"])[0]) == pytest.approx(exposed / attention)
    assert 0.01 < exposed / traffic < 0.9


def test_blocks_of_a_context_travel_around_the_ring_again_if_the_forward_pass_is_repeated() -> None:
    """3/4 of 32,768 x 2 x 1,024 numbers travel three or four times, with a message for each of three blocks."""
    once, again = (
        float(communication.context_seconds(configs(cp=4.0, seq_len=32768.0, intra=1e9, recompute=share), alone)[0])
        for share in (0.0, 1.0)
        for alone in [FREE | {"message_us": 50.0}]
    )
    round_seconds = 3 / 4 * 32768 * 2 * HIDDEN * 2 / 1e9 + 3 * 50e-6
    assert [once, again] == pytest.approx([3 * round_seconds, 4 * round_seconds])
