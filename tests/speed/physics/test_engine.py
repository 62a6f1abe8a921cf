"""DeepSpeed's host work, compared with hand calculation, with laws, and with recorded steps of one H100."""

from __future__ import annotations

import numpy as np
import pytest

from planner.model.answer.reason import Reason
from planner.model.network.architecture import Decoder
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.cluster import Cluster
from planner.scenario.training_setup import TrainingSetup
from planner.speed.estimator.text_estimator import OF_TEXT, fitted
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.parameters import ABSENT
from planner.speed.physics.planned_text_config import labels_of, planned_text_config
from planner.speed.physics.step import engine_seconds, step
from tests.bundled import bundled_catalog
from tests.speed.physics.decoder_configs import PRIORS, configs

CONSTANTS = PRIORS | {"zero2_ms": 6.0, "zero3_ms": 12.0, "host_newer": 0.5}
LAYERS = 12
ONE_H100, EIGHT_H100 = "lambda/gpu_1x_h100_sxm5", "aws/p5.48xlarge"
RECORDED = {Strategy.DDP: 259.9, Strategy.FSDP2: 264.6, Strategy.ZERO2: 218.0, Strategy.ZERO3: 129.6}
"""Samples/s of gpt-305m, 512 tokens, micro-batch 32, bf16, eager: one H100, torch 2.11, deepspeed 0.19.8."""


@pytest.mark.parametrize(
    ("changes", "ms_a_layer"),
    [
        pytest.param({"zero": 1.0}, 6.0, id="ZeRO-1"),
        pytest.param({"zero": 1.0, "micro_batches": 4.0}, 1.5, id="ZeRO-1, once in four micro-batches"),
        pytest.param({"zero": 2.0}, 6.0, id="ZeRO-2"),
        pytest.param({"zero": 2.0, "micro_batches": 4.0}, 3.75, id="ZeRO-2: 3 each, and 3 once in four"),
        pytest.param({"zero": 3.0, "micro_batches": 4.0}, 12.0, id="ZeRO-3, in every micro-batch"),
        pytest.param({"zero": 3.0, "recompute": 1.0}, 15.96, id="forward passes twice"),
        pytest.param({"zero": 2.0, "adapters": 1.0, "adapted_maps": 2.0}, 2.0, id="4 trained tensors of 12"),
        pytest.param(
            {"zero": 3.0, "experts": 8.0, "sequential_experts": 1.0, "mlp_matrices": 3.0},
            36.0,
            id="8 experts of 3 maps each, called one by one: 24 modules more than 12",
        ),
        pytest.param({"zero": 3.0, "generation": 5.0}, 6.0, id="a host of Hopper's age, twice as fast"),
        pytest.param({"zero": 3.0, "deepspeed": 0.0}, 0.0, id="FSDP"),
        pytest.param({"zero": 0.0}, 0.0, id="DeepSpeed without ZeRO"),
    ],
)
def test_host_work_of_a_micro_batch_by_hand(changes: dict[str, float], ms_a_layer: float) -> None:
    found = engine_seconds(configs(**({"deepspeed": 1.0, "micro_batches": 1.0} | changes)), CONSTANTS)
    assert float(found[0]) == pytest.approx(LAYERS * ms_a_layer / 1000)


def test_host_work_hides_behind_the_device() -> None:
    """The larger of host time (launches and engine) and device time dominates, because the sharpness is 6."""
    rows = [configs(zero=3.0, deepspeed=on, dp=1.0, shards=1.0, micro_batches=1.0) for on in (0.0, 1.0)]
    without, beside = (step(row, CONSTANTS) for row in rows)
    engine = LAYERS * 0.012
    assert without.shares["engine"][0] == 0
    assert engine < beside.seconds[0] < without.seconds[0] + engine
    assert beside.shares["engine"][0] > 0.5
    assert sum(share[0] for share in beside.shares.values()) == pytest.approx(1)


def test_a_calibration_without_the_constants_has_no_engine_work() -> None:
    assert float(engine_seconds(configs(zero=3.0, deepspeed=1.0), ABSENT)[0]) == 0


def gpt(**changes: int) -> Decoder:
    """Return a GPT with 16 layers of width 1,024, or with changed sizes."""
    shape = {"layers": 16, "hidden": 1024, "heads": 16, "kv_heads": 16, "ffn_hidden": 4096} | changes
    return Decoder(
        head_dim=64, mlp="gelu", norm="layernorm", positions="learned", max_positions=8192, vocab=50_257,
        tied_head=False, bias=True, **shape,
    )  # fmt: skip


