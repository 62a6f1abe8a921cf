"""A provider's report on one machine at one look, and the ledger's summary of many looks. Pure.

A machine is known by its id from the first time it is seen. Tags, names and lists may change or fail, but an id does
not. `launcher/drive/gone.py` decides from these records whether a launch is gone.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from planner.launcher.plan.instant import Instant
from planner.model.base import Frozen
from planner.redact import clean

ANYTHING = "*"
"""Stands for an id: everything that carries the label or name of the launch, wherever the provider was asked."""
Said = Annotated[str, AfterValidator(clean)]
"""Text from a machine or a provider, with secrets removed."""


class Sight(StrEnum):
    """A provider's report on one id."""

    ALIVE = "alive"
    ENDING = "ending"
    """The provider is ending the machine and may still bill it (Lambda's `terminating`)."""
    DEAD = "dead"
    """The provider lists the machine as ended."""
    ABSENT = "absent"
    """The provider does not list the machine. That is normal after its end, but the list may also be outdated."""


class Sighting(Frozen):
    """A provider's report on one id at one look."""

    id: str
    where: str = ""
    """Region, Kubernetes context and namespace, or host."""
    sight: Sight
    said: Said = ""
    """The provider's own word."""
    at: datetime | None = None
    """Time of the answer by the provider's clock."""
    asked: str | None = None
    """Account, key or cluster that answered."""
    marks: dict[str, str] = Field(default_factory=dict)
    """Marks that tell a host from every other: installation, boot, host key, nonce (backends/node_reports.py)."""
    parts: tuple[str, ...] = ()
    """Ids of volumes: they are billed separately and may outlive the machine."""


class KnownMachine(Frozen):
    """One machine of a launch, as the ledger stores it."""

    id: str
    where: str = ""
    first_at: datetime
    """Time of the first sighting by the local clock."""
    sight: Sight
    said: Said = ""
    since: Instant
    """First of the consecutive looks that reported the same state as the last one."""
    since_at: datetime | None = None
    """Time of `since` by the provider's clock."""
    last: Instant
    last_at: datetime | None = None
    looks: int = 1
    """Number of consecutive looks with the same state."""
    asked: tuple[str, ...] = ()
    """Accounts and keys that have listed the machine. Each of them can speak for it."""
    marks: dict[str, str] = Field(default_factory=dict)
    parts: tuple[str, ...] = ()

    @property
    def lasted_s(self) -> float:
        """Return for how many seconds every look has reported the same state; 0 if unknown.

        Counts this machine's time since boot, which no change of the clock affects. Across boots and machines, counts
        the provider's own clock.
        """
        by_boot = self.last.since(self.since)
        if by_boot is not None:
            return by_boot
        if self.since_at is None or self.last_at is None:
            return 0.0
        return max(0.0, (self.last_at - self.since_at).total_seconds())


def observed(known: KnownMachine | None, seen: Sighting, *, instant: Instant, now: datetime) -> KnownMachine:
    """Return the record of a machine after one more look.

    A machine that was listed as ended stays ended when it disappears from the list: providers never reuse an id.
    """
    sight, said = seen.sight, seen.said
    if known is None:
        return KnownMachine(
            id=seen.id,
            where=seen.where,
            first_at=now,
            sight=sight,
            said=said,
            since=instant,
            since_at=seen.at,
            last=instant,
            last_at=seen.at,
            asked=_askers((), seen),
            marks=seen.marks,
            parts=seen.parts,
        )
    if known.sight is Sight.DEAD and sight is Sight.ABSENT and known.id != ANYTHING:
        sight, said = known.sight, known.said
    changes: dict[str, object] = {
        "sight": sight,
        "said": said,
        "last": instant,
        "last_at": seen.at,
        "looks": known.looks + 1,
        "asked": _askers(known.asked, seen),
        "where": known.where or seen.where,
        "marks": known.marks or seen.marks,
        "parts": tuple(dict.fromkeys((*known.parts, *seen.parts))),
    }
    comparable = instant.since(known.last) is not None or (seen.at is not None and known.last_at is not None)
    if sight is not known.sight or not comparable:
        changes |= {"since": instant, "since_at": seen.at, "looks": 1}
    return known.model_copy(update=changes)


def _askers(before: tuple[str, ...], seen: Sighting) -> tuple[str, ...]:
    """Add the account that listed the machine. An account that does not see it proves nothing about its owner."""
    if seen.asked is None or seen.sight is Sight.ABSENT:
        return before
    return tuple(dict.fromkeys((*before, seen.asked)))
