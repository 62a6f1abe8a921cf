"""Reads the written arguments of `planner bench`: counts, micro-batch, adapters, token shards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from planner.cli.output import check_positive
from planner.errors import InputError, NotFoundError
from planner.model.adapters import Adapters, FrozenFormat
from planner.model.workload import ArchitectureFile, Method

if TYPE_CHECKING:
    from launcher.bench import DataSettings, LoraSettings


def read_lora(rank: int | None, targets: str | None) -> LoraSettings:
    """Return the adapters to train; their defaults where nothing is given."""
    from launcher.bench import LoraSettings
    from workloads.spec import LORA_TARGETS

    default = LoraSettings()
    names = tuple(name.strip() for name in targets.split(",")) if targets is not None else default.targets
    for name in names:
        if name not in LORA_TARGETS:
            known = f"Known: {', '.join(LORA_TARGETS)}"
            raise NotFoundError("linear map", name, LORA_TARGETS, where="--lora-targets", fix=known)
    if len(set(names)) != len(names):
        raise InputError(f"--lora-targets {targets}: names a map twice.", fix="Name each once.")
    return LoraSettings(rank=rank or default.rank, targets=names)


def read_adapters(method: Method, rank: int | None, targets: str | None) -> Adapters | None:
    """Return the adapters that are trained; None where all weights are. InputError where the options contradict."""
    check_positive(rank, "--lora-rank")
    if method is Method.FULL:
        if rank is not None or targets is not None:
            raise InputError(
                "--lora-rank and --lora-targets say how to train adapters, and --method full trains all weights.",
                fix="Add --method lora, or leave them out.",
            )
        return None
    lora = read_lora(rank, targets)
    return Adapters.model_validate({"rank": lora.rank, "targets": lora.targets})


def adapters_for(
    network: ArchitectureFile, method: Method | None, rank: int | None, targets: str | None, frozen: FrozenFormat | None
) -> Adapters | None:
    """Join what a file trains with the options, which win; None where all weights are trained."""
    check_positive(rank, "--lora-rank")
    own = None if method is Method.FULL else network.adapters
    if own is None and method is not Method.LORA:
        if frozen is not None:
            raise InputError(
                f"--lora-frozen {frozen.value}: all weights are trained.", fix="Add --method lora, or leave it out."
            )
        return read_adapters(Method.FULL, rank, targets)
    given = {
        "rank": rank,
        "targets": None if targets is None else read_lora(rank, targets).targets,
        "frozen": frozen,
    }
    return (own or Adapters()).model_copy(update={name: value for name, value in given.items() if value is not None})


def read_data(path: str, dtype: str, *, here: bool) -> DataSettings:
    """Return where the token shards lie: on this machine, or on the nodes, where no path is relative to ours."""
    from launcher.bench import DataSettings
    from workloads.spec import DATA_DTYPES

    if dtype not in DATA_DTYPES:
        raise InputError(f"--data-dtype {dtype}: is not known.", fix=f"Choose one of: {', '.join(DATA_DTYPES)}.")
    if not here and not path.startswith("/"):
        raise InputError(
            f"--data {path}: must be the place of the shards on the nodes, from / on.",
            fix="Put them there first, or into the image; nothing is copied from here.",
        )
    return DataSettings(path=str(Path(path).resolve()) if here else path, dtype=dtype)


def read_counts(given: str | None) -> list[int]:
    """Read the counts of a series, the smallest first; empty where none was asked for."""
    if given is None:
        return []
    try:
        counts = sorted({int(count) for count in given.split(",")})
    except ValueError:
        raise InputError(f"--sweep-gpus {given}: is not a list of numbers.", fix="Write e.g. 1,2,4,8.") from None
    check_positive(counts[0], "--sweep-gpus")
    if len(counts) < 2:
        raise InputError(f"--sweep-gpus {given}: one count is no series.", fix="Write e.g. 1,2,4,8.")
    return counts


def read_micro_batch(given: str | None) -> int | str | None:
    """Return a number, "auto", or None where none was given."""
    if given is None or given == "auto":
        return given
    try:
        value = int(given)
    except ValueError:
        raise InputError(
            f"--micro-batch {given}: is neither a number nor auto.", fix="Write e.g. 8, or auto."
        ) from None
    check_positive(value, "--micro-batch")
    return value
