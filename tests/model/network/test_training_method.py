"""Settings of preference and reward methods that a plan may state, and those that are refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from planner.model.network.adapters import Adapters
from planner.model.network.training_method import MethodSettings, Reference, TrainingMethod
from planner.model.plan.plan import Training

GRPO = {
    "method": "grpo", "group": 8, "prompts": 64, "completion_tokens": {"mean": 900.0, "most": 4096},
    "generation": {"engine": "vllm", "devices": "colocated"},
}  # fmt: skip


def test_a_plan_says_how_completions_are_generated() -> None:
    training = Training.model_validate(GRPO)
    assert training.of_the_method == MethodSettings.model_validate(GRPO)
    assert training.stated == {}  # nothing of it is a trainer's setting


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param({"group": 8}, "group belongs to grpo, rloo, and no method is stated", id="group alone"),
        pytest.param({"method": "dpo", "group": 8}, "the method is dpo: write such a method", id="group of dpo"),
        pytest.param({"method": "ppo", "group": 8}, "group belongs to grpo, rloo", id="group of ppo"),
        pytest.param({"method": "orpo", "reference": "model"}, "reference belongs to dpo, kto", id="reference of orpo"),
        pytest.param({"method": "dpo", "reference": "adapters_off"}, "needs adapters", id="no adapters to switch off"),
        pytest.param({"method": "dpo", "packing": True}, "are not joined: leave packing out", id="packed pairs"),
        pytest.param({**GRPO, "global_batch": 512}, "leave global_batch out", id="two batches"),
        pytest.param({**GRPO, "group": 1}, "greater than or equal to 2", id="a group of one"),
        pytest.param(
            {"method": "dpo", "completion_tokens": {"mean": 900.0, "most": 512}},
            "write a larger most",
            id="mean over most",
        ),
        pytest.param(
            {"method": "kto", "completion_tokens": {"mean": 9.0, "rejected": 9.0}},
            "leave rejected out",
            id="kto's pairs",
        ),
        pytest.param(
            {"method": "grpo", "generation": {"asynchronous": True}}, "needs devices of its own", id="ahead in place"
        ),
        pytest.param({"method": "sft"}, "Input should be 'dpo'", id="not a method of preferences"),
    ],
)
def test_what_does_not_belong_together_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Training.model_validate(given)


@pytest.mark.parametrize(
    ("given", "adapters", "reference"),
    [
        pytest.param({"method": "dpo"}, False, Reference.MODEL, id="all weights: a second model"),
        pytest.param({"method": "dpo"}, True, Reference.ADAPTERS_OFF, id="adapters are switched off"),
        pytest.param({"method": "kto", "reference": "model"}, True, Reference.MODEL, id="as stated"),
        pytest.param({"method": "simpo"}, False, None, id="none"),
        pytest.param({}, False, None, id="next token"),
    ],
)
def test_the_usual_reference(given: dict[str, str], adapters: bool, reference: Reference | None) -> None:
    assert MethodSettings.model_validate(given).with_reference(adapters=adapters).reference is reference


@pytest.mark.parametrize(
    ("given", "tokens_per_sample", "each", "sequences"),
    [
        pytest.param({"method": "dpo"}, 700.0, 700.0, 2, id="prompt with one answer"),
        pytest.param(
            {"method": "dpo", "completion_tokens": {"mean": 400.0}}, 300.0, 700.0, 2, id="prompt, and answers"
        ),
        pytest.param(
            {"method": "dpo", "completion_tokens": {"mean": 400.0, "rejected": 200.0}},
            300.0,
            600.0,
            2,
            id="(400 + 200) / 2",
        ),
        pytest.param({"method": "kto", "completion_tokens": {"mean": 400.0}}, 300.0, 700.0, 1, id="single answers"),
        pytest.param({}, 300.0, 300.0, 1, id="next token"),
        pytest.param({"method": "dpo"}, None, None, 2, id="not known"),
    ],
)
def test_the_mean_of_a_sequence(
    given: dict[str, object], tokens_per_sample: float | None, each: float | None, sequences: int
) -> None:
    settings = MethodSettings.model_validate(given)
    assert (settings.sequence_tokens(tokens_per_sample), settings.sequences) == (each, sequences)


def test_adapters_and_a_method_are_two_fields() -> None:
    training = Training(method=TrainingMethod.DPO, adapters=Adapters(), reference=Reference.ADAPTERS_OFF)
    assert (training.method, training.adapters) == (TrainingMethod.DPO, Adapters())
