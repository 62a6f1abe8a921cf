"""Which weights are trained, as people say it: all of them, or adapters beside frozen ones, and which."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from planner.errors import InputError, NotFoundError
from planner.model.network.adapters import AdapterKind, Adapters, FrozenFormat, targets_of
from planner.model.network.workload import ArchitectureFile, Method
from planner.workloads.contract.spec import LORA_TARGETS


class Trained(StrEnum):
    """What is trained, as people say it."""

    FULL = "full"
    LORA = "lora"
    QLORA = "qlora"
    """LoRA beside frozen weights in NF4."""


@dataclass(frozen=True, kw_only=True)
class AdapterChoice:
    """What was said of the adapters; None: not said, so the workload's file decides."""

    method: Trained | None = None
    lora_kind: AdapterKind | None = None
    lora_rank: int | None = None
    """At least 1: whoever asks has checked it."""
    lora_targets: str | None = None
    lora_frozen: FrozenFormat | None = None

    def adapters(self, network: ArchitectureFile) -> Adapters | None:
        """Join what a file trains with the choice, which wins; None where all weights are trained."""
        adapters = None if self.method is Trained.FULL else network.adapters
        if adapters is None:
            method = Method.FULL if self.method in (None, Trained.FULL) else Method.LORA
            adapters = read_adapters(method, self.lora_rank, self.lora_targets)
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

    def _frozen(self) -> FrozenFormat | None:
        if self.method is not Trained.QLORA:
            return self.lora_frozen
        if self.lora_frozen not in (None, FrozenFormat.NF4):
            raise InputError(
                f"--method qlora freezes weights in nf4, and --lora-frozen says {self.lora_frozen}.",
                fix="Write --method lora, or leave --lora-frozen out.",
            )
        return FrozenFormat.NF4


def read_adapters(method: Method, rank: int | None, targets: str | None) -> Adapters | None:
    """Return the adapters that are trained; None where all weights are. InputError where the options contradict."""
    if method is not Method.FULL:
        return _changed(Adapters(), rank, targets)
    if rank is not None or targets is not None:
        raise InputError(
            "--lora-rank and --lora-targets say how to train adapters, and --method full trains all weights.",
            fix="Add --method lora, or leave them out.",
        )
    return None


def _changed(adapters: Adapters, rank: int | None, targets: str | None) -> Adapters:
    """Return adapters with the rank and the linear maps that were named."""
    given = {"rank": rank, "targets": None if targets is None else _read_targets(targets)}
    return adapters.model_copy(update={name: value for name, value in given.items() if value is not None})


def _read_targets(text: str) -> tuple[str, ...]:
    """Read names of linear maps, with commas between them: ours, those of Hugging Face (q_proj), or `all`."""
    given = [name.strip() for name in text.split(",")]
    names = tuple(target for name in given for target in targets_of([name]) or (name,))
    for name in names:
        if name not in LORA_TARGETS:
            known = f"Known: all, {', '.join(LORA_TARGETS)}"
            raise NotFoundError("linear map", name, LORA_TARGETS, where="--lora-targets", fix=known)
    if len(set(names)) != len(names):
        raise InputError(f"--lora-targets {text}: names a map twice.", fix="Name each once.")
    return names
