"""Fixtures: moto and a fake Lambda, and a SkyPilot whose answers a test gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.launcher.backends.sky import process
from planner.launcher.backends.sky.backend import SkyBackend
from tests.fakes.servers import AWS_KEYS, Server, running
from tests.launcher.backends.sky.standin_sky import STANDIN, Says


@pytest.fixture(scope="module")
def servers(aws_models: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    folder = tmp_path_factory.mktemp("clouds")
    with (
        running("aws_server", log=folder / "aws.log", environment=AWS_KEYS) as aws,
        running("lambda_server", log=folder / "lambda.log") as lambda_labs,
    ):
        yield aws, lambda_labs


@pytest.fixture
def aws(servers: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Server:
    """Start an AWS and a Lambda that boto3 and we find without being told."""
    for server in servers:
        server.ask("reset")
    environment = AWS_KEYS | {
        "AWS_ENDPOINT_URL": servers[0].url,
        "HOME": str(tmp_path),
        "LAMBDA_ENDPOINT_URL": f"{servers[1].url}/api/v1",
        "LAMBDA_API_KEY": "a-key",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return servers[0]


@pytest.fixture
def skypilot(aws: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Says]:
    """Return a backend whose SkyPilot gives these answers; asked again, it gives others."""
    (tmp_path / "standin_worker.py").write_text(STANDIN, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("STANDIN_ANSWERS", str(tmp_path / "answers.json"))
    monkeypatch.setenv("STANDIN_ASKED", str(tmp_path / "asked"))
    monkeypatch.setattr(process, "WORKER", "standin_worker")
    backend = SkyBackend(tmp_path / "sky", sky_home=tmp_path)

    def says(**answers: Any) -> SkyBackend:
        (tmp_path / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
        return backend

    yield says
    backend.close()
