"""Reads trained weights and training objective in users' words: all weights or adapters; preferences or rewards."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from pydantic import ValidationError

from planner.adapters.documents import parse_model
from planner.errors import InputError, NotFoundError
from planner.model.network.adapters import AdapterKind, Adapters, FrozenFormat, targets_of
from planner.model.network.training_method import CompletionTokens, MethodSettings, Reference, TrainingMethod
from planner.model.network.workload import ArchitectureFile, Method
from planner.text.number_text import read_grouped_number
from planner.workloads.contract.spec import LORA_TARGETS


class Trained(StrEnum):
    """Value of `--method`: trained weights, or training objective."""

    FULL = "full"
    LORA = "lora"
    QLORA = "qlora"
    """LoRA with frozen weights in NF4."""
    DPO = "dpo"
    ORPO = "orpo"
    KTO = "kto"
    SIMPO = "simpo"
    REWARD = "reward"
    GRPO = "grpo"
    RLOO = "rloo"
    PPO = "ppo"

    @property
    def objective(self) -> TrainingMethod | None:
        """Training objective; None for the next token."""
        return None if self in WEIGHTS else TrainingMethod(self.value)


WEIGHTS = (Trained.FULL, Trained.LORA, Trained.QLORA)
"""Values that choose the trained weights, not the objective."""


@dataclass(frozen=True, kw_only=True)
class AdapterChoice:
    """Stated settings of the adapters. None leaves a setting to the workload's file."""

    method: Trained | None = None
    lora_kind: AdapterKind | None = None
    lora_rank: int | None = None
    """Rank of at least 1. The caller checks it."""
    lora_targets: str | None = None
    lora_frozen: FrozenFormat | None = None
    completion: str | None = None
    """Mean tokens of an answer, or mean-most: 900, 900-4096."""
    group: int | None = None
    prompts: int | None = None
    reference: Reference | None = None

    def objective(self) -> MethodSettings:
        """Return the training objective. Raises InputError for an option of another method."""
        given = {
            "method": None if self.method is None else self.method.objective,
            "completion_tokens": None if self.completion is None else read_completion(self.completion),
            "group": self.group,
            "prompts": self.prompts,
            "reference": self.reference,
        }
        stated = {name: value for name, value in given.items() if value is not None}
        try:
            return MethodSettings.model_validate(stated)
        except ValidationError as error:
            detail = error.errors()[0]
            name = ".".join(map(str, detail["loc"]))
            about = {"problem": f"{name}: {detail['msg']}", "fix": f"change --{name}"} | detail.get("ctx", {})
            problem, fix = (str(about[key]).replace("completion_tokens", "completion") for key in ("problem", "fix"))
            raise InputError(f"--{problem}.", fix=f"{fix[0].upper()}{fix[1:]}.") from error

    def adapters(self, network: ArchitectureFile) -> Adapters | None:
        """Return the adapters of a file, changed by this choice; None if all weights are trained."""
        adapters = None if self.method is Trained.FULL else network.adapters
        if adapters is None:
            adapters = read_adapters(self._weights(), self.lora_rank, self.lora_targets)
        else:
            adapters = _changed(adapters, self.lora_rank, self.lora_targets)
        named = (("kind", self.lora_kind), ("frozen", self._frozen()))
        given = {name: value for name, value in named if value is not None}
        if adapters is not None:
            return adapters.model_copy(update=given)
        for name, value in given.items():
            raise InputError(
                f"--lora-{name} {value.value}: all weights are trained.", fix="Add --method lora, or leave it out."
            )
        return None

    def _weights(self) -> Method:
        """Return the trained weights. A preference method trains adapters if a setting describes them."""
        if self.method in (None, Trained.FULL):
            return Method.FULL
        described = (self.lora_kind, self.lora_rank, self.lora_targets, self.lora_frozen)
        if self.method in WEIGHTS or any(value is not None for value in described):
            return Method.LORA
        return Method.FULL

    def _frozen(self) -> FrozenFormat | None:
        if self.method is not Trained.QLORA:
            return self.lora_frozen
        if self.lora_frozen not in (None, FrozenFormat.NF4):
            raise InputError(
                f"--method qlora freezes weights in nf4, and --lora-frozen says {self.lora_frozen}.",
                fix="Write --method lora, or leave --lora-frozen out.",
            )
        return FrozenFormat.NF4


COMPLETION = re.compile(r"([\d.,_]{1,12})(?:\s?-\s?([\d.,_]{1,12}))?", re.ASCII)


def read_completion(text: str) -> CompletionTokens:
    """Read the mean tokens of an answer, or mean-most: `900`, `900-4096`."""
    found = COMPLETION.fullmatch(text.strip())
    try:
        numbers = [read_grouped_number(part) for part in found.groups() if part] if found else []
    except ValueError:
        numbers = []
    fix = "Write --completion 900, or 900-4096: mean-most."
    if not numbers or min(numbers) <= 0 or (len(numbers) > 1 and numbers[1] % 1):
        raise InputError(f"--completion {text}: is not a number of tokens.", fix=fix)
    most = {"most": int(numbers[1])} if len(numbers) > 1 else {}
    return parse_model(CompletionTokens, {"mean": float(numbers[0]), **most}, where="--completion", fix=fix)


def read_adapters(method: Method, rank: int | None, targets: str | None) -> Adapters | None:
    """Return the trained adapters; None for all weights. Raises InputError if the options contradict each other."""
    if method is not Method.FULL:
        return _changed(Adapters(), rank, targets)
    if rank is not None or targets is not None:
        raise InputError(
            "--lora-rank and --lora-targets say how to train adapters, and --method full trains all weights.",
            fix="Add --method lora, or leave them out.",
        )
    return None


def _changed(adapters: Adapters, rank: int | None, targets: str | None) -> Adapters:
    """Return adapters with the named rank and linear maps."""
    given = {"rank": rank, "targets": None if targets is None else _read_targets(targets)}
    return adapters.model_copy(update={name: value for name, value in given.items() if value is not None})


def _read_targets(text: str) -> tuple[str, ...]:
    """Read comma-separated names of linear maps: the planner's, those of Hugging Face (q_proj), or `all`."""
    given = [name.strip() for name in text.split(",")]
    names = tuple(target for name in given for target in targets_of([name]) or (name,))
    for name in names:
        if name not in LORA_TARGETS:
            known = f"Known: all, {', '.join(LORA_TARGETS)}"
            raise NotFoundError("linear map", name, LORA_TARGETS, where="--lora-targets", fix=known)
    if len(set(names)) != len(names):
        raise InputError(f"--lora-targets {text}: names a map twice.", fix="Name each once.")
    return names
