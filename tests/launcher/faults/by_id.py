"""Rows: lists that are behind, names and tags that change, keys that are rotated. Machines are known by their ids."""

from __future__ import annotations

from tests.launcher.faults.acts import Act, Prepare, after, boots, command, ec2, lambda_keeps, left, sets, sky, writes
from tests.launcher.faults.acts import sky_forgets as forgotten
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.killed import COLLECT, DOWN, GONE, REAP
from tests.launcher.faults.seen_again import untagged
from tests.launcher.faults.states import never_ends
from tests.launcher.faults.world import H100_AT_LAMBDA, LAUNCH, P4D, WorldOfFaults

OPEN = "COLLECTED"
LYING = sky("down", answer=True)
FAILING = sky("down", error=("RuntimeError", "throttled"))
GONE_FROM_SKY = sky("status", answer=[])
NEW_KEY = "a-new-key-of-the-same-account"
TRUSTING = f"{DOWN} --account-changed"
SECOND = " ".join([*LAUNCH, *P4D])
DENIED = ec2("UnauthorizedOperation", only="TerminateInstances")
OTHER_LABELS = ("planner-run", "planner-expires", "skypilot-cluster-name", "Name")


def blind(times: int) -> Prepare:
    """Return a preparation that empties EC2's next lists of instances."""
    return lambda world: world.aws.ask("blind", times=times)


def empty(times: int) -> Prepare:
    """Return a preparation that empties Lambda's next lists of instances."""
    return lambda world: world.lambda_labs.ask("empty", times=times)


def of_each(what: str, **changes: str) -> Prepare:
    """Return a preparation that does `what` to every instance at Lambda."""

    def prepare(world: WorldOfFaults) -> None:
        for machine in world.machines:
            world.lambda_labs.ask(what, id=machine.id, **changes)

    return prepare


RENAMED = of_each("change", name="my-training-box")


def rotated(world: WorldOfFaults) -> None:
    """Replace the key of the account; only the new one is valid."""
    of_each("owner", key=NEW_KEY)(world)
    writes(".lambda_cloud/lambda_keys", f"api_key = {NEW_KEY}\n")(world)
    world.lambda_key = NEW_KEY


def without_tags(world: WorldOfFaults) -> None:
    """Remove every tag by which the planner or SkyPilot finds machines."""
    untagged(world)
    for machine in world.machines:
        world.clients(machine.region).delete_tags(Resources=[machine.id], Tags=[{"Key": name} for name in OTHER_LABELS])


def ends_for_ever(world: WorldOfFaults) -> None:
    """Let Lambda list the instances as `terminating` for ever after their termination."""
    world.lambda_labs.ask("ending", ids=[machine.id for machine in world.machines])


def machines_end(world: WorldOfFaults) -> None:
    """End the machines in the provider's console."""
    for machine in world.machines:
        world.end(machine.id)


def alarmed_early(world: WorldOfFaults) -> None:
    """Shorten the half hour before the alarm to a second."""
    world.settings["planner.launcher.drive.gone:ENDING_ALARM_S"] = 1.0


def down_at(
    *then: Prepare, at: str = OPEN, on: tuple[str, ...] = P4D, words: str = DOWN, first: tuple[Prepare, ...] = ()
) -> Act:
    """Return a step that kills the client at a state, prepares, and takes down."""
    return left(at, words, first=first, then=then, on=on)


def at_lambda(*then: Prepare, at: str = OPEN, words: str = DOWN, first: tuple[Prepare, ...] = ()) -> Act:
    """Return the same step at Lambda."""
    return down_at(*then, at=at, on=H100_AT_LAMBDA, words=words, first=first)


def then(act: Act, *commands: str) -> Act:
    """Return a step that runs more commands."""
    for words in commands:
        act = after(act, command(*words.split()))
    return act


