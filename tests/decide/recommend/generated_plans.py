"""Plans of hobbyists, laboratories and companies, drawn by seed: their machines, rents, credits and limits."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

TODAY = date(2026, 11, 24)
RENTED = (
    {"offer": "aws/p5.48xlarge", "region": "us-east-1", "price": "on_demand"},
    {"offer": "aws/p5.48xlarge", "region": "us-east-1", "price": "capacity_block"},
    {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "price": "savings_1y"},
    {"offer": "aws/p4d.24xlarge", "region": "us-east-1", "price": "spot"},
    {"offer": "lambda/gpu_8x_h100_sxm5"},
    {"offer": "runpod/8x-h200-sxm"},
    {"offer": "jarvis-labs/8x-h100-sxm"},
    {"offer": "nebius/gpu-h100-sxm_8gpu", "region": "eu-north1"},
)
SITES = (
    {"site": "dgx-station-v100"},
    {"site": "own-8xh200"},
    {"site": "hgx-h200-8x"},
    {"site": "h200-x1", "hold": "buy"},
)
SECONDS = 3600.0


def drawn_plan(seed: int) -> dict[str, Any]:
    """Return a plan of two to five options; how long a run takes is stated with its range, so that nothing is slow."""
    rng = random.Random(seed)
    asked = rng.sample(RENTED, rng.randint(1, 3)) + rng.sample(SITES, rng.randint(1, 2))
    runs = rng.choice((1, 1, 2, 7, 30))
    hours = rng.choice((3.0, 12.0, 60.0))
    campaign: dict[str, Any] = {"runs": runs, "confidence": rng.choice((0.5, 0.8, 0.9))}
    work = runs * hours
    if rng.random() < 0.7:
        days = max(1, round(work / 24 * rng.choice((0.5, 1.0, 1.5, 3.0))))
        campaign["deadline"] = str(TODAY + timedelta(days=days))
    if rng.random() < 0.7:
        campaign["budget_usd"] = round(work * rng.choice((5.0, 20.0, 35.0, 80.0)), 2)
    if rng.random() < 0.2:
        campaign["at_once"] = rng.randint(1, 3)
    if rng.random() < 0.2:
        campaign["waiting_usd_per_hour"] = rng.choice((1.0, 15.0))
    if rng.random() < 0.2:
        campaign["prefer"] = "time"
    return {
        "schema_version": 1, "name": f"drawn {seed}", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36_000}, "campaign": campaign,
        "options": [_option(rng, option, hours) for option in asked],
    }  # fmt: skip


def _option(rng: random.Random, option: dict[str, Any], usual: float) -> dict[str, Any]:
    hours, within = usual * rng.choice((0.4, 1.0, 1.1, 2.5)), rng.choice((1.0, 1.1, 1.5, 3.0))
    step = {"batch": 10, "seconds": hours, "low_seconds": hours / within, "high_seconds": hours * within}
    made = option | {"step": step | {"basis": "measured"}}
    if "offer" in option:
        if rng.random() < 0.2:
            made["quota"] = f"{rng.randint(1, 4)} machines"
        if rng.random() < 0.2:
            made["wait_hours"] = rng.choice((2.0, 48.0))
        if option.get("price") in (None, "on_demand") and rng.random() < 0.3:
            made["usd_per_hour"] = rng.choice((8.0, 24.0, 31.0))
    return made
