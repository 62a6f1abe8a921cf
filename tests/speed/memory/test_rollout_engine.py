"""Memory of an engine that generates on the devices that train, compared with hand calculation."""

from __future__ import annotations

import pytest

from planner.model.network.trainer_memory import TrainerMemory
from planner.model.network.training_method import Generation, MethodSettings
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.constants import FITTED
from planner.speed.memory.device_memory import CONTEXT_GIB, ENGINE_GIB, GIB, SLEEPLESS_SHARE, Phase, engine_bytes
from planner.speed.memory.memory import device_parts
from planner.use_cases.catalogs import open_catalog

DEVICE_GIB = 80.0


def grpo(**generation: object) -> MethodSettings:
    return MethodSettings.model_validate({"method": "grpo", "reference": "none", "generation": generation})


@pytest.mark.parametrize(
    ("generation", "framework", "training", "generating"),
    [
        pytest.param({}, None, ENGINE_GIB, 0, id="asleep; awake, it uses the free memory"),
        pytest.param({"memory_share": 0.5}, None, ENGINE_GIB, 40, id="asleep; awake, it has half"),
        pytest.param({"memory_share": 0.5, "sleep_level": 0}, None, 40, 40, id="half all the time"),
        pytest.param({"memory_share": 0.25}, "HF Trainer", 20, 20, id="TRL's engine does not sleep by default"),
        pytest.param({}, "HF Trainer", 80 * SLEEPLESS_SHARE, 80 * SLEEPLESS_SHARE, id="TRL's default"),
        pytest.param({"sleep_level": 2}, "HF Trainer", ENGINE_GIB, 0, id="TRL's sleep mode"),
        pytest.param({"engine": "trainer"}, None, 0, 0, id="the trainer generates"),
        pytest.param({"devices": 4, "memory_share": 0.9}, None, 0, 0, id="on other devices"),
    ],
)
def test_an_engine_reserves_its_share(generation, framework, training, generating) -> None:
    found = engine_bytes(grpo(**generation), framework, device_gib=DEVICE_GIB)
    assert (found.training / GIB, found.generating / GIB) == pytest.approx((training, generating))


def test_generation_is_the_fullest_moment_where_states_and_share_are_more_than_a_step() -> None:
    """Qwen2.5 7B on 8 devices: 12 of 16 bytes per parameter stay, and the engine reserves 0.8 of 80 GiB."""
    network = open_catalog().presets["qwen2.5-7b"].architecture
    setup = TrainingSetup(
        workload="q", network=network, seq_len=1024, precision=Precision.BF16, checkpointing=Checkpointing.FULL,
        strategy=Strategy.FSDP2, objective=grpo(memory_share=0.8), micro_batch=1,
    )  # fmt: skip
    need = device_parts(setup, devices=8, trainer=TrainerMemory(), device_gib=DEVICE_GIB).fullest()
    assert need.phase is Phase.GENERATION
    states = 7_615_616_512 * 12 / 8 / GIB
    assert need.states_gib == pytest.approx(states)
    assert need.total_gib == pytest.approx(states * FITTED.fsdp2_slack + 64 + CONTEXT_GIB)


def test_a_plan_with_more_than_an_engine_can_have_does_not_fit() -> None:
    """A share is more than 0 and at most 1."""
    with pytest.raises(ValueError, match="less than or equal to 1"):
        Generation(memory_share=1.5)
    with pytest.raises(ValueError, match="Input should be 0, 1 or 2"):
        Generation.model_validate({"sleep_level": 3})
