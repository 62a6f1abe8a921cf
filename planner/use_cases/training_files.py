"""Reads a training from files of a trainer, with the network that they name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from planner.adapters.model_config.reader import architecture_of
from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.reader import is_training_file, read_training
from planner.errors import InputError, NotFoundError, NotModelledError
from planner.model.catalog import Catalog
from planner.model.network.adapters import Adapters, FrozenFormat, targets_of
from planner.model.network.architecture import Architecture, usual_seq_len
from planner.model.network.trainer_memory import Kernels, Loss, Offload, Optimizer, WeightFormat
from planner.model.network.training_method import GROUPED, NEXT_TOKEN, Generation, MethodSettings, TrainingMethod
from planner.model.network.workload import Checkpointing, Precision, StatedTraining, Strategy

SEPARATOR = ","
"""Separator between several files of one training."""


class UnnamedNetworkError(InputError):
    """The files of a training name no network."""


def training_paths(workload: str) -> list[Path]:
    """Return the comma-separated files of a training in a word; empty if it names none."""
    paths = [Path(part.strip()) for part in workload.split(SEPARATOR) if part.strip()]
    if not paths or (len(paths) == 1 and (paths[0] / "config.json").is_file()):
        return []
    return paths if all(is_training_file(path) for path in paths) else []


def read_stated_training(paths: list[Path], catalog: Catalog) -> StatedTraining:
    """Read the training that files state. Raises InputError if they name no known network."""
    facts = read_training(paths).facts()
    where = str(paths[0])
    objective = with_engine(objective_named(facts.objective, where=where), facts)
    name, architecture = _network(facts, where, catalog)
    stated_seq_len = facts.seq_len if architecture.sample == "tokens" else None
    devices = facts.devices
    return StatedTraining(
        name=name,
        architecture=architecture,
        seq_len=stated_seq_len or usual_seq_len(architecture),
        micro_batch=facts.micro_batch or 1,
        precision=Precision(facts.precision) if facts.precision else Precision.BF16,
        adapters=_adapters(facts),
        objective=objective,
        framework=facts.framework,
        loss=Loss(facts.loss) if facts.loss else None,
        kernels=Kernels(facts.kernels) if facts.kernels else None,
        optimizer=Optimizer(facts.optimizer) if facts.optimizer else None,
        weights=WeightFormat(facts.weights) if facts.weights else None,
        offload=Offload(facts.offload) if facts.offload else None,
        stated_precision=Precision(facts.precision) if facts.precision else None,
        stated_seq_len=stated_seq_len,
        stated_micro_batch=facts.micro_batch,
        strategy=Strategy(facts.strategy) if facts.strategy else None,
        checkpointing=Checkpointing(facts.checkpointing) if facts.checkpointing else None,
        accumulation=facts.accumulation,
        global_batch=facts.global_batch or _global_batch(facts),
        epochs=facts.epochs,
        planned_steps=facts.planned_steps,
        packing=None if facts.padded is None else not facts.padded,
        accelerator=facts.accelerator,
        accelerators=devices,
        nodes=facts.nodes,
        divided=", ".join(_divisions(facts)) or None,
    )


SAME_WORK = {
    "ipo": TrainingMethod.DPO, "cpo": TrainingMethod.SIMPO, "rm": TrainingMethod.REWARD,
    "reward": TrainingMethod.REWARD,
}  # fmt: skip
"""Methods with the same passes, by the names that trainers use for objectives."""


def objective_named(objective: str | None, *, where: str) -> MethodSettings:
    """Return the objective that a trainer's word means. Raises NotModelledError for an unknown one."""
    if objective is None:
        return NEXT_TOKEN
    try:
        return MethodSettings(method=SAME_WORK.get(objective) or TrainingMethod(objective))
    except ValueError:
        raise NotModelledError(
            f"{where}: trainings of this kind ({objective}) are not modelled.",
            fix="Nearest is supervised fine-tuning: a sample is a prompt and an answer.",
        ) from None


def with_engine(objective: MethodSettings, facts: Facts) -> MethodSettings:
    """Add the group size and the generation engine that files state to a method."""
    if not objective.generates:
        return objective
    engine = {"memory_share": facts.engine_share, "sleep_level": facts.engine_sleep}
    stated = {name: value for name, value in engine.items() if value is not None}
    generation = Generation.model_validate(stated) if stated else None
    group = facts.group if objective.method in GROUPED else None
    return objective.model_copy(update={"generation": generation, "group": group})


def _divisions(facts: Facts) -> list[str]:
    parts = (("tensor", facts.tensor), ("pipeline", facts.pipeline))
    return [f"{name} parallel {degree}" for name, degree in parts if degree and degree > 1]


def _global_batch(facts: Facts) -> int | None:
    if not facts.micro_batch or not facts.devices:
        return None
    replicas = facts.devices // ((facts.tensor or 1) * (facts.pipeline or 1))
    return facts.micro_batch * (facts.accumulation or 1) * max(1, replicas)


def _network(facts: Facts, where: str, catalog: Catalog) -> tuple[str, Architecture]:
    """Return the network by name, or by the stated sizes with the vocabulary of the tokenizer."""
    if facts.network is not None:
        return "network", architecture_of(_with_vocabulary(facts.network, facts, where, catalog), where=where)
    if facts.model is None:
        raise UnnamedNetworkError(
            f"{where}: does not say which network is trained.",
            fix="Add the file that says it, with a comma between them: planner ask train.yaml,config.yaml",
        )
    try:
        preset = catalog.preset_called(facts.model) or catalog.find_preset(facts.model)
    except NotFoundError as error:
        raise InputError(f"{where}: {error.message}", fix="Name its config.json in the file.") from error
    return preset.name, preset.architecture


def _with_vocabulary(sizes: Mapping[str, object], facts: Facts, where: str, catalog: Catalog) -> Mapping[str, object]:
    if "vocab_size" in sizes:
        return sizes
    preset = catalog.preset_called(facts.model)
    if preset is None or preset.architecture.sample == "image":
        raise InputError(f"{where}: does not say the vocabulary of the network.", fix="Add --vocab-size to it.")
    return {**sizes, "vocab_size": preset.architecture.vocab}


def _adapters(facts: Facts) -> Adapters | None:
    if facts.method != "lora" and not facts.lora_rank:
        return None
    usual = Adapters()
    targets = targets_of(facts.lora_targets or ()) or usual.targets
    frozen = FrozenFormat.NF4 if facts.quantized else FrozenFormat.INT8 if facts.eight_bit else None
    return Adapters(rank=facts.lora_rank or usual.rank, targets=targets, frozen=frozen)
