"""Changes that would make a training fit, the cheapest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from planner.model.network.adapters import Adapters, FrozenFormat
from planner.model.network.trainer_memory import Kernels, Loss, Offload, Optimizer, TrainerMemory
from planner.model.network.training_method import NEXT_TOKEN, MethodSettings, Reference
from planner.model.network.workload import Checkpointing, Strategy
from planner.network.lora_memory import SHARDS_WEIGHTS
from planner.network.method_work import has_second_model

GOOD_CHANCE = 0.9
"""Chance to fit at which no further change is proposed."""
SMALL_SHARE = 0.5
"""Share of a device's memory for an engine: the default of verl's `gpu_memory_utilization`."""
LEAST_GAIN = 0.005
"""Smallest increase of the chance that makes a change worth proposing."""


@dataclass(frozen=True)
class Setting:
    """Settings of a training that can be changed without another kind of device."""

    checkpointing: Checkpointing
    micro_batch: int
    strategy: Strategy
    devices: int
    trainer: TrainerMemory
    stated: frozenset[str]
    adapters: Adapters | None = None
    objective: MethodSettings = NEXT_TOKEN


@dataclass(frozen=True)
class Remedy:
    """One change after all earlier ones, with the chance to fit after it."""

    change: str
    option: str
    """Option of `planner memory`, or of the trainer."""
    costs: str
    chance: float


def remedies(
    setting: Setting, chance: Callable[[Setting], float], *, checkpointings: bool, adapts: bool
) -> list[Remedy]:
    """Return changes to make one after another until the chance to fit is nine in ten.

    The order is: free changes (loss, kernels), changes that cost time (recomputation, micro-batch, engine, reference,
    sharding), changes of the arithmetic (8-bit optimizer, 4-bit weights), the optimizer in host memory, and adapters.
    Changes that do not raise the chance are skipped. `checkpointings`: the network can be recomputed. `adapts`: the
    network can be trained with adapters.
    """
    found: list[Remedy] = []
    now, reached = setting, chance(setting)
    lora = "--method lora" if setting.objective.method is None else f"--lora-rank {Adapters().rank}"
    for change, option, costs, change_of in _changes(checkpointings=checkpointings, adapts=adapts, lora=lora):
        if reached >= GOOD_CHANCE:
            break
        changed = change_of(now)
        if changed is None:
            continue
        after = chance(changed)
        if after - reached > LEAST_GAIN:
            found.append(Remedy(change, option, costs, after))
            now, reached = changed, after
    return found


Change = Callable[[Setting], "Setting | None"]


def _changes(*, checkpointings: bool, adapts: bool, lora: str) -> Iterator[tuple[str, str, str, Change]]:
    yield (
        "a chunked loss (Liger, cut cross-entropy)",
        "--loss chunked",
        "nothing",
        lambda now: _trainer(now, "loss", Loss.CHUNKED),
    )
    yield (
        "fused kernels (Liger, torch.compile)",
        "--kernels fused",
        "nothing",
        lambda now: _trainer(now, "kernels", Kernels.FUSED),
    )
    if checkpointings:
        yield "recomputing all layers", "--checkpointing full", "about a third more time", _recomputed
    yield "micro-batch 1 and accumulation", "--micro-batch 1", "time, where the device is then not busy", _smallest
    yield "an engine that sleeps meanwhile", "vllm_enable_sleep_mode", "seconds of each step", _asleep
    yield "less for the engine", f"gpu_memory_utilization {SMALL_SHARE}", "fewer completions at a time", _smaller_engine
    yield "the reference computed beforehand", "--reference precomputed", "a pass over the data first", _precomputed
    yield "sharding the states", "--strategy fsdp2", "traffic between the devices", _sharded
    yield (
        "an optimizer at 8 bit",
        "--optimizer adamw-8bit",
        "rarely quality",
        lambda now: None if now.adapters else _trainer(now, "optimizer", Optimizer.ADAMW_8BIT),
    )
    yield "frozen weights at 4 bit (QLoRA)", "--lora-frozen nf4", "some time and quality", _quantized
    yield (
        "the optimizer in the host's memory",
        "--offload optimizer",
        "much time",
        lambda now: None if now.adapters else _trainer(now, "offload", Offload.OPTIMIZER),
    )
    if adapts:
        yield "adapters in place of all weights (LoRA)", lora, "quality on tasks far from the base", _adapted
        yield "their frozen weights at 4 bit (QLoRA)", "--lora-frozen nf4", "some time and quality", _quantized


def _trainer(now: Setting, name: str, value: object) -> Setting | None:
    if name in now.stated and getattr(now.trainer, name) == value:
        return None
    return replace(now, trainer=now.trainer.model_copy(update={name: value}), stated=now.stated | {name})


def _recomputed(now: Setting) -> Setting | None:
    return None if now.checkpointing is Checkpointing.FULL else replace(now, checkpointing=Checkpointing.FULL)


def _smallest(now: Setting) -> Setting | None:
    return None if now.micro_batch == 1 else replace(now, micro_batch=1)


def _sharded(now: Setting) -> Setting | None:
    return None if now.devices == 1 or now.strategy in SHARDS_WEIGHTS else replace(now, strategy=Strategy.FSDP2)


def _adapted(now: Setting) -> Setting | None:
    if now.adapters is not None:
        return None
    trainer = now.trainer.model_copy(update={"offload": Offload.NONE, "optimizer": Optimizer.ADAMW})
    objective = _with_reference(now, Reference.ADAPTERS_OFF)
    return replace(now, adapters=Adapters(frozen=FrozenFormat.SIXTEEN_BIT), trainer=trainer, objective=objective)


def _asleep(now: Setting) -> Setting | None:
    return _with_engine(now, sleep_level=2)


def _smaller_engine(now: Setting) -> Setting | None:
    generation = now.objective.generation
    stated = None if generation is None else generation.memory_share
    return None if stated is None or stated <= SMALL_SHARE else _with_engine(now, memory_share=SMALL_SHARE)


def _with_engine(now: Setting, **changes: float) -> Setting | None:
    """Return the setting with changed options of its engine; None if it has no engine."""
    generation = now.objective.generation
    if generation is None:
        return None
    objective = now.objective.model_copy(update={"generation": generation.model_copy(update=changes)})
    return replace(now, objective=objective)


def _precomputed(now: Setting) -> Setting | None:
    if now.objective.generates:
        return None
    objective = _with_reference(now, Reference.PRECOMPUTED)
    return None if objective == now.objective else replace(now, objective=objective)


def _with_reference(now: Setting, reference: Reference) -> MethodSettings:
    """Return the objective with another reference in place of a second model."""
    if not has_second_model(now.objective):
        return now.objective
    return now.objective.model_copy(update={"reference": reference})


def _quantized(now: Setting) -> Setting | None:
    if now.adapters is None or now.adapters.frozen is FrozenFormat.NF4:
        return None
    return replace(now, adapters=now.adapters.model_copy(update={"frozen": FrozenFormat.NF4}))
