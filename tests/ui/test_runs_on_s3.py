"""The page Evidence with the team's runs on S3, as moto keeps it on loopback."""

from __future__ import annotations

from html import unescape

import boto3
import pytest

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from planner.adapters.catalog import load_catalog
from planner.adapters.settings import S3Store


def evidence() -> None:
    from planner.ui import evidence_page as page

    page.render()


def shown() -> str:
    app = AppTest.from_function(evidence, default_timeout=60)
    app.run()
    assert not app.exception
    return unescape("\n".join(element.value for element in app.html))


@pytest.mark.usefixtures("aws")
def test_a_run_in_the_bucket_is_evidence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLANNER_RUNS", "s3://team/planner/runs")
    boto3.client("s3").create_bucket(Bucket="team")
    record = load_catalog().runs["seed-004-p5e-h200"].model_copy(update={"id": "of-the-team"})
    S3Store("s3://team/planner/runs").add(record)
    assert "of-the-team" in shown()


@pytest.mark.usefixtures("aws")
def test_a_bucket_that_is_not_there_is_named_and_the_page_stands(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLANNER_RUNS", "s3://elsewhere/runs")
    text = shown()
    assert "s3://elsewhere" in text
    assert "seed-004-p5e-h200" in text
