"""Defaults of the cost of owning: the block `owning` of `catalogs/defaults.yaml`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.model.base import Frozen
from planner.model.figure import FractionFigure, MonthsFigure, RateFigure, ShareFigure, UsdFigure, YearsFigure
from planner.model.owning.site import ResidualPoint


class OwningDefaults(Frozen):
    """Values for the keys that a site may leave out, under the same names and in the same units."""

    life_years: YearsFigure
    residual: Annotated[tuple[ResidualPoint, ...], Field(min_length=1)]
    discount_rate_per_year: RateFigure
    network_fraction_of_capex: FractionFigure
    storage_fraction_of_capex: FractionFigure
    maintenance_fraction_per_year: FractionFigure
    software_usd_per_gpu_year: UsdFigure
    colocation_usd_per_kw_month: UsdFigure
    fte_per_node: FractionFigure
    usd_per_fte_year: UsdFigure
    spares_fraction_of_nodes: FractionFigure
    availability: ShareFigure
    busy: ShareFigure
    lead_time_months: MonthsFigure
