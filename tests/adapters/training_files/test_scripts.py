"""Scripts as people have them: arrays, variables in variables, sums, files with changes on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from planner.adapters.training_files.commands import MOST_FILLED, filled, statements
from planner.adapters.training_files.reader import read_training
from planner.errors import InputError

MEGATRON = """#!/bin/bash
# Trains a model of 7 billion parameters
GPUS_PER_NODE=8
NNODES=${NNODES:-2}
TOKENIZER=meta-llama/Llama-2-7b-hf
LAUNCH=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NNODES  # of eight cards
)
MODEL_ARGS=(
    --num-layers 32 --hidden-size 4096
    --ffn-hidden-size 11008 --num-attention-heads 32
    --seq-length 4096 --max-position-embeddings 4096
    --swiglu --position-embedding-type rope --untie-embeddings-and-output-weights
)
TRAIN_ARGS=(--micro-batch-size 1 --global-batch-size 256 --train-iters 5000 --bf16 --recompute-activations)
TRAIN_ARGS+=(--tensor-model-parallel-size 2 --use-distributed-optimizer)
torchrun ${LAUNCH[@]} pretrain_gpt.py "${MODEL_ARGS[@]}" ${TRAIN_ARGS[@]} --tokenizer-model $TOKENIZER
"""
MIXTURE = """
torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --swiglu \\
  --num-attention-heads 32 --group-query-attention --num-query-groups 8 --num-experts 8 --moe-router-topk 2 \\
  --micro-batch-size 1 --seq-length 4096 --vocab-size 32000 --untie-embeddings-and-output-weights --bf16
