"""Packages, built once a process from the tracked files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def python(*arguments: str, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what git knows or would add, so that no build litter appears in the checkout."""
    source = tmp_path_factory.mktemp("source")
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, source / name)
    else:
        litter = shutil.ignore_patterns(".venv", "__pycache__", "planner-data", "build", "dist", ".*_cache")
        shutil.copytree(ROOT, source, dirs_exist_ok=True, ignore=litter)
    return source


@pytest.fixture(scope="session")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    python("-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), cwd=source)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="session")
def sdist(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sdist")
    python("-m", "build", "--sdist", "--no-isolation", "--outdir", str(out), cwd=source)
    return next(out.glob("*.tar.gz"))
