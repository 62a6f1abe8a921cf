"""Rows: silences and strange answers in combinations of two and three. Nothing is proven, and later all is ended."""

from __future__ import annotations

from dataclasses import dataclass

from tests.launcher.faults.acts import Prepare, sets, sky
from tests.launcher.faults.between import Meddling
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.killed import GONE, REAP
from tests.launcher.faults.silences import (
    EC2_CUT,
    EC2_DRIPS,
    EC2_HTML,
    EC2_SILENT,
    LAMBDA_DRIPS,
    LAMBDA_REPEATS,
    LAMBDA_SILENT,
    NOWHERE,
    OPEN,
    REGIONS_HTML,
    REGIONS_SILENT,
    STS_SILENT,
    pipe_for_keys,
    through,
)
from tests.launcher.faults.world import H100_AT_LAMBDA, P4D


@dataclass(frozen=True)
class Part:
    """One fault of a combination: something between, or something else that is wrong on this side."""

    name: str
    words: str
    stands_between: Meddling | None = None
    prepare: Prepare | None = None


LISTS = Part("ec2-silent", "EC2 never answers", EC2_SILENT)
DRIPS = Part("ec2-drips", "EC2 answers a byte at a time", EC2_DRIPS)
HTML = Part("ec2-html", "a sign-in page answers for EC2", EC2_HTML)
CUT = Part("ec2-cut", "EC2's answer is cut off", EC2_CUT)
REGIONS = Part("regions-silent", "EC2 does not name its regions", REGIONS_SILENT)
REGIONS_PAGE = Part("regions-html", "a sign-in page in place of the regions", REGIONS_HTML)
STS = Part("sts-silent", "AWS does not say whose keys these are", STS_SILENT)
NO_REGION = Part("region-nowhere", "AWS_REGION names no region", prepare=NOWHERE)
DOWN_FAILS = Part("down-fails", "SkyPilot's `down` fails", prepare=sky("down", error=("RuntimeError", "throttled")))
DOWN_HANGS = Part("worker-ends", "worker dies as it takes down", prepare=sky("down", worker={"end": 9}))
FORWARD = Part("clock-forward", "clock 30 hours forward", prepare=sets(FAULT_CLOCK_H="30"))
BACK = Part("clock-back", "clock 30 hours back", prepare=sets(FAULT_CLOCK_H="-30"))
PIPE = Part("lambda-pipe", "Lambda's keys are a pipe", prepare=pipe_for_keys)
LAMBDA = Part("lambda-silent", "Lambda never answers", LAMBDA_SILENT)
LAMBDA_SLOW = Part("lambda-drips", "Lambda answers a byte at a time", LAMBDA_DRIPS)
LAMBDA_AGAIN = Part("lambda-repeats", "Lambda repeats a page", LAMBDA_REPEATS)

ON_EC2 = (
    (LISTS, NO_REGION), (LISTS, DOWN_FAILS), (DRIPS, FORWARD), (HTML, NO_REGION), (HTML, DOWN_HANGS), (CUT, BACK),
    (REGIONS, DOWN_FAILS), (REGIONS_PAGE, PIPE), (STS, NO_REGION), (LISTS, NO_REGION, DOWN_FAILS),
    (HTML, FORWARD, DOWN_HANGS), (DRIPS, NO_REGION, BACK), (REGIONS, PIPE, FORWARD), (STS, DOWN_FAILS, BACK),
)  # fmt: skip
ON_LAMBDA = (
    (LAMBDA, DOWN_FAILS), (LAMBDA_AGAIN, FORWARD), (LAMBDA_SLOW, NO_REGION), (LAMBDA, BACK, DOWN_HANGS),
    (LAMBDA_AGAIN, NO_REGION, DOWN_FAILS),
)  # fmt: skip
LATER = ((LISTS, FORWARD, NO_REGION), (HTML, DOWN_FAILS, BACK), (DRIPS, DOWN_HANGS), (STS, FORWARD))
"""Combinations after which `reap` runs without the proxy, while the other faults remain."""


def _row(parts: tuple[Part, ...], *, on: tuple[str, ...], where: str, later: str = "") -> Fault:
    act = through(
        *(part.stands_between for part in parts if part.stands_between is not None),
        then=tuple(part.prepare for part in parts if part.prepare is not None),
        on=on,
        later=later,
    )
    first, *others = (part.words for part in parts)
    words = f"{', '.join((first, *others[:-1]))}, and {others[-1]}"
    name = "+".join(part.name for part in parts)
    if later:
        return Fault(
            f"{name}-later", f"{words}; later `reap`, without the first", where, "ended and proven", act, 0, GONE,
            "completed",
        )  # fmt: skip
    return Fault(name, words, where, "nothing is proven, exit 4", act, 4, OPEN, "completed")


SILENCES_COMBINED = (
    *(_row(parts, on=P4D, where="EC2") for parts in ON_EC2),
    *(_row(parts, on=H100_AT_LAMBDA, where="Lambda") for parts in ON_LAMBDA),
    *(_row(parts, on=P4D, where="EC2", later=REAP) for parts in LATER),
)
