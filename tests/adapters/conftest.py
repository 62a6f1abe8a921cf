"""A run store on S3, as moto keeps it on loopback."""

from __future__ import annotations

from collections.abc import Callable

import boto3
import pytest

from planner.adapters.settings import S3Store
from tests.fakes.servers import Server


@pytest.fixture
def bucket(aws: Server) -> Callable[[str], S3Store]:
    """Make a bucket and open the store in it."""

    def make(name: str, prefix: str = "team/runs") -> S3Store:
        boto3.client("s3").create_bucket(Bucket=name)
        return S3Store(f"s3://{name}/{prefix}")

    return make