def planned(
    decoder: Decoder, strategy: Strategy, *, machine: str = ONE_H100, framework: str | None = None, **how: int
) -> dict[str, float]:
    catalog = bundled_catalog()
    node = catalog.nodes[machine]
    sizes = {"micro_batch": 1, "micro_batches": 1} | how
    seq_len = sizes.pop("seq_len", 512)
    found = planned_text_config(
        TrainingSetup(
            workload="asked",
            network=decoder,
            precision=Precision.BF16,
            checkpointing=Checkpointing.NONE,
            strategy=strategy,
            framework=framework,
            compiled=False,
            seq_len=seq_len,
        ),
        Cluster(catalog.accelerators[node.accelerator], node, 1, node.accelerators),
        **sizes,
    )
    assert not isinstance(found, Reason)
    return found


def modelled(config: dict[str, float]) -> float:
    """Return the seconds of a step by the shipped calibration, for a plan without a framework."""
    catalog = bundled_catalog()
    assert catalog.calibration is not None
    labels = labels_of(catalog.accelerators["H100-SXM"], "any")
    return float(np.exp(OF_TEXT.log_step(fitted(catalog.calibration), from_rows([config]), [labels])[0][0]))


@pytest.mark.parametrize("strategy", RECORDED)
def test_recorded_steps_of_an_h100(strategy: Strategy) -> None:
    """Each is within 15 %. Without the engine's work, ZeRO-2 and ZeRO-3 would be predicted 26 and 88 % too fast."""
    seconds = modelled(planned(gpt(), strategy, micro_batch=32))
    assert 32 / seconds == pytest.approx(RECORDED[strategy], rel=0.15)


@pytest.mark.parametrize("micro_batches", [1, 8])
@pytest.mark.parametrize("layers", [4, 16, 64])
def test_more_layers_and_higher_stages_are_never_faster_on_one_device(layers: int, micro_batches: int) -> None:
    of_stage = [
        modelled(planned(gpt(layers=layers), strategy, micro_batches=micro_batches))
        for strategy in (Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3)
    ]
    deeper = [
        modelled(planned(gpt(layers=layers + 1), strategy, micro_batches=micro_batches))
        for strategy in (Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3)
    ]
    assert of_stage == sorted(of_stage)
    assert all(more > fewer for fewer, more in zip(of_stage, deeper, strict=True))


@pytest.mark.parametrize("strategy", [Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3])
def test_host_work_vanishes_behind_larger_layers(strategy: Strategy) -> None:
    """Layers are 1,024, 2,048 and 4,096 wide, with eight samples of 512, 1,024 and 2,048 tokens."""
    longer = []
    for width in (1024, 2048, 4096):
        decoder = gpt(hidden=width, heads=width // 64, kv_heads=width // 64, ffn_hidden=4 * width)
        config = planned(decoder, strategy, seq_len=width // 2, micro_batch=8)
        longer.append(modelled(config) / modelled(config | {"deepspeed": 0.0}) - 1)
    assert longer == sorted(longer, reverse=True)
    assert longer[0] > 0.5
    assert longer[-1] < 0.02


@pytest.mark.parametrize("strategy", [Strategy.ZERO2, Strategy.ZERO3])
def test_host_work_is_negligible_for_llama3_8b_on_eight_h100(strategy: Strategy) -> None:
    llama = bundled_catalog().presets["llama3-8b"].architecture
    assert isinstance(llama, Decoder)
    config = planned(llama, strategy, machine=EIGHT_H100, seq_len=2048, micro_batch=8)
    assert modelled(config) == pytest.approx(modelled(config | {"deepspeed": 0.0}), rel=0.02)


@pytest.mark.parametrize(
    ("strategy", "framework", "deepspeed"),
    [
        pytest.param(Strategy.ZERO1, None, 1, id="the benchmark"),
        pytest.param(Strategy.ZERO3, "HF Trainer, liger", 1, id="HF Trainer"),
        pytest.param(Strategy.ZERO3, "Accelerate", 1, id="Accelerate"),
        pytest.param(Strategy.ZERO1, "Megatron-DeepSpeed", 1, id="Megatron on DeepSpeed"),
        pytest.param(Strategy.ZERO1, "Megatron-LM", 0, id="Megatron's own optimizer"),
        pytest.param(Strategy.ZERO2, "Composer", 0, id="SHARD_GRAD_OP"),
        pytest.param(Strategy.FSDP2, "HF Trainer", 0, id="FSDP"),
        pytest.param(Strategy.DDP, "DeepSpeed", 0, id="nothing sharded"),
    ],
)
def test_plans_that_run_deepspeed(strategy: Strategy, framework: str | None, deepspeed: int) -> None:
    assert planned(gpt(), strategy, framework=framework)["deepspeed"] == deepspeed
