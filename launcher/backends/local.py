"""Launches on this machine: the same job as on a rented one, in the background."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from planner.errors import NodeError
from planner.launcher.backends.direct import DirectBackend
from planner.launcher.collect.incoming import incoming

SCRIPT_TIMEOUT_S = 120.0


class ThisMachine:
    """The machine that the planner runs on, controlled by bash. Jobs use the planner's own torch."""

    name = "local"
    inner_address = "127.0.0.1"

    def __init__(self, folder: Path, variables: Mapping[str, str] | None = None) -> None:
        self.folder = str(folder.resolve())
        self.variables = {"PLANNER_PYTHON": sys.executable, **(variables or {})}

    def bash(self, script: str) -> str:
        """Run a script here."""
        try:
            done = subprocess.run(
                ["bash", "-s"],
                input=script,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                check=False,
                timeout=SCRIPT_TIMEOUT_S,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NodeError(f"local: {error}.") from error
        if done.returncode != 0:
            raise NodeError(f"local: {_last_line(done.stderr) or f'bash ended with {done.returncode}'}.")
        return done.stdout

    def host_key(self) -> str:
        """Return an empty text: there is no login."""
        return ""

    def copy_there(self, folder: Path, to: str) -> None:
        """Copy the benchmark into the folder of the launch."""
        try:
            shutil.copytree(folder, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        except OSError as error:
            raise NodeError(
                f"{to}: cannot be written: {error}.", fix="Make room, or name another workspace."
            ) from error

    def copy_here(self, folder: str, into: Path) -> None:
        """Copy results to their place in the workspace."""
        if Path(folder).is_dir():
            with incoming(into) as staged:
                shutil.copytree(folder, staged, symlinks=True, dirs_exist_ok=True)


def local_backend(folder: Path) -> DirectBackend:
    """Return the backend of this machine, with its folder on the node."""
    machine = ThisMachine(folder)
    return DirectBackend(lambda _: [machine], [machine])


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")
