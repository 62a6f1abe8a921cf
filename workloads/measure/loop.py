"""Training loop: observed step, warm-up until steady, window, losses and memory. It works for any strategy.

Source of the rules: the measurement protocol in workloads/README.md.
"""

from __future__ import annotations

import contextlib
import gc
import math
import resource
import sys
import time
from typing import Callable, Dict, Iterator, List, Optional, Union

import torch
from torch import Tensor

from ..contract import failure
from ..contract.result import MEASURE, WARMUP, Record
from ..contract.spec import FLOAT8_MULTIPLE, Spec
from ..inputs.tokens import Batch, Samples
from ..measure import telemetry, window
from ..measure.agreement import INTERRUPTED, RankAgreement
from ..measure.device_busy import busy_seconds
from ..measure.environment import GIB
from ..measure.op_recorder import OpRecorder
from ..measure.step_clock import StepClock, synchronise
from ..strategies import TrainingStrategy
from .device_busy import GRADIENT_BYTES, own_work_seconds, state_bytes

FIRST_LOSSES = 10


class TrainingLoop:
    """Training loop of one rank. Every rank runs the same number of steps, decided by rank 0."""

    def __init__(
        self,
        *,
        spec: Spec,
        strategy: TrainingStrategy,
        compile_model: Optional[Callable[[], None]],
        data: Samples,
        agreement: RankAgreement,
        record: Record,
        watch: Union[telemetry.Telemetry, telemetry.NoTelemetry],
        world_size: int,
        device: torch.device,
    ) -> None:
        self._spec, self._strategy, self._data = spec, strategy, data
        self._compile_model = compile_model
        self._agreement, self._record, self._device = agreement, record, device
        self._clock = StepClock(device)
        self._watch = watch
        self._step_units = spec.global_batch(world_size) * spec.units_per_sample
        self._world_padding: List[float] = []
        self._data_wait_s = 0.0
        self._first_micro_batches: Optional[List[Batch]] = None
        self._steps_run = 0  # of all phases
        self._steps_on_record = 0  # of all phases, whose times are in the record
        self._steps_read = 0  # of this phase, whose times were read from the clock
        self._first_losses: List[Tensor] = []
        self._last_loss: Optional[Tensor] = None

    def run(self) -> str:
        """Run all phases and return the exit reason. Facts go to the record as they become known."""
        self._world_padding = self._agreement.sum_over_ranks([float(count) for count in self._data.padding_tokens()])
        self._observed_step()
        if self._compile_model is not None:
            self._log(WARMUP, [self._compiled_step(self._compile_model)])
        interrupted = self._warm_up()
        self._note_losses()
        if interrupted:
            return failure.INTERRUPTED
        if not self._losses_are_finite():
            return failure.LOSS_NOT_FINITE
        interrupted = self._measure()
        self._note_losses()
        self._note_memory()
        if interrupted:
            return failure.INTERRUPTED
        if not self._losses_are_finite():
            return failure.LOSS_NOT_FINITE
        never_steady = self._spec.window.waits_until_steady and not self._record.document["warmup_steady"]
        return failure.NOT_STEADY if never_steady else failure.COMPLETED

    def note_device_busy(self) -> None:
        """Profile two more steps on every rank, and note how long rank 0's device works in one.

        Call it once the record is closed: a failure here must not cost the measurement. A run that
        does not wait until its speed is steady is a probe, and skips this.
        """
        if self._spec.window.waits_until_steady:
            start_s = time.perf_counter()
            busy_s = busy_seconds(self._step, self._device, profiles=self._agreement.is_first_rank)
            self._record.document["device_busy_seconds"] = busy_s
            if self._device.type == "cuda":  # on a CPU nothing is profiled
                self._record.phases["profile_s"] = time.perf_counter() - start_s

    def _observed_step(self) -> None:
        """Note which operators a step runs and what each rank holds, in a step that changes no weight.

        It is eager, because a compiled step hides its operators. It takes as few samples of every micro-batch as
        possible, so that its memory stays below that of the measured steps. It is not counted as a step, and its peak
        of memory is discarded.

        matmul FLOPs of a step = FLOPs seen x micro_batch / samples seen of each micro-batch
        """
        start_s = time.perf_counter()
        self._first_micro_batches = self._next_micro_batches()
        samples = observed_samples(self._spec)
        with OpRecorder() as recorder:
            self._strategy.backward(
                [(inputs[:samples], targets[:samples]) for inputs, targets in self._first_micro_batches]
            )
        gradient_bytes = state_bytes(self._strategy)[GRADIENT_BYTES]
        self._strategy.update_without_effect()
        synchronise(self._device)
        bytes_held = {**state_bytes(self._strategy), GRADIENT_BYTES: gradient_bytes}
        most = self._agreement.max_over_ranks(list(bytes_held.values()))
        scale = self._spec.micro_batch / samples
        self._record.document.update(
            state_bytes={kind: int(size) for kind, size in zip(bytes_held, most)},
            matmul_flops_by_dtype={name: flops * scale for name, flops in recorder.matmul_flops_by_dtype.items()},
            sdpa_backend=recorder.sdpa_backend,
        )
        if self._device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(self._device)
            torch.cuda.reset_accumulated_memory_stats(self._device)  # the count of the allocator's retries
        self._record.phases["first_step_s"] = time.perf_counter() - start_s

    def _compiled_step(self, compile_model: Callable[[], None]) -> float:
        """Return the seconds of the first training step, which compiles everything."""
        start_s = time.perf_counter()
        compile_model()
        self._step()
        synchronise(self._device)
        seconds = time.perf_counter() - start_s
        self._record.phases["compile_s"] = seconds
        return seconds

    def _warm_up(self) -> bool:
        """Run until steady or out of time. Return whether it was interrupted."""
        self._agreement.wait_for_all()
        start_s = time.perf_counter()
        self._clock.start()
        self._steps_read = 0

        def decide() -> int:
            seconds = self._read_clock(WARMUP)
            elapsed_s = time.perf_counter() - start_s
            return window.warmup_steps_ahead(
                self._spec.window, seconds, steps_started=self._steps_run, elapsed_s=elapsed_s
            )

        interrupted = self._run_blocks(decide)
        synchronise(self._device)
        seconds = self._read_clock(WARMUP, to_the_end=True)
        self._record.phases["warmup_s"] = time.perf_counter() - start_s
        steady = window.is_steady(seconds, self._spec.window)
        self._record.document.update(warmup_steps=self._steps_run, warmup_steady=steady)
        return interrupted

    def _measure(self) -> bool:
        """Run the window. Return whether it was interrupted. Wall time is that of the slowest rank."""

        def decide() -> int:
            seconds = self._read_clock(MEASURE)
            return window.measured_steps_ahead(self._spec.window, seconds, steps_started=self._clock.steps_started)

        with _without_garbage_collection():
            self._watch.start()
            self._agreement.wait_for_all()
            start_s = time.perf_counter()
            self._clock.start()
            self._steps_read = 0
            self._data_wait_s = 0.0
            interrupted = self._run_blocks(decide)
            synchronise(self._device)
            wall_s = time.perf_counter() - start_s
            seen = self._watch.stop()
        self._read_clock(MEASURE, to_the_end=True)
        nodes_seen = self._agreement.gather_from_nodes(seen)
        self._record.document["telemetry"] = telemetry.joined(nodes_seen) if nodes_seen else None
        rank_walls_s = self._agreement.gather_from_ranks(wall_s)
        steps = max(1, self._clock.steps_started)
        self._record.document.update(
            rank_work_seconds=self._agreement.gather_from_ranks(own_work_seconds(self._device)),
            rank_step_seconds=[rank_wall_s / steps for rank_wall_s in rank_walls_s],
            data_wait_s=self._agreement.max_over_ranks([self._data_wait_s])[0],
        )
        self._record.phases["measure_s"] = max(rank_walls_s)
        self._record.set_window(max(rank_walls_s))
        return interrupted

    def _run_blocks(self, decide: window.Decision) -> bool:
        while True:
            steps = self._agreement.steps_ahead(decide)
            if steps in (window.STOP, INTERRUPTED):
                return steps == INTERRUPTED
            for _ in range(steps):
                self._step()
                self._clock.step_done()

    def _step(self) -> None:
        self._step_done(self._strategy.step(self._next_micro_batches()))

    def _next_micro_batches(self) -> List[Batch]:
        waiting, self._first_micro_batches = self._first_micro_batches, None
        if waiting is not None:
            return waiting
        start_s = time.perf_counter()
        micro_batches = self._data.micro_batches(self._steps_run)
        self._data_wait_s += time.perf_counter() - start_s
        return micro_batches

    def _step_done(self, loss: Tensor) -> None:
        self._steps_run += 1
        self._last_loss = loss
        if len(self._first_losses) < FIRST_LOSSES:
            self._first_losses.append(loss)

    def _read_clock(self, phase: str, *, to_the_end: bool = False) -> List[float]:
        seconds = self._clock.read(to_the_end=to_the_end)
        self._log(phase, seconds[self._steps_read :])
        self._steps_read = len(seconds)
        return seconds

    def _log(self, phase: str, step_seconds: List[float]) -> None:
        steps = range(self._steps_on_record, self._steps_on_record + len(step_seconds))
        padding = [int(self._world_padding[step % len(self._world_padding)]) for step in steps]
        self._record.add_steps(phase, step_seconds, units=[self._step_units - count for count in padding])
        self._steps_on_record += len(step_seconds)

    def _note_losses(self) -> None:
        assert self._last_loss is not None
        losses = self._agreement.mean_over_ranks([loss.item() for loss in [*self._first_losses, self._last_loss]])
        self._losses = losses
        self._record.set_losses(losses[:-1], losses[-1])

    def _losses_are_finite(self) -> bool:
        return all(math.isfinite(loss) for loss in self._losses)

    def _note_memory(self) -> None:
        """Note the peak memory of the fullest rank since the observed step, together with what was noted before."""
        facts = {**self._record.document["memory"], **_device_memory(self._device)}
        self._record.document["memory"] = dict(zip(facts, self._agreement.max_over_ranks(list(facts.values()))))


