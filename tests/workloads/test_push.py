"""Steps and results reach S3 while a run goes on; a store that refuses costs the run nothing."""

import signal
import threading

import boto3
import pytest

from planner.workloads.push import main, push_changes

BUCKET = "runs"


@pytest.fixture
def s3(aws):
    client = boto3.client("s3")
    client.create_bucket(Bucket=BUCKET)
    return client


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "start-1").mkdir()
    (tmp_path / "start-1" / "result.json.steps.jsonl").write_text('{"step": 1}\n')
    return tmp_path


@pytest.fixture
def asked_to_stop():
    """Send SIGTERM to this process in a moment, and give the handlers back afterwards."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGTERM])
    yield timer
    timer.cancel()
    for number, handler in before.items():
        signal.signal(number, handler)


def keys(s3, run):
    return {item["Key"]: item["Size"] for item in s3.list_objects_v2(Bucket=BUCKET, Prefix=run).get("Contents", [])}


def test_only_what_has_changed_is_pushed_again(s3, folder):
    pushed: dict[str, tuple[int, int]] = {}
    steps = folder / "start-1" / "result.json.steps.jsonl"
    assert push_changes(s3, folder, f"s3://{BUCKET}/team/r1/node-0", pushed) == 1
    assert push_changes(s3, folder, f"s3://{BUCKET}/team/r1/node-0", pushed) == 0
    steps.write_text('{"step": 1}\n{"step": 2}\n')
    (folder / "start-1" / "result.json.part").write_text("half")
    assert push_changes(s3, folder, f"s3://{BUCKET}/team/r1/node-0", pushed) == 1
    assert keys(s3, "team/r1/") == {"team/r1/node-0/start-1/result.json.steps.jsonl": 24}


def test_the_last_push_is_made_when_it_is_asked_to_stop(s3, folder, asked_to_stop):
    asked_to_stop.start()
    assert main(["--folder", str(folder), "--to", f"s3://{BUCKET}/r1", "--every", "600"]) == 0
    assert keys(s3, "r1/") == {"r1/start-1/result.json.steps.jsonl": 12}


def test_a_store_that_refuses_is_said_and_ends_nothing(s3, folder, asked_to_stop, capsys):
    asked_to_stop.start()
    assert main(["--folder", str(folder), "--to", "s3://nobodys/r1", "--every", "600"]) == 1
    assert "NoSuchBucket" in capsys.readouterr().err
