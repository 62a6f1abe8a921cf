"""Write the specs of docs/gpu-measurements.md: `python scripts/gpu_specs.py FOLDER [--small]`.

Each sub-folder contains one group of settings. `scripts/gpu-measurements` runs a group in calls of under five minutes.
`--small` writes the same settings with cpu-smoke instead of every network, to try all of them on a CPU.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from planner.adapters.catalog import load_catalog
from planner.launcher.bench.bench import spec_of
from planner.launcher.bench.bench_settings import BenchSettings, ProbeSettings
from planner.model.network.workload import BenchWorkload, Checkpointing, Precision, Strategy, Window

ONE = BenchSettings(devices=1)
FAST = replace(ONE, compile=True, loss_chunks=8)
FUSED = replace(FAST, fused_loss=True)
FASTEST = replace(FUSED, attention_by_trial=True)
PROBE = replace(ONE, probe=ProbeSettings())
SEVERAL = BenchSettings(devices=8)
"""Settings for several devices. The number of processes is an argument of `scripts/gpu-measurements`."""
GROUPS: dict[str, dict[str, tuple[str, int, BenchSettings]]] = {
    "1-twelve-settings": {
        "01-qwen3-0.6b-compiled-b8": ("qwen3-0.6b", 8, FAST),
        "02-qwen3-0.6b-eager-b4": ("qwen3-0.6b", 4, ONE),
        "03-qwen3-0.6b-recomputed-b16": (
            "qwen3-0.6b",
            16,
            replace(ONE, checkpointing=Checkpointing.FULL, loss_chunks=8),
        ),
        "04-llama3-8b-4layers-compiled-b1": ("llama3-8b/4", 1, FAST),
        "05-gpt-305m-b32": ("gpt-305m", 32, ONE),
        "06-gpt-305m-b4": ("gpt-305m", 4, ONE),
        "07-gpt-305m-fp32-b4": ("gpt-305m", 4, replace(ONE, precision=Precision.FP32)),
        "08-gpt-305m-fsdp2-b32": ("gpt-305m", 32, replace(ONE, strategy=Strategy.FSDP2)),
        "09-gpt-305m-zero2-b32": ("gpt-305m", 32, replace(ONE, strategy=Strategy.ZERO2)),
        "10-gpt-305m-zero3-b32": ("gpt-305m", 32, replace(ONE, strategy=Strategy.ZERO3)),
        "11-resnet50-b256": ("resnet50", 256, ONE),
        "12-vit-b16-compiled-b128": ("vit-b16", 128, replace(ONE, compile=True)),
    },
    "2-one-device": {
        "01-calibration": ("cpu-smoke", 4, replace(ONE, calibrate=True)),
        "02-gpt-305m-zero1-b32": ("gpt-305m", 32, replace(ONE, strategy=Strategy.ZERO1)),
        "03-llama3-8b-4layers-float8-b2": ("llama3-8b/4", 2, replace(FAST, precision=Precision.FLOAT8)),
        "04-gpt-305m-tf32-b4": ("gpt-305m", 4, replace(ONE, precision=Precision.TF32)),
        "05-gpt-305m-compiled-b32": ("gpt-305m", 32, replace(ONE, compile=True)),
    },
    "4-probe": {"01-probe": ("cpu-smoke", 4, PROBE)},
    "5-faster": {
        "01-qwen3-0.6b-as-before": ("qwen3-0.6b", 8, FAST),
        "02-qwen3-0.6b-fused-loss": ("qwen3-0.6b", 8, FUSED),
        "03-qwen3-0.6b-attention": ("qwen3-0.6b", 8, replace(FAST, attention_by_trial=True)),
        "04-qwen3-0.6b-both": ("qwen3-0.6b", 8, FASTEST),
        "05-qwen3-0.6b-both-graphs": ("qwen3-0.6b", 8, replace(FASTEST, cuda_graphs=True)),
        "06-llama3-8b-8layers-as-before-b2": ("llama3-8b/8", 2, FAST),
        "07-llama3-8b-8layers-both-b2": ("llama3-8b/8", 2, FASTEST),
        "08-llama3-8b-8layers-selective-both-b2": (
            "llama3-8b/8",
            2,
            replace(FASTEST, checkpointing=Checkpointing.SELECTIVE),
        ),
        "09-gpt-305m-graphs-b4": ("gpt-305m", 4, replace(ONE, compile=True, cuda_graphs=True)),
    },
    "3-several-devices": {
        "01-calibration": ("cpu-smoke", 4, replace(SEVERAL, calibrate=True)),
        "02-qwen3-0.6b-ddp": ("qwen3-0.6b", 8, replace(SEVERAL, compile=True, loss_chunks=8)),
        "03-llama3-8b-fsdp2": (
            "llama3-8b",
            1,
            replace(SEVERAL, strategy=Strategy.FSDP2, compile=True, checkpointing=Checkpointing.SELECTIVE),
        ),
        "04-gpt-305m-zero3": ("gpt-305m", 32, replace(SEVERAL, strategy=Strategy.ZERO3)),
    },
}
STANDARD = {"min_warmup_s": 10.0, "max_warmup_s": 40.0, "min_s": 60.0, "max_s": 75.0}
"""Limits of the shortest window that the verdict accepts."""
GLANCE = {"min_warmup_s": 0.0, "max_warmup_s": 5.0, "min_s": 5.0, "max_s": 10.0}
"""Limits of a short window with a calibration, which is the actual measurement."""
BLINK = Window(min_warmup_steps=1, min_warmup_s=0.0, max_warmup_s=0.5, min_steps=5, min_s=0.1, max_s=2.0)


def main() -> None:
    """Write one spec per setting."""
    parser = argparse.ArgumentParser(description="Write the specs of docs/gpu-measurements.md.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--small", action="store_true", help="cpu-smoke instead of every network")
    options = parser.parse_args()
    presets = load_catalog().presets
    for group, lines in GROUPS.items():
        folder = options.folder / group
        folder.mkdir(parents=True, exist_ok=True)
        for name, (workload, micro_batch, settings) in lines.items():
            if options.small:
                spec = _small(presets["cpu-smoke"], settings)
            else:
                network, _, layers = workload.partition("/")
                preset: BenchWorkload = presets[network].cut(layers=int(layers)) if layers else presets[network]
                window = preset.window.model_copy(update=GLANCE if settings.calibrate else STANDARD)
                spec = spec_of(preset, settings, micro_batch=micro_batch, window=window)
                spec["workload"] = "probe" if settings.probe is not None else spec["workload"]
            (folder / f"{name}.json").write_text(json.dumps(spec, indent=1) + "\n", encoding="utf-8")


def _small(preset: BenchWorkload, settings: BenchSettings) -> dict[str, object]:
    precision = settings.precision if settings.precision is not Precision.FLOAT8 else None
    kept = replace(
        settings,
        devices=1,
        precision=precision,
        compile=False,
        cuda_graphs=False,
        loss_chunks=min(settings.loss_chunks, 2),
    )
    return spec_of(preset, replace(kept, global_batch=8), micro_batch=2, window=BLINK)


if __name__ == "__main__":
    main()
