"""The device of a rank: chosen, checked to be free and usable, and described, before anything is computed on it."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional

from ..contract import failure
from ..contract.failure import RunError
from ..contract.result import Record
from ..contract.spec import Spec
from ..measure import device_load, environment, topology

if TYPE_CHECKING:
    import torch


BUSY_FIX = (
    "Stop them (nvidia-smi shows what a container hides on the host), or measure all the same: --busy-device allow."
)


class RankWorld:
    """Rank and world of this process, as torchrun sets them."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        try:
            self.rank = int(variables["RANK"])
            self.local_rank = int(variables["LOCAL_RANK"])
            self.world_size = int(variables["WORLD_SIZE"])
            self.local_world_size = int(variables["LOCAL_WORLD_SIZE"])
        except KeyError as missing:
            raise SystemExit(
                f"{missing} is not set. Start me with torchrun --nproc_per_node=<devices> -m workloads.train"
            ) from None


def prepared_device(spec: Spec, record: Record, world: RankWorld) -> torch.device:
    """Return this rank's device, after checks that it is free and that torch can compute on it."""
    device = _device(world)
    busy_before = _busy_before(device)
    _set_cpu_threads(device, world)
    record.document["environment"].update(environment.describe_torch())
    _check_build(device)
    record.document.update(device_type=device.type, backend=backend_of(device), memory=_memory_in_use(device))
    record.document["busy_before_share"] = busy_before
    wrong = device_load.problem(record.document["memory"].get("in_use_before_gib", 0.0), busy_before)
    if spec.probe is not None and device.type == "cpu" and world.local_rank == 0 and spec.busy_device == "refuse":
        wrong = device_load.cpu_problem(device_load.cpu_busy_share())
    if wrong is not None and spec.busy_device == "refuse":
        raise RunError(failure.DEVICE_BUSY, f"{wrong} {BUSY_FIX}")
    return device


def backend_of(device: torch.device) -> str:
    """Return torch's library for collectives on a device."""
    return "nccl" if device.type == "cuda" else "gloo"


def timed_topology(record: Record, device: torch.device) -> Dict[str, Any]:
    """Return the topology of this node, timed as its own phase while the other ranks wait."""
    start_s = time.perf_counter()
    own_topology = topology.gather(on_cuda=device.type == "cuda")
    record.phases["topology_s"] = time.perf_counter() - start_s
    return own_topology


def _device(world: RankWorld) -> torch.device:
    import torch

    if not torch.cuda.is_available():
        return torch.device("cpu")
    if world.local_world_size > torch.cuda.device_count():
        raise RunError(
            failure.ERROR,
            f"{world.local_world_size} processes on a node with {torch.cuda.device_count()} visible CUDA devices. "
            f"Start torchrun with --nproc_per_node={torch.cuda.device_count()} or fewer.",
        )
    torch.cuda.set_device(world.local_rank)
    return torch.device("cuda", world.local_rank)


def _busy_before(device: torch.device) -> Optional[float]:
    """Return the share of the last second in which others ran kernels on the device, before our own context exists."""
    import torch

    if device.type != "cuda":
        return None
    return device_load.busy_share(getattr(torch.cuda.get_device_properties(device), "uuid", None))


def _memory_in_use(device: torch.device) -> Dict[str, float]:
    """Return the device memory in use before we allocate anything: our context, and other processes."""
    import torch

    if device.type != "cuda":
        return {}
    free_bytes, total_bytes = torch.cuda.mem_get_info(device)
    return {"in_use_before_gib": (total_bytes - free_bytes) / environment.GIB}


def _check_build(device: torch.device) -> None:
    import torch

    if device.type != "cuda" or torch.version.cuda is None:
        return
    problem = environment.build_problem(
        torch.cuda.get_device_capability(device), torch.cuda.get_arch_list(), torch.cuda.get_device_name(device)
    )
    if problem is not None:
        raise RunError(failure.WRONG_BUILD, problem)


def _set_cpu_threads(device: torch.device, world: RankWorld) -> None:
    """Use cores / ranks threads, unless the user set a number. torchrun sets 1 for several ranks by default."""
    import torch

    if device.type == "cpu" and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(max(1, environment.available_cores() // world.local_world_size))
