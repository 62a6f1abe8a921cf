"""Rows: costs of an account beside the machines of one launch: forgotten volumes, machines of other workspaces."""

from __future__ import annotations

from tests.launcher.faults.acts import Act, Prepare, ec2, left, writes
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.killed import GONE, REAP
from tests.launcher.faults.states import never_ends
from tests.launcher.faults.world import LAUNCH, P4D, Done, WorldOfFaults

SECOND = " ".join([*LAUNCH, *P4D])


def leaves_a_volume(world: WorldOfFaults) -> None:
    """Leave a disk of 256 GB without its machine, with SkyPilot's tag."""
    (launch,) = [entry.launch for entry in world.entries()]
    tags = [{"Key": "skypilot-cluster-name", "Value": f"{launch.cluster}-0a1b2c3d"}]
    world.clients("us-east-1").create_volume(
        AvailabilityZone="us-east-1a", Size=256, VolumeType="gp3",
        TagSpecifications=[{"ResourceType": "volume", "Tags": tags}],
    )  # fmt: skip


def no_volume(act: Act, *, left: int) -> Act:
    """Return the step with a check of the number of volumes that it leaves; they are then deleted."""

    def act_and_count(world: WorldOfFaults) -> Done:
        done = act(world)
        volumes = world.clients("us-east-1").describe_volumes(
            Filters=[
                {"Name": "tag-key", "Values": ["skypilot-cluster-name"]},
                {"Name": "status", "Values": ["available"]},
            ]
        )["Volumes"]
        for volume in volumes:
            world.clients("us-east-1").delete_volume(VolumeId=volume["VolumeId"])
        assert len(volumes) == left, done
        return done

    return act_and_count


def budget_elsewhere(account_usd: int) -> Prepare:
    """Return a preparation in which the other workspace caps the whole account."""
    return writes("another/budget.yaml", f"schema_version: 1\ntotal_usd: 40\naccount_usd: {account_usd}\n")


def ends_again(world: WorldOfFaults) -> None:
    """Let the jobs of later launches end."""
    world.sky.boot.job = "SUCCEEDED"


ACCOUNT_ROWS = (
    Fault(
        "volume", "a disk of 256 GB is left without its machine, then `reap`", "EC2",
        "an alarm with its price a month; `reap --yes` deletes it",
        no_volume(left(GONE, "launches reap", does="term", then=(leaves_a_volume,)), left=1), 4, GONE, "completed",
        said="256 GB, about 20.48 USD a month",
    ),
    Fault(
        "volume-yes", "... then `reap --yes`", "EC2", "deleted",
        no_volume(left(GONE, REAP, does="term", then=(leaves_a_volume,)), left=0), 0, GONE, "completed",
    ),
    Fault(
        "account-full", "two workspaces with a budget each, one account, `account_usd` for one", "budget",
        "the second is refused: the account's machines are counted",
        left("RUNNING", SECOND, first=(never_ends, budget_elsewhere(40)), PLANNER_HOME="another"), 3, "RUNNING",
        said="account_usd 40.00", runs_on=True,
    ),
    Fault(
        "account-room", "... for both", "budget", "both start",
        left("RUNNING", SECOND, first=(never_ends, budget_elsewhere(100)), then=(ends_again,), PLANNER_HOME="another"),
        0, "RUNNING", runs_on=True,
    ),
    Fault(
        "account-unset", "... and no `account_usd`", "budget", "both start, and it is said",
        left("RUNNING", SECOND, first=(never_ends,), then=(ends_again,), PLANNER_HOME="another"), 0, "RUNNING",
        said="account_usd", runs_on=True,
    ),
    Fault(
        "account-unasked", "... and EC2 may not be asked", "budget", "nothing is submitted",
        left("RUNNING", SECOND, first=(never_ends, budget_elsewhere(100)),
            then=(ec2("UnauthorizedOperation", only="DescribeInstances"),), PLANNER_HOME="another"), 4, "RUNNING",
        said="account_usd cannot be checked", runs_on=True,
    ),
)  # fmt: skip
