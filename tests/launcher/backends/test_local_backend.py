"""Jobs on this machine, as on a rented one: time caps, several starts, and steps pushed to S3 meanwhile."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime

import boto3
import pytest

from planner.adapters.catalog import accelerator_aliases
from planner.launcher.backends.local import local_backend
from planner.launcher.collect.launch_record import record_of_launch
from planner.launcher.collect.results import collected, read_probes, read_result
from planner.launcher.drive.drive import Driver
from planner.launcher.ledger.entry import LaunchOutcome, State
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.target import Target
from tests.fakes.servers import AWS_KEYS, running
from tests.launcher.launches import ENDLESS_SPEC, TINY_SPEC, launch_of, rate

ANSWER = "3f09c2d47a1e"
HERE = Target(provider="local", name="local", devices_per_node=1)


@pytest.fixture
def driver(tmp_path):
    return Driver(
        ledger=Ledger(tmp_path / "ledger.sqlite"),
        backend=local_backend(tmp_path / "this-machine"),
        folder=tmp_path / "launches",
    )


def run(driver, launch):
    driver.ledger.plan([launch])
    return driver.go_on(launch.run_id, stop=threading.Event(), poll_s=0.3, submit=True)


@pytest.mark.slow
def test_two_starts_make_one_record_and_their_steps_lie_on_s3_too(driver, tmp_path, monkeypatch):
    with running("aws_server", log=tmp_path / "aws.log") as aws:
        for name, value in {**AWS_KEYS, "AWS_ENDPOINT_URL": aws.url, "OMP_NUM_THREADS": "1"}.items():
            monkeypatch.setenv(name, value)
        s3 = boto3.client("s3")
        s3.create_bucket(Bucket="team")
        launch = launch_of(
            HERE, run_id=f"push-{os.getpid()}", price=rate(3.0), starts=2, now=datetime.now(tz=UTC), probes="double"
        )
        envs = launch.task["envs"] | {"PLANNER_PUSH_TO": "s3://team/runs"}
        entry = run(driver, launch.model_copy(update={"task": launch.task | {"envs": envs}, "answer_id": ANSWER}))
        pushed = {item["Key"] for item in s3.list_objects_v2(Bucket="team")["Contents"]}
    assert (entry.state, entry.outcome) == (State.DOWN_VERIFIED, LaunchOutcome.COMPLETED)
    for start in (1, 2):
        for name in ("result.json", "result.json.steps.jsonl"):
            assert f"runs/{launch.run_id}/node-0/start-{start}/{name}" in pushed

    found = collected(tmp_path / "launches" / launch.run_id, run_id=launch.run_id, nodes=1)
    results = [result for path in found.results if (result := read_result(path)) is not None]
    probes = read_probes(found.folder)
    record = record_of_launch(entry, results, aliases=accelerator_aliases(), where="here", probes=probes)
    assert record.answer_id == ANSWER
    assert len(record.repeats) == 2
    assert [probe.micro_batch for probe in record.probes] == [2, 4]  # this machine's memory is nearly empty
    assert all(probe.fits for probe in record.probes)
    assert record.launch is not None
    seconds = (entry.ended_at - entry.submitted_at).total_seconds()
    assert record.launch.billed.value == pytest.approx(3.0 * seconds / 3600, rel=1e-3)  # the clock is read later
    assert record.launch.billed.low < record.launch.billed.value
    assert record.launch.price.value == 3.0
    assert not record.launch.truncated


@pytest.mark.slow
def test_the_job_s_own_time_ends_it_and_nothing_is_left(driver):
    """3 s are too short for any result: the log says so, and the last line is there all the same."""
    launch = launch_of(
        HERE, run_id=f"short-{os.getpid()}", spec=ENDLESS_SPEC, max_minutes=0.05, now=datetime.now(tz=UTC)
    )
    entry = run(driver, launch)
    assert (entry.state, entry.outcome) in (
        (State.DOWN_VERIFIED, LaunchOutcome.FAILED),
        (State.DOWN_VERIFIED, LaunchOutcome.TRUNCATED),
    )
    log = (driver.folder / launch.run_id / "job.log").read_text()
    assert f"PLANNER-DONE run={launch.run_id} rank=0 exit=124" in log
    assert driver.backend.verify_down(launch).down


@pytest.mark.slow
def test_a_search_on_the_node_takes_one_of_the_micro_batches_that_share_the_global_batch(driver):
    """Micro-batches 1 and 2 divide 2 samples a device evenly."""
    launch = launch_of(
        HERE, run_id=f"search-{os.getpid()}", now=datetime.now(tz=UTC), probes="search --start 2 --share 2"
    )
    entry = run(driver, launch)
    assert (entry.state, entry.outcome) == (State.DOWN_VERIFIED, LaunchOutcome.COMPLETED)
    home = driver.folder / launch.run_id
    probes = {probe.micro_batch: probe for probe in read_probes(home)}
    assert probes.keys() == {2, 1}
    result = read_result(home / "start-1" / "result.json")
    chosen = result["spec"]["micro_batch"]
    fastest = max(probe.samples_per_s or 0.0 for probe in probes.values())
    assert probes[chosen].samples_per_s >= 0.97 * fastest
    assert (result["spec"]["grad_accumulation"], result["global_batch"]) == (2 // chosen, 2)
    assert result["spec"]["window"] == TINY_SPEC["window"]
