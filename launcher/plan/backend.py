"""Interface of a backend. A backend reaches machines in one way: `sky`, `ssh` or `local`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import AfterValidator, Field

from planner.launcher.plan.bill import LaunchBill
from planner.launcher.plan.sighting import KnownMachine, Said, Sighting
from planner.launcher.plan.target import Target
from planner.model.base import AnswerId, Frozen, Text
from planner.redact import clean_data

SENTINEL = "PLANNER-DONE"
"""Last line of the job on every node: `PLANNER-DONE run=<id> rank=<n> exit=<code>`."""
RESULT_NAME = "result.json"
STEPS_NAME = "result.json.steps.jsonl"
"""Name of the steps file in `start-<n>/` of the run's folder. There is one such folder per fresh start."""


class Launch(Frozen):
    """One intended launch, as the ledger stores it: everything that a backend needs, without secrets."""

    run_id: str
    cluster: str
    """Cluster name, `pl-<run id>`. It is fixed before submission, so that leftover machines can be found by it."""
    workload: Text
    target: Target
    task: Annotated[dict[str, Any], AfterValidator(clean_data)]
    """SkyPilot task (launcher/plan/task.py). The other backends run its `setup` and `run` themselves."""
    bill: LaunchBill
    answer_id: AnswerId | None = None
    """Id of the answer that asked for the launch, for `planner show`; None if no answer did or the ledger is older."""
    store: Said | None = None
    """`s3://bucket/prefix` to which the nodes push their results."""
    planned_at: datetime
    deadline_at: datetime | None = None
    """Time at which the watchdog takes everything down; None before submission."""
    account: str | None = None
    """Owner of the machines, without a secret.

    Examples: `AWS account 123456789012`, `Lambda key sha256:...`, `machine sha256:...` for a user's own machine. Only
    an answer from this account proves that nothing is left. None if the machines have no id or the ledger is older.
    """
    known: tuple[KnownMachine, ...] = Field(default=(), exclude=True)
    """Machines of the launch, by id. The ledger stores them in a table of their own."""


class LaunchPhase(StrEnum):
    """Progress of a launch, as its backend reports it."""

    PENDING = "pending"
    """Machines are being found or are booting."""
    SETTING_UP = "setting_up"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """The job ended with an error; a result may say why."""
    SETUP_FAILED = "setup_failed"
    REFUSED = "refused"
    """The provider supplied no machine: no capacity, quota or permission."""
    LOST = "lost"
    """The machines existed and are gone: preempted, failed, or taken down by someone else."""
    UNKNOWN = "unknown"
    """The backend cannot be asked now (no network, expired credentials). This says nothing about the machines."""

    @property
    def is_over(self) -> bool:
        """True if the launch will not progress further."""
        return self in (
            LaunchPhase.SUCCEEDED,
            LaunchPhase.FAILED,
            LaunchPhase.SETUP_FAILED,
            LaunchPhase.REFUSED,
            LaunchPhase.LOST,
        )


class Launched(Frozen):
    """Machines that the provider supplied; a field is None if the provider does not report it."""

    instance_type: str | None = None
    accelerator: str | None = None
    """SkyPilot's name of the accelerator, as in `Target.sky_accelerator`."""
    accelerators_per_node: int | None = None
    nodes: int | None = None
    region: str | None = None
    spot: bool | None = None
    usd_per_node_hour: float | None = None
    """The backend's price. It is shown beside our price and never replaces it."""
    network_interfaces: int | None = None
    reservation: str | None = None
    """Reservation or Capacity Block that all machines are in; `none` if any machine is outside."""


class NodeStatus(Frozen):
    """State of a launch, as a backend sees it now."""

    phase: LaunchPhase
    detail: Said = ""
    """Message for the user: what the launch waits for, or why it failed."""
    progress: Said | None = None
    """Latest step of the job in words, if the backend can read it cheaply."""
    launched: Launched | None = None
    """Machines supplied; None until there are any."""
    ids: tuple[str, ...] = ()
    """Machine ids as SkyPilot reports them. `Backend.sight` asks the provider itself."""


