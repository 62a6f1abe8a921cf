"""Makes real logs of trainers: LLaMA-Factory, ms-swift and axolotl train a tiny network on a CPU.

    python -m scripts.trainer_logs llamafactory swift axolotl

Each trainer has an environment of its own under build/trainers/ (minutes and 2 GB each, once). Only packages are
downloaded. The network and its tokenizer are made here. The trainer's logs go to tests/adapters/trainer_logs/logs/,
without lines that name this machine. A callback in the same process times each step and writes the seconds to
timed_steps/. Not part of `make test`.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any, NamedTuple

from scripts.inside_a_trainer import WORDS

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "tests/adapters/trainer_logs"
INSIDE = ROOT / "scripts/inside_a_trainer.py"
ANSWERS, STEPS = 1200, 80
TORCH = "torch==2.13.0"


class Trainer(NamedTuple):
    """Packages of a trainer, its command, and the log files to keep."""

    packages: tuple[str, ...]
    module: str
    arguments: tuple[str, ...]
    """Arguments of the command. `{work}` is the folder with network/, data.json and the configuration."""
    configuration: dict[str, Any]
    """Content of config.yaml."""
    kept: tuple[str, ...]
    python: str = ""
    """Interpreter, if the current one is too old."""


HF = {
    "per_device_train_batch_size": 4, "gradient_accumulation_steps": 2, "max_steps": STEPS, "logging_steps": 5,
    "learning_rate": 1e-3, "save_strategy": "no", "report_to": "none", "output_dir": "{work}/out",
}  # fmt: skip
TRAINERS = {
    "llamafactory": Trainer(
        ("llamafactory==0.9.5",), "llamafactory.cli", ("train", "{work}/config.yaml"),
        HF | {
            "stage": "sft", "do_train": True, "finetuning_type": "lora", "lora_rank": 8, "lora_target": "all",
            "model_name_or_path": "{work}/network", "dataset_dir": "{work}", "dataset": "words", "template": "alpaca",
            "cutoff_len": 128, "overwrite_cache": True, "preprocessing_num_workers": 1, "bf16": False, "use_cpu": True,
        },
        ("trainer_log.jsonl", "trainer_state.json", "all_results.json"),
    ),
    "swift": Trainer(
        ("ms-swift==4.6.0",), "swift.cli.sft",
        (
            "--model", "{work}/network", "--model_type", "llama", "--template", "dummy", "--dataset",
            "{work}/data.json", "--tuner_type", "lora", "--lora_rank", "8", "--target_modules", "all-linear",
            "--max_length", "128", "--torch_dtype", "float32", "--use_cpu", "true", "--split_dataset_ratio", "0",
            *(part for key, value in HF.items() for part in (f"--{key}", str(value))), "--add_version", "false",
            "--dataset_num_proc", "1", "--dataloader_num_workers", "0",
        ),
        {}, ("logging.jsonl",),
    ),
    "axolotl": Trainer(
        ("axolotl==0.21.0",), "axolotl.cli.train", ("{work}/config.yaml",),
        {
            "base_model": "{work}/network", "datasets": [{"path": "{work}/data.json", "ds_type": "json",
            "type": "alpaca"}], "sequence_len": 128, "pad_to_sequence_len": True, "micro_batch_size": 4,
            "gradient_accumulation_steps": 2, "max_steps": STEPS, "logging_steps": 5, "learning_rate": 1e-3,
            "adapter": "lora", "lora_r": 8, "lora_alpha": 16, "lora_target_linear": True, "optimizer": "adamw_torch",
            "lr_scheduler": "constant", "output_dir": "{work}/out", "save_strategy": "no", "bf16": False, "fp16": False,
            "dataset_processes": 1, "use_wandb": False, "lora_mlp_kernel": False, "lora_qkv_kernel": False,
            "lora_o_kernel": False,
        },
        (), "python3.12",
    ),
}  # fmt: skip


def environment(name: str) -> Path:
    """Make the environment of a trainer if it is missing, and return its interpreter."""
    folder, trainer = ROOT / "build/trainers" / name, TRAINERS[name]
    python, done = folder / "bin/python", folder / "installed"
    if not done.exists():
        if trainer.python:
            subprocess.run([trainer.python, "-m", "venv", folder], check=True)
        else:
            venv.create(folder, with_pip=True)
        install = ["-m", "pip", "install", "--no-input", "--quiet"]
        subprocess.run([python, *install, TORCH, *trainer.packages], check=True)
        # Their compiled parts belong to torch for CUDA, and text needs none of them.
        subprocess.run([python, "-m", "pip", "uninstall", "--yes", "--quiet", "torchvision", "torchaudio"], check=True)
        done.touch()
    return python


def write_data(work: Path) -> None:
    """Write samples of 20 to 100 words in the Alpaca format, and the index that LLaMA-Factory needs."""
    random_ = random.Random(0)
    rows = [
        {"instruction": "count", "input": "", "output": " ".join(random_.choices(WORDS, k=random_.randint(20, 100)))}
        for _ in range(ANSWERS)
    ]
    (work / "data.json").write_text(json.dumps(rows), encoding="utf-8")
    (work / "dataset_info.json").write_text(json.dumps({"words": {"file_name": "data.json"}}), encoding="utf-8")


def written_by(name: str) -> None:
    """Run a trainer and keep its logs."""
    python, trainer = environment(name), TRAINERS[name]
    work = ROOT / "build/trainers" / f"{name}-run"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    write_data(work)
    offline = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "WANDB_MODE": "disabled",
        "AXOLOTL_DO_NOT_TRACK": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    subprocess.run([python, INSIDE, "network", work], check=True, env=offline)

    def placed(value: Any) -> Any:
        return json.loads(json.dumps(value).replace("{work}", str(work)))

    (work / "config.yaml").write_text(json.dumps(placed(trainer.configuration)), encoding="utf-8")  # JSON is YAML
    timed = FIXTURES / "timed_steps" / f"{name}.csv"
    command = [python, INSIDE, "timed", timed, trainer.module, *placed(trainer.arguments)]
    done = subprocess.run(command, cwd=work, env=offline, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    (work / "console.log").write_bytes(done.stdout)
    if done.returncode:
        raise SystemExit(f"{name} ended with {done.returncode}: see {work / 'console.log'}")
    folder = FIXTURES / "logs" / name
    folder.mkdir(exist_ok=True)
    (folder / "console.log").write_text(_clean(done.stdout.decode(), work), encoding="utf-8")
    for kept in trainer.kept:
        text = next((work / "out").rglob(kept)).read_text(encoding="utf-8")
        (folder / kept).write_text(_clean(text, work), encoding="utf-8")


def _clean(text: str, work: Path) -> str:
    """Remove lines with a path of this machine or an address of the network."""
    mine = re.compile("|".join(map(re.escape, (str(work), str(ROOT), str(Path.home()), "/tmp", "://"))))
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not mine.search(line))


if __name__ == "__main__":
    for trainer_name in sys.argv[1:] or TRAINERS:
        written_by(trainer_name)
