"""Invented logs and folders like those of users, with their true figures."""

from __future__ import annotations

import json
from pathlib import Path


def clock(seconds: float) -> str:
    """Write seconds as H:MM:SS."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"


def factory_rows(steps: int, every: int, seconds: float, *, apart: float | None = None, loss: bool = True) -> str:
    """Write LLaMA-Factory's rows. With `apart`, two ranks write them with clocks `apart` seconds apart."""
    rows = []
    for step in range(every, steps + 1, every):
        for shift in (0.0,) if apart is None else (0.0, apart):
            row = {"current_steps": step, "total_steps": steps, "elapsed_time": clock(step * seconds + shift)}
            rows.append(row | ({"loss": 0.8} if loss else {}))
    return "\n".join(json.dumps(row) for row in rows) + "\n"


def factory_folder(folder: Path, *, planned: int = 300) -> Path:
    """Write the three files of one training: 300 steps of 2 s, and totals with 20 s of start-up."""
    (folder / "trainer_log.jsonl").write_text(factory_rows(300, 10, 2.0), encoding="utf-8")
    totals = {"train_runtime": 620.0, "train_samples_per_second": 14.516, "train_steps_per_second": 0.484}
    (folder / "all_results.json").write_text(json.dumps({"epoch": 1.0} | totals), encoding="utf-8")
    state = {
        "global_step": planned,
        "max_steps": planned,
        "train_batch_size": 4,
        "log_history": [{"step": 300} | totals],
    }
    (folder / "trainer_state.json").write_text(json.dumps(state), encoding="utf-8")
    return folder


def trainer_console(
    steps: int, seconds: float, *, batch: int, devices: int = 1, planned: int = 1000, lines: str = "", tokens: int = 0
) -> str:
    """Write the output of Hugging Face's Trainer. `tokens` are those of a sample, as TRL counts them."""
    micro = batch // devices
    text = [
        "***** Running training *****",
        f"  Num examples = {planned * batch:,}",
        "  Num Epochs = 1",
        f"  Instantaneous batch size per device = {micro}",
        f"  Total train batch size (w. parallel, distributed & accumulation) = {batch}",
        "  Gradient Accumulation steps = 1",
        f"  Total optimization steps = {planned:,}",
        *([lines] if lines else []),
    ]
    for step in range(1, steps + 1):
        text.append(
            f"{100 * step // planned:3d}%|#  | {step}/{planned} [{clock(step * seconds)}<1:00:00, {seconds:.2f}s/it]"
        )
        counted = f"'num_tokens': {float(step * batch * tokens)}, " if tokens else ""
        text.append(f"{{'loss': 1.0, 'grad_norm': 0.5, 'learning_rate': 1e-05, {counted}'epoch': 0.1}}")
    return "\n".join(text) + "\n"


def megatron_line(step: int, ms: str) -> str:
    """Write a line of Megatron-LM of 24 samples a step."""
    return (
        f" [2026-09-23 15:00:01] iteration {step:8d}/      60 | consumed samples: {24 * step:12d} | elapsed time per "
        f"iteration (ms): {ms} | learning rate: 1.0E-05 | global batch size:    24 | lm loss: 2.0E+00 |"
    )


def nanochat(steps: int, *, rate: str) -> str:
    """Write nanochat's lines of 4 s a step, with a rate in tokens/s."""
    return "".join(
        f"step {step:05d}/21400 (0.47%) | loss: 3.0 | lrm: 1.00 | dt: 4000.00ms | tok/sec: {rate} | mfu: 20.00 | "
        f"total time: {4 * step / 60:.2f}m\n"
        for step in range(100, 100 + steps)
    )
