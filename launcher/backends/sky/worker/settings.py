"""Submits launches to SkyPilot, with settings joined with the user's own so that no cap of the launch is lost."""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from planner.launcher.backends.sky.worker.status import plain

AT_BOOT = "aws.post_provision_runcmd"
CONTROLLER = "jobs.controller"
CONTROLLER_AUTOSTOP = "jobs.controller.resources.autostop"
LABEL_PREFIX = "planner-"
"""Prefix of the labels by which machines are found again. They are ours."""
ENDS_THE_SHUTDOWN = re.compile(
    r"\b(shutdown|poweroff|halt|reboot|telinit|kexec|systemctl\s+(?:isolate|kexec|suspend))\b"
)
"""Commands that change or cancel a planned shutdown."""
MOST_CONTROLLER = {"cpus": 4.0, "memory": 16.0, "disk_size": 256.0}
"""Largest controller of managed jobs that the bill covers, an m6i.xlarge (launcher/plan/bill.py)."""
FREE_CONTROLLER = ("infra", "cloud", "region", "zone", "autostop", "use_spot", "labels", "image_id")
"""Controller settings that change its price by no more than the bill's factor for the most expensive region."""
MINUTES = {"": 1.0, "m": 1.0, "h": 60.0, "d": 1440.0, "w": 10080.0}


class SettingError(Exception):
    """A setting of the user's own SkyPilot that would break a cap of the launch."""


def joined(asked: list[str], own: Mapping[str, Any]) -> list[str]:
    """Return the settings `a.b=value` of a launch, joined with the user's own. Raises SettingError."""
    if own.get("admin_policy"):
        raise SettingError(f"admin_policy ({own['admin_policy']}) may change or drop what limits a launch")
    for path in _paths(own):
        if path[-1].startswith(LABEL_PREFIX):
            raise SettingError(f"{'.'.join(path)}: labels that begin with {LABEL_PREFIX} are the planner's")
    settings = []
    for setting in asked:
        key, _, text = setting.partition("=")
        theirs = _at(own, key)
        if key == AT_BOOT:
            settings.append(_setting(key, [*json.loads(text), *_commands(theirs)]))
        elif key == CONTROLLER_AUTOSTOP:
            settings.append(_setting(key, _controller(json.loads(text), _at(own, CONTROLLER) or {})))
        elif not (key.endswith(".remote_identity") and theirs is not None):  # the user's own identities stay
            settings.append(setting)
    return settings


def _commands(theirs: Any) -> list[Any]:
    """Return the user's commands at boot, which follow ours."""
    commands = list(theirs or [])
    for command in commands:
        words = command if isinstance(command, str) else " ".join(map(str, command))
        if ENDS_THE_SHUTDOWN.search(words):
            raise SettingError(f"{AT_BOOT}: '{words[:80]}' would undo the time at which the machine is to shut down")
    return commands


def _controller(ours: dict[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return when the controller of managed jobs terminates. If it is a machine, the bill must cover it."""
    resources = theirs.get("resources") or {}
    if not theirs.get("consolidation_mode"):
        _check_size(resources)
    wanted = resources.get("autostop")
    wanted = theirs.get("autostop") if wanted is None else wanted
    if wanted is None or theirs.get("consolidation_mode"):
        return ours
    if wanted is False:
        raise SettingError(f"{CONTROLLER}: autostop: false would keep the controller of managed jobs for ever")
    chosen = dict(wanted) if isinstance(wanted, Mapping) else {"idle_minutes": 0 if wanted is True else wanted}
    idle = _minutes(chosen.get("idle_minutes", 0))
    if idle is None or idle > ours["idle_minutes"]:
        raise SettingError(
            f"{CONTROLLER}: autostop after {chosen.get('idle_minutes')} idle minutes; the bill counts "
            f"{ours['idle_minutes']:g} at most"
        )
    return {**chosen, "idle_minutes": int(idle), "wait_for": ours["wait_for"]}


def _check_size(resources: Mapping[str, Any]) -> None:
    for name, value in resources.items():
        most = MOST_CONTROLLER.get(name)
        number = None if most is None else _number(value)
        if name not in FREE_CONTROLLER and (most is None or number is None or number > most):
            counted = ", ".join(f"{resource} {size:g}" for resource, size in MOST_CONTROLLER.items())
            raise SettingError(
                f"{CONTROLLER}.resources.{name}: {value}; the bill counts a controller of at most {counted}"
            )


def _number(value: Any) -> float | None:
    match = re.fullmatch(r"\s*([0-9.]+)\s*(?:\+|GB|GiB|G)?\s*", str(value))
    try:
        return float(match[1]) if match else None
    except ValueError:
        return None


def _minutes(value: Any) -> float | None:
    match = re.fullmatch(r"\s*([0-9]{1,9})\s*([mhdw]?)\s*", str(value).lower())
    return float(match[1]) * MINUTES[match[2]] if match else None


def _setting(key: str, value: Any) -> str:
    return f"{key}={json.dumps(value, ensure_ascii=False)}"


def _at(own: Mapping[str, Any], key: str) -> Any:
    value: Any = own
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _paths(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every key."""
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield (*path, str(key))
            yield from _paths(below, (*path, str(key)))
    elif isinstance(value, list):
        for below in value:
            yield from _paths(below, path)


JsonObject = dict[str, Any]
DRY_RUN = "planner-dry-run"


def dry_run(task: JsonObject, config: list[str]) -> str:
    """Let SkyPilot check and price the launch. Return the table that it prints.

    The dry run has its own name: SkyPilot's server stores it as a launch, and ours must not look launched.
    """
    import sky

    with _configured(config):
        request = sky.launch(_task(task), cluster_name=DRY_RUN, dryrun=True)
        shown = io.StringIO()
        sky.stream_and_get(request, output_stream=shown)
    return plain(shown.getvalue())


def check_settings(config: list[str]) -> None:
    """Raise SettingError if the user's own SkyPilot settings would drop a cap of the launch."""
    with _configured(config):
        pass


def submit(task: JsonObject, cluster: str, config: list[str], managed: bool) -> str:
    """Hand the launch to SkyPilot's server, which continues by itself. Return the id of the request."""
    import sky
    from sky import jobs

    with _configured(config):
        if managed:
            return str(jobs.launch(_task(task), name=cluster))
        return str(sky.launch(_task(task), cluster_name=cluster))


def _task(config: JsonObject) -> Any:
    import sky

    return sky.Task.from_yaml_config(config)


@contextlib.contextmanager
def _configured(settings: list[str]) -> Iterator[None]:
    """Add `a.b=value` settings, joined with the user's own, to SkyPilot's configuration for one launch."""
    from sky import skypilot_config

    skypilot_config.reload_config()  # the files may have changed since the last question
    settings = joined(settings, skypilot_config.get_nested((), None) or {})
    if settings:
        skypilot_config.apply_cli_config(settings)
    try:
        yield
    finally:
        if settings:
            skypilot_config.reload_config()
