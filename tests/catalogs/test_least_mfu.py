"""The least MFU of every standard workload: sound runs of other cards and of other people are over it."""

from __future__ import annotations

import pytest

from tests.bundled import bundled_catalog

STANDARD = ("gpt-305m", "qwen3-0.6b", "llama3-8b", "resnet50", "vit-b16")
PRESETS = bundled_catalog().presets
GFLOP = {"gpt-305m": 512 * 1.6174, "qwen3-0.6b": 4096 * 6.3945, "llama3-8b": 8192 * 57.913, "resnet50": 24.30,
         "vit-b16": 105.2}  # fmt: skip
"""Work of one sample: tokens x GFLOP a token with full attention, or an image."""


@pytest.mark.parametrize("name", STANDARD)
def test_every_standard_workload_has_one(name: str) -> None:
    least, compiled = PRESETS[name].least_mfu, PRESETS[name].least_mfu_compiled
    assert least is not None
    assert compiled is None or compiled > least


@pytest.mark.parametrize(
    ("name", "samples_per_s", "cards", "peak_tflops"),
    [
        pytest.param("gpt-305m", 27.4, 1, 71.0, id="RTX 3090 (seed-003, one card)"),
        pytest.param("qwen3-0.6b", 549.47, 32, 989.4, id="H200 (seed-004)"),
        pytest.param("llama3-8b", 5762 / 8192, 1, 989.4, id="H100 of 500 W (titan-11), each of 8"),
        pytest.param("resnet50", 1851, 1, 756.0, id="H100 PCIe (m00644)"),
        pytest.param("resnet50", 2616, 1, 989.4, id="H100 (m00653)"),
        pytest.param("resnet50", 1582, 1, 312.0, id="A100 (m00599)"),
        pytest.param("resnet50", 6174, 8, 125.0, id="8 V100 (m00893)"),
        pytest.param("vit-b16", 392.99, 1, 71.0, id="RTX 3090 (field-0698)"),
        pytest.param("vit-b16", 7200.38, 8, 312.0, id="8 A100 (seventh-d-069)"),
        pytest.param("vit-b16", 11669.52, 8, 989.4, id="8 H100 (seventh-d-070)"),
    ],
)
def test_published_runs_and_seeds_are_over_it(name: str, samples_per_s: float, cards: int, peak_tflops: float) -> None:
    reached = samples_per_s * GFLOP[name] / 1000 / (cards * peak_tflops)
    assert (PRESETS[name].least_mfu or 1.0) < reached < 0.7


@pytest.mark.parametrize(
    ("name", "samples_per_s"),
    [
        pytest.param("llama3-8b", 6667 / 8192, id="H100 of 500 W (titan-12), each of 8"),
        pytest.param("qwen3-0.6b", 19.667, id="H100 (2026-11-26)"),
        pytest.param("vit-b16", 2913, id="H100 (2026-11-26), vit"),
    ],
)
def test_compiled_runs_are_over_the_floor_of_compiled_ones(name: str, samples_per_s: float) -> None:
    reached = samples_per_s * GFLOP[name] / 1000 / 989.4
    assert (PRESETS[name].least_mfu_compiled or 1.0) < reached
