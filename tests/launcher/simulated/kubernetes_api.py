"""Kubernetes' API over a cloud in memory, in place of `CoreV1Api`: each machine is a pod, whose list is exact."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

from kubernetes.client import ApiException
from urllib3.exceptions import ReadTimeoutError

from planner.launcher.plan.task import RUN_LABEL
from tests.launcher.launches import NOON
from tests.launcher.simulated.cloud import Cloud, CloudMachine, EndRefusedError

NAMESPACE = "default"


class CoreInMemory:
    """The part of CoreV1Api that the product asks."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        configuration = SimpleNamespace(ssl_ca_cert=None, host="https://lab.example")
        self.api_client = SimpleNamespace(configuration=configuration)

    def list_pod_for_all_namespaces_with_http_info(self, **_: object) -> tuple[Any, int, dict[str, str]]:
        self._answers()
        found = [_pod(machine) for machine in self._cloud.listed("key-1") if machine.labelled]
        return SimpleNamespace(items=found), 200, {"Date": format_datetime(self._cloud.now, usegmt=True)}

    def read_namespaced_pod(self, name: str, namespace: str, **_: object) -> Any:
        self._answers()
        found = [machine for machine in self._cloud.listed("key-1") if (machine.id, NAMESPACE) == (name, namespace)]
        if not found:
            raise ApiException(status=404)
        return _pod(found[0])

    def delete_namespaced_pod(self, name: str, namespace: str, **_: object) -> None:
        self._answers()
        assert namespace == NAMESPACE
        if "ends-forbidden" in self._cloud.wrong:
            raise ApiException(status=403)
        try:
            self._cloud.end([name], "key-1")
        except EndRefusedError:
            raise ApiException(status=500) from None

    def _answers(self) -> None:
        if "silent" in self._cloud.wrong:
            raise ReadTimeoutError(SimpleNamespace(), "/api/v1/pods", "Read timed out.")
        if "fault" in self._cloud.wrong:
            raise ApiException(status=500)


def _pod(machine: CloudMachine) -> Any:
    return SimpleNamespace(
        metadata=SimpleNamespace(
            name=machine.id,
            namespace=NAMESPACE,
            uid=f"uid-{machine.id}",
            labels={RUN_LABEL: "r1"} if machine.labelled else {},
            creation_timestamp=NOON + timedelta(seconds=machine.came_s),
        ),
        status=SimpleNamespace(phase="Running"),
    )
