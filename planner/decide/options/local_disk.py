"""Check if a training's data fit the local disks of a rented machine."""

from __future__ import annotations

from planner.duration.data_volumes import data_volumes
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job

ALWAYS_HELD_GB = 100.0
"""Size up to which a data set is assumed to fit the root disk if no other disk is stated; few are smaller."""


def local_disk_note(plan: Plan, job: Job, candidate: Candidate, catalog: Catalog) -> str | None:
    """Return a note if the data set is, or may be, larger than a node's disks.

    Each node is taken to need the whole data set. None of machines of one's own, and where the size is not known.
    """
    dataset = data_volumes(job, plan.data, catalog.bill_defaults).dataset
    if candidate.site is not None or dataset is None:
        return None
    size, disk = dataset.value, candidate.node.local_disk_gb
    if size <= (disk or ALWAYS_HELD_GB):
        return None
    if disk is None:
        return f"the data set has {size:,.0f} GB; how much a node's local disks hold is not known"
    held = f"a node's local disks {disk:,.0f}" if disk else "a node no local disks"
    return f"the data set has {size:,.0f} GB, {held}: read it from storage, or rent a volume"
