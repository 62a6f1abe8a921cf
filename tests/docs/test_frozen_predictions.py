"""The pages' statements about the frozen predictions agree with the two tables."""

from __future__ import annotations

import csv
from pathlib import Path

ROOT = Path(__file__).parents[2]
FROZEN = ROOT / "docs" / "accuracy" / "frozen"
OUTSIDE = {"h100-00-cpu-smoke-fp32", "h100-12-gpt305-zero3-b32"}


def table(name: str) -> dict[str, dict[str, str]]:
    with (FROZEN / name).open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def test_twelve_of_fourteen_measurements_lie_inside_the_predicted_ranges() -> None:
    predicted, measured = table("h100_predictions.csv"), table("h100_measurements.csv")
    assert predicted.keys() == measured.keys()
    outside = {
        name
        for name, row in predicted.items()
        if not float(row["low_90"]) <= float(measured[name]["throughput_total"]) <= float(row["high_90"])
    }
    assert (len(predicted), outside) == (14, OUTSIDE)
    said = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "12 of 14 predictions made before any run of ours were inside their ranges" in said
