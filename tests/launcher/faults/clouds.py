"""Rows: a provider refuses, does not answer, or is asked with other keys."""

from __future__ import annotations

from datetime import UTC, datetime

from planner.launcher.plan.task import EXPIRY_FORMAT, EXPIRY_LABEL, RUN_LABEL
from tests.launcher.faults.acts import (
    after,
    command,
    ec2,
    forgets,
    lambda_keeps,
    lambda_refuses,
    launching,
    left,
    sets,
    sky,
    writes,
)
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.killed import COLLECT, DOWN, GONE, REAP
from tests.launcher.faults.world import H100_AT_LAMBDA, LAMBDA_KEY, Done, WorldOfFaults

DENIED = "UnauthorizedOperation"
OTHERS = sets(AWS_ACCESS_KEY_ID="KEYOF222222222222")
NO_KEYS = sets(AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
LYING = sky("down", answer=True)
GONE_FROM_SKY = sky("status", answer=[])
KEY_FILE = ".lambda_cloud/lambda_keys"
OTHER_KEY = writes(KEY_FILE, "api_key = a-key-of-somebody-else\n")
OPEN = "COLLECTED"


def leaves_an_old_machine(world: WorldOfFaults) -> Done:
    """Start a machine of another workspace, whose label says that its time is over."""
    over = datetime(2026, 1, 1, tzinfo=UTC).strftime(EXPIRY_FORMAT)
    labels = {RUN_LABEL: "20260101-000000-abcdef", EXPIRY_LABEL: over}
    run_id = labels[RUN_LABEL]
    settings = ["post_provision_runcmd shutdown"]
    world.start(
        "aws", "p4d.24xlarge", region="us-west-2", cluster=f"pl-{run_id}", labels=labels, settings=settings,
        autostop=True,
    )  # fmt: skip
    return Done(0, "", "")


CLOUDS = (
    Fault(
        "list-denied", "EC2 may not be asked for machines", "EC2", "nothing is proven, the launch stays open",
        left(OPEN, DOWN, then=(ec2(DENIED, only="DescribeInstances"),)), 4, OPEN, "completed",
    ),
    Fault(
        "list-denied-reap", "... then `reap`", "EC2", "an alarm",
        left(OPEN, REAP, then=(ec2(DENIED, only="DescribeInstances"),)), 4, OPEN, "completed",
    ),
    Fault(
        "end-denied", "EC2 refuses to end it, and SkyPilot's `down` lies", "EC2", "an alarm; the machine is named",
        left(OPEN, REAP, then=(ec2(DENIED, only="TerminateInstances"), LYING, GONE_FROM_SKY)), 4, OPEN, "completed",
    ),
    Fault(
        "end-denied-down", "... then `down`", "EC2", "exit 4: machines may still run",
        left("RUNNING", DOWN, then=(ec2(DENIED, only="TerminateInstances"), LYING)), 4, OPEN, "cancelled",
        said="may still run",
    ),
    Fault(
        "regions-denied", "EC2 does not name its regions", "EC2", "nothing is proven",
        left(OPEN, DOWN, then=(ec2(DENIED, only="DescribeRegions"),)), 4, OPEN, "completed",
    ),
    Fault(
        "region-forbidden", "EC2 forbids to look into a region that was not ordered", "EC2",
        "that region is named; the others prove it",
        left(OPEN, DOWN, then=(ec2(DENIED, only="DescribeInstances", region="us-west-2"),)), 0, GONE, "completed",
    ),
    Fault(
        "region-silent", "one region of EC2 does not answer", "EC2", "nothing is proven",
        left(OPEN, DOWN, then=(ec2("InternalError", 500, only="DescribeInstances", region="us-west-2"),)), 4, OPEN,
        "completed",
    ),
    Fault(
        "throttled", "EC2 is asked too often", "EC2", "nothing is proven; later it is",
        after(left(OPEN, DOWN, then=(ec2("RequestLimitExceeded", 503, only="DescribeInstances"),)),
            lambda world: (world.aws.ask("reset"), world.cli(*DOWN.split()))[1]), 0, GONE, "completed",
    ),
    Fault(
        "expired", "AWS's credentials expire while it runs", "EC2",
        "nothing is taken for granted; with new ones it is collected",
        after(left(OPEN, DOWN, then=(ec2("ExpiredToken", 400),)), lambda world: (world.aws.ask("reset"),
            world.cli(*COLLECT.split()))[1]), 0, GONE, "completed",
    ),
    Fault(
        "other-account", "keys of another AWS account", "EC2", "unknown: keys of the recorded account are needed",
        left(OPEN, DOWN, then=(OTHERS, LYING)), 4, OPEN, "completed", said="keys of",
    ),
    Fault(
        "other-account-reap", "... then `reap`", "EC2", "an alarm",
        left(OPEN, REAP, then=(OTHERS, LYING, GONE_FROM_SKY)), 4, OPEN, "completed",
    ),
    Fault(
        "other-account-forgotten", "... and SkyPilot has forgotten the cluster", "EC2", "unknown, exit 4",
        left("RUNNING", DOWN, then=(OTHERS, LYING, GONE_FROM_SKY)), 4, "COLLECTED|LOST",
    ),
    Fault(
        "no-keys", "no keys of AWS any more", "EC2", "unknown, exit 4", left(OPEN, DOWN, then=(NO_KEYS, LYING)), 4,
        OPEN, "completed",
    ),
    Fault(
        "no-keys-reap", "... then `reap`", "EC2", "an alarm", left(OPEN, REAP, then=(NO_KEYS, LYING)), 4, OPEN,
        "completed",
    ),
    Fault(
        "account-unknown", "AWS does not say whose keys these are", "EC2", "nothing is submitted",
        launching(ec2("AccessDenied", only="GetCallerIdentity")), 4, None,
    ),
    Fault(
        "no-keys-at-launch", "no keys of AWS at the launch", "EC2", "nothing is submitted", launching(NO_KEYS), 4,
        None,
    ),
    Fault(
        "lambda-refused", "Lambda's key is withdrawn", "Lambda", "nothing is proven",
        left(OPEN, DOWN, then=(lambda_refuses(401),), on=H100_AT_LAMBDA), 4, OPEN, "completed",
    ),
    Fault(
        "lambda-down", "Lambda does not answer", "Lambda", "nothing is proven",
        left(OPEN, REAP, then=(lambda_refuses(500), LYING), on=H100_AT_LAMBDA), 4, OPEN, "completed",
    ),
    Fault(
        "lambda-keeps", "Lambda refuses to end it, and SkyPilot's `down` lies", "Lambda",
        "an alarm; the launch stays open", left(OPEN, REAP, then=(lambda_keeps, LYING), on=H100_AT_LAMBDA), 4, OPEN,
        "completed",
    ),
    Fault(
        "lambda-other-key", "another key of Lambda", "Lambda", "unknown: that key is needed",
        left(OPEN, DOWN, then=(OTHER_KEY, LYING), on=H100_AT_LAMBDA), 4, OPEN, "completed", said="keys of",
    ),
    Fault(
        "lambda-no-key", "no key of Lambda any more", "Lambda", "unknown, exit 4",
        left(OPEN, DOWN, then=(forgets(KEY_FILE), LYING), on=H100_AT_LAMBDA), 4, OPEN, "completed",
    ),
    Fault(
        "lambda-two-keys", "two keys of Lambda at the launch", "Lambda", "nothing is submitted",
        launching(sets(LAMBDA_API_KEY="another-key"), on=H100_AT_LAMBDA), 4, None,
    ),
    Fault(
        "lambda-no-key-at-launch", "no key of Lambda at the launch", "Lambda", "nothing is submitted",
        launching(forgets(KEY_FILE), on=H100_AT_LAMBDA), 4, None,
    ),
    Fault(
        "lambda-key-elsewhere", "the key of Lambda is in the environment only", "Lambda", "asked with it",
        left(OPEN, DOWN, then=(forgets(KEY_FILE), sets(LAMBDA_API_KEY=LAMBDA_KEY), LYING), on=H100_AT_LAMBDA), 0,
        GONE, "completed",
    ),
    Fault(
        "one-of-two", "two launches, Lambda does not answer for one", "Lambda", "the other one is taken down",
        left(OPEN, DOWN, first=(), then=(lambda_refuses(500),), on=(*H100_AT_LAMBDA, "--on", "aws/p4d.24xlarge")), 4,
        f"{OPEN}|RUNNING|SUBMITTED|{GONE}",
    ),
    Fault(
        "unknown-machine", "a machine of another workspace whose time is over", "EC2",
        "`reap --everywhere` is alarmed", after(leaves_an_old_machine, command("launches", "reap", "--everywhere")),
        4, None,
    ),
    Fault(
        "no-credentials", "`reap --everywhere` without any credentials", "client", "failing to ask proves nothing",
        after(launching(NO_KEYS, forgets(KEY_FILE)), command("launches", "reap", "--everywhere")), 4, None,
    ),
)  # fmt: skip
