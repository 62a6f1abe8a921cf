"""Bytes of training states on each device: weights, gradients, moments, and temporary tensors of the step."""

from __future__ import annotations

from typing import NamedTuple

from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import USUAL_TRAINER, Offload, TrainerMemory, WeightFormat
from planner.model.network.training_method import TrainingMethod
from planner.model.network.workload import WHOLE, Precision, Split, Strategy, usual_frozen
from planner.network.activations import bytes_per_number
from planner.network.families.known_families import family_of
from planner.network.flops import parameters, routed_parameters
from planner.network.lora_memory import SHARDS_WEIGHTS, adapter_parameters, frozen_bytes_per_parameter
from planner.network.method_work import frozen_copies, parameters_under
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.buffers import has_wide_stream
from planner.speed.memory.constants import complete_setup

DEEPSPEED = (Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3)
"""Strategies that keep 16-bit weights and gradients. Their fp32 copy of the weights counts with the moments."""
SHARDED = {
    Strategy.DDP: (),
    Strategy.ZERO1: ("moments", "step"),
    Strategy.ZERO2: ("gradients", "moments", "step"),
    Strategy.ZERO3: ("weights", "gradients", "moments", "step"),
    Strategy.FSDP2: ("weights", "gradients", "moments", "step"),
}
"""States that each strategy shards over the devices; every device holds the others whole. Source: Rajbhandari et al.
2020."""


FP32_COPY, UNFUSED_ADAM = 4.0, 8.0
"""Temporary bytes per parameter in DeepSpeed's step.

The first are gradients in fp32 (`single_grad_partition` in stage_1_and_2.py and stage3.py). The second are the root of
the second moment and its quotient (`denom`) in torch's unfused Adam. Two failure reports state the sizes: 12.94 GiB =
4 x 13.9e9 / 4 and 3.14 GiB = 4 x 6.74e9 / 8 (hiyouga/LlamaFactory issues 1158 and 1221).
"""
STEPPED_AT_ONCE = 1e9
"""Parameters that ZeRO-3 steps together: the default of DeepSpeed's `sub_group_size`."""


class States(NamedTuple):
    """Bytes of training states, of one parameter or of a whole device."""

    weights: float
    gradients: float
    moments: float
    """Bytes of the optimizer's moments, with DeepSpeed's fp32 copy of the weights."""
    step: float
    """Bytes of temporary tensors in the optimizer's step.

    Torch's unfused step copies the gradients. DeepSpeed's step has an fp32 copy of the gradients, and two more tensors
    of that size if it is unfused.
    """

    @property
    def after_backward(self) -> float:
        """Bytes at the end of a backward pass."""
        return self.weights + self.gradients + self.moments

    def times(self, factor: float) -> States:
        """Return the bytes multiplied by a factor, for example a number of parameters."""
        return States(*(factor * part for part in self))

    def plus(self, other: States) -> States:
        """Return the sum, state by state."""
        return States(*(first + second for first, second in zip(self, other, strict=True)))


def state_bytes_per_parameter(
    strategy: Strategy,
    *,
    devices: int,
    precision: Precision = Precision.BF16,
    trainer: TrainerMemory = USUAL_TRAINER,
) -> States:
    """Return the bytes of a trained parameter on one device of n.

    With mixed precision and Adam, after the backward pass: ddp 16; zero1 4 + 12/n; zero2 2 + 14/n; zero3 and fsdp2
    16/n. The same holds in fp32: weights 4, gradients 4, two moments 8. If everything is in 16 bit: 2 + 2 + 4. Source:
    Rajbhandari et al. 2020 (ZeRO), section 3. Paged moments count 0, because they leave a device that is short of
    memory (Dettmers et al. 2023, section 3).
    """
    whole = bytes_per_number(precision) == 4
    narrow = trainer.weights is WeightFormat.SIXTEEN_BIT and not whole
    moments = 0.0 if trainer.optimizer.is_paged else trainer.optimizer.moment_bytes(narrow=narrow)
    if narrow:
        weights = gradients = 2.0
    elif strategy in DEEPSPEED and not whole:
        weights, gradients, moments = 2.0, 2.0, moments + 4.0
    else:
        weights = gradients = 4.0
    step = 0.0 if trainer.fused_step else gradients
    if strategy in DEEPSPEED:
        step = 0.0
    if strategy in DEEPSPEED and trainer.copies_gradients and not whole:
        step = FP32_COPY if trainer.fused_step else FP32_COPY + UNFUSED_ADAM
    parts = {"weights": weights, "gradients": gradients, "moments": moments, "step": step}
    if trainer.step_in_backward:
        parts |= {"gradients": 0.0, "step": 0.0}
    if trainer.offload is not Offload.NONE:
        parts |= {"moments": 0.0, "step": 0.0}
    if trainer.offload is Offload.ALL:
        parts |= {"weights": 0.0, "gradients": 0.0}
    sharded = [name for name in SHARDED[strategy] if name != "gradients" or not trainer.whole_gradients]
    return States(**{name: size / devices if name in sharded else size for name, size in parts.items()})