def observed_samples(spec: Spec) -> int:
    """Return the fewest samples of a micro-batch that a forward pass accepts.

    Batch norm needs two images, float8 products need rows in multiples of 16, every chunk of the loss needs a token.
    """

    def enough(samples: int) -> bool:
        units = samples * spec.units_per_sample
        return (
            (not spec.architecture.is_convolutional or samples > 1)
            and (spec.precision != "float8" or units % FLOAT8_MULTIPLE == 0)
            and units >= spec.loss_chunks
        )

    return next((samples for samples in range(1, spec.micro_batch) if enough(samples)), spec.micro_batch)


def _device_memory(device: torch.device) -> Dict[str, float]:
    if device.type == "cuda":
        free_bytes, total_bytes = torch.cuda.mem_get_info(device)
        context_bytes = total_bytes - free_bytes - torch.cuda.memory_reserved(device)
        return {
            "context_gib": max(0, context_bytes) / GIB,
            "peak_allocated_gib": torch.cuda.max_memory_allocated(device) / GIB,
            "peak_reserved_gib": torch.cuda.max_memory_reserved(device) / GIB,
            "allocator_retries": float(torch.cuda.memory_stats(device)["num_alloc_retries"]),
            "device_gib": torch.cuda.get_device_properties(device).total_memory / GIB,
        }
    unit_bytes = 1 if sys.platform == "darwin" else 1024  # getrusage(2): KiB on Linux, bytes on macOS
    return {"peak_rss_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes / GIB}


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Collect now, then not at all: a collection in the window would slow one step for no reason of the node's."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()
