"""The interface of a backend, by which machines are reached: `sky`, `ssh` or `local`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import AfterValidator, Field

from planner.launcher.plan.bill import LaunchBill
from planner.launcher.plan.sighting import Known, Said, Sighting
from planner.launcher.plan.target import Target
from planner.model.base import AnswerId, Frozen, Text
from planner.redact import clean_data

SENTINEL = "PLANNER-DONE"
"""The job's last line on every node: `PLANNER-DONE run=<id> rank=<n> exit=<code>`."""
RESULT_NAME = "result.json"
STEPS_NAME = "result.json.steps.jsonl"
"""Within `start-<n>/` of the folder of a run, one for each fresh start."""


class Launch(Frozen):
    """One intent, as the ledger keeps it: everything that a backend needs, and no secret."""

    run_id: str
    cluster: str
    """`pl-<run id>`, fixed before anything is submitted: whatever is left over can be found by it."""
    workload: Text
    target: Target
    task: Annotated[dict[str, Any], AfterValidator(clean_data)]
    """The SkyPilot task (launcher/plan/task.py); the other backends run its `setup` and `run` themselves."""
    bill: LaunchBill
    answer_id: AnswerId | None = None
    """The answer that asked for it, for `planner show`; None where none was named, or the ledger is older."""
    store: Said | None = None
    """`s3://bucket/prefix` to which the nodes push what they have."""
    planned_at: datetime
    deadline_at: datetime | None = None
    """When the watchdog takes everything down; None before it was submitted."""
    account: str | None = None
    """Who has its machines (`AWS account 123456789012`, `Lambda key sha256:...`; a person's own: `machine sha256:...`),
    without a secret; only their answer proves that nothing is left. None: they have no id, or the ledger is older."""
    known: tuple[Known, ...] = Field(default=(), exclude=True)
    """Its machines by their ids, as the ledger knows them; they stand in a table of their own."""


class Phase(StrEnum):
    """How far a launch has come, as its backend sees it."""

    PENDING = "pending"
    """Machines are sought or booting."""
    SETTING_UP = "setting_up"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """The job ended with an error; there may be a result that says why."""
    SETUP_FAILED = "setup_failed"
    REFUSED = "refused"
    """The provider gave no machine: no capacity, no quota, no permission."""
    LOST = "lost"
    """There were machines and they are gone: preempted, dead, or taken down by somebody else."""
    UNKNOWN = "unknown"
    """The backend cannot be asked just now (no network, expired credentials); it says nothing of the machines."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self in (Phase.SUCCEEDED, Phase.FAILED, Phase.SETUP_FAILED, Phase.REFUSED, Phase.LOST)


class Launched(Frozen):
    """What the provider gave; None where it does not say."""

    instance_type: str | None = None
    accelerator: str | None = None
    """SkyPilot's name, as in `Target.sky_accelerator`."""
    accelerators_per_node: int | None = None
    nodes: int | None = None
    region: str | None = None
    spot: bool | None = None
    usd_per_node_hour: float | None = None
    """As the backend prices it: shown beside ours, never taken instead."""
    network_interfaces: int | None = None
    reservation: str | None = None
    """The reservation or Capacity Block that all machines are in; `none` where any of them is in none."""


class NodeStatus(Frozen):
    """What a backend knows of a launch at this moment."""

    phase: Phase
    detail: Said = ""
    """For the person: what it waits for, or why it failed."""
    progress: Said | None = None
    """The job's latest step in words, where the backend can see it cheaply."""
    launched: Launched | None = None
    """None until there are machines."""
    ids: tuple[str, ...] = ()
    """Of the machines, where SkyPilot says them; the provider's own word is in `Backend.sight`."""


class Collected(Frozen):
    """What came home, each start's folder under `folder`."""

    folder: Path
    results: tuple[Path, ...]
    """Every whole result.json, the first start's first."""
    steps: tuple[Path, ...]
    log: Path | None
    problems: tuple[Said, ...] = ()
    """Of each result.json that is there and cannot be read: why."""
    left_out: tuple[Said, ...] = ()
    """Names of what a node sent that was not taken in: a file where a folder must be, or a folder for a file."""
    complete: bool
    """Whether every node's sentinel line was seen; otherwise the rest is kept and marked truncated."""


