"""Fixtures that every test may use."""

from __future__ import annotations

import difflib
import gc
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from planner import clock
from planner.model.catalog import Catalog
from tests.bundled import bundled_catalog
from tests.fakes.servers import AWS_KEYS, Server, running

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")  # on a busy machine a law is as true as on an idle one
GOLDEN = Path(__file__).parent / "golden"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


gc.set_threshold(20_000, 20, 20)  # as the command line does


def pytest_collection_finish() -> None:
    """Leave all that was imported and collected out of later garbage collections, which take a tenth of the time."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden from the present output")


ANSWER_ID = re.compile(r"\b(?=[a-f]*[0-9])[0-9a-f]{12}\b")


def with_one_answer_id(text: str) -> str:
    """Put one id in the place of every answer's: they change with each row of the catalog."""
    return ANSWER_ID.sub("3f09c2d47a1e", text)


class Golden:
    """Compares text that people read with the file that was last reviewed."""

    def __init__(self, *, update: bool) -> None:
        self.update = update

    def check(self, name: str, text: str) -> None:
        path, text = GOLDEN / name, with_one_answer_id(text)
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        expected = path.read_text(encoding="utf-8")
        difference = "\n".join(
            difflib.unified_diff(expected.splitlines(), text.splitlines(), "golden", "now", lineterm="")
        )
        assert expected == text, f"{name} differs (rewrite with --update-golden, then review):\n{difference}"


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """Return the bundled catalog, read once a process."""
    return bundled_catalog()


@pytest.fixture(scope="session")
def aws_models() -> Iterator[None]:
    """Botocore's descriptions of AWS, read once a process: each client would read megabytes of them anew."""
    from botocore import loaders, session

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "create_loader", cache(loaders.create_loader))
        yield


@pytest.fixture(scope="session")
def aws_server(aws_models: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """AWS on loopback, started once a process; S3 lists ten objects at a time."""
    environment = AWS_KEYS | {"MOTO_S3_DEFAULT_MAX_KEYS": "10"}
    with running("aws_server", log=tmp_path_factory.mktemp("aws") / "server.log", environment=environment) as server:
        yield server


@pytest.fixture
def aws(aws_server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Server:
    """Point boto3 at that AWS. Resources of other tests are still in it, because emptying it takes seconds."""
    aws_server.ask("reset")
    for name, value in AWS_KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws_server.url)
    monkeypatch.setenv("HOME", str(tmp_path))  # no profile of the developer's
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    return aws_server


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(update=request.config.getoption("--update-golden"))


@pytest.fixture(autouse=True)
def _workspace_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the developer's own workspace, answers or colours."""
    monkeypatch.setenv("PLANNER_HOME", str(tmp_path / "planner-home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path.with_name(f"{tmp_path.name}-state")))
    monkeypatch.delenv("PLANNER_RUNS", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture(autouse=True)
def _day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fix the date, so that no answer of a test depends on the day or on midnight passing."""
    monkeypatch.setattr(clock, "now", lambda: NOON)
