"""Targets of a benchmark: a cloud instance, a Kubernetes context, an SSH pool, Slurm, a host, this machine.

Pure. A target names exactly one kind of machine, so that the order can be compared with what was supplied.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Literal

from pydantic import Field

from planner.errors import InputError, NotFoundError
from planner.model.base import Count, Frozen, Id, Text


class LaunchProvider(StrEnum):
    """Owner of the machine. `REACHED_BY` names the way to reach it."""

    AWS = "aws"
    LAMBDA = "lambda"
    K8S = "k8s"
    SSH_POOL = "ssh"
    SLURM = "slurm"
    HOST = "host"
    LOCAL = "local"


CLOUDS = (LaunchProvider.AWS, LaunchProvider.LAMBDA)
"""Providers that send an invoice for a launch. The others' machines already exist."""


class Reach(StrEnum):
    """Way to reach the machines of a launch. Each has one backend (`planner/use_cases/launching/launches.py`)."""

    SKYPILOT = "skypilot"
    SSH = "ssh"
    LOCAL = "local"


REACHED_BY: Mapping[LaunchProvider, Reach] = {
    LaunchProvider.AWS: Reach.SKYPILOT,
    LaunchProvider.LAMBDA: Reach.SKYPILOT,
    LaunchProvider.K8S: Reach.SKYPILOT,
    LaunchProvider.SSH_POOL: Reach.SKYPILOT,
    LaunchProvider.SLURM: Reach.SKYPILOT,
    LaunchProvider.HOST: Reach.SSH,
    LaunchProvider.LOCAL: Reach.LOCAL,
}
"""Way to reach each provider. A provider that is missing here cannot be launched on."""
NAMED = {
    LaunchProvider.AWS: "an instance type",
    LaunchProvider.LAMBDA: "an instance type",
    LaunchProvider.K8S: "a Kubernetes context",
    LaunchProvider.SSH_POOL: "an SSH node pool",
    LaunchProvider.SLURM: "a Slurm cluster",
    LaunchProvider.HOST: "a host of hosts.yaml",
}
"""Meaning of the name after the slash."""

Purchase = Literal["on_demand", "spot", "reservation", "capacity_block"]

SKY_ACCELERATORS = {
    "A100-40GB-SXM": "A100",
    "A100-40GB-PCIe": "A100",
    "A100-80GB-SXM": "A100-80GB",
    "A100-80GB-PCIe": "A100-80GB",
    "H100-SXM": "H100",
    "H100-PCIe": "H100",
    "H200-SXM": "H200",
    "B200-SXM": "B200",
    "B300-SXM": "B300",
    "GH200-96GB": "GH200",
    "V100-SXM2-16GB": "V100",
    "V100-PCIe-16GB": "V100",
    "V100-SXM2-32GB": "V100-32GB",
    "V100-PCIe-32GB": "V100-32GB",
    "RTX-6000-Turing": "RTX6000",
    "RTX-A6000": "A6000",
    "RTX-3090": "RTX3090",
    "RTX-4090": "RTX4090",
    "RTX-PRO-6000-Blackwell-Server": "RTXPRO6000",
}
"""SkyPilot's accelerator names that differ from the catalog's; several of ours may share one of theirs.

Source: catalogs and catalog fetchers of skypilot 0.14.1 (a 40 GB A100 is A100 there, an 80 GB one A100-80GB).
"""


