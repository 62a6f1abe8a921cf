"""One fault in memory: what begins, when, when it ceases, and what the rules say of the launch's end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from planner.launcher.plan.target import LaunchProvider
from tests.launcher.combinations.steps import Step

AWS, LAMBDA = LaunchProvider.AWS, LaunchProvider.LAMBDA
BOTH = (AWS, LAMBDA)
ALL = (*BOTH, LaunchProvider.K8S)
SUBMITTED_S, EARLY_S, RUNNING_S, ENDING_S = 0.0, 100.0, 120.0, 350.0
"""Time at which a fault strikes: with the submission; while the job runs, from 60 to 360 s; just before the job's end.
A fault that never ceases strikes early, before anything else can end the launch."""
OUTAGE_S = 600.0


class Proof(Enum):
    """Proof of the end of a launch, after "What gone means" of docs/launching.md."""

    USUAL = auto()
    """EC2 lists the id as ended; Lambda does not list it any more for five minutes."""
    NO_JOB = auto()
    """No job was seen, so not every machine need have been: nothing carries the label for five minutes."""
    NO_MACHINE = auto()
    """Usual proof, where no machine ever comes."""


@dataclass(frozen=True)
class SingleFault:
    """One fault."""

    name: str
    words: str
    begin: Step
    part: str
    """Part that the fault affects. Two faults of one part would hide each other, so they are not combined."""
    strikes_s: float | None = ENDING_S
    """Seconds after the submission; None: after the proof."""
    lasts_s: float = 0.0
    end: Step | None = None
    """Step when it ceases; None where none is needed."""
    where: tuple[LaunchProvider, ...] = ALL
    proof: Proof = Proof.USUAL
    alarm: str = ""
    """Words with which the launch stays open: nothing can prove its end. Such a fault never ceases."""

    @property
    def ceases_s(self) -> float:
        """Time of its last effect. A fault with an alarm never ceases, and is done when it has struck."""
        return (self.strikes_s or 0.0) + self.lasts_s