class Collected(Frozen):
    """Files that were copied home; each start has a folder in `folder`."""

    folder: Path
    results: tuple[Path, ...]
    """Every complete result.json, in order of starts."""
    steps: tuple[Path, ...]
    log: Path | None
    problems: tuple[Said, ...] = ()
    """Reason for each result.json that exists but cannot be read."""
    left_out: tuple[Said, ...] = ()
    """Names of files and folders that were rejected: a file in place of a folder, or a folder in place of a file."""
    complete: bool
    """True if every node's sentinel line was seen. Otherwise the files are kept and marked as truncated."""


class DownEvidence(Frozen):
    """Evidence for whether anything still runs, and who was asked. What cannot be asked never counts as down."""

    down: bool
    checks: tuple[Said, ...]
    """Each question with its answer, for example `describe_instances by tag planner-run=...: 1 terminated`."""
    unknown: str | None = None
    """Reason why no one could answer, if so. It is also the first of the checks, and `down` is false."""
    seen: tuple[Sighting, ...] = Field(default=(), exclude=True)
    """State of each id at this look.

    All looks together decide whether the launch is gone (launcher/drive/gone.py), not this one alone.
    """


class Leftover(Frozen):
    """One of our resources that a backend or a cloud still has."""

    name: Said
    where: Said
    run_id: str | None
    """Run id from the name or the label; None if only the prefix is ours."""
    detail: Said
    alarm: bool = False
    """True if it should have ended by itself:

    AUTOSTOPPING for over 10 minutes, past its expiry label, or state unknown.
    """
    part: str | None = None
    """Id of something that is billed without a machine (a volume, address or snapshot); None for a machine."""
    deletable: bool = False
    """True if it is certainly ours, so that it may be deleted."""


class ProviderTime(Frozen):
    """Times by the provider's clock; None if it does not report them."""

    now: datetime | None = None
    started_at: datetime | None = None
    """Time when the first machine of the launch was started."""


class Backend(Protocol):
    """A way to reach machines. Every method raises NodeError if the provider or a node fails.

    No method prints or asks. Each may be called again after a crash: `submit` never starts a second cluster of the same
    name, `collect` overwrites only its own files, and `down` accepts that everything is gone already.
    """

    def check(self, launch: Launch) -> tuple[str, ...]:
        """Try the launch without spending (SkyPilot's dry run, a host's login); return what was seen."""

    def account(self, launch: Launch) -> str | None:
        """Return the account that would own the machines with the current credentials;

        None if there is no such account.
        """

    def ready(self, launch: Launch) -> None:
        """Raise before anything is written if it is clear here that the launch would be refused."""

    def submit(self, launch: Launch) -> None:
        """Request the machines and start the job. Return as soon as both continue without this client."""

    def status(self, launch: Launch) -> NodeStatus:
        """Return the progress of the launch. Never change anything."""

    def logs(self, launch: Launch, write: Callable[[str], None]) -> None:
        """Pass on the log of set-up and job, as far as it exists."""

    def collect(self, launch: Launch, into: Path) -> Collected:
        """Copy the nodes' files here, also after a failure. `into` exists and belongs to this launch alone."""

    def sight(self, launch: Launch) -> tuple[Sighting, ...]:
        """Return what can be learned now about each machine of this launch, by id. The driver writes it down."""

    def other_witness(self, launch: Launch) -> str | None:
        """Return why the account asked here cannot speak for this launch; None if it can."""

    def down(self, launch: Launch) -> None:
        """Take down everything of this launch, including machines known only by id. Raise if an id was refused."""

    def verify_down(self, launch: Launch) -> DownEvidence:
        """Ask the party that sends the bill whether anything of this launch still exists."""

    def down_by_id(self, run_id: str) -> DownEvidence:
        """End everything that carries the run id of an otherwise unknown launch, and return the evidence."""

    def provider_time(self, launch: Launch) -> ProviderTime:
        """Return times by the provider's clock, for callers that do not trust the local clock."""

    def find_leftovers(self, known: Collection[Launch]) -> list[Leftover]:
        """List what still exists under our names and labels, from this ledger's launches or anyone else's."""

    def delete_part(self, left: Leftover) -> None:
        """Delete a resource that is billed without a machine."""

    def close(self) -> None:
        """Close the connections to the machines; launched jobs continue."""
