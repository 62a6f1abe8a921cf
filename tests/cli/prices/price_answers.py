"""A plan of two clouds, and what `planner prices show` answers."""

from __future__ import annotations

PLAN = """
schema_version: 1
name: Two clouds
workload: {ref: gpt-305m}
work: {tokens: 1.0e9}
options:
  - {offer: aws/p5.48xlarge, region: us-east-1, step: {batch: 64, seconds: 1.0, basis: measured}}
  - {offer: lambda/gpu_8x_h100_sxm5, step: {batch: 64, seconds: 1.0, basis: measured}}
"""


def shown(planner, *arguments):
    """Return the rows that are shown."""
    return planner("prices", "show", "--json", *arguments).document["prices"]
