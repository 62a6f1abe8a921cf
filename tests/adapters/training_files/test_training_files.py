"""Files of trainers, each a case: what it states is read, and what it leaves out stays open."""

from __future__ import annotations

import pytest

from planner.adapters.training_files.reader import read_training
from planner.errors import InputError

CASES: dict[str, tuple[str, str, dict[str, object]]] = {
    "axolotl": (
        "train.yaml",
        """
base_model: NousResearch/Meta-Llama-3-8B
load_in_4bit: true
adapter: qlora
lora_r: 32
lora_target_linear: true
sequence_len: 4096
sample_packing: true
micro_batch_size: 2
gradient_accumulation_steps: 4
num_epochs: 3
optimizer: paged_adamw_8bit
bf16: auto
gradient_checkpointing: true
deepspeed: deepspeed_configs/zero2.json
""",
        {
            "model": "NousResearch/Meta-Llama-3-8B", "method": "lora", "quantized": True, "lora_rank": 32,
            "lora_targets": ("all",), "seq_len": 4096, "padded": False, "micro_batch": 2, "accumulation": 4,
            "epochs": 3.0, "optimizer": "paged-adamw-8bit", "precision": "bf16", "checkpointing": "full",
            "strategy": "zero2",
        },
    ),
    "axolotl of all weights": (
        "full.yml",
        "base_model: Qwen/Qwen2.5-7B\nsequence_len: 8192\nmicro_batch_size: 1\nfsdp:\n  - full_shard\nbf16: true\n",
        {"method": "full", "lora_rank": None, "quantized": None, "strategy": "fsdp2", "precision": "bf16"},
    ),
    "LLaMA-Factory": (
        "llama3_lora_sft.yaml",
        """
model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
stage: sft
do_train: true
finetuning_type: lora
lora_rank: 8
lora_target: all
dataset: identity,alpaca_en_demo
template: llama3
cutoff_len: 2048
per_device_train_batch_size: 1
gradient_accumulation_steps: 8
learning_rate: 1.0e-4
num_train_epochs: 3.0
bf16: true
""",
        {
            "model": "meta-llama/Meta-Llama-3-8B-Instruct", "method": "lora", "lora_rank": 8, "lora_targets": ("all",),
            "seq_len": 2048, "micro_batch": 1, "accumulation": 8, "epochs": 3.0, "precision": "bf16",
            "checkpointing": "full", "framework": "HF Trainer",
        },
    ),
    "LLaMA-Factory's LoRA of rank 8 where nothing is said": (
        "q.yaml",
        "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nquantization_bit: 4\nlora_target: q_proj,v_proj\n",
        {"method": "lora", "lora_rank": 8, "lora_targets": ("q_proj", "v_proj"), "quantized": True},
    ),
    "torchtune": (
        "8B_qlora.yaml",
        """
model:
  _component_: torchtune.models.llama3_1.qlora_llama3_1_8b
  lora_attn_modules: ['q_proj', 'v_proj', 'output_proj']
  apply_lora_to_mlp: True
  lora_rank: 64
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: 8192}
dataset: {_component_: torchtune.datasets.alpaca_cleaned_dataset, packed: True}
optimizer: {_component_: torch.optim.AdamW, fused: True}
loss: {_component_: torchtune.modules.loss.CEWithChunkedOutputLoss}
batch_size: 2
gradient_accumulation_steps: 16
epochs: 1
dtype: bf16
compile: True
enable_activation_checkpointing: True
""",
        {
            "model": "llama-3.1-8b", "method": "lora", "quantized": True, "lora_rank": 64, "micro_batch": 2,
            "lora_targets": ("q_proj", "v_proj", "output_proj", "gate_proj", "up_proj", "down_proj"),
            "accumulation": 16, "seq_len": 8192, "padded": False, "epochs": 1.0, "precision": "bf16", "compiled": True,
            "checkpointing": "full", "optimizer": "adamw", "loss": "chunked",
        },
    ),
    "ms-swift": (
        "args.json",
        '{"model": "Qwen/Qwen2.5-7B-Instruct", "train_type": "lora", "lora_rank": 8, "target_modules": ["all-linear"],'
        ' "torch_dtype": "bfloat16", "per_device_train_batch_size": 1, "gradient_accumulation_steps": 16,'
        ' "max_length": 2048, "num_train_epochs": 1, "deepspeed": "zero3"}',
        {
            "model": "Qwen/Qwen2.5-7B-Instruct", "method": "lora", "lora_rank": 8, "lora_targets": ("all-linear",),
            "precision": "bf16", "micro_batch": 1, "accumulation": 16, "seq_len": 2048, "epochs": 1.0,
            "strategy": "zero3",
        },
    ),
    "TRL": (
        "sft.yaml",
        "model_name_or_path: Qwen/Qwen2-0.5B\ndataset_name: trl-lib/Capybara\nper_device_train_batch_size: 2\n"
        "use_peft: true\nlora_r: 32\nlora_target_modules: [q_proj, v_proj]\npacking: true\nmax_length: 1024\n"
        "fp16: true\nuse_liger_kernel: true\noptim: adafactor\n",
        {
            "model": "Qwen/Qwen2-0.5B", "method": "lora", "lora_rank": 32, "lora_targets": ("q_proj", "v_proj"),
            "padded": False, "seq_len": 1024, "precision": "fp16", "loss": "chunked", "kernels": "fused",
            "optimizer": "adafactor", "micro_batch": 2,
        },
    ),
    "accelerate, FSDP": (
        "fsdp.yaml",
        "distributed_type: FSDP\nmixed_precision: bf16\nnum_machines: 2\nnum_processes: 16\n"
        "fsdp_config:\n  fsdp_sharding_strategy: SHARD_GRAD_OP\n  fsdp_offload_params: true\n",
        {"devices": 16, "nodes": 2, "strategy": "zero2", "precision": "bf16", "offload": "all"},
    ),
    "DeepSpeed": (
        "ds.json",
        '{"bf16": {"enabled": true}, "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}},'
        ' "train_micro_batch_size_per_gpu": "auto", "train_batch_size": 64}',
        {"strategy": "zero3", "offload": "optimizer", "precision": "bf16", "micro_batch": None, "global_batch": 64},
    ),
    "torchtitan": (
        "llama3_8b.toml",
        """
[model]
name = "llama3"
flavor = "8B"
[optimizer]
name = "AdamW"
[training]
local_batch_size = 1
seq_len = 8192
steps = 1000
[parallelism]
data_parallel_shard_degree = 8
tensor_parallel_degree = 2
[activation_checkpoint]
mode = "selective"
[compile]
enable = true
""",
        {
            "model": "llama-3.1-8b", "micro_batch": 1, "seq_len": 8192, "planned_steps": 1000, "strategy": "fsdp2",
            "checkpointing": "selective", "compiled": True, "devices": 16, "tensor": 2, "padded": False,
        },
    ),
    "Megatron-LM": (
        "pretrain.sh",
        """#!/bin/bash
GPUS_PER_NODE=8
SEQ=4096
torchrun --nproc_per_node=$GPUS_PER_NODE --nnodes 2 pretrain_gpt.py \\
    --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --group-query-attention --num-query-groups 8 \\
    --ffn-hidden-size 14336 --seq-length ${SEQ} --max-position-embeddings 4096 --swiglu --vocab-size 128256 \\
    --untie-embeddings-and-output-weights --micro-batch-size 1 --global-batch-size 128 --train-iters 1000 --bf16 \\
    --tensor-model-parallel-size 2 --use-distributed-optimizer --recompute-granularity selective
""",
        {
            "devices": 16, "nodes": 2, "micro_batch": 1, "global_batch": 128, "seq_len": 4096, "precision": "bf16",
            "strategy": "zero1", "checkpointing": "selective", "tensor": 2, "planned_steps": 1000,
        },
    ),
    "SkyPilot": (
        "task.yaml",
        "resources:\n  accelerators: A100-80GB:8\nnum_nodes: 2\nrun: |\n  accelerate launch --num_processes 16 sft.py"
        " --model_name_or_path meta-llama/Llama-3.1-8B --per_device_train_batch_size 4"
        " --gradient_accumulation_steps 2 --max_length 4096 --bf16\n",
        {
            "accelerator": "A100-80GB", "devices": 16, "nodes": 2, "model": "meta-llama/Llama-3.1-8B", "micro_batch": 4,
            "accumulation": 2, "seq_len": 4096, "precision": "bf16", "method": "full",
        },
    ),
    "Slurm": (
        "job.sbatch",
        "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gres=gpu:a100:8\n#SBATCH --time=24:00:00\n"
        "export MODEL=mistralai/Mistral-7B-v0.1\n"
        "srun torchrun --nnodes 4 --nproc_per_node 8 train.py --model_name_or_path $MODEL"
        " --per_device_train_batch_size 2 --max_seq_length 2048 --num_train_epochs 2 --deepspeed ds_z3.json\n",
        {
            "accelerator": "a100", "devices": 32, "nodes": 4, "model": "mistralai/Mistral-7B-v0.1", "micro_batch": 2,
            "seq_len": 2048, "epochs": 2.0, "strategy": "zero3",
        },
    ),
    "axolotl, LoRA beside weights at 8 bits, FSDP with offload": (
        "lora.yaml",
        "base_model: NousResearch/Llama-3.2-1B\nload_in_8bit: true\nadapter: lora\nlora_r: 16\n"
        "lora_target_modules: [q_proj, v_proj]\nsequence_len: 2048\nmicro_batch_size: 2\n"
        "fsdp_version: 2\nfsdp_config: {offload_params: true, reshard_after_forward: true}\n",
        {"eight_bit": True, "quantized": None, "strategy": "fsdp2", "offload": "all", "lora_rank": 16},
    ),
    "axolotl, preferences": (
        "dpo.yaml",
        "base_model: Qwen/Qwen2.5-7B\nrl: dpo\nsequence_len: 2048\nmicro_batch_size: 2\n",
        {"objective": "dpo"},
    ),
    "LLaMA-Factory in pure bf16 with a DeepSpeed file by name": (
        "full.yaml",
        "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: full\npure_bf16: true\ncutoff_len: 4096\n"
        "deepspeed: examples/deepspeed/ds_z3_offload_config.json\nenable_liger_kernel: true\npacking: true\n",
        {"precision": "bf16", "weights": "16bit", "strategy": "zero3", "offload": "all", "objective": None},
    ),
    "LLaMA-Factory, preferences": (
        "kto.yaml", "model_name_or_path: Qwen/Qwen2.5-7B\nstage: kto\ntemplate: qwen\n", {"objective": "kto"},
    ),
    "a command of TRL for rewards": (
        "grpo.sh",
        "accelerate launch --num_processes 4 grpo.py --model_name_or_path Qwen/Qwen2-0.5B --dataset_name a/b\n",
        {"objective": "grpo", "devices": 4},
    ),
    "TRL's engine on the devices that train": (
        "grpo.yaml",
        "model_name_or_path: Qwen/Qwen2.5-7B\nper_device_train_batch_size: 4\nuse_vllm: true\nvllm_mode: colocate\n"
        "vllm_gpu_memory_utilization: 0.4\nvllm_enable_sleep_mode: true\nnum_generations: 16\n",
        {"engine_share": 0.4, "engine_sleep": 2, "group": 16},
    ),
    "ms-swift's engine": (
        "grpo.sh",
        "swift rlhf --rlhf_type grpo --model Qwen/Qwen2.5-7B --train_type full --vllm_gpu_memory_utilization 0.5 "
        "--sleep_level 1 --num_generations 8\n",
        {"objective": "grpo", "engine_share": 0.5, "engine_sleep": 1, "group": 8},
    ),
    "verl's overrides": (
        "run.sh",
        "set -x\npython3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.max_prompt_length=512 \\\n"
        "    data.max_response_length=1024 actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct \\\n"
        "    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 actor_rollout_ref.rollout.n=5 \\\n"
        "    actor_rollout_ref.model.enable_gradient_checkpointing=True "
        "actor_rollout_ref.model.use_remove_padding=True actor_rollout_ref.rollout.gpu_memory_utilization=0.6 "
        "trainer.n_gpus_per_node=8 trainer.nnodes=2 \\\n"
        "    trainer.total_epochs=15 $@\n",
        {
            "objective": "grpo", "model": "Qwen/Qwen2.5-7B-Instruct", "seq_len": 1536, "micro_batch": 4, "group": 5,
            "engine_share": 0.6, "engine_sleep": None, "devices": 16, "nodes": 2, "checkpointing": "full",
            "padded": False, "strategy": "fsdp2", "epochs": 15,
        },
    ),
    "verl's YAML, with a critic and an engine that never sleeps": (
        "ppo.yaml",
        "actor_rollout_ref: {model: {path: Qwen/Qwen2.5-7B}, rollout: {free_cache_engine: false}}\n",
        {"objective": "ppo", "engine_sleep": 0, "group": None},
    ),
    "a script that removes files first": (
        "sft.sh",
        "rm -rf out && python sft.py --model_name_or_path Qwen/Qwen2-0.5B --dataset_name a/dpo-mix\n",
        {"objective": None, "model": "Qwen/Qwen2-0.5B"},
    ),
    "torchtune's loss of preferences": (
        "tune.yaml",
        "model: {_component_: torchtune.models.llama3_1.lora_llama3_1_8b, lora_rank: 8}\nbatch_size: 4\n"
        "loss: {_component_: torchtune.rlhf.loss.DPOLoss}\n",
        {"objective": "dpo"},
    ),
    "torchtitan in float8": (
        "titan.toml",
        '[model]\nname = "llama3"\nflavor = "405B"\nconverters = ["float8"]\n[training]\nlocal_batch_size = 2\n'
        "seq_len = 8192\n[parallelism]\ndata_parallel_shard_degree = -1\ntensor_parallel_degree = 8\n",
        {"precision": "float8", "devices": None, "tensor": 8, "micro_batch": 2},
    ),
    "DeepSpeed's launcher": (
        "run.sh",
        "deepspeed --include localhost:0,1,2,3 train.py --model_name_or_path gpt2 --per_device_train_batch_size 8\n",
        {"devices": 4, "micro_batch": 8},
    ),
    "ms-swift's command": (
        "swift.sh",
        "CUDA_VISIBLE_DEVICES=0,1 \\\nswift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora"
        " --target_modules all-linear --lora_rank 8 --per_device_train_batch_size 1 --max_length 2048\n",
        {"model": "Qwen/Qwen2.5-7B-Instruct", "devices": 2, "method": "lora", "lora_rank": 8, "seq_len": 2048},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_a_file_states_is_read(tmp_path, case):
    name, text, expected = CASES[case]
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    facts = read_training([path]).facts()
    assert {key: getattr(facts, key) for key in expected} == expected


def test_files_of_one_training_complete_each_other(tmp_path):
    (tmp_path / "train.yaml").write_text(CASES["LLaMA-Factory"][1], encoding="utf-8")
    (tmp_path / "accelerate.yaml").write_text(CASES["accelerate, FSDP"][1], encoding="utf-8")
    facts = read_training([tmp_path]).facts()
    assert (facts.micro_batch, facts.devices, facts.strategy) == (1, 16, "zero2")


def test_a_file_that_a_script_names_is_read_with_it(tmp_path):
    (tmp_path / "cfg.yaml").write_text(CASES["LLaMA-Factory"][1], encoding="utf-8")
    script = tmp_path / "job.sh"
    script.write_text("#SBATCH --gpus-per-node=4\nllamafactory-cli train cfg.yaml\n", encoding="utf-8")
    facts = read_training([script]).facts()
    assert (facts.model, facts.devices) == ("meta-llama/Meta-Llama-3-8B-Instruct", 4)


def test_a_contradiction_names_both_places(tmp_path):
    (tmp_path / "a.yaml").write_text(CASES["axolotl"][1], encoding="utf-8")
    (tmp_path / "b.json").write_text('{"zero_optimization": {"stage": 3}}', encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.yaml says zero2 and b\.json says zero3"):
        read_training([tmp_path])
