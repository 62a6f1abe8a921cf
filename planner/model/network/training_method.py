"""Objectives other than the next token: preferences or rewards, and their needs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from planner.model.base import Count, Flag, Fraction, Frozen, Positive


class TrainingMethod(StrEnum):
    """Ways in which a model learns from preferences or rewards."""

    DPO = "dpo"
    """Pairs of a chosen and a rejected answer, against a reference (Rafailov et al. 2023); IPO costs the same."""
    ORPO = "orpo"
    """Pairs; the loss holds odds of the model itself, so there is no reference (Hong et al. 2024)."""
    KTO = "kto"
    """Single answers, good or bad, against a reference; each is also paired with another's prompt for the divergence
    (Ethayarajh et al. 2024)."""
    SIMPO = "simpo"
    """Pairs; rewards are mean log-probabilities, so there is no reference (Meng et al. 2024). CPO costs the same."""
    REWARD = "reward"
    """Pairs, scored by one number in place of the vocabulary (Ouyang et al. 2022)."""
    GRPO = "grpo"
    """Groups of generated completions, each against its group's mean reward (Shao et al. 2024)."""
    RLOO = "rloo"
    """Groups of generated completions, each against the mean of the others (Ahmadian et al. 2024)."""
    PPO = "ppo"
    """Generated completions against a value model (Schulman et al. 2017)."""

    @property
    def has_pairs(self) -> bool:
        """True if a sample is two answers to one prompt."""
        return self in PAIRED

    @property
    def generates(self) -> bool:
        """True if the model writes the completions that it is trained on."""
        return self in ROLLOUTS


PAIRED = (TrainingMethod.DPO, TrainingMethod.ORPO, TrainingMethod.SIMPO, TrainingMethod.REWARD)
ROLLOUTS = (TrainingMethod.GRPO, TrainingMethod.RLOO, TrainingMethod.PPO)
GROUPED = (TrainingMethod.GRPO, TrainingMethod.RLOO)
REFERENCED = (TrainingMethod.DPO, TrainingMethod.KTO, *ROLLOUTS)
"""Methods that compare with a frozen reference model."""


class Reference(StrEnum):
    """Source of the frozen reference's log-probabilities."""

    MODEL = "model"
    """A second model in addition to the trained one."""
    ADAPTERS_OFF = "adapters_off"
    """The trained model with its adapters switched off: no second model."""
    PRECOMPUTED = "precomputed"
    """One pass over the data before the training. While it trains there is no reference."""
    NONE = "none"
    """No reference: a loss without a divergence term (beta 0)."""


class CompletionTokens(Frozen):
    """Lengths of the answers, in tokens, without their prompts."""

    mean: Positive
    """Mean over all answers; for pairs, over the chosen ones if `rejected` is given."""
    most: Count | None = None
    """Longest allowed answer. Default: what the sequence has room for."""
    rejected: Positive | None = None
    """Mean of rejected answers. Default: as long as `mean`."""

    @model_validator(mode="after")
    def _mean_within(self) -> Self:
        if self.most is not None and self.mean > self.most:
            raise ValueError(
                f"mean {self.mean:g} is longer than the longest completion, {self.most}: write a larger most"
            )
        return self


class Engine(StrEnum):
    """Generator of completions."""

    VLLM = "vllm"
    SGLANG = "sglang"
    TRAINER = "trainer"
    """The trainer's own forward passes (`generate` of transformers)."""


class Generation(Frozen):
    """Generation of completions while a model is trained on them."""

    engine: Engine = Engine.VLLM
    """Program that generates."""
    devices: Literal["colocated"] | Count = "colocated"
    """Devices that generate. colocated means the training devices, in turn with training; a number means that many of
    the machine's devices, while the others train.
    """
    tensor: Count | Literal["auto"] = "auto"
    """Devices that share one copy of the weights during generation. auto means the fastest number."""
    asynchronous: Flag = False
    """True if generation runs one step ahead of training, on devices of its own."""
    memory_share: Fraction | None = None
    """Share of a device's memory that an engine reserves for its weights and cache: vLLM's gpu_memory_utilization.
    Default: what the training leaves of 0.9."""
    sleep_level: Literal[0, 1, 2] | None = None
    """Memory that an engine gives back while its devices train. 0: nothing. 1: the cache, and its weights wait in the
    host's memory. 2: cache and weights, as new ones come. Default: what the trainer does.
    """
    at_once: Count | None = None
    """Completions that one copy writes at a time: vLLM's max_num_seqs, or the micro-batch in which a trainer hands
    prompts over. Left out: as many as have room."""

    @model_validator(mode="after")
    def _ahead_on_other_devices(self) -> Self:
        if self.asynchronous and self.devices == "colocated":
            raise ValueError("asynchronous generation needs devices of its own: write devices: 4, or leave it out")
        return self


class RewardSource(StrEnum):
    """Source of the scores of completions."""

    FUNCTION = "function"
    """A rule, or a program on the host."""
    MODEL = "model"
    """A reward model of the trained model's size."""


