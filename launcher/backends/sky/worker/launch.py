"""Submits launches to SkyPilot, for real or as a dry run."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

from planner.launcher.backends.sky.worker.plain_text import plain
from planner.launcher.backends.sky.worker.settings import joined

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
