"""FLOPs of a step on preferences are those that torch counts."""

from __future__ import annotations

import pytest

from planner.model.network.adapters import Adapters
from planner.model.network.training_method import MethodSettings, Reference, TrainingMethod
from planner.model.plan.plan import FlopsConvention
from planner.network.method_work import forward_only_passes, method_flops_per_sample

torch = pytest.importorskip("torch")

PAIRS = 2
QUERY = Adapters(rank=1, targets=("query",))


@pytest.mark.parametrize(
    ("method", "reference", "adapters"),
    [
        pytest.param("dpo", Reference.MODEL, None, id="dpo, a second model"),
        pytest.param("dpo", Reference.ADAPTERS_OFF, QUERY, id="dpo, adapters switched off"),
        pytest.param("dpo", Reference.PRECOMPUTED, None, id="dpo, computed beforehand"),
        pytest.param("orpo", None, None, id="orpo"),
        pytest.param("simpo", None, None, id="simpo"),
        pytest.param("kto", Reference.MODEL, None, id="kto"),
        pytest.param("reward", None, None, id="reward model"),
    ],
)
def test_flops_of_a_step_are_those_of_torchs_counter(
    method: str, reference: Reference | None, adapters: Adapters | None
) -> None:
    """Within one per cent: adapters' own products, and first gradients that are not needed, are left out."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    from tests.workloads.preference_steps import LOSSES, SEQ_LEN, model_of_network, network, pairs

    decoder = network(layers=12 if adapters else 2, hidden=128)
    model = model_of_network(decoder, adapters, scalar=method == "reward")
    beside = {
        Reference.MODEL: lambda: model_of_network(decoder),
        Reference.ADAPTERS_OFF: lambda: model_of_network(decoder),
    }
    second = beside[reference]() if reference in beside else None
    tokens = pairs(decoder, PAIRS)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        LOSSES[method](model, second, tokens).backward()
    objective = MethodSettings(method=TrainingMethod(method), reference=reference)
    samples = PAIRS * 2 / objective.sequences
    counted = samples * method_flops_per_sample(
        decoder, objective, seq_len=SEQ_LEN, convention=FlopsConvention.FULL_ATTENTION, adapters=adapters is not None
    )
    assert counted == pytest.approx(counter.get_total_flops(), rel=0.01)


@pytest.mark.parametrize(
    ("settings", "epochs", "passes"),
    [
        pytest.param({"method": "dpo", "reference": "model"}, 3, 1, id="dpo"),
        pytest.param({"method": "dpo", "reference": "precomputed"}, 4, 0.25, id="dpo, once in four epochs"),
        pytest.param({"method": "dpo", "reference": "none"}, 1, 0, id="dpo without a reference"),
        pytest.param({"method": "kto", "reference": "adapters_off"}, 1, 3, id="kto"),
        pytest.param({"method": "kto", "reference": "none"}, 1, 1, id="kto without a reference"),
        pytest.param({"method": "orpo"}, 1, 0, id="orpo"),
        pytest.param({}, 1, 0, id="next token"),
    ],
)
def test_the_passes_without_gradients(settings: dict[str, str], epochs: float, passes: float) -> None:
    assert forward_only_passes(MethodSettings.model_validate(settings), epochs=epochs) == passes
