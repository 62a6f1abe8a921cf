"""Writes the specs of docs/gpu-measurements.md: `python scripts/gpu_specs.py FOLDER`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from launcher.bench import Settings, spec_of
from planner.adapters.catalog import load_catalog
from planner.model.workload import Checkpointing, Precision, Strategy

LINES = {
    "cpu-smoke-fp32": ("cpu-smoke", 4, Settings(devices=1)),
    "gpt-305m-bf16-b4": ("gpt-305m", 4, Settings(devices=1)),
    "gpt-305m-bf16-b32": ("gpt-305m", 32, Settings(devices=1)),
    "gpt-305m-bf16-b32-again": ("gpt-305m", 32, Settings(devices=1)),
    "gpt-305m-bf16-b32-once-more": ("gpt-305m", 32, Settings(devices=1)),
    "gpt-305m-fp32-b16": ("gpt-305m", 16, Settings(devices=1, precision=Precision.FP32)),
    "gpt-305m-tf32-b16": ("gpt-305m", 16, Settings(devices=1, precision=Precision.TF32)),
    "gpt-305m-fsdp2-b32": ("gpt-305m", 32, Settings(devices=1, strategy=Strategy.FSDP2)),
    "gpt-305m-compile-b32": ("gpt-305m", 32, Settings(devices=1, compile=True)),
    "qwen3-0.6b-bf16-b4": ("qwen3-0.6b", 4, Settings(devices=1)),
    "qwen3-0.6b-compile-b8": ("qwen3-0.6b", 8, Settings(devices=1, compile=True, loss_chunks=8)),
    "qwen3-0.6b-full-recompute-b16": (
        "qwen3-0.6b",
        16,
        Settings(devices=1, checkpointing=Checkpointing.FULL, loss_chunks=8),
    ),
}
WINDOW = {"min_warmup_s": 15.0, "max_warmup_s": 60.0, "min_s": 20.0, "max_s": 30.0}
"""Shorter than the standard's, so that all lines fit into ten minutes; still long enough to be evidence."""


def main() -> None:
    """Write one spec per line."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    presets = load_catalog().presets
    for name, (workload, micro_batch, settings) in LINES.items():
        preset = presets[workload]
        window = preset.window.model_copy(update=WINDOW)
        spec = spec_of(preset, settings, micro_batch=micro_batch, window=window) | {"calibrate": True}
        (folder / f"{name}.json").write_text(json.dumps(spec, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
