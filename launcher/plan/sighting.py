"""What a provider says of one machine at one look, and what the ledger keeps of it over many looks. Pure.

A machine is known by its id from the first time that it is seen. Tags, names and lists may change or fail; an id does
not. `launcher/drive/gone.py` decides by these records whether a launch is gone.
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
"""In place of an id: whatever carries the label or the name of the launch, wherever the provider was asked."""
Said = Annotated[str, AfterValidator(clean)]
"""What a machine or a provider said: without the secrets that it may repeat."""


class Sight(StrEnum):
    """What a provider says of an id."""

    ALIVE = "alive"
    ENDING = "ending"
    """It says that it is ending the machine, which may still be billed (Lambda's `terminating`)."""
    DEAD = "dead"
    """It lists the machine as ended."""
    ABSENT = "absent"
    """It does not list the machine. After an end that is normal; it may also be a list that is behind."""


class Sighting(Frozen):
    """What a provider says of one id at one look."""

    id: str
    where: str = ""
    """Region, Kubernetes context and namespace, or host."""
    sight: Sight
    said: Said = ""
    """The provider's own word."""
    at: datetime | None = None
    """The time of the answer by the provider's clock."""
    asked: str | None = None
    """The account, key or cluster that answered."""
    marks: dict[str, str] = Field(default_factory=dict)
    """What tells a host from every other: its installation, its boot, its host key, a nonce (backends/witness.py)."""
    parts: tuple[str, ...] = ()
    """Ids of what is billed beside the machine and may outlive it: its volumes."""


class Known(Frozen):
    """One machine of a launch, as the ledger keeps it."""

    id: str
    where: str = ""
    first_at: datetime
    """When it was first seen, by the clock here."""
    sight: Sight
    said: Said = ""
    since: Instant
    """The first of the looks in a row that said the same as the last one."""
    since_at: datetime | None = None
    """The same by the provider's clock."""
    last: Instant
    last_at: datetime | None = None
    looks: int = 1
    """How many looks in a row said the same."""
    asked: tuple[str, ...] = ()
    """Accounts and keys that have listed it: each of them can speak for it."""
    marks: dict[str, str] = Field(default_factory=dict)
    parts: tuple[str, ...] = ()

    @property
    def lasted_s(self) -> float:
        """Return for how long every look has said the same, in seconds; 0 where nobody can say.

        Measured by this machine's time since its boot, which no change of the clock moves; across boots and machines
        by the provider's own clock.
        """
        by_boot = self.last.since(self.since)
        if by_boot is not None:
            return by_boot
        if self.since_at is None or self.last_at is None:
            return 0.0
        return max(0.0, (self.last_at - self.since_at).total_seconds())


def observed(known: Known | None, seen: Sighting, *, instant: Instant, now: datetime) -> Known:
    """Return what is known of a machine after one more look.

    A machine that was listed as ended and is not listed any more stays ended: no provider starts an id again.
    """
    sight, said = seen.sight, seen.said
    if known is None:
        return Known(
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
    """Add who listed the machine; that somebody does not see it proves nothing about whose it is."""
    if seen.asked is None or seen.sight is Sight.ABSENT:
        return before
    return tuple(dict.fromkeys((*before, seen.asked)))
