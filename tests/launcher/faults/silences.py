"""Rows: a service is silent, never ends its answer, or is another one; collected files are of another kind."""

from __future__ import annotations

import getpass
import os
import socket

import yaml

from tests.launcher.faults.acts import Act, Prepare, launching, left, sets, sky, waits
from tests.launcher.faults.between import Meddling, between
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.killed import COLLECT, DOWN, GONE, REAP
from tests.launcher.faults.states import never_ends
from tests.launcher.faults.world import H100_AT_LAMBDA, P4D, Done, WorldOfFaults

OPEN = "COLLECTED"
LYING = sky("down", answer=True)
GONE_FROM_SKY = sky("status", answer=[])
SHORT = waits(SILENCE_S=4.0, OPERATION_S=8.0, ANSWER_TIMEOUT_S=60.0)
"""Limits that are short enough for a row, and long enough for a fake on a busy machine."""
EC2_SILENT = Meddling("Action=DescribeInstances")
REGIONS_SILENT = Meddling("Action=DescribeRegions")
STS_SILENT = Meddling("Action=GetCallerIdentity")
END_SILENT = Meddling("Action=TerminateInstances")
EC2_DRIPS = Meddling("Action=DescribeInstances", b"<DescribeInstancesResponse>", slowly=True)
SIGN_IN = b"<html><body>Sign in to the hotel's network</body></html>"
EC2_HTML = Meddling("Action=DescribeInstances", SIGN_IN)
EC2_CUT = Meddling("Action=DescribeInstances", b"<DescribeInstancesResponse><reservationSet><item>")
REGIONS_HTML = Meddling("Action=DescribeRegions", SIGN_IN)
LIST = "/api/v1/instances"
LAMBDA_SILENT = Meddling(LIST)
LAMBDA_DRIPS = Meddling(LIST, b'{"data": [', slowly=True)
LAMBDA_REPEATS = Meddling(LIST, b'{"data": [], "next_page_token": "7"}')
NOWHERE = sets(AWS_REGION="eu-nowhere-9", AWS_DEFAULT_REGION="eu-nowhere-9")
UNREADABLE, NO_ANSWER = "something between here and AWS", "AWS does not answer"


def through(
    *meddlings: Meddling, words: str = DOWN, at: str = OPEN, on: tuple[str, ...] = P4D,
    then: tuple[Prepare, ...] = (), later: str = "", first: tuple[Prepare, ...] = (),
    options: tuple[str, ...] = (),
) -> Act:  # fmt: skip
    """Return a step that takes down behind a meddling proxy, while SkyPilot lies and has forgotten the cluster.

    `later` runs without the proxy.
    """

    def act(world: WorldOfFaults) -> Done:
        SHORT(world)
        with between(*meddlings) as url:
            prepared = (LYING, GONE_FROM_SKY, *then, sets(HTTP_PROXY=url, http_proxy=url))
            done = left(at, words, first=first, then=prepared, on=on, options=options)(world)
        if later:
            sets(HTTP_PROXY="", http_proxy="")(world)
            assert done.code == 4, done
            done = world.cli(*later.split())
        return done

    return act


def pipe_for_keys(world: WorldOfFaults) -> None:
    """Replace Lambda's file of keys by a named pipe without a writer."""
    file = world.folder / ".lambda_cloud" / "lambda_keys"
    file.unlink(missing_ok=True)
    os.mkfifo(file)


def file_for_keys(world: WorldOfFaults) -> None:
    """Put the file of keys back."""
    file = world.folder / ".lambda_cloud" / "lambda_keys"
    file.unlink()
    file.write_text(f"api_key = {world.lambda_key}\n", encoding="utf-8")


def of_another_kind(world: WorldOfFaults) -> None:
    """Leave a folder instead of the node's log, and a file instead of the folder of its second start."""

    def leave(run_id: str) -> None:
        place = world.node / "planner-results" / run_id
        (place / "start-1").mkdir(parents=True, exist_ok=True)
        (place / "start-1" / "result.json").write_bytes(world.result)
        (place / "job.log").mkdir(exist_ok=True)
        (place / "job.log" / "x").write_text("x")
        (place / "start-2").write_text("a file")

    world.leave_results = leave  # type: ignore[method-assign]


