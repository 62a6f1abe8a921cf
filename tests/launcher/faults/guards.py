"""Rows: forbidden launches, and two clients at once."""

from __future__ import annotations

from tests.launcher.faults.acts import at_once, boots, launching, left, sets, worst, writes
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.killed import COLLECT, GONE
from tests.launcher.faults.world import LAUNCH, P4D

K8S = ("--on", "k8s/a-context", "--gpus", "H100-SXM:8")
SETTINGS = ".sky/config.yaml"
BUDGET = "workspace/budget.yaml"
ALLOWED_COMMAND = "aws:\n  post_provision_runcmd: ['echo mine']\n"
ONE_LAUNCH = "schema_version: 1\ntotal_usd: 30\n"

GUARDS = (
    Fault(
        "setting-undoes", "a setting of SkyPilot that undoes the shutdown at boot", "settings", "refused",
        launching(writes(SETTINGS, "aws:\n post_provision_runcmd: ['shutdown -c']\n")), 3, None,
    ),
    Fault(
        "setting-joined", "commands at boot in the person's settings", "settings", "they follow ours",
        launching(writes(SETTINGS, ALLOWED_COMMAND)), 0, GONE, "completed",
    ),
    Fault(
        "setting-policy", "a policy over SkyPilot's settings", "settings", "refused",
        launching(writes(SETTINGS, "admin_policy: mine.Policy\n")), 3, None,
    ),
    Fault(
        "controller-for-ever", "a controller that never stops", "settings", "refused",
        launching(writes(SETTINGS, "jobs: {controller: {resources: {autostop: false}}}\n"), options=("--managed",
            "--store", "s3://team/runs")), 3, None,
    ),
    Fault(
        "no-price", "a cluster without a price", "price", "refused without --accept-price", launching(on=K8S), 3,
        None,
    ),
    Fault(
        "price-low", "a price under a third of the catalog's", "price", "refused without --accept-price",
        launching(options=("--usd-per-hour", "2.2")), 3, None,
    ),
    Fault(
        "price-zero", "a price of 0 in a cloud", "price", "refused", launching(options=("--usd-per-hour", "0")), 2,
        None,
    ),
    Fault(
        "over-cap", "a worst case over --max-usd", "price", "refused", launching(options=("--max-usd", "5")), 3,
        None,
    ),
    Fault(
        "over-budget", "a worst case over the budget", "budget", "refused",
        launching(writes(BUDGET, "schema_version: 1\ntotal_usd: 5\n")), 3, None,
    ),
    Fault(
        "budget-broken", "a budget.yaml that cannot be read", "budget", "refused",
        launching(writes(BUDGET, b"total_usd: \xff")), 2, None,
    ),
    Fault(
        "budget-open", "an open launch has the budget", "budget", "refused",
        left("RUNNING", " ".join([*LAUNCH, *P4D]), first=(writes(BUDGET, ONE_LAUNCH),)), 3, "RUNNING",
    ),
    Fault(
        "deadline", "a deadline that comes too soon", "time", "refused",
        launching(options=("--deadline", "2026-01-01T00:00")), 3, None,
    ),
    Fault(
        "secret-option", "a password in an option", "secrets", "refused",
        launching(options=("--image", "docker:user:hunter2secret@registry.example/image")), 2, None,
    ),
    Fault(
        "store-no-bucket", "a store that is no bucket", "store", "refused",
        launching(options=("--store", "file:///home/user/.ssh")), 2, None,
    ),
    Fault(
        "no-rsync", "no rsync on this machine", "client", "refused", launching(sets(PATH="/nonexistent")), 2, None,
    ),
    Fault(
        "collect-twice", "two clients collect at once", "client", "one drives, the other watches",
        worst(lambda world: (left("RUNNING")(world), at_once(tuple(COLLECT.split()),
            tuple(COLLECT.split()))(world))[1], [0, 0]), 0, GONE, "completed",
    ),
    Fault(
        "collect-and-down", "`down` while another client collects", "client", "taken down once",
        lambda world: (left("RUNNING")(world), at_once(("launches", "down", "--all"),
            tuple(COLLECT.split()))(world))[1][0], 0, GONE,
    ),
    Fault(
        "two-targets", "two launches, one provider refuses", "SkyPilot", "both are finished, exit 4",
        launching(boots(fails=("ResourcesUnavailableError", "no capacity"), machine=False), on=("--on",
            "aws/p4d.24xlarge", "--on", "lambda/gpu_8x_h100_sxm5")), 4, GONE, "refused",
    ),
)  # fmt: skip
