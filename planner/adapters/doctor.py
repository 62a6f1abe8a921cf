"""Diagnosis of this machine: installed packages, devices, and which credentials are present. Never shows a secret."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

EXTRAS = {"bench": ("torch", "deepspeed"), "app": ("streamlit", "altair"), "launch": ("skypilot",), "mcp": ("mcp",)}
CORE = ("training-planner", "pydantic", "typer", "PyYAML")
NVIDIA_QUERY = ("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader")


def installed() -> dict[str, str | None]:
    """Return versions of the packages that the planner uses; None for missing ones. Nothing is imported."""
    names = [*CORE, *(name for extra in EXTRAS.values() for name in extra)]
    return {name: _version(name) for name in names}


def devices() -> list[str]:
    """Describe the accelerators that the driver reports, and the CPU."""
    cpu = f"CPU: {os.cpu_count()} cores, {platform.machine()}"
    if shutil.which("nvidia-smi") is None:
        return [cpu]
    try:
        listed = subprocess.run(NVIDIA_QUERY, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return [cpu, "nvidia-smi is there but does not answer"]
    if listed.returncode != 0:
        return [cpu, f"nvidia-smi is there but fails: {listed.stdout.strip()[:200]}"]
    return [*(f"GPU {index}: {line}" for index, line in enumerate(listed.stdout.strip().splitlines())), cpu]


def credentials(home: Path) -> dict[str, bool]:
    """Return for each provider whether credentials are present, in the environment or in their usual file."""
    present: dict[str, Callable[[], bool]] = {
        "aws": lambda: (
            "AWS_ACCESS_KEY_ID" in os.environ
            or "AWS_PROFILE" in os.environ
            or (home / ".aws" / "credentials").is_file()
        ),
        "lambda": lambda: "LAMBDA_API_KEY" in os.environ or (home / ".lambda_cloud" / "lambda_keys").is_file(),
        "kubernetes": lambda: "KUBECONFIG" in os.environ or (home / ".kube" / "config").is_file(),
        "ssh node pools": (home / ".sky" / "ssh_node_pools.yaml").is_file,
    }
    return {name: check() for name, check in present.items()}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
