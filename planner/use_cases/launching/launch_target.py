"""Joins a target's name with its machine in the catalog or in hosts.yaml, and with the terms of the launch.

Also opens the way to reach the machine, and chooses the micro-batches that a launched node tries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, assert_never

from planner.adapters.documents import read_model
from planner.adapters.workspace import workspace_dir
from planner.errors import InputError, MissingExtraError
from planner.launcher.backends.hosts import Host, HostsFile
from planner.launcher.bench.bench import allowed_micro_batches, global_batch_of
from planner.launcher.bench.bench_settings import BenchSettings
from planner.launcher.plan.backend import Backend
from planner.launcher.plan.target import LaunchProvider, Purchase, Reach, Target, parse_target
from planner.model.catalog import Catalog
from planner.model.network.workload import BenchMode, BenchWorkload
from planner.text.number_text import with_plain_digits
from planner.use_cases.expectations import most_micro_batch, start_micro_batch

HOSTS_FILE = "hosts.yaml"
HOSTS_FIX = "Its keys are in docs/launching.md."

MOST_MINUTES = 7 * 24 * 60
"""Longest time of one launch, in minutes: a week."""
MOST_NODES = 10_000
"""Largest number of nodes of one launch."""
MOST_DIGITS = 6
"""Largest number of digits in the number of accelerators of one node."""


@dataclass(frozen=True)
class LaunchTerms:
    """Terms of a launch besides the target's name. None means not stated."""

    nodes: int | None = None
    gpus: str | None = None
    """Processes on each node, or `NAME:COUNT` if SkyPilot must know the accelerator."""
    purchase: Purchase = "on_demand"
    reservation: str | None = None
    region: str | None = None
    network_tier: Literal["standard", "best"] | None = None
    image: str | None = None
    managed: bool = False
    usd_per_hour: float | None = None
    max_minutes: float | None = None
    store: str | None = None
    answer_id: str | None = None
    """The answer that suggested the launch."""


def read_hosts(home: str | None) -> dict[str, Host]:
    """Return the hosts of the workspace; empty if there is no file."""
    path = workspace_dir(home) / HOSTS_FILE
    return read_model(HostsFile, path, fix=HOSTS_FIX).hosts if path.exists() else {}


def resolve_target(text: str, terms: LaunchTerms, catalog: Catalog, hosts: Mapping[str, Host]) -> Target:
    """Read a target and join it with its machine in the catalog or in hosts.yaml."""
    target = parse_target(text, instance_types=catalog.nodes, hosts=hosts)
    _check_terms(target, terms)
    accelerator, devices = _gpus(terms.gpus)
    if target.is_cloud:
        node = catalog.nodes[target.id]
        if accelerator is not None:
            raise InputError(
                f"--gpus {terms.gpus}: {target.id} has {node.accelerators}x {node.accelerator}.",
                fix="Write their number alone.",
            )
        if devices is not None and devices > node.accelerators and node.accelerator != "CPU":
            raise InputError(f"--gpus {devices}: {target.id} has {node.accelerators}.", fix="Ask for fewer.")
        accelerator, devices = node.accelerator, devices or (node.accelerators if node.accelerator != "CPU" else None)
    elif target.provider is LaunchProvider.HOST:
        host = hosts[target.name]
        accelerator, devices = accelerator or host.accelerator, devices or host.accelerators
    elif target.through_sky and devices is not None and accelerator is None:
        raise InputError(
            f"--gpus {terms.gpus}: {target.id} needs the accelerator's name.", fix="Write e.g. H100-SXM:8."
        )
    return target.model_copy(
        update={
            "nodes": terms.nodes or target.nodes,
            "accelerator": accelerator,
            "devices_per_node": devices,
            "purchase": terms.purchase if target.is_cloud else "on_demand",
            "reservation": terms.reservation if target.is_cloud else None,
            "region": terms.region,
            "network_tier": terms.network_tier,
            "image": terms.image,
            "managed": terms.managed,
        }
    )


