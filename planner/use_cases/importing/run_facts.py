"""Joins the facts of an imported run from the user and from the log, with its adapters, and reports missing ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.trainer_log import Facts, TrainerLog
from planner.errors import InputError
from planner.model.base import MOST_COUNT
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunHardware
from planner.model.network.adapters import Adapters, AdapterTarget, FrozenFormat, targets_of
from planner.model.network.architecture import Architecture
from planner.model.network.training_method import MethodSettings
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.network.flops import parameters
from planner.network.lora_memory import EVERY, USUAL, adapted
from planner.use_cases.catalogs import find_accelerator
from planner.use_cases.network_files import whole_network
from planner.use_cases.networks import find_architecture, is_name
from planner.use_cases.training_files import objective_named

Value = TypeVar("Value")
Choice = TypeVar("Choice", Strategy, Checkpointing)
USUAL_LENGTH = 2048
PARTS_FIX = "Name the network of text in its place, where the others took no part: --workload qwen2.5-7b"
PRECISIONS = {
    "bf16": Precision.BF16, "bfloat16": Precision.BF16, "bf16-mixed": Precision.BF16, "bf16-true": Precision.BF16,
    "amp_bf16": Precision.BF16, "fp16": Precision.FP16, "float16": Precision.FP16, "16-mixed": Precision.FP16,
    "amp_fp16": Precision.FP16, "fp32": Precision.FP32, "float32": Precision.FP32, "32-true": Precision.FP32,
    "no": Precision.FP32, "tf32": Precision.TF32, "fp8": Precision.FLOAT8, "float8": Precision.FLOAT8,
}  # fmt: skip
"""Number formats by the names that trainers use."""


class MissingFactError(InputError):
    """A fact that neither the log nor the user states. `flag` is the option that states it."""

    def __init__(self, where: str, what: str, flag: str, example: str) -> None:
        super().__init__(f"{where}: the log does not say {what}.", fix=f"Add {flag} {example}")
        self.what, self.flag, self.example = what, flag, example


@dataclass(frozen=True, kw_only=True)
class Stated:
    """Facts that the user states about a run. None leaves a fact to the log."""

    workload: str | None = None
    accelerator: str | None = None
    gpus: int | None = None
    nodes: int | None = None
    seq_len: int | None = None
    global_batch: int | None = None
    micro_batch: int | None = None
    precision: Precision | None = None
    strategy: Strategy | None = None
    checkpointing: Checkpointing | None = None
    lora: Adapters | None = None
    hours: float | None = None
    """Hours that the steps of a log without times took."""
    machine: str | None = None
    packed: bool = False


@dataclass(frozen=True)
class RunFacts:
    """Facts of a training for its record."""

    workload: str
    architecture: Architecture | None
    seq_len: int | None
    hardware: RunHardware
    micro_batch: int | None
    accumulation: int | None
    global_batch: int | None
    precision: Precision | None
    strategy: Strategy | None
    checkpointing: Checkpointing | None
    compiled: bool | None
    adapters: Adapters | None
    objective: MethodSettings
    """Training objective. A pair counts as one sample of two sequences."""
    hours: float | None
    planned_samples: float | None
    """Samples of the whole training."""
    padded: bool | None
    doubts: tuple[str, ...]


def known_facts(log: TrainerLog, source: LogSource, stated: Stated, catalog: Catalog) -> RunFacts:
    """Join the facts of the user and of the log.

    Raises InputError if a flag contradicts the log, and MissingFactError if a required fact is stated nowhere.
    """
    where, facts = str(source.path), log.facts
    _check_counts(where, facts, stated)
    _check_contradictions(where, log, stated)
    workload, architecture = _network(facts, source, stated, catalog)
    image = architecture is not None and architecture.sample == "image"
    hardware, doubts = _hardware(facts, stated, catalog, where)
    padded_less = facts.padded is not False and (stated.seq_len or 0) < (facts.seq_len or 0)
    seq_len = (
        stated.seq_len
        if padded_less and stated.seq_len
        else _stated_or_logged(where, "--seq-len", stated.seq_len, facts.seq_len)
    )
    if seq_len is None and not image:
        most = (
            architecture.max_positions if architecture is not None and architecture.sample == "tokens" else USUAL_LENGTH
        )
        raise MissingFactError(where, "how many tokens a sample has", "--seq-len", str(min(most, USUAL_LENGTH)))
    micro_batch = _stated_or_logged(where, "--micro-batch", stated.micro_batch, facts.micro_batch)
    global_batch = _stated_or_logged(where, "--global-batch", stated.global_batch, facts.global_batch)
    if global_batch is None and facts.accumulation and micro_batch:
        replicas = facts.devices or hardware.accelerators
        global_batch = micro_batch * facts.accumulation * replicas
    adapters = stated.lora or adapters_of_log(facts, architecture)
    planned = facts.planned_steps * global_batch if facts.planned_steps and global_batch else None
    precision = PRECISIONS.get((facts.precision or "").casefold())
    return RunFacts(
        workload=workload,
        architecture=architecture,
        seq_len=None if image else seq_len,
        hardware=hardware,
        micro_batch=micro_batch,
        accumulation=facts.accumulation,
        global_batch=global_batch,
        precision=_stated_or_logged(where, "--precision", stated.precision, precision),
        strategy=_stated_or_logged(where, "--strategy", stated.strategy, _choice(Strategy, facts.strategy)),
        checkpointing=_stated_or_logged(
            where, "--checkpointing", stated.checkpointing, _choice(Checkpointing, facts.checkpointing)
        ),
        compiled=facts.compiled,
        adapters=adapters,
        objective=objective_named(facts.objective, where=where),
        hours=stated.hours,
        planned_samples=facts.planned_samples or planned,
        padded=False if stated.packed or image else facts.padded,
        doubts=tuple(doubts),
    )


def _check_contradictions(where: str, log: TrainerLog, stated: Stated) -> None:
    """Refuse a fact that two files state differently, unless the user states it."""
    for contradiction in log.contradictions:
        if getattr(stated, contradiction.key, None) is None and not (contradiction.key == "lora_rank" and stated.lora):
            flag = f"--{contradiction.key.replace('_', '-')}"
            said = f"Say which is right ({flag}), or name" if contradiction.key in vars(stated) else "Name"
            raise InputError(
                f"{where}: its files contradict each other on {contradiction.text}.",
                fix=f"{said} the files of one training.",
            )


def _check_counts(where: str, facts: Facts, stated: Stated) -> None:
    """Refuse counts above the largest that a record can hold."""
    flags = {f"--{name.replace('_', '-')}": value for name, value in vars(stated).items()}
    flags["--lora-rank"] = stated.lora and stated.lora.rank
    read = {name.replace("_", " "): value for name, value in vars(facts).items()}
    for what, value in (flags | read).items():
        if isinstance(value, int) and value > MOST_COUNT:
            place = "the command" if what in flags else "the log, or in the file beside it"
            raise InputError(
                f"{where}: {what} is over {MOST_COUNT:,}, the most that is read.", fix=f"Correct it in {place}."
            )


def _network(facts: Facts, source: LogSource, stated: Stated, catalog: Catalog) -> tuple[str, Architecture | None]:
    """Return name and network, from the user, from the config.json beside the log, or from a name in the log."""
    if stated.workload is not None:
        network = find_architecture(stated.workload, catalog)
        whole_network(network, where=stated.workload, fix=PARTS_FIX)
        named = network.name if is_name(stated.workload, catalog) else None
        return named or _name_of(network.architecture), network.architecture
    if facts.config is not None:
        network = find_architecture(str(source.file(facts.config)), catalog)
        whole_network(network, where=facts.config, fix=PARTS_FIX)
        return _name_of(network.architecture), network.architecture
    preset = catalog.preset_called(facts.model)
    if preset is None:
        raise MissingFactError(str(source.path), "what was trained", "--workload", "llama3-8b (or its config.json)")
    return preset.name, preset.architecture


def _name_of(architecture: Architecture) -> str:
    """Name a network by its sizes, because the name of its file or folder may be that of a person or a project."""
    sizes = [str(getattr(architecture, key)) for key in ("layers", "hidden") if hasattr(architecture, key)]
    return "-".join([str(getattr(architecture, "kind", "network")), *sizes])


def _hardware(facts: Facts, stated: Stated, catalog: Catalog, where: str) -> tuple[RunHardware, list[str]]:
    said = find_accelerator(stated.accelerator, catalog).id if stated.accelerator else None
    read = _read_accelerator(facts.accelerator, catalog)
    accelerator = _stated_or_logged(where, "--accelerator", said, read)
    if accelerator is None:
        raise MissingFactError(where, "on which accelerator it ran", "--accelerator", "RTX-3090")
    gpus = stated.gpus or facts.devices
    if gpus is None:
        raise MissingFactError(where, "on how many accelerators it ran", "--gpus", "2")
    doubts = []
    if facts.devices and gpus != facts.devices:
        if gpus % facts.devices:
            raise InputError(
                f"{where}: --gpus {gpus}: the log tells of {facts.devices}.", fix=f"Write --gpus {facts.devices}"
            )
        doubts.append(
            f"the log's batch is that of {facts.devices} processes and not of {gpus}; state it with --global-batch"
        )
    nodes = _stated_or_logged(where, "--nodes", stated.nodes, facts.nodes) or 1
    if gpus % nodes:
        raise InputError(f"{where}: --gpus {gpus} do not divide among --nodes {nodes}.", fix="Count all accelerators.")
    if stated.machine is not None and stated.machine not in catalog.nodes:
        raise InputError(f"--machine {stated.machine}: no node has this id.", fix="See catalogs/hardware/nodes.csv")
    hardware = RunHardware(
        accelerator=accelerator, node=stated.machine, nodes=nodes, accelerators_per_node=gpus // nodes
    )
    return hardware, doubts


def _read_accelerator(name: str | None, catalog: Catalog) -> str | None:
    if name is None:
        return None
    try:
        return find_accelerator(name, catalog).id
    except InputError:
        return None


def _choice(kind: type[Choice], name: str | None) -> Choice | None:
    return next((choice for choice in kind if choice.value == (name or "").casefold()), None)


def _stated_or_logged(where: str, flag: str, stated: Value | None, read: Value | None) -> Value | None:
    """Return the stated or the logged value. Raises InputError if they differ."""
    if stated is not None and read is not None and stated != read:
        raise InputError(f"{where}: {flag} {stated}: the log says {read}.", fix=f"Leave {flag} out, or check the log.")
    return stated if stated is not None else read


MOST_TRAINED = 0.5
"""Share of all parameters from which a count means full training, or training with some frozen layers."""
ATTENTION: tuple[AdapterTarget, ...] = ("query", "key", "value", "out")
TRIED: tuple[tuple[AdapterTarget, ...], ...] = (EVERY, ATTENTION, ("query", "value"), ("query", "key", "value"))
"""Sets of linear maps that trainers usually adapt, most usual first."""
USUAL_RANKS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512)


def adapters_of_log(facts: Facts, network: Architecture | None) -> Adapters | None:
    """Return the adapters; None if all weights are trained or nothing indicates adapters."""
    trained = facts.trainable if network is not None and network.sample == "tokens" else None
    if trained is not None and network is not None and trained > MOST_TRAINED * parameters(network):
        return None
    if not facts.lora_rank and not facts.quantized and trained is None:
        return None
    found = _stated(facts)
    if trained is not None and network is not None and (not facts.lora_rank or not facts.lora_targets):
        found = _counted(network, trained, facts) or found
    return found.model_copy(update={"frozen": FrozenFormat.NF4}) if facts.quantized else found


def _stated(facts: Facts) -> Adapters:
    targets = targets_of(facts.lora_targets or ())
    return Adapters(rank=facts.lora_rank or USUAL.rank, targets=targets or USUAL.targets)


def _counted(network: Architecture, trained: int, facts: Facts) -> Adapters | None:
    """Return adapters with rank x (inputs + outputs) over their maps = trained parameters; None if no set matches."""
    stated = targets_of(facts.lora_targets or ())
    for targets in (stated,) if stated else TRIED:
        rank, left = divmod(trained, max(1, adapted(network, Adapters(targets=targets)).numbers))
        if left == 0 and rank == (facts.lora_rank or rank) and rank in (*USUAL_RANKS, facts.lora_rank):
            return Adapters(rank=rank, targets=targets)
    return None
