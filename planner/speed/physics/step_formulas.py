"""Which formula computes each part of a step, in words, and where it stands."""

from __future__ import annotations

from typing import NamedTuple

COMPUTE, COMMUNICATION = "planner/speed/physics/compute.py", "planner/speed/physics/communication.py"
STEP = "planner/speed/physics/step.py"


class PartFormula(NamedTuple):
    """A formula as on paper, and the file and function that compute it."""

    formula: str
    where: str


FORMULAS = {
    "products": PartFormula(
        "layers x passes x (2 x tokens x weights + half a wave of each product) / (peak x share of the generation x "
        "power budget^gemm_power)",
        f"{COMPUTE}: layer_parts",
    ),
    "traffic": PartFormula(
        "layers x passes x bytes that products read and write x gemm_bytes / (bandwidth x hbm)",
        f"{COMPUTE}: layer_parts",
    ),
    "expansion": PartFormula("layers x 4-bit weights x expand / (bandwidth x hbm)", f"{COMPUTE}: layer_parts"),
    "attention": PartFormula(
        "layers x 4 x tokens x length x width in whole tiles of a head (half if causal) x 3.5 / (16-bit peak x "
        "attention)",
        f"{COMPUTE}: _attention_seconds",
    ),
    "elementwise": PartFormula(
        "layers x tokens x hidden state x bytes x elementwise / (bandwidth x hbm)", f"{COMPUTE}: layer_parts"
    ),
    "adapters": PartFormula(
        "layers x tokens x adapted inputs and outputs x (2 x rank x (3 + recomputed) / (16-bit peak x share of the "
        "generation) + adapter_bytes (x 2 at 32 bit; x elementwise_fused) x (1 + 0.33 recomputed) / (bandwidth x hbm))"
        ", and for DoRA and LoHa products of the maps' whole size, and form_bytes for each of their weights",
        f"{COMPUTE}: _adapter_seconds",
    ),
    "routing": PartFormula(
        "layers x tokens x experts of a token x hidden state x bytes x routing_passes x (1 + 0.33 recomputed) / "
        "(bandwidth x hbm)",
        f"{COMPUTE}: layer_parts",
    ),
    "tail": PartFormula("layers x tail_us: idle device time between kernels", f"{COMPUTE}: layer_parts"),
    "logits": PartFormula(
        "(2 x tokens x vocabulary x hidden x 3 / peak + tokens x vocabulary x logits bytes (x logits_fused) / "
        "bandwidth) x (unbalanced + (1 - unbalanced) / stages)",
        f"{COMPUTE}: head_seconds",
    ),
    "host": PartFormula(
        "(layers + 2) x host_us x age of the host (x host_sharded; more by host_experts, host_adapter and host_gather "
        "where there are such): what launching takes beyond the device's own time",
        f"{COMPUTE}: host_seconds",
    ),
    "split": PartFormula(
        "tensor, expert and pipeline traffic, and context traffic that attention does not hide: bytes / link rate + "
        "messages",
        f"{COMMUNICATION}: tensor_seconds, ...",
    ),
    "sharding": PartFormula(
        "2 all-gathers and a reduce-scatter of the weights, as far as compute does not hide them; none in a pipeline, "
        "which gathers once a step (gradients)",
        f"{COMMUNICATION}: sharded_seconds",
    ),
    "gradients": PartFormula(
        "2 x (n - 1) / n x bytes of what is trained / link rate, less what hides behind the backward pass",
        f"{COMMUNICATION}: gradient_seconds",
    ),
    "optimizer": PartFormula(
        "parameters held x share that is trained x optimizer bytes / (bandwidth x hbm)", f"{STEP}: _optimizer_seconds"
    ),
    "overhead": PartFormula("step_ms: loader, loop and optimizer on the host, once a step", f"{STEP}: step"),
    "waiting": PartFormula("jitter x log2(accelerators) of everything above: the slowest waits", f"{STEP}: step"),
}
IMAGE_STEP = "planner/speed/physics/image_step.py"
IMAGE_FORMULAS = {
    "products": PartFormula(
        "sum over operators: the slower of 2 x multiplications / (peak x share) and bytes / bandwidth, x passes",
        f"{IMAGE_STEP}: device_parts",
    ),
    "elementwise": PartFormula(
        "bytes of norms x norms + bytes of other operators x pointwise / (bandwidth x hbm)",
        f"{IMAGE_STEP}: device_parts",
    ),
    "attention": PartFormula(
        "2 x multiplications of all pairs x 3.5 / (16-bit peak x attention), or the matrix written out",
        f"{IMAGE_STEP}: _attention_seconds",
    ),
    "tail": PartFormula("kernels x tail_us: idle device time between kernels", f"{IMAGE_STEP}: device_parts"),
    "host": PartFormula(
        "kernels x kernel_us: what launching takes beyond the device's own time", f"{IMAGE_STEP}: image_step"
    ),
    "gradients": PartFormula(
        "2 x (n - 1) / n x gradient bytes / link rate, less what hides behind the backward pass",
        f"{IMAGE_STEP}: gradient_seconds",
    ),
    "optimizer": PartFormula("parameters x optimizer bytes / (bandwidth x hbm)", f"{IMAGE_STEP}: image_step"),
    "overhead": PartFormula("step_ms: loop and optimizer on the host, once a step", f"{IMAGE_STEP}: image_step"),
    "waiting": PartFormula("jitter x log2(accelerators): the slowest waits", f"{IMAGE_STEP}: image_step"),
    "input": PartFormula("what a loader of a known rate takes beyond the computing", f"{IMAGE_STEP}: image_step"),
}
ELSEWHERE = PartFormula("see docs/estimator.md", STEP)
