"""Defaults of holding a machine: the block `holding` of `catalogs/defaults.yaml`."""

from __future__ import annotations

from planner.model.base import Frozen
from planner.model.figure import FractionFigure, MonthsFigure, PowerFigure, RateFigure


class HoldingDefaults(Frozen):
    """Defaults of machines that are to be bought, and of those that a plan names only by their accelerator."""

    lead_time_months_of_pc: MonthsFigure
    """Lead time of a PC. A server's is `owning.lead_time_months`."""
    selling_fraction: FractionFigure
    """Share of a used machine's price that is lost in selling it."""
    pc_host_kw: PowerFigure
    """Power of a PC without its accelerators."""
    server_host_kw: PowerFigure
    """Power of a server without its accelerators, if these are cards or few."""
    board_host_fraction: RateFigure
    """Power of a server with a board of more than four accelerators, as a share of their power."""
