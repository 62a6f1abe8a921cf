"""What the name of a framework says: its family, without release numbers."""

from __future__ import annotations

import re
from functools import cache

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.hardware.machines import Accelerator


def name_and_kernels(text: str) -> tuple[str, str]:
    """Divide what a plan says, "HF Trainer, liger" or "torchtitan with torch.compile", at its first comma or with."""
    cut = re.search(r",| (?=with(out)? )", text)
    return (text.strip(), "") if cut is None else (text[: cut.start()].strip(), text[cut.end() :].strip())


def planned_family(text: str) -> str:
    """Return the family of the framework that a plan names, without the kernels that stand beside it."""
    return framework_family(name_and_kernels(text)[0])


def other_maker(framework: str | None, accelerator: Accelerator) -> Reason | None:
    """Return why a framework does not run on an accelerator; None where nothing is known against it."""
    maker = ONLY_ON.get(planned_family(framework or ""), accelerator.vendor)
    if maker == accelerator.vendor:
        return None
    text = f"{framework} runs on accelerators of {maker} alone, and {accelerator.id} is one of {accelerator.vendor}"
    return Reason(code=ReasonCode.FRAMEWORK_NOT_SUPPORTED, text=text)


def makers_of(framework: str | None) -> tuple[str, ...]:
    """Return the makers on whose accelerators a framework runs as it is; without one, PyTorch.

    Trainium, TPU, Gaudi, Ascend and Max take a compiler or a version of PyTorch of their own.
    """
    family = planned_family(framework or "")
    if family in ONLY_ON:
        return (ONLY_ON[family],)
    return (*RUN_PYTORCH, "Google") if stack_of(family) == XLA else RUN_PYTORCH


def framework_family(name: str) -> str:
    """Return a framework's name without release numbers, with the trainer that stands over it left out."""
    said = name.casefold()
    for family, words in _FRAMEWORKS:
        if any(word in said for word in words):
            return family
    return re.sub(r"[^a-z]+", " ", said).strip() or "not stated"


USUAL_KERNELS = {
    "megatron": "TransformerEngine",
    "jax": "XLA",
    "nanogpt": "torch.compile",
    "torchtitan": "torch.compile",
    "llm.c": "CUDA/C, cuDNN",
}
"""Of frameworks whose published runs nearly all have them, where a plan names the framework alone."""
ALWAYS_COMPILED = ("jax", "nanogpt", "llm.c")
"""Those of them that had these kernels at all times, so that a table which says nothing of kernels means them."""
USUAL_CHECKPOINTING = {"torchtitan": "selective"}
"""What a framework's configuration does where nobody sets it (torchtitan's job configuration)."""
RUN_PYTORCH = ("NVIDIA", "AMD", "any")
"""Makers of accelerators on which PyTorch and its trainers run as they are."""
ONLY_ON = {"neuron": "AWS", "torch xla torchprime": "Google", "optimum habana": "Intel", "llm.c": "NVIDIA"}
"""Makers of the accelerators for which frameworks of one maker alone compile."""


OWN_FRAMEWORK = "training-planner"
"""Of a plan that names none: on accelerators for which XLA alone compiles, with that word behind it."""
PYTORCH, XLA = "PyTorch", "XLA"
_STACKS = (
    (XLA, ("jax", "xla", "neuron")),
    ("hand-written", ("llm.c", "surogate")),
    ("other graphs", ("tensorflow", "mindspore", "paddle", "oneflow")),
)
COMPILED_BY_XLA = ("TPU", "Neuron")
"""Architectures for which nothing else compiles."""


def needs_xla(accelerator: Accelerator) -> bool:
    """Whether an accelerator runs programs that XLA compiled, and nothing else."""
    return accelerator.architecture in COMPILED_BY_XLA


@cache
def stack_of(family: str) -> str:
    """Return what a family of frameworks is written in: PyTorch, unless its name says otherwise."""
    return next((stack for stack, words in _STACKS if any(word in family for word in words)), PYTORCH)


def unnamed_family(accelerator: Accelerator) -> str:
    """Return the family of a plan that names no framework: the mean of its stack there."""
    return f"{OWN_FRAMEWORK} xla" if needs_xla(accelerator) else OWN_FRAMEWORK


CALL_DEEPSPEED = ("deepspeed", "hf trainer", "lightning", "xtuner", OWN_FRAMEWORK)
"""Families in which DeepSpeed's engine does ZeRO; other families have a distributed optimizer of their own."""


def runs_deepspeed(framework: str | None, accelerator: Accelerator) -> bool:
    """Return whether DeepSpeed's engine does ZeRO where a plan names this framework, or none."""
    family = unnamed_family(accelerator) if framework is None else planned_family(framework)
    return family in CALL_DEEPSPEED or "deepspeed" in (framework or "").casefold()


HUGGING_FACE = ("hf trainer", "deepspeed")
"""Families that train Hugging Face's networks, with PEFT's adapters."""


_FRAMEWORKS = (
    ("neuron", ("neuron",)),
    ("automodel", ("automodel",)),
    ("megatron", ("megatron", "nemo", "gpt-neox", "mcore")),
    ("deepspeed", ("deepspeed",)),
    (
        "hf trainer",
        ("hf ", "trl", "peft", "sfttrainer", "transformers", "llama-factory", "accelerate", "axolotl", "hugging"),
    ),
    ("torchtune", ("torchtune",)),
    ("torchtitan", ("torchtitan",)),
    ("composer", ("composer", "llm-foundry")),
    ("deeplearningexamples", ("deeplearningexamples", "pytorch ngc")),
    ("tensorflow ngc", ("tensorflow",)),
    ("jax", ("jax", "maxtext", "paxml", "t5x", "levanter")),
    ("lightning", ("lightning", "lit-", "litgpt")),
    ("internevo", ("internevo",)),
    ("llm.c", ("llm.c", "llmq")),
    ("nanogpt", ("nanogpt", "nanochat")),
    ("pytorch fsdp", ("fsdp",)),
)
"""The first that fits: what compiles for an accelerator of its own before trainers, trainers before what they call."""