def device_states(setup: TrainingSetup, *, devices: int, trainer: TrainerMemory = USUAL_TRAINER) -> States:
    """Return the bytes of all states on one device.

    With adapters, the network's weights are frozen and the adapters are trained in fp32.

    A reference model is a second set of frozen weights. It is sharded if the strategy shards weights, because trainers
    prepare it like the trained one (TRL's `prepare_deepspeed` and `prepare_fsdp`). The same holds for a reward model.
    PPO's critic is a second trained network; the optimizer steps one of the two at a time.

    A split network is divided by slices and stages first; the largest stage counts. Then ZeRO divides the states over
    the replicas, or over one group of hybrid sharding. Routed experts are divided by their own degree, and by ZeRO
    among the devices that hold the same experts. Source: Narayanan et al. 2021, section 2.2.
    """
    architecture, _, strategy, precision, _ = complete_setup(setup)
    adapters, split, objective = setup.adapters, setup.split, setup.objective
    if split != WHOLE:  # Megatron and similar trainers split networks, and their gradients are already in fp32
        trainer = trainer.model_copy(update={"copies_gradients": False})

    def per_parameter(devices: int) -> States:
        if adapters is None:
            return state_bytes_per_parameter(strategy, devices=devices, precision=precision, trainer=trainer)
        frozen = frozen_bytes_per_parameter(
            architecture,
            adapters,
            strategy=strategy,
            devices=devices,
            wide_rest=has_wide_stream(setup, trainer),
            double_quantized=trainer.double_quantized,
        )
        return States(0.0 if trainer.offload is Offload.ALL else frozen, 0.0, 0.0, 0.0)

    group = split.shards or devices // (split.tensor * split.pipeline)
    routed = routed_parameters(architecture)
    states = per_parameter(group).times(parameters_under(architecture, objective) - routed)
    if routed:
        states = states.plus(per_parameter(group // split.experts).times(routed / split.experts))
    if objective.method is TrainingMethod.PPO:  # add the critic, which takes turns with the policy
        states = states.plus(states._replace(step=0.0))
    if frozen_copies(objective):
        frozen = reference_bytes_per_parameter(
            architecture, strategy=strategy, devices=group, precision=precision, adapters=adapters
        )
        frozen_bytes = frozen * parameters(architecture) * frozen_copies(objective)
        states = states._replace(weights=states.weights + frozen_bytes)
    if adapters is not None:
        trained = adapter_state_bytes(strategy, devices=group, precision=precision, trainer=trainer)
        states = states.plus(trained.times(adapter_parameters(architecture, adapters)))
    states = states.times(share_of_layers(architecture, split))
    if strategy is Strategy.ZERO3:
        at_once = state_bytes_per_parameter(strategy, devices=1, precision=precision, trainer=trainer).step
        states = states._replace(step=min(states.step, at_once * STEPPED_AT_ONCE))
    return states


def reference_bytes_per_parameter(
    architecture: Architecture, *, strategy: Strategy, devices: int, precision: Precision, adapters: Adapters | None
) -> float:
    """Return the bytes of a reference model's parameter on one device of n.

    It is 2 in 16 bit and 4 otherwise, divided by n if the strategy shards weights. With adapters, the
    reference is stored like the frozen weights, for example in 4 bits with QLoRA.
    """
    if adapters is not None:
        return frozen_bytes_per_parameter(architecture, adapters, strategy=strategy, devices=devices)
    shards = devices if strategy in SHARDS_WEIGHTS else 1
    return (4.0 if usual_frozen(precision) is None else 2.0) / shards


def share_of_layers(network: Architecture, split: Split) -> float:
    """Return the share of the network on a device of the largest stage: one slice of the stage's layers."""
    if split.tensor * split.pipeline == 1:
        return 1.0
    return split.stage_share(sum(kind.layers for kind in family_of(network).layers)) / split.tensor


def adapter_state_bytes(strategy: Strategy, *, devices: int, precision: Precision, trainer: TrainerMemory) -> States:
    """Return the bytes of an adapter's parameter. It is kept in fp32 unless the trainer has `narrow_adapters`."""
    if trainer.narrow_adapters:
        return state_bytes_per_parameter(strategy, devices=devices, precision=precision, trainer=trainer)
    mixed = trainer.model_copy(update={"weights": WeightFormat.MIXED})
    return state_bytes_per_parameter(strategy, devices=devices, precision=precision, trainer=mixed)