BY_ID_ROWS = (
    Fault(
        "blind", "EC2's lists are empty twelve times, and SkyPilot's `down` fails", "EC2",
        "ended by the id that was seen before", down_at(FAILING, blind(12), GONE_FROM_SKY), 0, GONE, "completed",
    ),
    Fault(
        "blind-lies", "... and SkyPilot's `down` says done", "EC2", "the same",
        down_at(LYING, blind(12), forgotten), 0, GONE, "completed",
    ),
    Fault(
        "blind-running", "... while the job runs", "EC2", "the same",
        down_at(LYING, blind(12), forgotten, at="RUNNING", first=(never_ends,)), 0, GONE, "cancelled|lost",
    ),
    Fault(
        "blind-long", "EC2's lists stay empty, and it refuses to end anything", "EC2",
        "absence proves nothing where the end was refused: exit 4",
        down_at(LYING, DENIED, blind(10**6), forgotten), 4, OPEN, "completed", said="may still run",
    ),
    Fault(
        "blind-reap", "EC2's lists are empty, then `reap`", "EC2", "ended by its id",
        then(down_at(FAILING, DENIED, blind(12), GONE_FROM_SKY), REAP), 4, OPEN, "completed",
    ),
    Fault(
        "tags-gone", "somebody takes every tag away, and SkyPilot forgets the cluster", "EC2", "ended by its id",
        down_at(without_tags, LYING, forgotten), 0, GONE, "completed",
    ),
    Fault(
        "tags-gone-blind", "... and EC2's lists are empty twelve times", "EC2", "the same",
        down_at(without_tags, LYING, forgotten, blind(12)), 0, GONE, "completed",
    ),
    Fault(
        "tags-gone-reap", "... then `reap`", "EC2", "the same",
        down_at(without_tags, LYING, forgotten, words=REAP), 0, GONE, "completed",
    ),
    Fault(
        "never-labelled", "a machine that never had a label, SkyPilot's `down` lies", "EC2",
        "ended by the id in SkyPilot's record",
        down_at(LYING, GONE_FROM_SKY, first=(boots(labelled=False, named=False),)), 0, GONE, "completed",
    ),
    Fault(
        "lambda-empty", "Lambda's list is empty three times, and SkyPilot's `down` fails", "Lambda",
        "ended by the id that was seen before", at_lambda(FAILING, GONE_FROM_SKY, empty(3)), 0, GONE, "completed",
    ),
    Fault(
        "lambda-empty-keeps", "... and Lambda refuses to end it", "Lambda", "exit 4: absence proves nothing then",
        at_lambda(LYING, GONE_FROM_SKY, lambda_keeps, empty(10**6)), 4, OPEN, "completed",
    ),
    Fault(
        "lambda-renamed", "somebody renames the instance, and SkyPilot does not find it", "Lambda",
        "ended by its id", at_lambda(RENAMED, LYING, forgotten), 0, GONE, "completed",
    ),
    Fault(
        "lambda-renamed-empty", "... and the list is empty three times", "Lambda", "the same",
        at_lambda(RENAMED, LYING, forgotten, empty(3)), 0, GONE, "completed",
    ),
    Fault(
        "lambda-renamed-running", "... while the job runs, then `collect`", "Lambda", "the same",
        at_lambda(RENAMED, LYING, forgotten, at="RUNNING", words=COLLECT), 4, GONE, "lost|truncated",
    ),
    Fault(
        "lambda-ending", "Lambda says `terminating` for ever", "Lambda", "not proven: exit 4",
        at_lambda(LYING, GONE_FROM_SKY, ends_for_ever), 4, OPEN, "completed", said="terminating",
    ),
    Fault(
        "lambda-ending-collect", "... for over half an hour, `collect` waits", "Lambda",
        "an alarm; `collect` ends, `reap` goes on",
        at_lambda(LYING, GONE_FROM_SKY, ends_for_ever, alarmed_early, words=COLLECT), 4, OPEN, "completed",
        said="ask the provider",
    ),
    Fault(
        "lambda-rotated", "the key is rotated within the account", "Lambda", "a key that lists the id is a witness",
        at_lambda(rotated, LYING, at="RUNNING", first=(never_ends,)), 0, GONE, "cancelled|lost",
    ),
    Fault(
        "lambda-rotated-empty", "... and the list is empty three times", "Lambda",
        "first unknown, exit 4; then the key lists the id",
        then(at_lambda(rotated, LYING, GONE_FROM_SKY, empty(3)), DOWN), 0, GONE, "completed",
    ),
    Fault(
        "lambda-rotated-ended", "... and somebody has ended the machine", "Lambda",
        "unknown: nothing shows whose key it is", at_lambda(rotated, machines_end, LYING, GONE_FROM_SKY), 4, OPEN,
        "completed", said="--account-changed",
    ),
    Fault(
        "lambda-rotated-trusted", "... then `down --account-changed`", "Lambda", "a person's word; then it is proven",
        at_lambda(rotated, machines_end, LYING, GONE_FROM_SKY, words=TRUSTING), 0, GONE, "completed",
    ),
    Fault(
        "trusted-wrongly", "keys of another AWS account, `down --account-changed`", "EC2",
        "the id is not listed there; not proven while SkyPilot lists it",
        down_at(sets(AWS_ACCESS_KEY_ID="KEYOF222222222222"), LYING, words=TRUSTING), 4, OPEN, "completed",
    ),
)  # fmt: skip