def _misplaced(problem: str, fix: str) -> PydanticCustomError:
    """Return the error for a field that the method does not take. Callers may show `problem` and `fix` separately."""
    return PydanticCustomError("misplaced", "{problem}: {fix}", {"problem": problem, "fix": fix})


class MethodSettings(Frozen):
    """Objective, and what its method needs. Without any field it is the next token of the data."""

    method: TrainingMethod | None = None
    """Objective: dpo, orpo, kto, simpo, reward, grpo, rloo, ppo. Default: the next token (pretraining, SFT).

    `adapters` says which weights are trained.
    """
    reference: Reference | None = None
    """Source of the frozen reference's log-probabilities, for dpo, kto, grpo, rloo and ppo.

    Default: the model without its adapters if adapters are trained, otherwise a second model.
    """
    completion_tokens: CompletionTokens | None = None
    """Lengths of the answers. `work.tokens_per_sample` then counts only the prompts.

    By default it counts a prompt with one answer.
    """
    group: Annotated[int, Field(strict=True, ge=2, le=100_000)] | None = None
    """Completions of each prompt, for grpo and rloo."""
    prompts: Count | None = None
    """Prompts of one step, for grpo, rloo and ppo."""
    generation: Generation | None = None
    """Generator of the completions and its devices, for grpo, rloo and ppo."""
    reward: RewardSource | None = None
    """Source of the scores of completions, for grpo, rloo and ppo: a function or a model. Default: a function."""

    @model_validator(mode="after")
    def _fields_of_the_method(self) -> Self:
        for name, methods in TAKEN_BY.items():
            if getattr(self, name) is not None and self.method not in methods:
                belongs = ", ".join(method.value for method in methods)
                said = "no method is stated" if self.method is None else f"the method is {self.method.value}"
                raise _misplaced(
                    f"{name} belongs to {belongs}, and {said}", f"write such a method, or leave {name} out"
                )
        rejected = self.completion_tokens is not None and self.completion_tokens.rejected is not None
        if rejected and (self.method is None or not self.method.has_pairs):
            raise _misplaced("completion_tokens: rejected answers belong to pairs", "leave rejected out")
        return self

    @property
    def of_the_method(self) -> MethodSettings:
        """These settings alone, for a class that has others too."""
        return MethodSettings(**{name: getattr(self, name) for name in MethodSettings.model_fields})

    def with_reference(self, *, adapters: bool) -> MethodSettings:
        """Return the settings with the usual reference if none is stated.

        `adapters` means that only these are trained.
        """
        if self.method not in REFERENCED or self.reference is not None:
            return self
        usual = Reference.ADAPTERS_OFF if adapters else Reference.MODEL
        return self.model_copy(update={"reference": usual})

    def with_rollouts(self) -> MethodSettings:
        """Return the settings of a method that generates, with usual values where nothing is stated."""
        if self.method not in ROLLOUTS:
            return self
        usual = {
            "group": USUAL_GROUP if self.method in GROUPED else None,
            "prompts": USUAL_PROMPTS,
            "generation": Generation(),
            "reward": RewardSource.FUNCTION,
        }
        return self.model_copy(update={name: value for name, value in usual.items() if getattr(self, name) is None})

    @property
    def generates(self) -> bool:
        """True if the model writes the completions that it is trained on."""
        return self.method is not None and self.method.generates

    @property
    def sequences(self) -> int:
        """Sequences of one sample: two answers of a pair, otherwise one."""
        return 2 if self.method is not None and self.method.has_pairs else 1

    def sequence_tokens(self, tokens_per_sample: float | None) -> float | None:
        """Return the mean tokens of one sequence, a prompt with an answer; None if the samples' tokens are unknown.

        tokens_per_sample, plus the lengths of answers if stated: for pairs (chosen + rejected) / 2.
        """
        if tokens_per_sample is None or self.completion_tokens is None:
            return tokens_per_sample
        answer = self.completion_tokens
        return tokens_per_sample + (answer.mean + (answer.rejected or answer.mean)) / 2

    def agrees(self, other: MethodSettings) -> bool:
        """Return whether both have the same objective and reference, as far as both state them."""
        references = {settings.reference for settings in (self, other) if settings.reference is not None}
        return self.method is other.method and len(references) <= 1


TAKEN_BY: dict[str, tuple[TrainingMethod, ...]] = {
    "reference": REFERENCED,
    "completion_tokens": tuple(TrainingMethod),
    "group": GROUPED,
    "prompts": ROLLOUTS,
    "generation": ROLLOUTS,
    "reward": ROLLOUTS,
}
"""Methods that a field belongs to."""
USUAL_GROUP, USUAL_PROMPTS = 8, 64
"""Completions per prompt, the default of TRL's GRPOConfig; and prompts of a step, assumed."""
NEXT_TOKEN = MethodSettings()
"""Pretraining and supervised fine-tuning."""
