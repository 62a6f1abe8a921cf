"""Pods that were seen before are recognised by name and unique id, even with other labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from planner.launcher.cloud import kubernetes
from planner.launcher.cloud.provider_machines import look, to_end
from planner.launcher.drive.gone import judge
from planner.launcher.plan.sighting import ANYTHING, KnownMachine, Sight, observed
from planner.launcher.plan.target import Target
from tests.fakes.servers import Server, running
from tests.launcher.clock import Clock
from tests.launcher.launches import launch_of

LAB = Target(provider="k8s", name="lab", devices_per_node=8)


@pytest.fixture
def cluster(tmp_path, monkeypatch) -> Iterator[Server]:
    with running("kubernetes_server", log=tmp_path / "kubernetes.log") as server:
        config = tmp_path / "config"
        config.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: lab\n"
            f"clusters: [{{name: c, cluster: {{server: '{server.url}'}}}}]\nusers: [{{name: u, user: {{}}}}]\n"
            "contexts: [{name: lab, context: {cluster: c, user: u}}]\n",
            encoding="utf-8",
        )
        monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(config))
        yield server


def put(cluster: Server, *, uid: str, labels: dict[str, str]) -> None:
    """Let the cluster have one pod, of this unique id."""
    cluster.ask("reset")
    meta = {"name": "pl-one-head", "namespace": "default", "uid": uid, "labels": labels}
    cluster.ask("pod", metadata=meta, status={"phase": "Running"})


def seen(known: dict[str, KnownMachine], launch: Any) -> Any:
    """Return the launch after one more look."""
    clock = Clock()
    for machine in look(launch).seen:
        known[machine.id] = observed(known.get(machine.id), machine, instant=clock.instant(), now=clock())
    return launch.model_copy(update={"known": tuple(known.values())})


def test_a_pod_without_its_label_is_found_by_its_id_and_ended(cluster):
    known: dict[str, KnownMachine] = {}
    put(cluster, uid="u-1", labels={"planner-run": "one"})
    launch = seen(known, launch_of(LAB, run_id="one"))
    put(cluster, uid="u-1", labels={})
    launch = seen(known, launch)
    before = known["default/pl-one-head"].sight
    assert before is Sight.ALIVE
    assert not judge(launch, launch.known, job_seen=True).gone
    kubernetes.delete(to_end(launch, look(launch)), context="lab")
    launch = seen(known, launch)
    after = known["default/pl-one-head"].sight
    assert after is Sight.ABSENT
    assert judge(launch, launch.known, job_seen=True).gone


def test_a_later_pod_of_the_same_name_is_another_one(cluster):
    known: dict[str, KnownMachine] = {}
    put(cluster, uid="u-1", labels={"planner-run": "one"})
    launch = seen(known, launch_of(LAB, run_id="one"))
    put(cluster, uid="u-2", labels={})
    launch = seen(known, launch)
    assert to_end(launch, look(launch)) == [], "it is somebody else's"
    assert {machine.id: machine.sight for machine in known.values()} == {
        "default/pl-one-head": Sight.ABSENT,
        ANYTHING: Sight.ABSENT,
    }
