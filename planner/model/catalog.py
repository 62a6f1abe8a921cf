"""Everything the planner knows about machines, prices, workloads and runs, in one value."""

from __future__ import annotations

from planner.errors import NotFoundError
from planner.model.base import Frozen
from planner.model.calibration import Calibration
from planner.model.hardware import Accelerator, Node
from planner.model.offer import Price, Site
from planner.model.quantity import Quantity
from planner.model.run import RunRecord
from planner.model.workload import Preset


class Defaults(Frozen):
    """Values taken where neither the plan nor the site says: `catalogs/defaults.yaml`."""

    schema_version: int
    electricity: Quantity
    pue: Quantity
    idle_power_fraction: Quantity
    training_power_fraction: Quantity
    """Share of its rated power that a node draws in training."""


class Catalog(Frozen):
    """The bundled catalogs with the user's own files layered on top; keys are ids."""

    accelerators: dict[str, Accelerator]
    nodes: dict[str, Node]
    prices: tuple[Price, ...]
    own_prices: tuple[Price, ...] = ()
    """The user's; where they have a row for the same instance, kind and region, it is taken."""
    sites: dict[str, Site]
    presets: dict[str, Preset]
    runs: dict[str, RunRecord]
    bundled_runs: frozenset[str]
    """Ids of the runs that ship with the planner; the others are the user's."""
    defaults: Defaults
    calibration: Calibration | None = None
    """What published measurements taught the estimator; None leaves it to ratios of the user's runs."""

    def find_run(self, run_id: str, *, where: str = "") -> RunRecord:
        """Return a run by its id; raise with the nearest ids where there is none."""
        run = self.runs.get(run_id)
        if run is None:
            raise NotFoundError("run", run_id, self.runs, where=where, fix="List them with: planner runs list")
        return run
