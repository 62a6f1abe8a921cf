"""Lambda's instances that carry our names, listed and terminated: the proof that nothing is left there."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from launcher.cloud.label import date_of
from launcher.cloud.machine import Machine
from planner.errors import NodeError

ENDPOINT = "https://cloud.lambdalabs.com/api/v1"
ENDPOINT_VARIABLE = "LAMBDA_ENDPOINT_URL"
"""Another address of the API, as AWS_ENDPOINT_URL is for AWS."""
KEY_FILE = Path(".lambda_cloud") / "lambda_keys"
"""Below the home folder; where SkyPilot looks for the key too."""
USER = "[0-9a-f]{8}"
TIMEOUT_S = 30
REFUSED = (401, 403)


def instances(*, cluster: str | None) -> list[Machine]:
    """Return the instances of one cluster, or all of ours.

    Lambda keeps no labels, so the name tells: SkyPilot calls them `<cluster>-<user>-head` and `-worker`, where the user
    is eight hexadecimal digits; nothing looser, because whoever is found may be terminated. A terminated instance is
    not listed any more. Source: Lambda cloud API reference; sky/provision/lambda_cloud of skypilot 0.14.1.
    """
    ours = re.compile(rf"pl-(?P<run_id>.+)-{USER}-(head|worker)")
    listed, seen_at = _ask("/instances")
    named = [(one, ours.fullmatch(str(one.get("name") or ""))) for one in listed]
    machines = [_machine(one, name["run_id"], seen_at=seen_at) for one, name in named if name is not None]
    return [machine for machine in machines if cluster in (None, f"pl-{machine.run_id}")]


def terminate(machines: Sequence[Machine]) -> None:
    """Terminate these instances."""
    if machines:
        _ask("/instance-operations/terminate", {"instance_ids": [machine.id for machine in machines]})


def _machine(one: dict[str, Any], run_id: str, *, seen_at: datetime | None) -> Machine:
    state = str(one.get("status", "unknown"))
    return Machine(
        id=str(one["id"]),
        name=str(one["name"]),
        where=str((one.get("region") or {}).get("name", "unknown region")),
        state=state,
        alive=state not in ("terminated", "terminating"),
        run_id=run_id,
        instance_type=(one.get("instance_type") or {}).get("name"),
        seen_at=seen_at,
    )


def _ask(path: str, body: dict[str, Any] | None = None) -> tuple[Any, datetime | None]:
    """Return what Lambda answers, and when by its own clock."""
    import ssl

    import httpx

    address = os.environ.get(ENDPOINT_VARIABLE, ENDPOINT).rstrip("/") + path
    try:
        answer = httpx.request(
            "GET" if body is None else "POST", address, json=body, timeout=TIMEOUT_S,
            headers={"Authorization": f"Bearer {_key()}"}, verify=ssl.create_default_context(),
        )  # fmt: skip
        if answer.status_code in REFUSED:
            fix = "Make a new key in Lambda's console and put it into ~/.lambda_cloud/lambda_keys."
            raise NodeError(f"Lambda refuses the API key ({answer.status_code}).", fix=fix)
        if not answer.is_success:
            raise NodeError(f"Lambda answered {answer.status_code}.", fix="Try again in a minute.")
        return answer.json()["data"], date_of(answer.headers.get("Date"))
    except (httpx.HTTPError, ValueError, KeyError, TypeError, ImportError) as error:
        reason = str(error) if isinstance(error, httpx.NetworkError) else type(error).__name__
        raise NodeError(f"Lambda does not answer: {reason}.", fix="Check the network; then try again.") from error


def _key() -> str:
    """Return the API key: `$LAMBDA_API_KEY`, else the file that SkyPilot reads."""
    if key := os.environ.get("LAMBDA_API_KEY"):
        return key
    path = Path.home() / KEY_FILE
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, equals, value = line.partition("=")
        if equals and name.strip() == "api_key" and value.strip():
            return value.strip()
    fix = "Write into ~/.lambda_cloud/lambda_keys: api_key = YOUR-KEY"
    raise NodeError("there is no API key for Lambda.", fix=fix)