def hosts(world: WorldOfFaults, *, port: int, script: str = "exit 0") -> None:
    """Write hosts.yaml with the loopback host, whose python is a script."""
    python = world.node / "a-python"
    python.write_text(f"#!/bin/bash\n{script}\n")
    python.chmod(0o755)
    options = {
        "StrictHostKeyChecking": "yes", "UserKnownHostsFile": str(world.sshd.folder / "known_hosts"),
        "IdentitiesOnly": "yes",
    }  # fmt: skip
    host = {
        "address": "127.0.0.1", "user": getpass.getuser(), "port": port, "key": str(world.sshd.key),
        "folder": str(world.folder / "on-host"), "python": str(python), "ssh_options": options,
    }  # fmt: skip
    (world.home / "hosts.yaml").write_text(yaml.safe_dump({"schema_version": 1, "hosts": {"a": host}}))


ON_HOST = ("launch", "cpu-smoke", "--on", "host/a", "--max-minutes", "5", "--yes")


def footer(world: WorldOfFaults) -> Done:
    """Launch on a host whose login prints a greeting, and numbers at its end."""
    keys = world.sshd.folder / "authorized_keys"
    before = keys.read_text()
    script, end = '\\"$SSH_ORIGINAL_COMMAND\\"', "echo Good bye 4711; echo 4712"
    assert f'{script}"' in before
    keys.write_text(before.replace("exec sh -c", "echo Welcome; sh -c").replace(f'{script}"', f'{script}; {end}"'))
    try:
        hosts(world, port=world.sshd.port)
        return world.cli(*ON_HOST)
    finally:
        keys.write_text(before)


def silent_host(world: WorldOfFaults) -> Done:
    """Take down a job whose host accepts connections and does not answer any more."""
    SHORT(world)
    hosts(world, port=world.sshd.port, script="exec sleep 60")
    world.cli(*ON_HOST, at="SUBMITTED")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hosts(world, port=silent.getsockname()[1])
        done = world.cli(*DOWN.split())
    hosts(world, port=world.sshd.port)
    assert world.cli(*REAP.split()).code == 0
    return done


