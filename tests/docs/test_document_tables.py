"""Tables of the source documents: what the planner computes, held against arithmetic by hand."""

from __future__ import annotations

import pytest

from planner import api
from scripts.document_tables import CARDS, GUIDE, SIZES, TARGET, GuideSize, campaign, fewest, page, parameters_of

GB = {"A100-80GB-SXM": 80 * 2**30, "H100-SXM": 80 * 2**30, "H200-SXM": 141e9, "B200-SXM": 180 * 2**30}
PARAMETERS = {"7B": 6.74e9, "13B": 13.02e9, "70B": 70.55e9, "405B": 405.9e9, "1T": 1008e9}
"""Figures of Llama 2 7B and 13B, Llama 3 70B and 3.1 405B as their model cards say; of the GPT 1T: SC 2021, table 1."""


@pytest.mark.slow
def test_the_page_is_what_the_planner_computes() -> None:
    assert TARGET.read_text(encoding="utf-8") == page(), "run: make document-tables"


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
def test_a_size_is_of_its_parameters(size: GuideSize) -> None:
    assert parameters_of(GUIDE / f"{size.plan}.yaml") == pytest.approx(PARAMETERS[size.name], rel=0.005)


@pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: size.name)
@pytest.mark.parametrize("card", CARDS)
def test_no_fewer_hold_the_states(size: GuideSize, card: str) -> None:
    """16 bytes a parameter, divided over the accelerators, leave room; on half as many the training does not fit."""
    options = api.estimate(GUIDE / f"{size.plan}.yaml").document.options
    found = fewest(options, card)
    assert found is not None
    assert 16 * PARAMETERS[size.name] / found.accelerators < GB[card]
    halves = [
        option for option in options if option.accelerator == card and 2 * option.accelerators == found.accelerators
    ]
    assert all(half.fits is False for half in halves)


@pytest.mark.parametrize("runs", [1, 10, 50])
def test_the_station_s_campaigns(runs: int) -> None:
    """56.69 h a training: 2.362, 23.62 and 118.1 days one after another; ten at once on rented machines a tenth."""
    serial = {option.id: option for option in campaign(runs, 1).options}
    at_once = {option.id: option for option in campaign(runs, 10).options}
    station, rented = serial["dgx-station-v100"], "lambda/gpu_1x_h100_sxm5:any:on_demand"
    assert station.campaign_hours is not None
    assert station.campaign_hours.value / 24 == pytest.approx(runs * 19252 * 10 * 1.06 / 3600 / 24, rel=1e-4)
    alone, together = serial[rented], at_once[rented]
    assert alone.campaign_hours is not None
    assert together.campaign_hours is not None
    waves = {1: 1, 10: 1, 50: 5}[runs]
    assert together.campaign_hours.value == pytest.approx(alone.campaign_hours.value * waves / runs)
    assert together.campaign_usd is not None
    assert alone.campaign_usd is not None
    assert together.campaign_usd.value == pytest.approx(alone.campaign_usd.value)
    assert at_once["dgx-station-v100"].campaign_hours == station.campaign_hours
