"""The optimizer's traffic by hand: bytes read and written per parameter, over the 28 of Adam in fp32."""

from __future__ import annotations

import pytest

from planner.model.answer.reason import Reason
from planner.model.network.adapters import Adapters
from planner.model.network.trainer_memory import TrainerSettings
from planner.speed.physics.planned_text_config import planned_attention, planned_trainer
from planner.speed.physics.step import step
from tests.bundled import bundled_catalog
from tests.speed.physics.decoder_configs import PRIORS, configs, described


def changed(adapters: Adapters | None = None, *, paged: float = 0.0, **settings: str) -> dict[str, float]:
    found = planned_trainer(
        TrainerSettings.model_validate(settings), adapters=adapters, sixteen_bit=True, paged=paged
    )  # fmt: skip
    assert not isinstance(found, Reason)
    return found


@pytest.mark.parametrize(
    ("settings", "moved"),
    [
        pytest.param({}, 8 + 4 + 16, id="adam: weight twice, gradient once, moments twice"),
        pytest.param({"optimizer": "adamw-8bit"}, 8 + 4 + 4, id="8-bit moments"),
        pytest.param({"optimizer": "adamw-4bit"}, 8 + 4 + 2, id="4-bit moments"),
        pytest.param({"optimizer": "sgd"}, 8 + 4 + 8, id="one moment"),
        pytest.param({"optimizer": "adafactor"}, 8 + 12, id="the gradient three times"),
        pytest.param({"weights": "16bit"}, 4 + 2 + 8, id="all at 16 bit"),
        pytest.param({"weights": "16bit", "optimizer": "sgd"}, 4 + 2 + 4, id="momentum at 16 bit"),
        pytest.param({"optimizer": "paged-adamw"}, 8 + 4 + 16, id="paged, with room on the device"),
    ],
)
def test_the_bytes_that_a_step_moves(settings, moved):
    assert changed(**settings)["optimizer_scale"] == pytest.approx(moved / 28)


def test_adapters_are_kept_in_fp32():
    assert changed(Adapters(), weights="16bit")["optimizer_scale"] == 1.0
    assert "gradient_bytes" not in changed(Adapters(), weights="16bit")


def test_bytes_that_a_paged_optimizer_moves_to_the_host_and_back():
    assert changed(optimizer="paged-adamw", paged=0.5)["paged_bytes"] == 8.0
    assert changed(optimizer="paged-adamw-8bit", paged=0.5)["paged_bytes"] == 2.0


def test_stated_kernels():
    assert changed(kernels="fused") == changed() | {"fused": 1.0}
    assert changed(kernels="eager") == changed() | {"fused": 0.0, "compiled": 0.0}


@pytest.mark.parametrize(
    ("settings", "framework", "card", "kernel"),
    [
        pytest.param({}, None, "A100-80GB-SXM", (1, 0), id="FlashAttention by default"),
        pytest.param({}, None, "T4", (0, 0), id="Turing has no FlashAttention: eager"),
        pytest.param({}, "HF Trainer", "T4", (1, 1), id="transformers asks torch, which takes xformers' kernel there"),
        pytest.param({}, "HF Trainer 4.30", "A100-80GB-SXM", (0, 0), id="before 4.36 it was eager"),
        pytest.param({"attention": "eager"}, "HF Trainer", "H100-SXM", (0, 0), id="stated"),
        pytest.param({"attention": "sdpa"}, None, "V100-SXM2-16GB", (1, 1), id="stated, on Volta"),
    ],
)
def test_attention_is_as_stated_or_as_trainer_and_card_do(settings, framework, card, kernel):
    accelerator = bundled_catalog().accelerators[card]
    found = planned_attention(TrainerSettings.model_validate(settings), framework, accelerator)
    assert (found["flash"], found["early"]) == kernel


def seconds(**changes: float) -> float:
    return float(step(configs(**changes), PRIORS).seconds[0])


def test_a_step_by_its_optimizer():
    """Only the optimizer's part changes, in proportion to the bytes that it moves."""
    usual, lean = (step(configs(optimizer_scale=scale), PRIORS) for scale in (1.0, 0.5))
    of_usual, of_lean = (float(result.shares["optimizer"][0] * result.seconds[0]) for result in (usual, lean))
    assert of_lean == pytest.approx(of_usual / 2, rel=1e-6)
    assert seconds(optimizer_scale=1.0) < seconds(paged_bytes=4.0) < seconds(paged_bytes=8.0)
    assert seconds(optimizer_offload=1.0) == seconds(optimizer_offload=1.0, optimizer_scale=0.5)


def test_an_offloaded_step_moves_16_bytes_of_every_parameter_over_the_bus():
    """Weight, gradient and two moments of 4 bytes each."""
    parameters = described()["parameters"]
    found = step(configs(optimizer_offload=1.0), PRIORS | {"offload_gb": 20.0})
    assert float(found.shares["optimizer"][0] * found.seconds[0]) == pytest.approx(parameters * 16 / 20e9)
