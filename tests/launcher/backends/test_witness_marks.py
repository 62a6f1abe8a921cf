"""Marks that tell whether a host that answers is the one on which a launch was started."""

from __future__ import annotations

import pytest

from planner.launcher.backends.node_reports import host_key_in, read_marks, why_not_proven

STARTED = {
    "installation": "aaaa",
    "user": "1000",
    "boot": "boot-1",
    "processes": "pid:[1]",
    "host_key": "SHA256:key",
    "nonce": "n1",
}
REBOOTED = STARTED | {"boot": "boot-2"}


def without(marks: dict[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in marks.items() if name not in names}


@pytest.mark.parametrize(
    ("now", "why"),
    [
        pytest.param(STARTED, None, id="the same boot"),
        pytest.param(without(STARTED, "nonce", "host_key", "installation"), None, id="the same boot alone"),
        pytest.param(STARTED | {"user": "1001"}, "another user", id="another user"),
        pytest.param(STARTED | {"processes": "pid:[2]"}, "another container", id="a container on the machine"),
        pytest.param(REBOOTED, None, id="the same machine after a boot"),
        pytest.param(without(REBOOTED, "nonce"), "nonce of the launch", id="a clone made before the launch"),
        pytest.param(REBOOTED | {"host_key": "SHA256:other"}, "the same host key", id="a clone with its own host key"),
        pytest.param(REBOOTED | {"installation": "bbbb"}, "the same machine-id", id="a shared home elsewhere"),
        pytest.param({"user": "1000"}, "host key, nonce of the launch, machine-id", id="it tells nothing"),
    ],
)
def test_a_host_proves_only_what_it_can_see(now, why):
    said = why_not_proven(STARTED, now)
    assert said is None if why is None else why in (said or "")


def test_a_host_without_a_machine_id_is_known_by_its_key_and_the_nonce():
    started = without(STARTED, "installation")
    assert why_not_proven(started, REBOOTED) is None
    assert why_not_proven(started, without(REBOOTED, "nonce")) is not None


def test_a_host_that_says_no_boot_must_show_its_key_and_the_nonce():
    silent = without(STARTED, "boot", "processes")
    assert why_not_proven(silent, silent) is None
    assert why_not_proven(silent, without(silent, "host_key")) is not None


def test_marks_are_read_and_a_machine_id_is_hashed():
    marks = read_marks("installation=0123\nuser=0\nboot=b\nprocesses=\nWelcome!\nnonce=n\n", host_key="")
    assert set(marks) == {"installation", "user", "boot", "nonce"}
    assert marks["installation"] != "0123"


def test_the_key_of_the_host_is_read_behind_that_of_a_jump_host():
    log = "debug1: Server host key: ssh-rsa SHA256:jump\r\nnoise\ndebug1: Server host key: ssh-ed25519 SHA256:last\n"
    assert host_key_in(log) == "SHA256:last"
    assert host_key_in("nothing") == ""
