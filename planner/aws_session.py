"""Opens boto3 sessions with time limits. A silent request to AWS ends after 30 s and is not repeated."""

from __future__ import annotations

from functools import cache
from typing import Any

from planner import time_limits
from planner.errors import MissingExtraError

RETRIES = 3
"""Retries of a request that AWS refused for the moment, or whose connection broke."""


def aws_session(*, extra: str = "launch") -> Any:
    """Return a boto3 session that looks for credentials anew. `extra` names the package extra with boto3.

    Its clients, and those that fetch credentials, have the limits of `time_limits`. botocore's own retries would turn
    30 s of silence into two minutes. Raises MissingExtraError if boto3 is not installed.
    """
    try:
        import boto3
        import botocore.session
        from botocore.config import Config
    except ModuleNotFoundError as error:
        raise MissingExtraError("boto3", extra) from error
    core = botocore.session.Session()
    core.register_component("data_loader", _descriptions())
    core.set_default_client_config(
        Config(
            connect_timeout=time_limits.CONNECT_S,
            read_timeout=time_limits.SILENCE_S,
            retries={"max_attempts": RETRIES},
        )
    )
    core.get_component("event_emitter").register_first("needs-retry", _give_up_silence)
    return boto3.session.Session(botocore_session=core)


def _give_up_silence(caught_exception: Exception | None = None, **_: Any) -> None:
    """Raise a timeout at once, because botocore would repeat the request."""
    from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError

    if isinstance(caught_exception, ConnectTimeoutError | ReadTimeoutError):
        raise caught_exception


@cache
def _descriptions() -> Any:
    """Return the reader of the services' descriptions, shared so that each is read once per process."""
    from botocore.loaders import create_loader

    return create_loader()
