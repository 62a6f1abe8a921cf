"""The contract of backends, kept by this machine and by hosts; SkyPilot keeps it in test_sky_offline.py."""

from __future__ import annotations

import sys

import pytest

from planner.launcher.backends.local import local_backend
from planner.launcher.backends.ssh import ssh_backend
from planner.launcher.plan.target import Target
from tests.launcher.backends.contract import check_never_submitted
from tests.launcher.launches import launch_of
from tests.launcher.loopback_ssh import running_sshd


def test_this_machine_keeps_the_contract(tmp_path):
    into = tmp_path / "into"
    into.mkdir()
    launch = launch_of(Target(provider="local", name="local"), run_id=f"never-{tmp_path.name}"[:60])
    check_never_submitted(local_backend(tmp_path / "place"), launch, into)


@pytest.mark.slow
def test_a_host_keeps_the_contract(tmp_path):
    into = tmp_path / "into"
    into.mkdir()
    launch = launch_of(Target(provider="host", name="a"), run_id=f"never-{tmp_path.name}"[:60])
    with running_sshd(tmp_path / "sshd") as sshd:
        host = sshd.host(python=sys.executable, folder=str(tmp_path / "home"), env={})
        check_never_submitted(ssh_backend({"a": host}), launch, into)
