"""Lambda's HTTP interface over a cloud in memory, in place of `httpx.request`: what comes back is httpx's own."""

from __future__ import annotations

from email.utils import format_datetime
from typing import Any

import httpx

from tests.launcher.simulated.cloud import Cloud, EndRefusedError

SIGN_IN_PAGE = "<html>Welcome to the hotel</html>"


def requested(cloud: Cloud, method: str, address: str, **asked: Any) -> httpx.Response:
    """Answer one request."""
    key = asked["headers"]["Authorization"].removeprefix("Bearer ")
    if "silent" in cloud.wrong:
        raise httpx.ReadTimeout("silent")
    if "html" in cloud.wrong:
        return httpx.Response(200, text=SIGN_IN_PAGE)
    if "fault" in cloud.wrong:
        return httpx.Response(500)
    if "throttled" in cloud.wrong:
        return httpx.Response(429)
    if "keys-refused" in cloud.wrong:
        return httpx.Response(401)
    if method == "POST":
        return _ended(cloud, asked["json"]["instance_ids"], key)
    assert address.endswith("/instances")
    answer: dict[str, Any] = {"data": [_told(cloud, machine) for machine in cloud.listed(key)]}
    if "odd" in cloud.wrong:
        answer["data"] = None
    if "repeats" in cloud.wrong:
        answer["next_page_token"] = "the same"
    return httpx.Response(200, json=answer, headers={"Date": format_datetime(cloud.now, usegmt=True)})


def _ended(cloud: Cloud, ids: list[str], key: str) -> httpx.Response:
    if "ends-forbidden" in cloud.wrong:
        return httpx.Response(403)
    try:
        ended = cloud.end(ids, key)
    except EndRefusedError:
        return httpx.Response(500)
    if not ended:
        return httpx.Response(404)
    return httpx.Response(
        200, json={"data": {"terminated_instances": [{"id": machine_id} for machine_id in sorted(ended)]}}
    )


def _told(cloud: Cloud, machine: Any) -> dict[str, Any]:
    ending = machine.asked_to_end and machine in cloud.running
    return {
        "id": machine.id,
        "name": "pl-r1-0a1b2c3d-head" if machine.labelled else "a-box",
        "status": "terminating" if ending else "active",
    }
