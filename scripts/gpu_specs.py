"""Writes the specs of docs/gpu-measurements.md: `python scripts/gpu_specs.py FOLDER`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from launcher.bench import Settings, spec_of
from planner.adapters.catalog import load_catalog
from planner.model.workload import Precision

LINES = (
    ("cpu-smoke", Precision.FP32, 4),
    ("gpt-305m", Precision.BF16, 4),
    ("gpt-305m", Precision.BF16, 32),
    ("gpt-305m", Precision.FP16, 16),
    ("gpt-305m", Precision.TF32, 16),
    ("gpt-305m", Precision.FP32, 16),
    ("qwen3-0.6b", Precision.BF16, 4),
)
REPEATED = ("gpt-305m", Precision.BF16, 32)
WINDOW = {"min_warmup_s": 15.0, "max_warmup_s": 60.0, "min_s": 20.0, "max_s": 30.0}
"""Shorter than the standard's, so that all lines fit into ten minutes; still long enough to be evidence."""


def main() -> None:
    """Write one spec per line, and two more starts of the repeated one."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    presets = load_catalog().presets
    for workload, precision, micro_batch in (*LINES, REPEATED, REPEATED):
        preset = presets[workload]
        window = preset.window.model_copy(update=WINDOW)
        settings = Settings(devices=1, precision=precision)
        name = f"{workload}-{precision.value}-b{micro_batch}"
        taken = len(list(folder.glob(f"{name}-s*.json")))
        spec = spec_of(preset, settings, micro_batch=micro_batch, window=window)
        (folder / f"{name}-s{taken + 1}.json").write_text(json.dumps(spec, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
