"""Reads the written arguments of `planner bench`: counts, micro-batch, adapters, token shards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from planner.cli.output import check_positive
from planner.errors import InputError, NotFoundError
from planner.model.network.adapters import AdapterKind, Adapters, FrozenFormat
from planner.model.network.workload import ArchitectureFile, Method

if TYPE_CHECKING:
    from launcher.bench.bench import DataSettings


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
    return _changed(Adapters(), rank, targets)


def adapters_for(
    network: ArchitectureFile,
    method: Method | None,
    kind: AdapterKind | None,
    rank: int | None,
    targets: str | None,
    frozen: FrozenFormat | None,
) -> Adapters | None:
    """Join what a file trains with the options, which win; None where all weights are trained."""
    own = None if method is Method.FULL else network.adapters
    if own is None:
        own = read_adapters(method or Method.FULL, rank, targets)
    else:
        check_positive(rank, "--lora-rank")
        own = _changed(own, rank, targets)
    given = {name: value for name, value in (("kind", kind), ("frozen", frozen)) if value is not None}
    if own is None and given:
        name, value = next(iter(given.items()))
        raise InputError(
            f"--lora-{name} {value.value}: all weights are trained.", fix="Add --method lora, or leave it out."
        )
    return own if own is None else own.model_copy(update=given)


def _changed(adapters: Adapters, rank: int | None, targets: str | None) -> Adapters:
    """Return adapters with the rank and the linear maps that were named."""
    given = {"rank": rank, "targets": None if targets is None else _read_targets(targets)}
    return adapters.model_copy(update={name: value for name, value in given.items() if value is not None})


def _read_targets(text: str) -> tuple[str, ...]:
    """Read names of linear maps, with commas between them."""
    from workloads.contract.spec import LORA_TARGETS

    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in LORA_TARGETS:
            known = f"Known: {', '.join(LORA_TARGETS)}"
            raise NotFoundError("linear map", name, LORA_TARGETS, where="--lora-targets", fix=known)
    if len(set(names)) != len(names):
        raise InputError(f"--lora-targets {text}: names a map twice.", fix="Name each once.")
    return names


def read_data(path: str, dtype: str, *, here: bool) -> DataSettings:
    """Return where the token shards lie: on this machine, or on the nodes, where no path is relative to ours."""
    from launcher.bench.bench import DataSettings
    from workloads.contract.spec import DATA_DTYPES

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
