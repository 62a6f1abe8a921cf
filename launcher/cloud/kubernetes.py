"""Pods of a Kubernetes cluster that carry our label, listed and deleted: the proof that nothing is left there."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from planner import time_limits
from planner.errors import MissingExtraError, NodeError
from planner.launcher.cloud.machine import ListedMachine, date_of, expiry_of
from planner.launcher.plan.target import LaunchProvider, Target
from planner.launcher.plan.task import EXPIRY_LABEL, RUN_LABEL
from planner.time_limits import within

SSH_POOL_PREFIX = "ssh-"
"""Prefix of SkyPilot's context name for an SSH node pool: `ssh-<pool>`."""
DEAD = ("Succeeded", "Failed")
NOT_FOUND = 404


def pods(*, context: str, run_id: str | None, ids: Mapping[str, str] | None = None) -> list[ListedMachine]:
    """Return the pods with our label, of one launch or all, in every namespace of the context.

    `ids` are pods of the launch that were seen before, with the unique id of each. They count whatever label they have.
    """
    selector = RUN_LABEL if run_id is None else f"{RUN_LABEL}={run_id}"
    with _explained(context):
        listed, _, headers = within(
            lambda: _api(context).list_pod_for_all_namespaces_with_http_info(
                label_selector=selector, _request_timeout=time_limits.SILENCE_S
            ),
            who=f"Kubernetes context '{context}'",
        )
        at = date_of(headers.get("Date"))
        found = [_machine(pod, context, seen_at=at) for pod in listed.items]
        unlisted = {name: uid for name, uid in (ids or {}).items() if name not in {machine.id for machine in found}}
        again = [_pod(context, name) for name in unlisted]
    return found + [
        _machine(pod, context, seen_at=at).model_copy(update={"run_id": run_id})
        for pod in again
        if pod is not None and pod.metadata.uid in unlisted.values()
    ]


def contexts() -> list[str]:
    """Return the contexts in the local configuration; none if there is no configuration."""
    try:
        from kubernetes import config
        from kubernetes.config import ConfigException

        listed, _ = config.list_kube_config_contexts()
    except (ImportError, ConfigException, OSError):
        return []
    return sorted(str(context["name"]) for context in listed)


def delete(machines: Sequence[ListedMachine], *, context: str) -> None:
    """Delete these pods, as many as possible, before the first refusal is raised. A missing pod is not an error."""
    failures: list[NodeError] = []
    for machine in machines:
        try:
            with _explained(context):
                within(partial(_delete, machine, context), who=f"Kubernetes context '{context}'")
        except NodeError as error:
            failures.append(NodeError(f"{machine.id} was not deleted. {error.message}", fix=error.fix))
    if failures:
        raise failures[0]


def _pod(context: str, qualified_name: str) -> Any | None:
    """Return a pod by `namespace/name`; None if it does not exist."""
    from kubernetes.client import ApiException

    namespace, _, name = qualified_name.partition("/")
    try:
        return _api(context).read_namespaced_pod(name, namespace, _request_timeout=time_limits.SILENCE_S)
    except ApiException as error:
        if error.status != NOT_FOUND:
            raise
    return None


def _delete(machine: ListedMachine, context: str) -> None:
    from kubernetes.client import ApiException

    namespace, _, name = machine.id.partition("/")
    try:
        _api(context).delete_namespaced_pod(name, namespace, _request_timeout=time_limits.SILENCE_S)
    except ApiException as error:
        if error.status != NOT_FOUND:
            raise


def context_of(target: Target) -> str:
    """Return the context of a target: its own name, or the one that SkyPilot gives an SSH node pool."""
    return f"{SSH_POOL_PREFIX}{target.name}" if target.provider is LaunchProvider.SSH_POOL else target.name


def cluster_identity(target: Target) -> str:
    """Return what tells the cluster of a target from every other: its address and its certificate authority.

    The user of the context is not part of it: every user sees the same pods, or is refused. The address of an SSH node
    pool is a tunnel's end on this machine, so there the authority alone counts, if there is one.
    """
    context = context_of(target)
    with _explained(context):
        api = within(lambda: _api(context), who=f"Kubernetes context '{context}'")
        configuration = api.api_client.configuration
        authority = b"" if not configuration.ssl_ca_cert else Path(configuration.ssl_ca_cert).read_bytes()
    address = "" if authority and target.provider is LaunchProvider.SSH_POOL else configuration.host
    return f"{address} {hashlib.sha256(authority).hexdigest()}"


def _machine(pod: Any, context: str, *, seen_at: datetime | None) -> ListedMachine:
    labels = pod.metadata.labels or {}
    phase = str((pod.status.phase if pod.status is not None else None) or "Unknown")
    return ListedMachine(
        id=f"{pod.metadata.namespace}/{pod.metadata.name}",
        name=pod.metadata.name,
        where=f"context {context}, namespace {pod.metadata.namespace}",
        state=phase,
        alive=phase not in DEAD,
        run_id=labels.get(RUN_LABEL),
        expires_at=expiry_of(labels.get(EXPIRY_LABEL)),
        started_at=pod.metadata.creation_timestamp,
        seen_at=seen_at,
        uid=pod.metadata.uid,
    )


def _api(context: str) -> Any:
    """Return the API of a context. It may run a sign-in program, so it is called within a time limit."""
    from kubernetes import client, config

    asked_once = client.Configuration()
    asked_once.retries = 0  # urllib3 would otherwise wait for a silent cluster four times
    return client.CoreV1Api(config.new_client_from_config(context=context, client_configuration=asked_once))


@contextlib.contextmanager
def _explained(context: str) -> Iterator[None]:
    try:
        from kubernetes.client import ApiException
        from kubernetes.config import ConfigException
        from urllib3.exceptions import HTTPError
    except ModuleNotFoundError as error:
        raise MissingExtraError("the Kubernetes client", "launch") from error
    try:
        yield
    except ConfigException as error:
        fix = "See: kubectl config get-contexts"
        raise NodeError(f"Kubernetes: the context '{context}' cannot be used: {error}.", fix=fix) from error
    except ApiException as error:
        fix = "Sign in to the cluster again." if error.status in (401, 403) else "Try again in a minute."
        raise NodeError(f"Kubernetes context '{context}' answered {error.status}.", fix=fix) from error
    except (HTTPError, OSError) as error:
        fix = "Check the network and the cluster; then try again."
        raise NodeError(f"Kubernetes context '{context}' does not answer.", fix=fix) from error
