"""Rows: ordered machines come late, in part, elsewhere or as another type."""

from __future__ import annotations

from tests.launcher.faults.acts import boots, launching, left, sky, waits
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.killed import COLLECT, DOWN, FAILING, GONE, REAP
from tests.launcher.faults.world import H100_AT_LAMBDA, USD_PER_HOUR

ODD = ("RuntimeError", "failed in the middle")
LAMBDA_DAY_USD = 24.0 * USD_PER_HOUR["gpu_8x_h100_sxm5"]
FORGOTTEN = (sky("down", answer=True), sky("status", answer=[]))
UNLABELLED = (boots(labelled=False), *FORGOTTEN)
HIDDEN = (boots(labelled=False, named=False), *FORGOTTEN)
HIDDEN_FOR_EVER = (boots(labelled=False, named=False, autostop=False), *FORGOTTEN)

SUBMISSIONS = (
    Fault(
        "refused", "the provider has no such machine", "SkyPilot",
        "said; looked for five minutes, for one that comes late", launching(boots(fails=FAILING, machine=False)), 4,
        GONE, "refused",
    ),
    Fault(
        "half-booted", "the submission fails, and its machine runs", "SkyPilot", "found by its label and ended",
        launching(boots(fails=ODD)), 4, GONE, "setup_failed",
    ),
    Fault(
        "half-booted-lambda", "... at Lambda", "SkyPilot", "found by its name and ended",
        launching(boots(fails=ODD), on=H100_AT_LAMBDA), 4, GONE, "setup_failed",
    ),
    Fault(
        "half-booted-nodes", "... with three nodes", "SkyPilot", "all are ended",
        launching(boots(fails=ODD), options=("--nodes", "3", "--max-usd", "400")), 4, GONE, "setup_failed",
    ),
    Fault(
        "late", "the submission fails, and its machine comes later", "EC2",
        "looked for until none can come, and ended",
        launching(waits(SETTLED_AFTER_S=6.0), boots(fails=FAILING, after=6)), 4, GONE, "refused",
    ),
    Fault(
        "late-lambda", "... at Lambda", "Lambda", "the same",
        launching(waits(SETTLED_AFTER_S=6.0), boots(fails=FAILING, after=6), on=H100_AT_LAMBDA), 4, GONE, "refused",
    ),
    Fault(
        "late-killed", "... and the client was killed at SUBMITTED", "EC2", "the next client finds and ends it",
        left("planner.launcher.backends.sky.backend:SkyBackend.status", COLLECT, first=(waits(SETTLED_AFTER_S=6.0),
            boots(fails=FAILING, after=5))), 4, GONE, "refused",
    ),
    Fault(
        "late-down", "`down` before the machine is there", "EC2", "`down` waits until none can come",
        left("planner.launcher.backends.sky.backend:SkyBackend.status", DOWN, first=(waits(SETTLED_AFTER_S=6.0),
            boots(after=7))), 0, GONE, "cancelled",
    ),
    Fault(
        "elsewhere", "a machine in another region than ordered", "SkyPilot", "taken down unread",
        launching(boots(region="us-west-2")), 4, GONE, "mismatch",
    ),
    Fault(
        "elsewhere-failed", "the submission fails, its machine runs in another region", "EC2",
        "every enabled region is asked: found and ended", launching(boots(fails=ODD, region="us-west-2")), 4, GONE,
        "setup_failed",
    ),
    Fault(
        "elsewhere-free", "no region named, the submission fails in a third one", "EC2", "the same",
        launching(boots(fails=ODD, region="us-east-2"), on=("--on", "aws/p4d.24xlarge")), 4, GONE, "setup_failed",
    ),
    Fault(
        "other-machine", "another machine than ordered", "SkyPilot", "taken down unread",
        launching(boots(instance_type="p5.48xlarge")), 4, GONE, "mismatch",
    ),
    Fault(
        "no-autostop", "SkyPilot does not set autostop, client killed", "SkyPilot",
        "the machine shuts itself down as told at its boot; the next client collects",
        left("RUNNING", REAP, REAP, first=(boots(autostop=False),)), 0, GONE, "completed",
    ),
    Fault(
        "setup-failed", "set-up on the node fails", "host", "log first, then down",
        launching(boots(job="FAILED_SETUP", results=False)), 4, GONE, "setup_failed",
    ),
    Fault(
        "job-failed", "the job fails", "host", "what there is first, then down",
        launching(boots(job="FAILED", results=False)), 4, GONE, "failed",
    ),
    Fault(
        "job-cancelled", "somebody cancels the job", "host", "what there is first, then down",
        launching(boots(job="CANCELLED")), 4, GONE, "failed",
    ),
    Fault(
        "unlabelled", "a machine without our label", "EC2", "SkyPilot takes it down",
        launching(boots(labelled=False)), 0, GONE, "completed",
    ),
    Fault(
        "unlabelled-lies", "a machine without our label whose `down` lies", "EC2",
        "found by SkyPilot's own tag and ended", launching(*UNLABELLED), 4, GONE,
    ),
    Fault(
        "nameless-lies", "a machine without any label whose `down` lies", "EC2",
        "it cannot be found; it shuts itself down as set at its boot: at most the bill's worst case",
        launching(*HIDDEN), 4, GONE, undetectable=True,
    ),
    Fault(
        "unlabelled-lies-lambda", "... at Lambda, with autostop", "Lambda",
        "it cannot be found; autostop ends it: at most the bill's worst case", launching(*HIDDEN, on=H100_AT_LAMBDA), 4,
        GONE, undetectable=True,
    ),
    Fault(
        "unlabelled-lies-for-ever", "... at Lambda, without autostop", "Lambda",
        "it can only be found in the provider's console: a day is shown",
        launching(*HIDDEN_FOR_EVER, on=H100_AT_LAMBDA), 4, GONE, lost_usd=LAMBDA_DAY_USD, undetectable=True,
    ),
)  # fmt: skip