class Target(Frozen):
    """One kind of machine, the number of nodes, and the terms of purchase."""

    provider: LaunchProvider
    name: Id
    """Instance type, context, pool, cluster or host; `local` for this machine."""
    nodes: Count = 1
    accelerator: Id | None = None
    """Accelerator id in the catalog; None if only the machine itself can tell."""
    devices_per_node: Count | None = None
    """Processes to start per node: one per accelerator, or processes on a CPU. None means one per accelerator found."""
    purchase: Purchase = "on_demand"
    reservation: Id | None = None
    """Id of the reservation or Capacity Block (`cr-...`) if `purchase` is one of these."""
    region: Text | None = None
    network_tier: Literal["standard", "best"] | None = None
    image: Text | None = None
    managed: bool = False
    """True for a SkyPilot managed job, which restarts preempted nodes by itself."""
    more_hosts: tuple[Id, ...] = Field(default=())
    """Further hosts of a run over several nodes if the provider is `host`."""

    @property
    def id(self) -> str:
        """Target as the user writes it."""
        if self.provider is LaunchProvider.LOCAL:
            return "local"
        return "/".join([self.provider.value, "+".join([self.name, *self.more_hosts])])

    @property
    def spot(self) -> bool:
        """True if the provider may take the machine away."""
        return self.purchase == "spot"

    @property
    def is_cloud(self) -> bool:
        """True if launching makes an invoice."""
        return self.provider in CLOUDS

    @property
    def reach(self) -> Reach:
        """Way to reach the machines."""
        return REACHED_BY[self.provider]

    @property
    def through_sky(self) -> bool:
        """True if SkyPilot carries the launch."""
        return self.reach is Reach.SKYPILOT

    @property
    def on_cpu(self) -> bool:
        """True if the target is known to have no accelerator."""
        return self.accelerator == "CPU"

    @property
    def sky_accelerator(self) -> str | None:
        """SkyPilot's name of the accelerator; None on a CPU or if unknown."""
        if self.accelerator is None or self.on_cpu:
            return None
        return SKY_ACCELERATORS.get(self.accelerator, self.accelerator)


def parse_target(text: str, *, instance_types: Collection[str], hosts: Collection[str] = ()) -> Target:
    """Parse a target as the user writes it. `host/a+b` is one run over two hosts.

    `instance_types` are the known ids `aws/...` and `lambda/...`, `hosts` the names in hosts.yaml. An unknown id raises
    an error that names the nearest one: otherwise a misspelt instance type would first show on the provider's bill.
    """
    if text == LaunchProvider.LOCAL:
        return Target(provider=LaunchProvider.LOCAL, name="local")
    prefix, _, name = text.partition("/")
    if prefix not in set(LaunchProvider) or not name or prefix == LaunchProvider.LOCAL:
        known = [*instance_types, *(f"host/{host}" for host in hosts), "local"]
        forms = "aws/TYPE, lambda/TYPE, k8s/CONTEXT, ssh/POOL, slurm/CLUSTER, host/NAME or local"
        raise NotFoundError("target", text, known, where="--on", fix=f"Write {forms}.")
    provider = LaunchProvider(prefix)
    if provider in CLOUDS and text not in instance_types:
        known = [known for known in instance_types if known.startswith(f"{prefix}/")]
        fix = f"Known: {', '.join(sorted(known))}. Add your own to hardware/nodes.csv in the workspace."
        raise NotFoundError(f"{prefix} instance type", name, [*known, *_names(known)], where="--on", fix=fix)
    first, *more = name.split("+") if provider is LaunchProvider.HOST else [name]
    for host in [first, *more] if provider is LaunchProvider.HOST else []:
        if host not in hosts:
            fix = "Name it in hosts.yaml in the workspace (docs/launching.md)."
            raise NotFoundError("host", host, hosts, where="--on", fix=fix)
    if not all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/@+-]{0,99}", part) for part in (first, *more)):
        raise InputError(
            f"--on {text}: {name!r} is not {NAMED[provider]}.", fix="A name has letters, digits and . _ - / @ +."
        )
    if len({first, *more}) != 1 + len(more):
        raise InputError(f"--on {text}: a host is named twice.", fix="Name each host once.")
    return Target(provider=provider, name=first, more_hosts=tuple(more), nodes=1 + len(more))


def _names(ids: Collection[str]) -> list[str]:
    return [known.partition("/")[2] for known in ids]
