"""Memory of preference trainings: tensors that autograd saves for a pair, and the reference model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.model.network.adapters import Adapters
from planner.model.network.trainer_memory import TrainerMemory
from planner.model.network.training_method import MethodSettings
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.memory import device_parts

torch = pytest.importorskip("torch")

PAIRS = 3
ATTENTION = Adapters(rank=4, targets=("query", "value"), frozen=None)
WITH_A_MODEL = {"method": "dpo", "reference": "model"}


def setup_of_method(settings: dict[str, str], *, layers: int = 2, **changes: object) -> TrainingSetup:
    from tests.workloads.preference_steps import SEQ_LEN, network

    setup = TrainingSetup(
        workload="tiny",
        network=network(layers=layers),
        seq_len=SEQ_LEN,
        objective=MethodSettings.model_validate(settings),
        precision=Precision.FP32,
        micro_batch=PAIRS,
        checkpointing=Checkpointing.NONE,
        strategy=Strategy.DDP,
    )
    return replace(setup, **changes)


def traced_bytes(method: str, *, layers: int, adapters: Adapters | None = None) -> int:
    """Return the bytes that autograd has saved after the forward passes of a step, without weights."""
    from tests.workloads.preference_steps import LOSSES, model_of_network, network, pairs

    decoder = network(layers=layers)
    model, reference = model_of_network(decoder, adapters, scalar=method == "reward"), model_of_network(decoder)
    own = {weight.untyped_storage()._cdata for weight in model.parameters()}
    saved: dict[int, object] = {}

    def count(tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in own:
            saved[storage._cdata] = storage
        return tensor

    tokens = pairs(decoder, PAIRS)
    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        loss = LOSSES[method](model, reference, tokens)
    assert loss.requires_grad
    return sum(storage.nbytes() for storage in saved.values())  # type: ignore[attr-defined]


@pytest.mark.parametrize("adapters", [None, ATTENTION], ids=["all weights", "adapters"])
@pytest.mark.parametrize("method", ["dpo", "simpo", "reward"])
def test_a_pair_saves_two_sequences_and_its_reference_none(method: str, adapters: Adapters | None) -> None:
    """Networks of two and one layers are compared, so that embedding and loss cancel."""
    settings = {"method": method} | ({"reference": "model"} if method == "dpo" else {})

    def kept(layers: int) -> float:
        asked = setup_of_method(settings, layers=layers, adapters=adapters)
        return device_parts(asked, devices=1, trainer=TrainerMemory(repeated_heads=True)).saved.kept

    traced = traced_bytes(method, layers=2, adapters=adapters) - traced_bytes(method, layers=1, adapters=adapters)
    assert kept(2) - kept(1) == pytest.approx(traced, rel=0.005)


def test_single_answers_of_kto_save_one_sequence_each() -> None:
    def kept(method: str) -> float:
        return device_parts(setup_of_method({"method": method}), devices=1).saved.kept

    assert kept("dpo") == 2 * kept("kto")


@pytest.mark.parametrize(
    ("strategy", "precision", "divisor", "number"),
    [
        pytest.param(Strategy.DDP, Precision.FP32, 1, 4, id="ddp, whole in fp32"),
        pytest.param(Strategy.DDP, Precision.BF16, 1, 2, id="ddp, whole at 16 bit"),
        pytest.param(Strategy.ZERO2, Precision.BF16, 1, 2, id="zero2 leaves it whole"),
        pytest.param(Strategy.ZERO3, Precision.BF16, 4, 2, id="zero3 shards it"),
        pytest.param(Strategy.FSDP2, Precision.BF16, 4, 2, id="fsdp2 shards it"),
    ],
)
def test_a_reference_model_is_a_second_set_of_weights(
    strategy: Strategy, precision: Precision, divisor: int, number: int
) -> None:
    from tests.workloads.preference_steps import model_of_network, network

    def weights(settings: dict[str, str]) -> float:
        asked = setup_of_method(settings, strategy=strategy, precision=precision)
        return device_parts(asked, devices=4).states.weights

    expected = sum(weight.numel() for weight in model_of_network(network()).parameters()) * number / divisor
    assert weights(WITH_A_MODEL) - weights(WITH_A_MODEL | {"reference": "precomputed"}) == pytest.approx(expected)


def test_a_reward_model_has_no_scores_over_the_vocabulary() -> None:
    """Its head has 64 weights in place of 512 x 64, and its loss one score per token in place of 512."""
    whole, scalar = (device_parts(setup_of_method({"method": method}), devices=1) for method in ("simpo", "reward"))
    assert whole.states.weights - scalar.states.weights == 4 * (512 - 1) * 64
    assert whole.logits - scalar.logits == pytest.approx(12 * 511 * 32 * 2 * PAIRS)
