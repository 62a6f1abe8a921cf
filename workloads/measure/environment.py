"""Environment of a run: versions, device strings, the allocator's setting. No host names or serial numbers."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Dict, List, MutableMapping, Optional, Tuple, Union

Fact = Union[str, int, float, bool, List[str], None]

GIB = 2**30
ALLOCATOR_VARIABLES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
"""Variables of torch's allocator: the name of newer releases, then the older one."""
EXPANDABLE_SEGMENTS = "expandable_segments:True"


def use_expandable_segments(variables: MutableMapping[str, str]) -> None:
    """Let torch's CUDA allocator grow its segments, unless the user has set it. Has no effect once CUDA is in use.

    With segments of fixed sizes, a run that fills its device can fail with gigabytes reserved but unused.
    """
    if not any(name in variables for name in ALLOCATOR_VARIABLES):
        variables.update(dict.fromkeys(ALLOCATOR_VARIABLES, EXPANDABLE_SEGMENTS))


def available_cores() -> int:
    """Return the CPU cores this process may use. A container or taskset may allow fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def describe() -> Dict[str, Fact]:
    """Return the facts that need no torch. Those that do are null until `describe_torch` fills them."""
    return {
        "python": platform.python_version(),
        "torch": None,
        "cuda": None,
        "cudnn": None,
        "nccl": None,
        "driver": _nvidia_driver(),
        "os": _os_name(),
        "cpu_model": _cpu_model(),
        "cpu_cores": available_cores(),
        "accelerator_name": None,
        "accelerators_visible": 0,
        "compute_capability": None,
        "torch_arch_list": [],
        "allocator": None,
        "ram_gib": _ram_gib(),
        "torch_threads": None,
    }


def describe_torch() -> Dict[str, Fact]:
    """Return torch's versions and the first visible device. Does not start a context on other devices."""
    import torch  # slow to import; a wrong spec is refused before

    facts: Dict[str, Fact] = {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "torch_threads": torch.get_num_threads(),
    }
    if torch.cuda.is_available():
        major, minor = torch.cuda.get_device_capability()
        cudnn = torch.backends.cudnn.version()  # type: ignore[no-untyped-call]
        facts.update(
            cudnn=None if cudnn is None else str(cudnn),
            nccl=_nccl_version(),
            accelerator_name=torch.cuda.get_device_name(),
            accelerators_visible=torch.cuda.device_count(),
            compute_capability=f"{major}.{minor}",
            torch_arch_list=list(torch.cuda.get_arch_list()),
            allocator=next((os.environ[name] for name in ALLOCATOR_VARIABLES if name in os.environ), None),
        )
    return facts


def build_problem(capability: Tuple[int, int], arch_list: List[str], device_name: str) -> Optional[str]:
    """Return why this torch build cannot run on the device and which build can; None if it can.

    A binary sm_XY runs on the same major X with a minor of at least Y. sm_90a and the like run only on exactly 9.0.
    compute_XY is code that the driver compiles for any later device. Source: CUDA C++ Programming Guide, compute
    capabilities. Wheels: PyTorch's release matrix (RELEASE.md). As of torch 2.11, wheels for CUDA 12.8 and later lack
    sm_70, and wheels for earlier CUDA lack sm_100 and sm_120.
    """
    if not arch_list or any(_runs_on(architecture, capability) for architecture in arch_list):
        return None
    if capability < (7, 5):
        build = "Install a torch wheel built for CUDA 12.6 (cu126): later CUDA builds leave out devices before sm_75"
    elif capability >= (10, 0):
        build = "Install a torch wheel built for CUDA 12.8 or newer (cu128, torch 2.7 or newer)"
    else:
        build = "Install the current default torch wheel for CUDA"
    wanted = f"sm_{capability[0]}{capability[1]}"
    return f"{device_name} needs {wanted}, and this torch build has {' '.join(arch_list)}. {build}."


def _runs_on(architecture: str, capability: Tuple[int, int]) -> bool:
    match = re.fullmatch(r"(sm|compute)_(\d+)(\d)([af]?)", architecture)
    if match is None:
        return False
    built_for = (int(match[2]), int(match[3]))
    if match[4]:
        return built_for == capability
    if match[1] == "compute":
        return built_for <= capability
    return built_for[0] == capability[0] and built_for[1] <= capability[1]


def _nccl_version() -> Optional[str]:
    import torch

    if not torch.distributed.is_nccl_available():
        return None
    version = torch.cuda.nccl.version()  # type: ignore[no-untyped-call]
    return ".".join(str(part) for part in version) if isinstance(version, tuple) else str(version)


def _nvidia_driver() -> Optional[str]:
    """Return the kernel module's version, e.g. 570.86.15, from the first line of NVIDIA's proc file."""
    match = re.search(r"\b\d{3,}\.\d+(\.\d+)?\b", _first_text("/proc/driver/nvidia/version"))
    return match[0] if match else None


def _os_name() -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', _first_text("/etc/os-release"), flags=re.MULTILINE)
    return f"{match[1] if match else platform.system()}, kernel {platform.release()}"


def _cpu_model() -> Optional[str]:
    match = re.search(r"^model name\s*:\s*(.+)$", _first_text("/proc/cpuinfo"), flags=re.MULTILINE)
    return match[1].strip() if match else (platform.processor() or platform.machine() or None)


def _ram_gib() -> Optional[float]:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB, 2)
    except (AttributeError, ValueError, OSError):
        return None


def _first_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")[:65536]
    except OSError:
        return ""