def _check_terms(target: Target, terms: LaunchTerms) -> None:
    def refuse(option: str, why: str) -> None:
        raise InputError(f"{option}: {target.id} {why}.", fix="Leave it out, or choose another target.")

    if terms.purchase == "spot" and target.provider is not LaunchProvider.AWS:
        refuse("--spot", "has no spot instances")
    if terms.reservation is not None and target.provider is not LaunchProvider.AWS:
        refuse("--reservation", "has no reservations")
    if terms.network_tier is not None and not target.through_sky:
        refuse("--network-tier", "takes its network as it is")
    if terms.image is not None and (not target.through_sky or target.provider is LaunchProvider.LAMBDA):
        refuse("--image", "cannot run another image")
    if terms.managed and not target.through_sky:
        refuse("--managed", "is not run by SkyPilot")
    if terms.managed and terms.reservation is not None:
        refuse("--managed", f"is not taken away from {terms.reservation}, and a new start might lie outside of it")
    if terms.region is not None and not target.is_cloud:
        refuse("--region", "has no regions")
    if terms.nodes is not None and not target.through_sky and terms.nodes != target.nodes:
        count = "1 node" if target.nodes == 1 else f"{target.nodes} nodes"
        refuse(f"--nodes {terms.nodes}", f"is {count}; several hosts are written host/a+b")


def _gpus(text: str | None) -> tuple[str | None, int | None]:
    if text is None:
        return None, None
    name, _, number = text.rpartition(":")
    if not (number.isascii() and number.isdecimal()) or len(number) > MOST_DIGITS or int(number) < 1:
        raise InputError(f"--gpus {text}: is not a count.", fix=_gpus_fix(text))
    return name or None, int(number)


def _gpus_fix(text: str) -> str:
    plain = with_plain_digits(text)
    return f"Write {plain}" if plain != text else "Write e.g. 8, or H100-SXM:8."


PROBE_MINUTES = 1.5
"""Minutes for imports, the first step and five more steps."""
MOST_PROBES_OF_A_SEARCH = 6
"""Largest number of tries of a search. A good memory estimate needs two to four; a missing or wrong one needs more."""


@dataclass(frozen=True)
class Probes:
    """Micro-batches that a node tries."""

    asked: str | None
    """Argument for `workloads/run.sh`; None for no tries."""
    at_most: int
    """Largest number of tries."""
    micro_batch: int | None
    """Micro-batch of the first spec; None for the workload's own."""

    @property
    def minutes(self) -> float:
        """Minutes that the tries may take."""
        return self.at_most * PROBE_MINUTES


def settings_on(target: Target, settings: BenchSettings) -> BenchSettings:
    """Return the settings with the target's device count. Raises InputError if it is needed and unknown."""
    if target.devices_per_node is not None:
        return replace(settings, devices=target.nodes * target.devices_per_node)
    if settings.global_batch is not None or settings.mode is BenchMode.TUNED:
        raise InputError(
            f"{target.id}: how many devices it has is not known, and a global batch is shared among them.",
            fix="Say how many there are: --gpus N.",
        )
    return settings


def probes_of(workload: BenchWorkload, settings: BenchSettings, target: Target, catalog: Catalog) -> Probes:
    """Return the tries: a search if requested, else the doubled batch for a full measurement.

    Several nodes try nothing, because they would have to agree on each try. Raises InputError for a search on them.
    """
    share = None
    if (global_batch := global_batch_of(workload, settings)) is not None:
        share = global_batch // settings.devices
    of_share = "" if share is None else f" --share {share}"
    if settings.searches:
        if target.nodes > 1:
            raise InputError(
                f"{target.id}: a micro-batch is searched for on one node, and these are {target.nodes}.",
                fix="Search on one of them, then give --micro-batch for all.",
            )
        sizes = allowed_micro_batches(workload, settings)
        start = start_micro_batch(workload, target.accelerator, catalog, settings) or workload.micro_batch
        most = most_micro_batch(workload, target.accelerator, catalog, settings)
        up_to = "" if most is None else f" --most {most}"
        return Probes(f"search --start {start}{up_to}{of_share}", MOST_PROBES_OF_A_SEARCH, sizes[0])
    if settings.quick or target.nodes > 1:
        return Probes(None, 0, None)
    return Probes(f"double{of_share}", 2, None)


def open_backend(reach: Reach, folder: Path, *, home: str | None) -> Backend:
    """Return a new backend for this way to reach machines. `folder` holds the launches."""
    match reach:
        case Reach.LOCAL:
            from planner.launcher.backends.local import local_backend

            return local_backend(folder / "this-machine")
        case Reach.SSH:
            from planner.launcher.backends.ssh import ssh_backend

            return ssh_backend(read_hosts(home))
        case Reach.SKYPILOT:
            check_sky()
            from planner.launcher.backends.sky.backend import SkyBackend

            return SkyBackend(folder / "sky")
    assert_never(reach)


def check_sky() -> None:
    """Raise MissingExtraError if SkyPilot is not installed."""
    if find_spec("sky") is None:
        raise MissingExtraError("SkyPilot, which carries launches to clouds, Kubernetes and Slurm,", "launch")
