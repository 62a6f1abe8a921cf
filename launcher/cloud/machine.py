"""One machine or pod of ours as its cloud knows it, whatever SkyPilot believes."""

from __future__ import annotations

from datetime import datetime

from planner.launcher.plan.sighting import Sight, Sighting
from planner.model.base import Frozen


class Machine(Frozen):
    """Something of ours that a cloud lists."""

    id: str
    name: str
    """As a person finds it in the cloud's console."""
    where: str
    """Region, or Kubernetes context and namespace."""
    state: str
    """In the cloud's own words."""
    alive: bool
    """Whether it runs, will run, or is still billed."""
    ending: bool = False
    """Whether the cloud says that it is ending it, and may still bill it."""
    run_id: str | None
    instance_type: str | None = None
    expires_at: datetime | None = None
    """From its expiry label."""
    started_at: datetime | None = None
    """By the cloud's clock, like the next."""
    seen_at: datetime | None = None
    """When the cloud listed it."""
    network_interfaces: int | None = None
    reservation: str | None = None
    """Id of the capacity reservation that it runs in."""
    parts: tuple[str, ...] = ()
    """Ids of its volumes, which may outlive it."""
    uid: str | None = None
    """Mark that differs from a later machine with the same id, where ids are used again (pods)."""
    is_order: bool = False
    """Whether it is only a request for a machine, which has an id of its own."""

    def sighting(self, asked: str | None) -> Sighting:
        """Return what this look says of its id; `asked` is the account that answered."""
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
