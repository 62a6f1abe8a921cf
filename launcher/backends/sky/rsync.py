"""Copies a node's results by rsync, with the ssh configuration that SkyPilot writes for its clusters."""

from __future__ import annotations

import subprocess
from collections.abc import Collection
from pathlib import Path

from planner import time_limits
from planner.launcher.collect.incoming import RSYNC, incoming

RESULTS_ON_NODE = "planner-results"
SSH_CONFIGS = Path(".sky") / "generated" / "ssh"
"""Path in SkyPilot's home: one file for each cluster."""


def copy_results(host: str, run_id: str, folder: Path, *, config: Path, own: Collection[str] = ()) -> str | None:
    """Copy one node's results of a run into `folder`. Return the reason of a failure; files copied before it stay."""
    with incoming(folder, own=own) as staged:
        return _copied(f"{host}:{RESULTS_ON_NODE}/{run_id}/", staged, config=config)


def _copied(source: str, folder: Path, *, config: Path) -> str | None:
    ssh = f"ssh -F {config} -o BatchMode=yes -o ConnectTimeout={time_limits.CONNECT_S:.0f}"
    command = ["rsync", f"--timeout={time_limits.SILENCE_S:.0f}", *RSYNC, f"--rsh={ssh}", source, "./"]
    try:
        done = subprocess.run(
            command,
            cwd=folder,  # the folder from which the launch was made may be gone by now
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=time_limits.OPERATION_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"rsync did not end within {time_limits.OPERATION_S:g} s"
    if done.returncode == 0:
        return None
    said = " ".join(done.stderr.split())[-300:]
    return f"rsync ended with code {done.returncode}: {said}"
