"""Existing clusters: how to reach their nodes, how to end them, and how to end an unused server."""

from __future__ import annotations

import re

ASKED_FOR = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
"""Pattern of the ids of clients' requests. The server's own housekeeping has names in words."""


def reach(cluster: str) -> list[str]:
    """Write the ssh configuration of the cluster's nodes, as `sky status` does. Return the names to use with ssh."""
    from sky.client.cli import command

    records = command._get_cluster_records_and_set_ssh_config([cluster])
    if not records or records[0]["handle"] is None or not records[0]["handle"].cached_external_ips:
        return []
    nodes = len(records[0]["handle"].cached_external_ips)
    return [cluster, *(f"{cluster}-worker{number}" for number in range(1, nodes))]


def down(cluster: str) -> bool:
    """End what is still being launched, then take the cluster down. Return whether there was one. Never purges."""
    import sky
    from sky import exceptions

    running = [
        request.request_id
        for request in sky.api_status(cluster_name=cluster, fields=["request_id", "name", "status", "cluster_name"])
        if request.cluster_name == cluster and request.name.endswith("launch")
    ]
    if running:
        sky.get(sky.api_cancel(running, silent=True))
    try:
        sky.get(sky.down(cluster))
    except exceptions.ClusterDoesNotExist:
        return False
    return True


def rest() -> bool:
    """End this SkyPilot's API server unless it has work to do. Return whether it was ended.

    Running jobs do not need it, and the next question starts it again. Only the server on this process's own port is
    ended, with its executors.
    """
    import sky
    from sky.client import sdk

    if not sdk._local_api_server_running():
        return False
    active = [request.request_id for request in sky.api_status(fields=["request_id", "name", "status"])]
    if any(re.fullmatch(ASKED_FOR, request) for request in active):
        return False
    return sdk._local_api_server_running(kill=True)
