"""Answers of a host that prove the end of a launch there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from planner.errors import NodeError
from planner.launcher.backends.direct import DirectBackend
from planner.launcher.backends.hosts import Host
from planner.launcher.backends.ssh import BEGINS, ENDS, SshMachine, ssh_backend
from planner.launcher.cloud import aws, lambda_labs
from planner.launcher.cloud.account import fingerprint
from planner.launcher.cloud.aws import Listing
from planner.launcher.cloud.provider_machines import look
from planner.launcher.plan.backend import LaunchPhase
from planner.launcher.plan.target import Target
from tests.launcher.launches import launch_of
from tests.launcher.loopback_ssh import running_sshd

HOST = Target(provider="host", name="a")


@pytest.mark.slow
def test_a_login_that_runs_something_else_proves_nothing(tmp_path: Path):
    with running_sshd(tmp_path / "sshd") as sshd:
        keys = tmp_path / "sshd" / "authorized_keys"
        key = keys.read_text()
        backend = ssh_backend({"a": sshd.host()})
        launch = launch_of(HOST, run_id=f"forced-{tmp_path.name}"[:60])
        keys.write_text(f'command="true" {key}')
        evidence = backend.verify_down(launch)
        assert (evidence.down, "does not run what it is given" in evidence.checks[0]) == (False, True)
        assert backend.status(launch).phase is LaunchPhase.UNKNOWN
        keys.write_text(f'command="echo Welcome; printf no-end; exec bash -s" {key}')
        assert backend.verify_down(launch).checks == (f"a: 0 process(es) of {launch.run_id}",)
        assert backend.verify_down(launch).down
        keys.write_text(f'command="bash -s; echo Good bye; echo 4711" {key}')
        assert backend.verify_down(launch).checks == (f"a: 0 process(es) of {launch.run_id}",)
        assert backend.status(launch).phase is LaunchPhase.REFUSED


@pytest.mark.parametrize("said", [pytest.param("", id="nothing"), pytest.param("Welcome\n", id="a greeting")])
def test_silence_is_no_answer(monkeypatch: pytest.MonkeyPatch, said: str):
    host = running_host()
    monkeypatch.setattr(host, "_run", lambda *_, **__: said)
    with pytest.raises(NodeError, match="a: its login does not run what it is given"):
        host.bash("true")
    monkeypatch.setattr(host, "_run", lambda *_, **__: f"{said}{BEGINS}\nanswer\n")
    assert host.bash("true") == "answer\n"


@pytest.mark.parametrize("footer", [pytest.param("", id="none"), pytest.param("logout\n1234\n", id="a footer")])
def test_output_after_a_login_is_no_answer(monkeypatch: pytest.MonkeyPatch, footer: str):
    """A footer with a number would count as a process for ever, and its success would hide a script that failed."""
    host = running_host()
    monkeypatch.setattr(host, "_run", lambda *_, **__: f"{BEGINS}\n17\n\n{ENDS} 0\n{footer}")
    assert host.bash("true") == "17\n"
    monkeypatch.setattr(host, "_run", lambda *_, **__: f"{BEGINS}\n17\n\n{ENDS} 1\n{footer}")
    with pytest.raises(NodeError, match="a: the script ended with 1"):
        host.bash("true")


def test_only_numbers_are_counted_as_processes():
    machines: Sequence[ScriptedMachine] = [Talkative("one\n1000\n")]
    launch = launch_of(HOST)
    assert DirectBackend(lambda _: machines, machines).verify_down(launch).down
    assert DirectBackend(lambda _: machines, machines).down_by_id(launch.run_id).down


def running_host() -> SshMachine:
    return SshMachine("a", Host(address="127.0.0.1"))


class ScriptedMachine:
    """A host that answers every script with nothing, and the question who it is with its id."""

    name, folder, inner_address = "a", "/srv/planner", "127.0.0.1"

    def __init__(self, identity: str) -> None:
        self.variables: dict[str, str] = {}
        self._identity = identity

    def bash(self, script: str) -> str:
        return self._identity if "machine-id" in script else ""

    def host_key(self) -> str:
        return ""

    def copy_there(self, folder: Path, to: str) -> None:
        """Nothing is copied."""

    def copy_here(self, folder: str, into: Path) -> None:
        """Nothing is there."""


class Talkative(ScriptedMachine):
    """A host whose answer to every script ends with words of its own."""

    def bash(self, script: str) -> str:
        return f"{super().bash(script)}Last login: 3 days ago\nGood bye\n"


@pytest.mark.parametrize(
    ("started_on", "asked", "down"),
    [
        pytest.param("one\n1000\n", "one\n1000\n", True, id="the same machine"),
        pytest.param("one\n1000\n", "two\n1000\n", False, id="another machine under the name"),
        pytest.param("one\n1000\n", "one\n1001\n", False, id="another user, who does not see its processes"),
        pytest.param("one\n1000\n", "", False, id="a machine without an id under the name"),
        pytest.param("", "two\n1000\n", True, id="it had none"),
    ],
)
def test_only_the_machine_on_which_it_was_started_proves_its_end(started_on: str, asked: str, down: bool):
    def backend(identity: str) -> DirectBackend:
        machines: Sequence[ScriptedMachine] = [ScriptedMachine(identity)]
        return DirectBackend(lambda _: machines, machines)

    launch = launch_of(HOST)
    launch = launch.model_copy(update={"account": backend(started_on).account(launch)})
    evidence = backend(asked).verify_down(launch)
    assert (evidence.down, evidence.unknown is None) == (down, down)
    assert backend(asked).status(launch).phase is (LaunchPhase.REFUSED if down else LaunchPhase.UNKNOWN)


def test_a_launch_of_an_older_ledger_is_known_by_its_machine_alone():
    machines: Sequence[ScriptedMachine] = [ScriptedMachine("one\n1000\n")]
    backend = DirectBackend(lambda _: machines, machines)
    launch = launch_of(HOST).model_copy(update={"account": f"machine {fingerprint('one')}"})
    assert backend.verify_down(launch).down
    assert not backend.verify_down(launch.model_copy(update={"account": f"machine {fingerprint('two')}"})).down


def test_an_account_without_any_region_proves_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(aws, "enabled_regions", lambda _near: [])
    with pytest.raises(NodeError, match="names no region"):
        look(launch_of(Target(provider="aws", name="p4d.24xlarge")))


def test_the_region_that_was_ordered_is_asked_also_where_the_account_has_disabled_it(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    monkeypatch.setattr(aws, "enabled_regions", lambda _near: ["us-east-1"])

    def listed(*, regions: Sequence[str], **_: object) -> Listing:
        asked.extend(regions)
        return Listing(machines=())

    monkeypatch.setattr(aws, "listed", listed)
    look(launch_of(Target(provider="aws", name="p4d.24xlarge", region="ap-east-1")))
    assert asked == ["ap-east-1", "us-east-1"]


@pytest.mark.parametrize("data", [{}, "", None, {"instances": []}])
def test_an_answer_of_lambda_that_is_no_list_proves_nothing(monkeypatch: pytest.MonkeyPatch, data: object):
    answer: Callable[..., object] = lambda *_, **__: ({"data": data}, None)  # noqa: E731
    monkeypatch.setattr(lambda_labs, "_ask", answer)
    with pytest.raises(NodeError, match="cannot be read"):
        lambda_labs.instances(cluster=None, key="a-key")
