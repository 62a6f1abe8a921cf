"""The lock of a launch: one client holds it, also across processes, and death releases it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from planner.errors import StoreError
from planner.launcher.ledger.launch_folder import driving_lock, home_of

HOLD = """
import sys
from pathlib import Path
from planner.launcher.ledger.launch_folder import driving_lock

with driving_lock(Path(sys.argv[1])) as mine:
    print(mine, flush=True)
    sys.stdin.read()
"""


def test_a_client_that_is_killed_releases_the_lock(tmp_path):
    home = home_of(tmp_path, "r1")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == "True\n"
        with driving_lock(home) as mine:
            assert not mine
        client.kill()
        client.wait(30)
        with driving_lock(home) as mine:
            assert mine


def test_a_client_without_the_lock_does_not_release_it(tmp_path):
    home = home_of(tmp_path, "r1")
    with driving_lock(home) as first:
        for _ in range(2):
            with driving_lock(home) as second:
                assert (first, second) == (True, False)


def test_a_folder_in_the_way_of_the_lock_is_named(tmp_path):
    (tmp_path / "driver.lock").mkdir()
    with pytest.raises(StoreError, match="cannot be written: Is a directory"), driving_lock(tmp_path):
        pass
