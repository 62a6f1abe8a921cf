"""Read the setup of a training from the record of a run."""

from __future__ import annotations

from dataclasses import replace

from planner.model.evidence.run import RunRecord
from planner.model.network.adapters import Adapters, FrozenFormat
from planner.model.network.trainer_memory import (
    NOTHING_STATED,
    Attention,
    Kernels,
    Loss,
    Offload,
    Optimizer,
    TrainerSettings,
    WeightFormat,
)
from planner.model.network.training_method import NEXT_TOKEN, MethodSettings
from planner.model.network.workload import Method, usual_frozen
from planner.scenario.training_setup import OWN_BENCHMARK, UNDER_ZERO, TrainingSetup


def setup_of_run(run: RunRecord) -> TrainingSetup:
    """Return the setup of a measured run. Fields that the record does not state are None.

    The planner's own benchmark (`method_version`) steps with AdamW on fp32 weights and offloads nothing. A record
    without a method is older than the training of adapters.
    """
    ours = run.method_version is not None and run.log is None
    method = Method(run.method or "full")
    settings = NOTHING_STATED
    if ours:
        settings = benchmark_settings(compiled=run.compiled, chunked=(run.loss_chunks or 1) > 1)
    elif run.compiled:
        settings = TrainerSettings(kernels=Kernels.FUSED)
    return TrainingSetup(
        workload=run.workload,
        network=run.architecture,
        seq_len=run.seq_len,
        method=method,
        objective=MethodSettings(method=run.objective),
        adapters=_adapters_of(run) if method is Method.LORA else None,
        precision=run.precision,
        micro_batch=run.micro_batch,
        global_batch=run.global_batch,
        checkpointing=run.checkpointing,
        strategy=run.strategy,
        framework=OWN_BENCHMARK if ours else (run.log.framework if run.log else None),
        compiled=run.compiled,
        settings=settings,
        data=run.data,
        channels_last=run.channels_last,
    )


def benchmark_settings(*, compiled: bool | None, chunked: bool) -> TrainerSettings:
    """Return the trainer's settings of a run of the planner's own benchmark. An old record may not state `compiled`."""
    loss = kernels = None
    if compiled is not None:
        kernels = Kernels.FUSED if compiled else Kernels.EAGER
        loss = Loss.CHUNKED if chunked else Loss.COMPILED if compiled else Loss.EAGER
    return TrainerSettings(
        loss=loss,
        kernels=kernels,
        optimizer=Optimizer.ADAMW,
        weights=WeightFormat.MIXED,
        offload=Offload.NONE,
        attention=Attention.SDPA,
    )


def setup_of_benchmark(setup: TrainingSetup) -> TrainingSetup:
    """Return the setup of the benchmark run that is nearest to a training: the same work, with the benchmark's
    settings.

    It compiles if fused kernels are asked for, and computes the loss in chunks if that is asked for. It trains only on
    the next token.
    """
    compiled = setup.settings.kernels is Kernels.FUSED or bool(setup.compiled)
    settings = benchmark_settings(compiled=compiled, chunked=setup.settings.loss is Loss.CHUNKED)
    return replace(
        setup, objective=NEXT_TOKEN, sequence_tokens=None, framework=OWN_BENCHMARK, compiled=compiled, settings=settings
    )


def _adapters_of(run: RunRecord) -> Adapters | None:
    """Return the adapters of a run; None if an older record does not describe them."""
    return None if run.adapters is None else run.adapters.model_copy(update={"frozen": frozen_of(run)})


def frozen_of(run: RunRecord) -> FrozenFormat | None:
    """Return the format of the frozen weights in a run with adapters; None means fp32.

    Older benchmarks do not state it. They left them in fp32 under ddp and fsdp2, even beside 16-bit products.
    """
    if run.adapters is not None and run.adapters.frozen is not None:
        return run.adapters.frozen
    return usual_frozen(run.precision) if run.strategy in UNDER_ZERO else None
