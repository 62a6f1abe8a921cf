"""The logs of a launch, as far as they have come: of how machines were sought, of set-up and job."""

from __future__ import annotations

import io

from planner.launcher.backends.sky.worker.managed import look_managed
from planner.launcher.backends.sky.worker.plain_text import plain

LAST_LINES = 400
"""Of a log that is passed on at once."""
LAST_CHARACTERS = 8_000_000


def log(cluster: str, managed: bool) -> str:
    """Return the end of the log of set-up and job, as far as it has come."""
    import sky
    from sky import jobs

    text = io.StringIO()
    if managed:
        job = look_managed(cluster)["job"]  # by its id: by its name SkyPilot finds no job that is over
        if job is not None:
            jobs.tail_logs(job_id=job["id"], follow=False, output_stream=text)
    else:
        sky.tail_logs(cluster, None, follow=False, tail=LAST_LINES, output_stream=text)
    return _end(text)


def provision_log(cluster: str) -> str:
    """Return the end of the log of how the machines were sought and booted."""
    from sky.client import sdk

    text = io.StringIO()
    sdk.tail_provision_logs(cluster, follow=False, tail=LAST_LINES, output_stream=text)
    return _end(text)


def _end(text: io.StringIO) -> str:
    """Return the end of what was written: one line may be longer than an answer can be."""
    whole = text.getvalue()
    return plain(whole[-LAST_CHARACTERS:])
