"""Summary that a probe prints at its end, worked by hand."""

from pathlib import Path

from planner.adapters.catalog import load_catalog
from planner.cli.launching.probe_command import probe_lines
from planner.model.evidence.probe import SustainedFacts
from tests.speed.probes.test_compared_probes import probe


def test_rates_are_those_of_the_kernels_and_of_the_last_third():
    """Products: 6 x 64 x 64 x 64 FLOPs in 1e-3 s are 1.57 GFLOP/s; a copy reads and writes 1,024 bytes in a second."""
    held = SustainedFacts(
        seconds=21.0, first_tflop_per_s=600.0, last_tflop_per_s=570.0, clock_mhz=1500.0, power_w=690.0
    )
    record = probe("mine", 1e-3).model_copy(update={"sustained": held, "left_out": ("read: no data folder",)})
    catalog = load_catalog().model_copy(update={"probes": {"a": probe("a", 1e-3), "b": probe("b", 1e-3)}})

    lines = probe_lines(record, catalog, Path("probes/mine.json"))

    assert "  matrix products: at best 1.57 GFLOP/s in bf16" in lines
    assert "  over 21 s: 570 TFLOP/s at 1,500 MHz, 690 W, -5.0%" in lines
    assert "Compared: as the median of 3." in lines
    assert "Left out: read: no data folder." in lines
    assert lines[-2] == "Verdict: sound."
