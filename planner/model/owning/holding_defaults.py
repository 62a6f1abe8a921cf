"""What holding a machine is taken to mean where nothing says: the block `holding` of `catalogs/defaults.yaml`."""

from __future__ import annotations

from planner.model.base import Frozen
from planner.model.figure import FractionFigure, MonthsFigure, PowerFigure, RateFigure


class HoldingDefaults(Frozen):
    """Of machines that are to be bought, and of those that a plan names by their accelerator alone."""

    lead_time_months_of_pc: MonthsFigure
    """Of a PC; a server's is `owning.lead_time_months`."""
    selling_fraction: FractionFigure
    """Share of what a used machine fetches that is lost in selling it."""
    pc_host_kw: PowerFigure
    """Of a PC without its accelerators."""
    server_host_kw: PowerFigure
    """Of a server without its accelerators, where these are cards or few."""
    board_host_fraction: RateFigure
    """The same of a server with a board of more than four accelerators, as a share of their power."""