SILENCES = (
    Fault(
        "ec2-silent", "EC2 takes the question and never answers", "EC2", "given up after 30 s; nothing is proven",
        through(EC2_SILENT), 4, OPEN, "completed", said=NO_ANSWER,
    ),
    Fault(
        "ec2-silent-later", "... then `reap`, when it answers again", "EC2", "ended and proven",
        through(EC2_SILENT, later=REAP), 0, GONE, "completed",
    ),
    Fault(
        "ec2-drips", "EC2 answers a byte at a time", "EC2", "given up after 5 minutes; nothing is proven",
        through(EC2_DRIPS), 4, OPEN, "completed", said="EC2: no complete answer within 8 s",
    ),
    Fault(
        "regions-silent", "EC2 does not say which regions there are", "EC2", "given up after 30 s; nothing is proven",
        through(REGIONS_SILENT), 4, OPEN, "completed", said=NO_ANSWER,
    ),
    Fault(
        "sts-silent", "AWS does not say whose keys these are", "EC2", "given up after 30 s; nothing is proven",
        through(STS_SILENT), 4, OPEN, "completed", said=NO_ANSWER,
    ),
    Fault(
        "end-silent", "EC2 does not answer the order to end a machine", "EC2", "the machine is listed: not proven",
        through(END_SILENT), 4, OPEN, "completed",
    ),
    Fault(
        "ec2-html", "a network's sign-in page answers in EC2's place", "EC2", "one sentence; nothing is proven",
        through(EC2_HTML), 4, OPEN, "completed", said=UNREADABLE,
    ),
    Fault(
        "ec2-html-later", "... then `reap`, when EC2 answers again", "EC2", "ended and proven",
        through(EC2_HTML, later=REAP), 0, GONE, "completed",
    ),
    Fault(
        "ec2-cut", "EC2's answer is cut off", "EC2", "one sentence; nothing is proven", through(EC2_CUT), 4, OPEN,
        "completed", said=UNREADABLE,
    ),
    Fault(
        "regions-html", "a sign-in page in place of the regions", "EC2", "one sentence; nothing is proven",
        through(REGIONS_HTML), 4, OPEN, "completed", said=UNREADABLE,
    ),
    Fault(
        "lambda-silent", "Lambda takes the question and never answers", "Lambda",
        "given up after 30 s; nothing is proven", through(LAMBDA_SILENT, on=H100_AT_LAMBDA), 4, OPEN, "completed",
        said="it said nothing for 4 s",
    ),
    Fault(
        "lambda-drips", "Lambda answers a byte at a time", "Lambda", "given up after 5 minutes; nothing is proven",
        through(LAMBDA_DRIPS, on=H100_AT_LAMBDA), 4, OPEN, "completed",
        said="Lambda: no complete answer within 8 s",
    ),
    Fault(
        "lambda-repeats", "Lambda names the same next page again and again", "Lambda", "stopped; nothing is proven",
        through(LAMBDA_REPEATS, on=H100_AT_LAMBDA), 4, OPEN, "completed", said="list of instances repeats itself",
    ),
    Fault(
        "lambda-repeats-later", "... then `reap`, when it lists as it should", "Lambda", "ended and proven",
        through(LAMBDA_REPEATS, on=H100_AT_LAMBDA, later=REAP), 0, GONE, "completed",
    ),
    Fault(
        "lambda-pipe", "the file of Lambda's keys is a pipe without a writer", "client", "said; nothing is proven",
        left(OPEN, DOWN, then=(LYING, GONE_FROM_SKY, pipe_for_keys), on=H100_AT_LAMBDA), 4, OPEN, "completed",
        said="is not an ordinary file",
    ),
    Fault(
        "lambda-pipe-reap", "... then `reap`", "client", "an alarm",
        left(OPEN, REAP, then=(LYING, GONE_FROM_SKY, pipe_for_keys), on=H100_AT_LAMBDA), 4, OPEN, "completed",
        said="is not an ordinary file",
    ),
    Fault(
        "ec2-silent-collect", "EC2 never answers, and the launch's time is over, `collect`", "EC2",
        "given up after 5 minutes; nothing is proven",
        through(EC2_SILENT, words=COLLECT, then=(sets(FAULT_AWAKE_H="30"),)), 4, OPEN, "completed", said=NO_ANSWER,
    ),
    Fault(
        "lambda-silent-collect", "... Lambda", "Lambda", "the same",
        through(LAMBDA_SILENT, words=COLLECT, then=(sets(FAULT_AWAKE_H="30"),), on=H100_AT_LAMBDA), 4, OPEN,
        "completed", said="it said nothing for 4 s",
    ),
    Fault(
        "store-silent", "S3 never answers, `collect`", "store", "given up after 30 s; the node's own copy comes home",
        through(Meddling("/a-bucket"), at="RUNNING", words=COLLECT, options=("--store", "s3://a-bucket/x")), 4, GONE,
    ),
    Fault(
        "store-drips", "S3 answers a byte at a time, `collect`", "store", "given up after 5 minutes; the same",
        through(Meddling("/a-bucket", b"<ListBucketResult>", slowly=True), at="RUNNING", words=COLLECT,
            options=("--store", "s3://a-bucket/x")), 4, GONE,
    ),
    Fault(
        "region-nowhere", "AWS_REGION names no region, then `reap` while the job runs", "client",
        "the region of the launch is asked", left("RUNNING", REAP, first=(never_ends,), then=(NOWHERE,)), 0,
        "RUNNING", runs_on=True,
    ),
    Fault(
        "region-nowhere-down", "... then `down`", "client", "taken down and proven",
        left("RUNNING", DOWN, first=(never_ends,), then=(NOWHERE,)), 0, GONE, "cancelled",
    ),
    Fault(
        "other-kinds", "the node leaves a folder for its log and a file for its second start", "host",
        "the good start comes home, the rest is named", launching(of_another_kind), 0, GONE, "completed",
        said="not taken in: job.log/x, start-2",
    ),
    Fault(
        "footer", "a host whose login prints a footer with numbers", "host", "only the processes are counted", footer,
        4, GONE,
    ),
    Fault(
        "silent-host", "a host accepts connections and never answers, `down`", "host",
        "given up after 10 s; `reap` finishes later", silent_host, 4, GONE, "cancelled|truncated|lost|failed",
    ),
)  # fmt: skip