"""
SBATCH = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gres=gpu:h100:4
GPUS_PER_NODE=4
head=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
export LAUNCHER="accelerate launch \\
    --config_file zero3.yaml \\
    --num_processes $((SLURM_NNODES * GPUS_PER_NODE)) \\
    --main_process_ip $head "
export SCRIPT_ARGS="
    --model_name_or_path mistralai/Mistral-7B-v0.3
    --per_device_train_batch_size 4 --gradient_accumulation_steps 4
    --max_seq_length 2048 --num_train_epochs 2 --gradient_checkpointing --bf16"
CMD="$LAUNCHER sft.py $SCRIPT_ARGS"
srun $CMD
"""
ZERO3 = """
deepspeed_config: {zero_stage: 3, offload_optimizer_device: none, offload_param_device: none}
distributed_type: DEEPSPEED
mixed_precision: bf16
num_machines: 1
num_processes: 4
"""
TUNE = """
model: {_component_: torchtune.models.gemma.lora_gemma_7b, lora_attn_modules: [q_proj], lora_rank: 64}
tokenizer: {_component_: torchtune.models.gemma.gemma_tokenizer, max_seq_len: 2048}
batch_size: 4
gradient_accumulation_steps: 1
dtype: bf16
"""
SKY = """
resources: {accelerators: {A100-80GB: 8}}
num_nodes: 2
run: |
  tune run --nnodes $SKYPILOT_NUM_NODES --nproc_per_node $SKYPILOT_NUM_GPUS_PER_NODE lora_finetune_distributed \\
    --config gemma.yaml batch_size=8 gradient_accumulation_steps=2 model.lora_rank=16
"""
ACCELERATE_OF_FILE = """
deepspeed_config: {deepspeed_config_file: /home/me/configs/ds.json}
distributed_type: DEEPSPEED
num_machines: 1
num_processes: 8
"""
DS = '{"bf16": {"enabled": true}, "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}'
TRL = """
export MODEL_ID="Qwen/Qwen2.5-7B"
accelerate launch --config_file accelerate.yaml trl/scripts/sft.py --model_name_or_path "$MODEL_ID" --packing \\
  --per_device_train_batch_size 2 --gradient_accumulation_steps 8 --max_length 4096 --use_peft --lora_r 32 \\
  --lora_target_modules q_proj k_proj --output_dir "out/${MODEL_ID##*/}"
"""
SWIFT = """# 2 cards
nproc_per_node=2
CUDA_VISIBLE_DEVICES=0,1 \\
NPROC_PER_NODE=$nproc_per_node \\
swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora --quant_bits 4 \\
    --dataset 'alpaca#500' \\
              'self-cognition#500' \\
    --gradient_accumulation_steps $(expr 16 / $nproc_per_node) --max_length 2048 --deepspeed zero3_offload
"""
CASES: dict[str, tuple[dict[str, str], dict[str, object]]] = {
    "Megatron's arguments in arrays": (
        {"run.sh": MEGATRON},
        {"devices": 16, "nodes": 2, "global_batch": 256, "planned_steps": 5000, "tensor": 2, "strategy": "zero1",
         "checkpointing": "selective", "model": "meta-llama/Llama-2-7b-hf"},
    ),
    "Megatron's mixture of experts": ({"run.sh": MIXTURE}, {"devices": 8, "precision": "bf16", "micro_batch": 1}),
    "a job of Slurm whose command is put together": (
        {"job.sbatch": SBATCH, "zero3.yaml": ZERO3},  # the command's 8 processes, not the file's 4
        {"devices": 8, "nodes": 2, "accelerator": "h100", "model": "mistralai/Mistral-7B-v0.3", "micro_batch": 4,
         "accumulation": 4, "seq_len": 2048, "epochs": 2.0, "checkpointing": "full", "strategy": "zero3"},
    ),
    "a task of SkyPilot that changes values of a file": (
        {"task.yaml": SKY, "gemma.yaml": TUNE},
        {"devices": 16, "micro_batch": 8, "accumulation": 2, "lora_rank": 16, "model": "gemma-7b", "seq_len": 2048},
    ),
    "accelerate, DeepSpeed and TRL": (
        {"train.sh": TRL, "accelerate.yaml": ACCELERATE_OF_FILE, "ds.json": DS},
        {"devices": 8, "strategy": "zero2", "offload": "optimizer", "precision": "bf16", "lora_rank": 32,
         "lora_targets": ("q_proj", "k_proj"), "micro_batch": 2, "accumulation": 8, "padded": False,
         "model": "Qwen/Qwen2.5-7B"},
    ),
    "ms-swift with a quotient": (
        {"swift.sh": SWIFT},
        {"devices": 2, "accumulation": 8, "quantized": True, "strategy": "zero3", "offload": "all"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_script_is_read_with_the_files_that_it_names(tmp_path: Path, case: str) -> None:
    files, expected = CASES[case]
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    facts = read_training([tmp_path / next(iter(files))]).facts()
    assert {key: getattr(facts, key) for key in expected} == expected


def test_a_folder_and_its_script_are_one_training(tmp_path: Path) -> None:
    files, expected = CASES["a job of Slurm whose command is put together"]
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_training([tmp_path]).facts().devices == expected["devices"]


def test_accumulation_that_a_file_and_a_script_state_differently_is_refused(tmp_path: Path) -> None:
    """Hugging Face's Trainer refuses it too."""
    (tmp_path / "accelerate.yaml").write_text(
        ACCELERATE_OF_FILE.replace("{deepspeed", "{gradient_accumulation_steps: 4, deepspeed"), encoding="utf-8"
    )
    (tmp_path / "train.sh").write_text(TRL, encoding="utf-8")
    with pytest.raises(InputError, match=r"train\.sh says 8 and accelerate\.yaml says 4"):
        read_training([tmp_path / "train.sh"])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param('A="x\ny"\necho $A', "echo x y", id="quotes over two lines"),
        pytest.param("echo [${A}]", "echo []", id="a variable that is not known"),
        pytest.param("A=(one # two\n three)\nrun ${A[@]}", "run one three", id="an array with a comment"),
        pytest.param("A=1  # first\nB=${A:-2}${C:-3}\necho $B", "echo 13", id="defaults"),
        pytest.param("A=1\nA+=2\necho $A", "echo 1 2", id="more of a list"),
        pytest.param("echo $((8 * (2 + 1)))", "echo $((8 * (2 + 1)))", id="a sum that is not worked out"),
        pytest.param('N=${X:-"2"}\necho $((8*$N))', "echo 16", id="a default in quotes"),
        pytest.param("A=(\n --x 1\n# --y 2 \\\n)\necho ${A[@]}", "echo --x 1", id="a comment in an array"),
        pytest.param("echo $((1 / 0))", "echo $((1 / 0))", id="a division by 0"),
    ],
)
def test_shell_text_is_cut_as_the_shell_cuts_it(text: str, line: str) -> None:
    *_, last = statements(text, {})
    assert " ".join(last.split()) == line


def test_variables_that_name_each_other_do_not_grow_without_end() -> None:
    text = "A=0123456789\n" + 'A="$A$A"\n' * 40 + "run " + "$A" * 50_000
    *_, last = statements(text, {})
    assert len(last) <= len("run ") + MOST_FILLED


@given(some.text(alphabet="ab$(){}[]@\"'\\#=+-*/ \n0", max_size=200))
def test_any_text_is_cut(text: str) -> None:
    assert all(isinstance(line, str) for line in statements(text, {}))


@given(some.lists(some.tuples(some.sampled_from("+-*"), some.integers(0, 99)), max_size=5), some.integers(0, 99))
def test_a_sum_is_what_python_makes_of_it(terms: list[tuple[str, int]], first: int) -> None:
    text = str(first) + "".join(f" {sign} {number}" for sign, number in terms)
    assert filled(f"--n $(({text}))", {}) == f"--n {eval(text)}"
