"""One of our machines or pods as its cloud reports it, independent of SkyPilot, and times as clouds write them."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from planner.launcher.plan.sighting import Sight, Sighting
from planner.launcher.plan.task import EXPIRY_FORMAT
from planner.model.base import Frozen


def expiry_of(label: str | None) -> datetime | None:
    """Return when a machine should be gone; None if it has no such label, or one that is not ours."""
    if label is None:
        return None
    try:
        return datetime.strptime(label, EXPIRY_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def date_of(header: str | None) -> datetime | None:
    """Return the time of an answer by its `Date` header; None if that is missing or not a date."""
    try:
        at = parsedate_to_datetime(header or "")
        return at.astimezone(UTC) if at.tzinfo is not None else at.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError):
        return None


class ListedMachine(Frozen):
    """A machine of ours that a cloud lists."""

    id: str
    name: str
    """Name in the cloud's console."""
    where: str
    """Region, or Kubernetes context and namespace."""
    state: str
    """State in the cloud's own words."""
    alive: bool
    """True if it runs, will run, or is still billed."""
    ending: bool = False
    """True if the cloud is ending it and may still bill it."""
    run_id: str | None
    instance_type: str | None = None
    expires_at: datetime | None = None
    """Time from its expiry label."""
    started_at: datetime | None = None
    """Start by the cloud's clock."""
    seen_at: datetime | None = None
    """Time of the listing by the cloud's clock."""
    network_interfaces: int | None = None
    reservation: str | None = None
    """Id of the capacity reservation that it runs in."""
    parts: tuple[str, ...] = ()
    """Ids of its volumes, which may outlive it."""
    uid: str | None = None
    """Mark that differs from a later machine with the same id, for clouds that reuse ids (pods)."""
    is_order: bool = False
    """True if it is only a request for a machine, which has its own id."""

    def sighting(self, asked: str | None) -> Sighting:
        """Return this look's report on the id. `asked` is the account that answered."""
        sight = Sight.ENDING if self.ending else Sight.ALIVE if self.alive else Sight.DEAD
        return Sighting(
            id=self.id,
            where=self.where,
            sight=sight,
            said=self.state,
            at=self.seen_at,
            asked=asked,
            marks={} if self.uid is None else {"uid": self.uid},
            parts=self.parts,
        )
