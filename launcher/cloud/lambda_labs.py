"""Lambda's instances that carry our names, listed and terminated: the proof that nothing is left there."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from planner import time_limits
from planner.errors import NodeError
from planner.launcher.cloud.machine import ListedMachine, date_of
from planner.time_limits import within

ENDPOINT = "https://cloud.lambdalabs.com/api/v1"
ENDPOINT_VARIABLE = "LAMBDA_ENDPOINT_URL"
"""Variable for another address of the API, like AWS_ENDPOINT_URL for AWS."""
KEY_FILE = Path(".lambda_cloud") / "lambda_keys"
"""Path in the home folder, where SkyPilot looks for the key too."""
KEY_VARIABLE = "LAMBDA_API_KEY"
"""Variable with a key that is also used to look for machines. SkyPilot does not read it."""
KEY_FIX = f"Write into ~/{KEY_FILE}: api_key = YOUR-KEY"
USER = "[0-9a-f]{8}"
REFUSED = (401, 403)
NOT_FOUND = 404
PAGE_TOKENS = ("next_page_token", "page_token")
"""Fields in which Lambda's API may name the next page, as its audit events do."""


def instances(*, cluster: str | None, key: str, ids: Collection[str] = ()) -> list[ListedMachine]:
    """Return the instances of one cluster, or all of ours, in this key's account and all of its regions.

    Lambda keeps no labels, so the name decides: SkyPilot calls them `<cluster>-<user>-head` and `-worker`, where the
    user is eight hexadecimal digits. The match is strict because a matching instance may be terminated. Terminated
    instances are not listed. Source: Lambda cloud API reference; sky/provision/lambda_cloud of skypilot 0.14.1.

    `ids` are instances of the cluster that were seen before. They count whatever they are called now.
    """
    return seen_at(cluster=cluster, key=key, ids=ids)[0]


def seen_at(*, cluster: str | None, key: str, ids: Collection[str] = ()) -> tuple[list[ListedMachine], datetime | None]:
    """Return the instances as `instances` does, with the time of the answer by Lambda's clock."""
    ours = re.compile(rf"pl-(?P<run_id>.+)-{USER}-(head|worker)")
    try:
        listed, at = within(lambda: _listed(key), who="Lambda")
        machines = []
        for instance in listed:
            name = ours.fullmatch(str(instance.get("name") or ""))
            if cluster is not None and str(instance["id"]) in ids:
                machines.append(_machine(instance, cluster.removeprefix("pl-"), seen_at=at))
            elif name is not None and cluster in (None, f"pl-{name['run_id']}"):
                machines.append(_machine(instance, name["run_id"], seen_at=at))
    except (KeyError, AttributeError, TypeError) as error:
        raise NodeError("Lambda's list of instances cannot be read.", fix="Look in Lambda's console.") from error
    return machines, at


def lists_any(ids: Collection[str], *, key: str) -> bool:
    """Return whether this key's account has one of these instances, so that the key belongs to their account."""
    listed, _ = within(lambda: _listed(key), who="Lambda")
    return any(str(instance.get("id")) in ids for instance in listed)


def terminate(machines: Sequence[ListedMachine], *, key: str) -> None:
    """Terminate these instances, as many as possible, before the first refusal is raised. A missing instance is no
    error.

    Lambda refuses a whole request for one bad instance, and names those that it terminates. It need not name one that
    it did not list (not `alive`).
    """
    listed = {machine.id for machine in machines if machine.alive}
    ids = [machine.id for machine in machines]
    if not ids:
        return
    try:
        ended = _terminated(ids, key)
        left = [machine_id for machine_id in ids if machine_id not in ended]
    except _LambdaError as error:
        if error.status in (0, *REFUSED):
            raise
        left = ids
    failures = []
    for machine_id in left:
        try:
            if machine_id not in _terminated([machine_id], key) and machine_id in listed:
                failures.append(NodeError(f"Lambda did not terminate {machine_id}.", fix="Look in Lambda's console."))
        except _LambdaError as error:
            if error.status != NOT_FOUND:
                failures.append(NodeError(f"Lambda did not terminate {machine_id}: {error.message}", fix=error.fix))
    if failures:
        raise failures[0]


def launching_key() -> str:
    """Return the key with which SkyPilot launches: the one in its file. The variable must not contradict it."""
    in_file, in_variable = _key_in_file(), os.environ.get(KEY_VARIABLE)
    if in_file is None:
        raise NodeError("there is no API key for Lambda where SkyPilot looks for it.", fix=KEY_FIX)
    if in_variable and in_variable != in_file:
        raise NodeError(
            f"${KEY_VARIABLE} and ~/{KEY_FILE} hold two keys: SkyPilot would launch with that of the file.",
            fix=f"Unset {KEY_VARIABLE}, or put its key into the file.",
        )
    return in_file


def keys() -> list[str]:
    """Return the local Lambda keys, SkyPilot's first. Raises NodeError if there is none."""
    known = [key for key in (_key_in_file(), os.environ.get(KEY_VARIABLE)) if key]
    if not known:
        raise NodeError("there is no API key for Lambda.", fix=KEY_FIX)
    return list(dict.fromkeys(known))


