"""Causes of an estimate's error that two machines may have in common, each with its share."""

from __future__ import annotations

import math

from planner.speed.estimator.expected_error import ACCELERATOR, PART_ERROR, SITE, WORKLOAD
from planner.speed.estimator.own_runs import SHARED_UNKNOWN, WIRES, UpdatePoints, unknown_variance

Causes = tuple[tuple[str, float], ...]
"""Names of independent causes, each with its standard deviation relative to that of the whole error."""


def causes_of(place: UpdatePoints) -> Causes:
    """Return the causes of the first configuration's error, as shares of its standard deviation.

    variance = site^2 + accelerator^2 + workload^2 + sum over parts (error of the part x its share of the step)^2 + rest

    Configurations share a cause if it has the same name. The causes correspond to the covariance of `own_runs.py`
    without its term of nearby settings. The rest is not returned because no two configurations share it. Parts that
    depend on links are different causes inside a node and between nodes.
    """
    label, expected = place.labels[0], float(place.expected[0])
    where = "between nodes" if place.between_nodes[0] else "inside a node"
    here = f"{label.source} {label.accelerator}"
    unknown = SHARED_UNKNOWN * float(unknown_variance(place)[0])
    causes = [
        (f"site {label.source} {where}", SITE),
        (f"accelerator {here}", math.sqrt(ACCELERATOR**2 + unknown)),
        (f"workload {label.source} {label.workload}", WORKLOAD),
    ]
    for part, error in PART_ERROR.items():
        share = error * float(place.shares[part][0])
        if share > 0:
            causes.append((f"{part} {where}" if part in WIRES else part, share))
    whole = max(expected, math.hypot(*(sd for _, sd in causes)))
    return tuple((name, sd / whole) for name, sd in causes)
