"""Writes the specs of docs/gpu-measurements.md: `python scripts/gpu_specs.py FOLDER [--small]`.

One sub-folder for each part, and each part is over in ten minutes on one H200. `--small` writes the same lines with
cpu-smoke in place of every network, for a try of the whole on a CPU.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from launcher.bench.bench import Settings, spec_of
from planner.adapters.catalog import load_catalog
from planner.model.network.workload import BenchMode, BenchWorkload, Checkpointing, Precision, Strategy, Window

ONE = Settings(devices=1)
TUNED = replace(ONE, mode=BenchMode.TUNED)
FAST = replace(ONE, compile=True, loss_chunks=8)
PARTS: dict[str, dict[str, tuple[str, int, Settings]]] = {
    "1-path-and-tuning": {
        "00-cpu-smoke-fp32": ("cpu-smoke", 4, replace(ONE, calibrate=True)),
        "01-gpt-305m-matched-b4": ("gpt-305m", 4, replace(ONE, calibrate=True)),
        "02-gpt-305m-fp32-by-accident-b4": ("gpt-305m", 4, replace(ONE, precision=Precision.FP32)),
        "03-gpt-305m-tf32-b4": ("gpt-305m", 4, replace(ONE, precision=Precision.TF32)),
        "04-gpt-305m-tuned-b16": ("gpt-305m", 16, TUNED),
        "05-gpt-305m-tuned-b32": ("gpt-305m", 32, TUNED),
        "06-gpt-305m-tuned-b64": ("gpt-305m", 64, TUNED),
        "07-gpt-305m-tuned-b64-compile": ("gpt-305m", 64, replace(TUNED, compile=True)),
    },
    "2-headline": {
        "10-qwen3-0.6b-compile-b8-start1": ("qwen3-0.6b", 8, replace(FAST, calibrate=True)),
        "11-qwen3-0.6b-compile-b8-start2": ("qwen3-0.6b", 8, FAST),
        "12-qwen3-0.6b-compile-b8-start3": ("qwen3-0.6b", 8, FAST),
        "13-qwen3-0.6b-eager-b4": ("qwen3-0.6b", 4, ONE),
        "14-qwen3-0.6b-full-recompute-b16": (
            "qwen3-0.6b",
            16,
            replace(ONE, checkpointing=Checkpointing.FULL, loss_chunks=8),
        ),
    },
    "3-breadth": {
        "20-llama3-8b-4layers-compile-b1": ("llama3-8b/4", 1, FAST),
        "21-llama3-8b-4layers-selective-b2": (
            "llama3-8b/4",
            2,
            replace(FAST, checkpointing=Checkpointing.SELECTIVE),
        ),
        "22-llama3-8b-4layers-float8-b2": ("llama3-8b/4", 2, replace(FAST, precision=Precision.FLOAT8)),
        "23-gpt-305m-fsdp2-b32": ("gpt-305m", 32, replace(ONE, strategy=Strategy.FSDP2)),
        "24-resnet50-b256": ("resnet50", 256, ONE),
        "25-vit-b16-b128-compile": ("vit-b16", 128, replace(ONE, compile=True)),
    },
}
WINDOW = {"min_warmup_s": 10.0, "max_warmup_s": 30.0, "min_s": 20.0, "max_s": 30.0}
"""Shorter than the standard's, so that a part fits into ten minutes; the verdict says so."""
HEADLINE = {"min_warmup_s": 15.0, "max_warmup_s": 40.0, "min_s": 60.0, "max_s": 75.0}
"""Long enough to be evidence."""
BLINK = Window(min_warmup_steps=1, min_warmup_s=0.0, max_warmup_s=0.5, min_steps=5, min_s=0.1, max_s=2.0)


def main() -> None:
    """Write one spec per line."""
    parser = argparse.ArgumentParser(description="Write the specs of docs/gpu-measurements.md.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--small", action="store_true", help="cpu-smoke in place of every network")
    options = parser.parse_args()
    presets = load_catalog().presets
    for part, lines in PARTS.items():
        folder = options.folder / part
        folder.mkdir(parents=True, exist_ok=True)
        for name, (workload, micro_batch, settings) in lines.items():
            if options.small:
                spec = _small(presets["cpu-smoke"], settings)
            else:
                network, _, layers = workload.partition("/")
                preset: BenchWorkload = presets[network].cut(layers=int(layers)) if layers else presets[network]
                window = preset.window.model_copy(update=HEADLINE if "-start" in name else WINDOW)
                spec = spec_of(preset, settings, micro_batch=micro_batch, window=window)
            (folder / f"{name}.json").write_text(json.dumps(spec, indent=1) + "\n", encoding="utf-8")


def _small(preset: BenchWorkload, settings: Settings) -> dict[str, object]:
    precision = settings.precision if settings.precision is not Precision.FLOAT8 else None
    kept = replace(settings, precision=precision, compile=False, loss_chunks=min(settings.loss_chunks, 2))
    return spec_of(preset, replace(kept, global_batch=8), micro_batch=2, window=BLINK)


if __name__ == "__main__":
    main()
