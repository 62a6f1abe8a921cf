"""Commands and configurations of trainers, with options from their documentation."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import NotModelledError
from planner.model.network.workload import Precision
from planner.use_cases.asking.pasted_command import Pasted, read_command
from planner.use_cases.catalogs import open_catalog

CATALOG = open_catalog()
TRL = """accelerate launch --num_processes 4 examples/scripts/sft.py \\
    --model_name_or_path meta-llama/Llama-3.1-8B-Instruct \\
    --num_train_epochs=2 --bf16 --use_peft --lora_r 16 --max_seq_length 4096"""
AXOLOTL = """base_model: Qwen/Qwen2.5-7B
load_in_4bit: true
adapter: lora
sequence_len: 2048
num_epochs: 3
bf16: auto
"""
LLAMA_FACTORY = """model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
finetuning_type: full
cutoff_len: 1024
num_train_epochs: 3.0
fp16: true
bf16: false
"""


@pytest.mark.parametrize(
    ("text", "network", "method", "precision", "epochs", "seq_len"),
    [
        pytest.param(TRL, "llama-3.1-8b", "lora", Precision.BF16, 2.0, 4096, id="TRL"),
        pytest.param(AXOLOTL, "qwen2.5-7b", "qlora", Precision.BF16, 3.0, 2048, id="axolotl"),
        pytest.param(LLAMA_FACTORY, "llama3-8b", "full", Precision.FP16, 3.0, 1024, id="LLaMA-Factory"),
        pytest.param("torchrun --nproc_per_node=8 train.py", None, None, None, None, None, id="torchrun"),
        pytest.param("python train.py --epochs -1 --num_gpus many", None, None, None, None, None, id="nonsense"),
        pytest.param("", None, None, None, None, None, id="nothing"),
        pytest.param("rm -rf / 'unclosed", None, None, None, None, None, id="no trainer's"),
    ],
)
def test_what_a_command_says(text, network, method, precision, epochs, seq_len) -> None:
    read = read_command(text, CATALOG)
    assert (read.network, read.method, read.precision) == (network, method, precision)
    assert (read.epochs, read.seq_len) == (epochs, seq_len)


@pytest.mark.parametrize(
    ("text", "objective"),
    [
        pytest.param("trl dpo --model_name_or_path Qwen/Qwen2-0.5B --dataset_name a/b", "dpo", id="TRL's subcommand"),
        pytest.param("model_name_or_path: Qwen/Qwen2-0.5B\nstage: rm\nfinetuning_type: lora", "reward", id="rewards"),
        pytest.param("base_model: Qwen/Qwen2-0.5B\nrl: ipo\nadapter: lora", "dpo", id="axolotl, the work of dpo"),
        pytest.param("model_name_or_path: Qwen/Qwen2-0.5B\nstage: sft", None, id="the next token"),
    ],
)
def test_preferences_are_not_read_as_a_plain_training(text: str, objective: str | None) -> None:
    assert read_command(text, CATALOG).objective == objective


def test_what_is_not_modelled_is_refused() -> None:
    with pytest.raises(NotModelledError, match=r"\(gkd\) are not modelled"):
        read_command("trl gkd --model_name_or_path Qwen/Qwen2-0.5B", CATALOG)


def test_what_was_understood_names_the_words() -> None:
    assert "lora_r 16" in read_command(TRL, CATALOG).said


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(NotModelledError):  # a text may hold the word of an objective
        assert isinstance(read_command(text, CATALOG), Pasted)
