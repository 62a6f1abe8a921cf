"""Logs of a launch, as far as they exist: of provisioning, and of set-up and job."""

from __future__ import annotations

import io

from planner.launcher.backends.sky.worker.managed import look_managed
from planner.launcher.backends.sky.worker.plain_text import plain

LAST_LINES = 400
"""Lines of a log that are passed on at once."""
LAST_CHARACTERS = 8_000_000


def log(cluster: str, managed: bool) -> str:
    """Return the end of the log of set-up and job, as far as it exists."""
    import sky
    from sky import jobs

    text = io.StringIO()
    if managed:
        job = look_managed(cluster)["job"]  # by id: SkyPilot finds no finished job by its name
        if job is not None:
            jobs.tail_logs(job_id=job["id"], follow=False, output_stream=text)
    else:
        sky.tail_logs(cluster, None, follow=False, tail=LAST_LINES, output_stream=text)
    return _end(text)


def provision_log(cluster: str) -> str:
    """Return the end of the log of finding and booting the machines."""
    from sky.client import sdk

    text = io.StringIO()
    sdk.tail_provision_logs(cluster, follow=False, tail=LAST_LINES, output_stream=text)
    return _end(text)


def _end(text: io.StringIO) -> str:
    """Return the end of what was written. A single line may be longer than an answer can be."""
    whole = text.getvalue()
    return plain(whole[-LAST_CHARACTERS:])
