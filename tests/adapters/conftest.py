"""A run store on S3, as moto keeps it on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import boto3
import pytest

from planner.adapters.s3_store import S3Store
from tests.fakes.servers import AWS_KEYS, Server, running


@pytest.fixture(scope="module")
def aws_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running("aws_server", log=tmp_path_factory.mktemp("aws") / "server.log", environment=AWS_KEYS) as server:
        yield server


@pytest.fixture
def aws(aws_server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path) -> Server:
    """An empty AWS, which boto3 finds without being told."""
    aws_server.ask("reset")
    for name, value in AWS_KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws_server.url)
    monkeypatch.setenv("HOME", str(tmp_path))  # no profile of the developer's
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    return aws_server


@pytest.fixture
def bucket(aws: Server) -> Callable[[str], S3Store]:
    """Make a bucket and open the store in it."""

    def make(name: str, prefix: str = "team/runs") -> S3Store:
        boto3.client("s3").create_bucket(Bucket=name)
        return S3Store(f"s3://{name}/{prefix}")

    return make
