"""Arguments of Hugging Face's Trainer (TRL), and of the trainers built on it: axolotl, LLaMA-Factory, ms-swift."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.keys import (
    OBJECTIVE_KEYS,
    Keys,
    offload_of_file_name,
    optimizer_of,
    precision_of,
    stated_objective,
    strategy_of_file_name,
    strategy_of_stage,
)

HF_MODELS = ("model_name_or_path", "model_name", "pretrained_model_name_or_path", "model_id")
HF_MARKS = (
    "per_device_train_batch_size", "gradient_accumulation_steps", "num_train_epochs", "max_seq_length", "use_peft",
    "gradient_checkpointing", "dataset_name",
)  # fmt: skip


def is_hf_trainer(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping holds arguments of the Trainer."""
    return any(name in data for name in HF_MODELS) and any(name in data for name in HF_MARKS)


def hf_trainer_facts(data: Mapping[str, Any]) -> Facts:
    """Return the facts in arguments. A training trains all weights by default."""
    keys = Keys(data)
    lora = keys.flag("use_peft", "use_lora") or None
    return shared_facts(keys, HF_MODELS, method="lora" if lora or keys.count("lora_r", "lora_rank") else "full")


def shared_facts(keys: Keys, models: tuple[str, ...], *, method: str) -> Facts:
    """Return the facts in the arguments that all trainers built on it share."""
    packing = keys.flag("packing", "sample_packing")
    liger = keys.flag("use_liger_kernel", "use_liger", "enable_liger_kernel", "liger_fused_linear_cross_entropy")
    deepspeed = keys.value("deepspeed")
    sharded = keys.value("fsdp", "fsdp_config", "fsdp_version")
    strategy = None
    if isinstance(deepspeed, str):
        strategy = strategy_of_file_name(deepspeed)
    elif isinstance(deepspeed, Mapping):
        stage = Keys(deepspeed).value("zero_optimization.stage")
        strategy = strategy_of_stage(stage if isinstance(stage, int) else None)
    elif sharded:
        strategy = "zero2" if "shard_grad_op" in str(sharded).casefold() else "fsdp2"
    offload = offload_of_file_name(deepspeed) if isinstance(deepspeed, str) else None
    if sharded and (
        keys.flag("fsdp_config.offload_params", "fsdp_config.fsdp_offload_params") or " offload" in sharded
    ):
        offload = "all"
    is_lora = method == "lora"
    bits = str(keys.value("quantization_bit", "quant_bits"))
    pure = keys.flag("pure_bf16")
    return Facts(
        model=keys.text(*models),
        micro_batch=keys.count("per_device_train_batch_size", "micro_batch_size", "train_micro_batch_size_per_gpu"),
        accumulation=keys.count("gradient_accumulation_steps"),
        global_batch=keys.count("global_batch_size", "total_train_batch_size"),
        seq_len=keys.count("max_seq_length", "max_length", "cutoff_len", "sequence_len", "model_max_length"),
        epochs=keys.number("num_train_epochs", "num_epochs", "epochs"),
        planned_steps=keys.count("max_steps"),
        precision="bf16" if pure else _precision(keys),
        weights="16bit" if pure else None,
        strategy=strategy,
        offload=offload,
        checkpointing=_checkpointing(keys),
        optimizer=optimizer_of(keys.text("optim", "optimizer")),
        method=method,
        lora_rank=keys.count("lora_r", "lora_rank", "peft_lora_r") if is_lora else None,
        lora_targets=keys.words("lora_target_modules", "lora_target", "target_modules") if is_lora else None,
        quantized=True if is_lora and (bits == "4" or keys.flag("load_in_4bit", "use_4bit")) else None,
        eight_bit=True if is_lora and (bits == "8" or keys.flag("load_in_8bit")) else None,
        objective=stated_objective({name: keys.text(name) for name in ("pref_loss", *OBJECTIVE_KEYS)}),
        group=keys.count("num_generations"),
        engine_share=keys.number("vllm_gpu_memory_utilization"),
        engine_sleep=_sleep_level(keys),
        padded=None if packing is None else not packing,
        compiled=keys.flag("torch_compile"),
        loss="chunked" if liger else None,
        kernels="fused" if liger else None,
        devices=keys.count("num_processes", "nproc_per_node", "world_size"),
        framework="HF Trainer",
    )


