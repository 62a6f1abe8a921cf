"""One benchmark run from start to end: `torchrun --nproc_per_node=N -m workloads.train --spec S --out R`.

It sets up device, process group, model and strategy, and runs the loop. Every way of ending leaves a record:
result.json in place, and the same document as the last line of stdout.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Sequence

from .contract import failure
from .contract.failure import RunError
from .contract.result import Record
from .contract.spec import Spec, SpecError
from .contract.spec_reader import from_json, read_document
from .measure import environment, telemetry
from .measure.own_device import RankWorld, backend_of, prepared_device, timed_topology
from .node import BEGAN_VARIABLE
from .ranks.stop import StopRequest, follow_parent

if TYPE_CHECKING:
    import torch

    from .inputs.tokens import Samples
    from .measure.agreement import RankAgreement
    from .measure.loop import TrainingLoop
    from .models.base import Model
    from .strategies.precision import PrecisionContexts

STARTED_S = time.perf_counter()


def main(arguments: Optional[Sequence[str]] = None, *, hard_exit: bool = False) -> int:
    """Run one rank and return its exit code: 0 only if there is a measurement to read.

    `hard_exit` ends the process with that code, without taking anything down. Under torch 2.4 the destructor of a
    process group joins gloo's thread while that thread waits for the interpreter, and neither ever ends.
    """
    parser = argparse.ArgumentParser(prog="workloads.train", description="Run one training benchmark under torchrun.")
    parser.add_argument("--spec", type=Path, required=True, help="what to run: spec.json")
    parser.add_argument("--out", type=Path, required=True, help="where the result goes; steps go to <out>.steps.jsonl")
    options = parser.parse_args(arguments)
    world = RankWorld(os.environ)
    follow_parent()
    environment.use_expandable_segments(os.environ)
    if BEGAN_VARIABLE in os.environ:
        Path(os.environ[BEGAN_VARIABLE]).touch()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    failure.error_file(options.out, world.rank).unlink(missing_ok=True)
    record = Record(options.out, rank=world.rank, world_size=world.world_size, devices_per_node=world.local_world_size)

    def end(exit_reason: str, error: Optional[str] = None) -> int:
        written = record.close(exit_reason, error)
        if world.rank == 0:
            with contextlib.suppress(OSError):  # a reader that is gone must not keep this rank alive
                print(record.as_line(), flush=True)
        return failure.exit_code(written)

    def leave(exit_reason: str) -> int:
        code = end(exit_reason)
        if hard_exit:
            with contextlib.suppress(OSError):
                sys.stdout.flush()
            os._exit(code)
        return code

    stop = StopRequest(lambda why: end(failure.INTERRUPTED, why))
    stop.watch()
    try:
        return _run(options.spec, record, world, stop, leave)
    except BaseException as error:  # noqa: BLE001  (any error goes into the record)
        exit_reason = failure.reason_of(error)
        if stop.requested() or (exit_reason == failure.ERROR and stop.requested_soon()):
            exit_reason = failure.INTERRUPTED
        message = failure.describe(error)
        if world.rank != 0 and exit_reason != failure.INTERRUPTED:
            with contextlib.suppress(OSError):  # a full disk must not keep this rank alive
                failure.leave_reason(options.out, world.rank, exit_reason, message)
        # Hard exit: peers wait in a collective, and a process group cannot be taken down without them.
        os._exit(end(exit_reason, message))


def _run(spec_path: Path, record: Record, world: RankWorld, stop: StopRequest, leave: Callable[[str], int]) -> int:
    record.document["environment"] = environment.describe()
    spec = _read_spec(spec_path, record)
    record.document["global_batch"] = spec.global_batch(world.world_size)
    record.count_in(spec.unit)

    import torch.distributed as dist  # timed: it takes seconds on a cold disk, and they are billed

    record.phases["import_s"] = time.perf_counter() - STARTED_S

    start_s = time.perf_counter()
    phases_before = len(record.phases)
    device = prepared_device(spec, record, world)
    own_topology = timed_topology(record, device) if world.local_rank == 0 else None
    _join_process_group(spec, world, device)
    if spec.probe is not None:
        _probe(spec, record, world, device, stop, own_topology)
        record.phases["probe_s"] = time.perf_counter() - start_s
        record.close(failure.COMPLETED)
        dist.destroy_process_group()
        return leave(failure.COMPLETED)
    loop = _build_loop(spec, record, world, device, stop, own_topology)
    own_phases_s = sum(list(record.phases.values())[phases_before:])
    record.phases["init_s"] = time.perf_counter() - start_s - own_phases_s

    exit_reason = loop.run()

    record.close(exit_reason)  # closed first: neither profiler nor teardown must cost the result
    if exit_reason == failure.COMPLETED:
        loop.note_device_busy()
    start_s = time.perf_counter()
    dist.destroy_process_group()
    record.phases["teardown_s"] = time.perf_counter() - start_s
    return leave(exit_reason)  # from here, while model and process group still exist


def _join_process_group(spec: Spec, world: RankWorld, device: torch.device) -> None:
    """Wait for all ranks, at most the spec's `peer_timeout_s`, and make the process group."""
    import torch.distributed as dist

    from .ranks import rendezvous

    dist.init_process_group(
        backend_of(device),
        store=rendezvous.meet(rank=world.rank, world_size=world.world_size, timeout_s=spec.peer_timeout_s),
        rank=world.rank,
        world_size=world.world_size,
        device_id=device if device.type == "cuda" else None,
    )


