"""Meaning of a framework's name: its family, without release numbers."""

from __future__ import annotations

import re
from functools import cache

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.hardware.machines import Accelerator


def name_and_kernels(text: str) -> tuple[str, str]:
    """Divide a plan's text, "HF Trainer, liger" or "torchtitan with torch.compile", at its first comma or "with"."""
    cut = re.search(r",| (?=with(out)? )", text)
    return (text.strip(), "") if cut is None else (text[: cut.start()].strip(), text[cut.end() :].strip())


def planned_family(text: str) -> str:
    """Return the family of the framework that a plan names, without its kernels."""
    return framework_family(name_and_kernels(text)[0])


def other_maker(framework: str | None, accelerator: Accelerator) -> Reason | None:
    """Return why a framework does not run on an accelerator; None if it is not known to fail."""
    maker = ONLY_ON.get(planned_family(framework or ""), accelerator.vendor)
    if maker == accelerator.vendor:
        return None
    text = f"{framework} runs on accelerators of {maker} alone, and {accelerator.id} is one of {accelerator.vendor}"
    return Reason(code=ReasonCode.FRAMEWORK_NOT_SUPPORTED, text=text)


def makers_of(framework: str | None) -> tuple[str, ...]:
    """Return the makers on whose accelerators a framework runs unchanged; without a framework, PyTorch.

    Trainium, TPU, Gaudi, Ascend and Max need their own compiler or version of PyTorch.
    """
    family = planned_family(framework or "")
    if family in ONLY_ON:
        return (ONLY_ON[family],)
    return (*RUN_PYTORCH, "Google") if stack_of(family) == XLA else RUN_PYTORCH


def framework_family(name: str) -> str:
    """Return a framework's name without release numbers and without the trainer built on it."""
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
"""Kernels that nearly all published runs of a framework use. They count if a plan names only the framework."""
ALWAYS_COMPILED = ("jax", "nanogpt", "llm.c")
"""Frameworks that always had these kernels, so that a table without kernels means them."""
USUAL_CHECKPOINTING = {"torchtitan": "selective"}
"""Default checkpointing of frameworks (torchtitan's job configuration)."""
RUN_PYTORCH = ("NVIDIA", "AMD", "any")
"""Makers of accelerators on which PyTorch and its trainers run unchanged."""
ONLY_ON = {"neuron": "AWS", "torch xla torchprime": "Google", "optimum habana": "Intel", "llm.c": "NVIDIA"}
"""Maker of the accelerators that a single-maker framework compiles for."""


OWN_FRAMEWORK = "training-planner"
"""Framework of a plan that names none. On accelerators that need XLA, "xla" is appended."""
PYTORCH, XLA = "PyTorch", "XLA"
_STACKS = (
    (XLA, ("jax", "xla", "neuron")),
    ("hand-written", ("llm.c", "surogate")),
    ("other graphs", ("tensorflow", "mindspore", "paddle", "oneflow")),
)
COMPILED_BY_XLA = ("TPU", "Neuron")
"""Architectures that only XLA compiles for."""


def needs_xla(accelerator: Accelerator) -> bool:
    """Return whether an accelerator runs only programs that XLA compiled."""
    return accelerator.architecture in COMPILED_BY_XLA


@cache
def stack_of(family: str) -> str:
    """Return the software stack of a family of frameworks: PyTorch, unless its name says otherwise."""
    return next((stack for stack, words in _STACKS if any(word in family for word in words)), PYTORCH)


def unnamed_family(accelerator: Accelerator) -> str:
    """Return the family for a plan that names no framework: the mean of its stack on the accelerator."""
    return f"{OWN_FRAMEWORK} xla" if needs_xla(accelerator) else OWN_FRAMEWORK


CALL_DEEPSPEED = ("deepspeed", "hf trainer", "lightning", "xtuner", OWN_FRAMEWORK)
"""Families whose ZeRO is DeepSpeed's engine. Other families have their own distributed optimizer."""


def runs_deepspeed(framework: str | None, accelerator: Accelerator) -> bool:
    """Return whether DeepSpeed's engine does ZeRO if a plan names this framework, or none."""
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
"""Patterns in order: compilers for special accelerators before trainers, trainers before the libraries they call."""