def _sleep_level(keys: Keys) -> int | None:
    """Return vLLM's sleep level: a number in ms-swift, a switch in TRL, which is read as level 2."""
    stated = keys.value("sleep_level")
    if stated is not None and str(stated) in ("0", "1", "2"):
        return int(stated)
    sleeps = keys.flag("vllm_enable_sleep_mode")
    return None if sleeps is None else 2 if sleeps else 0


def _precision(keys: Keys) -> str | None:
    for name in ("bf16", "fp16", "tf32"):
        if keys.flag(name):
            return name
    return precision_of(keys.text("mixed_precision", "torch_dtype", "dtype"))


def _checkpointing(keys: Keys) -> str | None:
    if keys.flag("disable_gradient_checkpointing"):
        return "none"
    stated = keys.value("gradient_checkpointing", "activation_checkpointing")
    if stated is None:
        return None
    on = keys.flag("gradient_checkpointing", "activation_checkpointing")
    return "none" if on is False else "full"


AXOLOTL_MARKS = ("sequence_len", "micro_batch_size", "adapter", "datasets", "load_in_4bit", "sample_packing")
DEFAULT_BATCH = 1


def is_axolotl(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a configuration of axolotl."""
    return "base_model" in data and any(name in data for name in AXOLOTL_MARKS)


def axolotl_facts(data: Mapping[str, Any]) -> Facts:
    """Return the facts in a configuration. Without an adapter all weights are trained."""
    keys = Keys(data)
    adapter = (keys.text("adapter") or "").casefold()
    found = shared_facts(keys, ("base_model",), method="lora" if adapter in ("lora", "qlora") else "full")
    every = keys.flag("lora_target_linear") or None
    return replace(
        found,
        quantized=True if adapter == "qlora" else found.quantized,
        eight_bit=None if adapter == "qlora" else found.eight_bit,
        lora_targets=("all",) if every else found.lora_targets,
        # axolotl's "auto" takes bf16 where the card has it
        precision="bf16" if str(data.get("bf16")).casefold() == "auto" else found.precision,
        micro_batch=found.micro_batch or DEFAULT_BATCH,
    )


LLAMA_FACTORY_MARKS = ("finetuning_type", "cutoff_len", "template", "stage", "lora_target", "dataset_dir")
DEFAULT_RANK = 8
DEFAULT_LENGTH = 2048


def is_llama_factory(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a configuration of LLaMA-Factory."""
    return "model_name_or_path" in data and any(name in data for name in LLAMA_FACTORY_MARKS)


def llama_factory_facts(data: Mapping[str, Any]) -> Facts:
    """Return the facts in a configuration. The default `finetuning_type` is LoRA of rank 8."""
    keys = Keys(data)
    kind = (keys.text("finetuning_type") or "lora").casefold()
    found = shared_facts(keys, ("model_name_or_path",), method="lora" if kind in ("lora", "oft") else "full")
    recomputes = keys.flag("disable_gradient_checkpointing") is not True
    return replace(
        _with_default_adapters(found, ("all",)),
        checkpointing="full" if recomputes else "none",
        seq_len=found.seq_len or DEFAULT_LENGTH,
    )


MS_SWIFT_MARKS = ("train_type", "tuner_type", "sft_type", "swift_version", "target_modules", "tuner_backend")
MS_SWIFT_MODELS = ("model", "model_id_or_path", "model_type")


def is_ms_swift(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is arguments of ms-swift."""
    return isinstance(data.get("model", data.get("model_id_or_path")), str) and any(
        name in data for name in MS_SWIFT_MARKS
    )


def ms_swift_facts(data: Mapping[str, Any]) -> Facts:
    """Return the facts in arguments. The default `train_type` is LoRA of rank 8 on all linear maps."""
    keys = Keys(data)
    kind = (keys.text("train_type", "tuner_type", "sft_type") or "lora").casefold()
    found = shared_facts(keys, MS_SWIFT_MODELS, method="full" if kind == "full" else "lora")
    return replace(_with_default_adapters(found, ("all-linear",)), checkpointing=found.checkpointing or "full")


def _with_default_adapters(found: Facts, targets: tuple[str, ...]) -> Facts:
    """Return the facts with rank and targets of a LoRA that states none."""
    if found.method != "lora":
        return found
    return replace(found, lora_rank=found.lora_rank or DEFAULT_RANK, lora_targets=found.lora_targets or targets)