def _agreement(world: RankWorld, device: torch.device, stop: StopRequest) -> RankAgreement:
    from .measure.agreement import RankAgreement

    return RankAgreement(
        rank=world.rank,
        world_size=world.world_size,
        ranks_per_node=world.local_world_size,
        device=device,
        stop_requested=stop.requested,
    )


def _probe(
    spec: Spec,
    record: Record,
    world: RankWorld,
    device: torch.device,
    stop: StopRequest,
    own_topology: Optional[Dict[str, Any]],
) -> None:
    """Measure kernels one by one instead of a training, and keep their figures in the record."""
    from .probe.probe import probe

    assert spec.probe is not None
    agreement = _agreement(world, device, stop)
    record.document["topology"] = agreement.gather_from_nodes(own_topology)
    record.document["probe"] = probe(
        agreement,
        telemetry.open_for(device.type, local_rank=world.local_rank, local_devices=world.local_world_size),
        rank=world.rank,
        world_size=world.world_size,
        device=device,
        folder=spec.probe.folder,
    )


def _build_loop(
    spec: Spec,
    record: Record,
    world: RankWorld,
    device: torch.device,
    stop: StopRequest,
    own_topology: Optional[Dict[str, Any]],
) -> TrainingLoop:
    """Set the precision, calibrate if asked, build model, strategy and data, and return the training loop."""
    from .measure.calibration import calibrate
    from .measure.loop import TrainingLoop
    from .probe.attention_trial import take_fastest_attention
    from .strategies import load
    from .strategies.precision import PrecisionContexts, tf32_allowed

    precision = PrecisionContexts(spec.precision, device)
    precision.set_global_flags()
    agreement = _agreement(world, device, stop)
    record.document["topology"] = agreement.gather_from_nodes(own_topology)
    if spec.calibrate:
        calibration = calibrate(precision, agreement, rank=world.rank, world_size=world.world_size, device=device)
        record.document["calibration"] = calibration
        record.phases["calibrate_s"] = calibration["seconds"]
    if spec.attention == "trial":
        take_fastest_attention(spec, precision, agreement, device)
    model = _build_model(spec, record, precision)
    record.document["tf32_allowed"] = tf32_allowed()
    return TrainingLoop(
        spec=spec,
        strategy=load(spec.strategy)(model, spec, precision, device),
        compile_model=model.compile_parts if spec.compile else None,
        data=_samples(spec, world, device),
        agreement=agreement,
        record=record,
        watch=telemetry.open_for(device.type, local_rank=world.local_rank, local_devices=world.local_world_size),
        world_size=world.world_size,
        device=device,
    )


def _build_model(spec: Spec, record: Record, precision: PrecisionContexts) -> Model:
    """Return the model on the meta device, its maps in float8 if asked. Its parameters go to the record."""
    from .models.lora import narrow_frozen
    from .models.registry import build_on_meta, count_parameters

    model = build_on_meta(spec)
    if spec.precision == "float8":
        from .models.float8 import use_float8

        use_float8(model)
    if spec.lora is not None and spec.lora.frozen is not None:
        assert precision.low_type is not None, "the spec refuses 16-bit weights beside fp32 products"
        narrow_frozen(model, precision.low_type)
    record.document.update(
        parameters=count_parameters(model), trained_parameters=count_parameters(model, trained_only=True)
    )
    return model


def _samples(spec: Spec, world: RankWorld, device: torch.device) -> Samples:
    """Return the input: token shards if the spec names some, otherwise synthetic tokens or images."""
    from .inputs.shard_data import ShardTokens
    from .inputs.tokens import SyntheticImages, SyntheticTokens

    synthetic = SyntheticTokens if spec.unit == "tokens" else SyntheticImages
    samples = synthetic if spec.data is None else ShardTokens
    return samples(spec, rank=world.rank, world_size=world.world_size, device=device)


def _read_spec(path: Path, record: Record) -> Spec:
    try:
        document = read_document(path)
        record.document["spec"] = document
        return from_json(document, where=path.name)
    except SpecError as error:
        raise RunError(failure.ERROR, str(error)) from error


if __name__ == "__main__":
    main(hard_exit=True)
