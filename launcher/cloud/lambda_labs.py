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
from planner.launcher.cloud.label import date_of
from planner.launcher.cloud.machine import Machine
from planner.time_limits import within

ENDPOINT = "https://cloud.lambdalabs.com/api/v1"
ENDPOINT_VARIABLE = "LAMBDA_ENDPOINT_URL"
"""Another address of the API, as AWS_ENDPOINT_URL is for AWS."""
KEY_FILE = Path(".lambda_cloud") / "lambda_keys"
"""Below the home folder; where SkyPilot looks for the key too."""
KEY_VARIABLE = "LAMBDA_API_KEY"
"""Of a key with which machines are looked for too; SkyPilot does not read it."""
KEY_FIX = f"Write into ~/{KEY_FILE}: api_key = YOUR-KEY"
USER = "[0-9a-f]{8}"
REFUSED = (401, 403)
NOT_FOUND = 404
PAGE_TOKENS = ("next_page_token", "page_token")
"""How an answer of Lambda's API names its next page where it has one, as that of its audit events does."""


def instances(*, cluster: str | None, key: str, ids: Collection[str] = ()) -> list[Machine]:
    """Return the instances of one cluster, or all of ours, in the account of this key and all of its regions.

    Lambda keeps no labels, so the name tells: SkyPilot calls them `<cluster>-<user>-head` and `-worker`, where the user
    is eight hexadecimal digits; nothing looser, because whoever is found may be terminated. A terminated instance is
    not listed any more. Source: Lambda cloud API reference; sky/provision/lambda_cloud of skypilot 0.14.1.

    `ids` are instances of the cluster that were seen before: they count whatever they are called now.
    """
    return seen_at(cluster=cluster, key=key, ids=ids)[0]


def seen_at(*, cluster: str | None, key: str, ids: Collection[str] = ()) -> tuple[list[Machine], datetime | None]:
    """Return the same, and when Lambda said so by its own clock."""
    ours = re.compile(rf"pl-(?P<run_id>.+)-{USER}-(head|worker)")
    try:
        listed, at = within(lambda: _listed(key), who="Lambda")
        machines = []
        for one in listed:
            name = ours.fullmatch(str(one.get("name") or ""))
            if cluster is not None and str(one["id"]) in ids:
                machines.append(_machine(one, cluster.removeprefix("pl-"), seen_at=at))
            elif name is not None and cluster in (None, f"pl-{name['run_id']}"):
                machines.append(_machine(one, name["run_id"], seen_at=at))
    except (KeyError, AttributeError, TypeError) as error:
        raise NodeError("Lambda's list of instances cannot be read.", fix="Look in Lambda's console.") from error
    return machines, at


def lists_any(ids: Collection[str], *, key: str) -> bool:
    """Return whether the account of this key has one of these instances: then the key is of the account that does."""
    listed, _ = within(lambda: _listed(key), who="Lambda")
    return any(str(one.get("id")) in ids for one in listed)


def terminate(machines: Sequence[Machine], *, key: str) -> None:
    """Terminate these instances, all that can be, before the first refusal is raised. One that is gone is no error.

    Lambda refuses a request as a whole for one instance of it, and names those that it terminates. Of one that it did
    not list (not `alive`) it need not say anything.
    """
    listed = {machine.id for machine in machines if machine.alive}
    ids = [machine.id for machine in machines]
    if not ids:
        return
    try:
        ended = _terminated(ids, key)
        left = [one for one in ids if one not in ended]
    except _LambdaError as error:
        if error.status in (0, *REFUSED):
            raise
        left = ids
    failures = []
    for one in left:
        try:
            if one not in _terminated([one], key) and one in listed:
                failures.append(NodeError(f"Lambda did not terminate {one}.", fix="Look in Lambda's console."))
        except _LambdaError as error:
            if error.status != NOT_FOUND:
                failures.append(NodeError(f"Lambda did not terminate {one}: {error.message}", fix=error.fix))
    if failures:
        raise failures[0]


def launching_key() -> str:
    """Return the key with which SkyPilot launches: that of its file, which the variable must not contradict."""
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
    """Return the keys of Lambda that are here, SkyPilot's first; NodeError where there is none."""
    known = [key for key in (_key_in_file(), os.environ.get(KEY_VARIABLE)) if key]
    if not known:
        raise NodeError("there is no API key for Lambda.", fix=KEY_FIX)
    return list(dict.fromkeys(known))


def has_key() -> bool:
    """Return whether a key of Lambda is here, or something in its place that `keys` says is wrong."""
    return bool(os.environ.get(KEY_VARIABLE)) or _is_no_file(Path.home() / KEY_FILE) or _key_in_file() is not None


def elsewhere() -> str:
    """Return where Lambda is asked, if that is not its own address."""
    asked = urlsplit(os.environ.get(ENDPOINT_VARIABLE, ENDPOINT)).netloc.rpartition("@")[2]
    return "" if asked == urlsplit(ENDPOINT).netloc else f" at {asked}"


def _terminated(ids: Sequence[str], key: str) -> set[str]:
    """Ask Lambda to terminate these; return those that it says it does."""
    answer, _ = _ask("/instance-operations/terminate", key=key, body={"instance_ids": list(ids)})
    try:
        return {str(one["id"]) for one in answer["data"]["terminated_instances"]}
    except (KeyError, TypeError) as error:
        raise _LambdaError("it answered something else.", fix="Look in Lambda's console.") from error


def _listed(key: str) -> tuple[list[dict[str, Any]], datetime | None]:
    """Return every page of the list of instances, and when by Lambda's own clock; today's API has one page."""
    found: list[dict[str, Any]] = []
    path, token = "/instances", None
    tokens: set[str | None] = set()
    while token not in tokens:
        tokens.add(token)
        answer, seen_at = _ask(path, key=key, query={} if token is None else {"page_token": token})
        if not isinstance(answer["data"], list):
            raise TypeError(path)  # nothing that could be counted is no proof that there is nothing
        found += answer["data"]
        token = next((answer[name] for name in PAGE_TOKENS if answer.get(name)), None)
        if token is None:
            return found, seen_at
    raise NodeError("Lambda's list of instances repeats itself.", fix="Look in Lambda's console.")


def _machine(one: dict[str, Any], run_id: str, *, seen_at: datetime | None) -> Machine:
    state = str(one.get("status", "unknown"))
    return Machine(
        id=str(one["id"]),
        name=str(one["name"]),
        where=str((one.get("region") or {}).get("name", "unknown region")),
        state=state,
        alive=state not in ("terminated", "terminating"),
        ending=state == "terminating",
        run_id=run_id,
        instance_type=(one.get("instance_type") or {}).get("name"),
        seen_at=seen_at,
    )


class _LambdaError(NodeError):
    """Lambda's refusal; `status` is the HTTP status, 0 where it did not answer."""

    def __init__(self, message: str, *, fix: str, status: int = 0) -> None:
        super().__init__(message, fix=fix)
        self.status = status


def _ask(
    path: str, *, key: str, query: Mapping[str, str] | None = None, body: dict[str, Any] | None = None
) -> tuple[dict[str, Any], datetime | None]:
    """Return what Lambda answers, and when by its own clock."""
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
    """Return the key in the file that SkyPilot reads; None where there is none, NodeError where it is no file."""
    file = Path.home() / KEY_FILE
    if _is_no_file(file):  # a pipe would be waited for
        raise NodeError(f"~/{KEY_FILE} is no ordinary file.", fix=KEY_FIX)
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
    """Return whether something else than an ordinary file has this name."""
    return path.exists() and not path.is_file()