def has_key() -> bool:
    """Return whether a Lambda key is here, or something in its place that `keys` reports as wrong."""
    return bool(os.environ.get(KEY_VARIABLE)) or _is_no_file(Path.home() / KEY_FILE) or _key_in_file() is not None


def elsewhere() -> str:
    """Return Lambda's address if it is not the usual one."""
    asked = urlsplit(os.environ.get(ENDPOINT_VARIABLE, ENDPOINT)).netloc.rpartition("@")[2]
    return "" if asked == urlsplit(ENDPOINT).netloc else f" at {asked}"


def _terminated(ids: Sequence[str], key: str) -> set[str]:
    """Ask Lambda to terminate these. Return those that it confirms."""
    answer, _ = _ask("/instance-operations/terminate", key=key, body={"instance_ids": list(ids)})
    try:
        return {str(instance["id"]) for instance in answer["data"]["terminated_instances"]}
    except (KeyError, TypeError) as error:
        raise _LambdaError("it answered something else.", fix="Look in Lambda's console.") from error


def _listed(key: str) -> tuple[list[dict[str, Any]], datetime | None]:
    """Return every page of the list of instances, with the time by Lambda's clock. Today's API has one page."""
    found: list[dict[str, Any]] = []
    path, token = "/instances", None
    tokens: set[str | None] = set()
    while token not in tokens:
        tokens.add(token)
        answer, seen_at = _ask(path, key=key, query={} if token is None else {"page_token": token})
        if not isinstance(answer["data"], list):
            raise TypeError(path)  # an unreadable list does not prove that there is nothing
        found += answer["data"]
        token = next((answer[name] for name in PAGE_TOKENS if answer.get(name)), None)
        if token is None:
            return found, seen_at
    raise NodeError("Lambda's list of instances repeats itself.", fix="Look in Lambda's console.")


def _machine(instance: dict[str, Any], run_id: str, *, seen_at: datetime | None) -> ListedMachine:
    state = str(instance.get("status", "unknown"))
    return ListedMachine(
        id=str(instance["id"]),
        name=str(instance["name"]),
        where=str((instance.get("region") or {}).get("name", "unknown region")),
        state=state,
        alive=state not in ("terminated", "terminating"),
        ending=state == "terminating",
        run_id=run_id,
        instance_type=(instance.get("instance_type") or {}).get("name"),
        seen_at=seen_at,
    )


class _LambdaError(NodeError):
    """Lambda's refusal. `status` is the HTTP status, 0 if there was no answer."""

    def __init__(self, message: str, *, fix: str, status: int = 0) -> None:
        super().__init__(message, fix=fix)
        self.status = status


def _ask(
    path: str, *, key: str, query: Mapping[str, str] | None = None, body: dict[str, Any] | None = None
) -> tuple[dict[str, Any], datetime | None]:
    """Return Lambda's answer, with the time by its own clock."""
    import ssl

    import httpx

    address = os.environ.get(ENDPOINT_VARIABLE, ENDPOINT).rstrip("/") + path
    try:
        answer = within(
            lambda: httpx.request(
                "GET" if body is None else "POST", address, params=query or None, json=body,
                timeout=time_limits.SILENCE_S, headers={"Authorization": f"Bearer {key}"},
                verify=ssl.create_default_context(),
            ),
            who="Lambda", error=_LambdaError,
        )  # fmt: skip
        status = answer.status_code
        if status in REFUSED:
            fix = "Make a new key in Lambda's console and put it into ~/.lambda_cloud/lambda_keys."
            raise _LambdaError(f"Lambda refuses the API key ({status}).", fix=fix, status=status)
        if not answer.is_success:
            raise _LambdaError(f"Lambda answered {status}.", fix="Try again in a minute.", status=status)
        told = answer.json()
        if not isinstance(told, dict) or "data" not in told:
            raise ValueError(path)
        return told, date_of(answer.headers.get("Date"))
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError) as error:
        reason = str(error) if isinstance(error, httpx.NetworkError) else type(error).__name__
        if isinstance(error, httpx.TimeoutException):
            reason = f"it said nothing for {time_limits.SILENCE_S:g} s"
        raise _LambdaError(f"Lambda does not answer: {reason}.", fix="Check the network; then try again.") from error


def _key_in_file() -> str | None:
    """Return the key in SkyPilot's file; None if there is none. Raises NodeError if it is not a regular file."""
    file = Path.home() / KEY_FILE
    if _is_no_file(file):  # reading a pipe would block
        raise NodeError(f"~/{KEY_FILE} is not an ordinary file.", fix=KEY_FIX)
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        name, equals, value = line.partition("=")
        if equals and name.strip() == "api_key" and value.strip():
            return value.strip()
    return None


def _is_no_file(path: Path) -> bool:
    """Return whether something other than a regular file has this name."""
    return path.exists() and not path.is_file()
