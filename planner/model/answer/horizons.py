"""Advice for this campaign and for a year of such work: the same two sentences in every command."""

from __future__ import annotations

from planner.model.base import Frozen


class Horizons(Frozen):
    """Both answers to a plan that names a machine to own. All screens show `text`."""

    campaign: str
    """Sentence such as "This campaign: keep DGX Station, 4x V100."."""
    campaign_option: str | None
    """Id of the single option that `compare` recommends; null if none keeps the limits."""
    year: str
    """Sentence such as "A year of such work: buy PC, 1x RTX 4090, 87 % sure to cost less than keeping ours."."""
    year_option: str | None
    """Id of the option that `own-or-rent` recommends."""
    year_chance: float | None
    """Chance that it costs less a year than `year_against`."""
    year_against: str | None

    @property
    def text(self) -> str:
        """Return both sentences."""
        return f"{self.campaign} {self.year}"