class Evidence(Frozen):
    """Whether nothing runs any more, and who was asked. Down is never assumed: what cannot be asked is not down."""

    down: bool
    checks: tuple[Said, ...]
    """Each question and its answer, in words: `describe_instances by tag planner-run=...: 1 terminated`."""
    unknown: str | None = None
    """Why nobody could say, where that is so; first among the checks too. Then `down` is false."""
    seen: tuple[Sighting, ...] = Field(default=(), exclude=True)
    """What the provider said of each id at this look. Whether the launch is gone is decided by them all
    (launcher/drive/gone.py), not by this look alone."""


class Leftover(Frozen):
    """Something of ours that a backend or a cloud still has."""

    name: Said
    where: Said
    run_id: str | None
    """From its name or its label; None where only the prefix is ours."""
    detail: Said
    alarm: bool = False
    """It should have gone by itself: AUTOSTOPPING for over 10 minutes, past its expiry label; or nobody could say."""
    part: str | None = None
    """Id of what is billed without a machine (a volume, an address, a snapshot); None of a machine."""
    deletable: bool = False
    """Whether it is ours for certain, so that it may be deleted."""


class ProviderTime(Frozen):
    """The time as those say it who have the machines; None where they do not say."""

    now: datetime | None = None
    started_at: datetime | None = None
    """When the first machine of the launch was started."""


class Backend(Protocol):
    """A way of reaching machines. Every method raises NodeError where the provider or a node fails.

    None of them prints or asks. Each may be called again after a crash: `submit` never starts a second cluster of the
    same name, `collect` overwrites only what it wrote itself, `down` of what is gone is no error.
    """

    def check(self, launch: Launch) -> tuple[str, ...]:
        """Try the launch without spending (SkyPilot's dry run, a host's login); return what was seen."""

    def account(self, launch: Launch) -> str | None:
        """Return who would have the machines, by the credentials as they are now; None where there is no account."""

    def ready(self, launch: Launch) -> None:
        """Raise, before anything is written down, where it is known here that the launch would be refused."""

    def submit(self, launch: Launch) -> None:
        """Request the machines and start the job; return as soon as both are under way on their own."""

    def status(self, launch: Launch) -> NodeStatus:
        """Return how far the launch has come; never change anything."""

    def logs(self, launch: Launch, write: Callable[[str], None]) -> None:
        """Pass the log of set-up and job on, as far as it has come."""

    def collect(self, launch: Launch, into: Path) -> Collected:
        """Copy here what the nodes have, also after a failure. `into` exists and is this launch's own."""

    def sight(self, launch: Launch) -> tuple[Sighting, ...]:
        """Return what can be told of each machine of this launch now, by its id; what the driver then writes down."""

    def other_witness(self, launch: Launch) -> str | None:
        """Return why whoever is asked here cannot speak for this launch; None where they can."""

    def down(self, launch: Launch) -> None:
        """Take everything of this launch down, also what is known only by its id. Raises where an id was refused."""

    def verify_down(self, launch: Launch) -> Evidence:
        """Return whether anything of this launch is seen now, by those who send the bill."""

    def down_by_id(self, run_id: str) -> Evidence:
        """End whatever carries the id of a launch, of which nothing else is known, and return what was seen then."""

    def provider_time(self, launch: Launch) -> ProviderTime:
        """Return the time by the clock of who has the machines, for whoever does not trust the clock here."""

    def find_leftovers(self, known: Collection[Launch]) -> list[Leftover]:
        """List what is still there by our names and labels, of this ledger's launches or anybody's."""

    def delete_part(self, left: Leftover) -> None:
        """Delete what is billed without a machine."""

    def close(self) -> None:
        """End what was opened to reach the machines; what was launched goes on."""
