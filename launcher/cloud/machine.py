"""One machine or pod of ours as its cloud knows it, whatever SkyPilot believes."""

from __future__ import annotations

from datetime import datetime

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
