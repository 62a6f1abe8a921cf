"""What would make an impossible run true: each with the figure at which it would, and the cheapest run that tells."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.audit.ceilings import ceiling_of
from planner.audit.rate_rules import ASSUMED_FORMAT, SHOWN, TOLD_APART, executed
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import Surviving
from planner.model.hardware.machines import Accelerator
from planner.model.hardware.matmul_ceiling import MatmulCeiling
from planner.speed.physics.accelerator_facts import emulates_bf16, peak_flops

FLAGS = {"fp32": "fp32", "tf32": "tf32", "bf16": "bf16", "16bit": "fp16", "fp8": "float8"}


def surviving(run: StatedRun, measured: Sequence[MatmulCeiling], *, forced: bool) -> tuple[Surviving, ...]:
    """Return every explanation that the record does not rule out; our own benchmark counts what it did."""
    if run.work is None or run.accelerator is None or run.samples_per_s is None:
        return ()
    ceiling = ceiling_of(run.accelerator, run.number_format or ASSUMED_FORMAT, measured)
    if ceiling is None:
        return ()
    done = executed(run)
    if forced:
        done = run.rate(run.work.least(run.length) + run.work.recomputed(run.length))
    over = max(done / ceiling.flops, 1.0)
    workload = run.record.workload if run.record else "WORKLOAD"
    bench = f"planner bench {workload}"
    listed = []
    if not run.counted_by_us:
        if run.work.of_an_image is None:
            tokens = run.work.tokens_within(run.work.least(run.length) / over)
            says = f"samples shorter than stated: at most about {tokens:,.0f} tokens on average"
            test = f"count tokens of 100 batches; or {bench} --seq-len {max(1, int(tokens))}"
            listed.append(Surviving(code="shorter_samples", says=says, test=test))
        devices = math.ceil(run.devices * over)
        says = f"more accelerators than stated: at least {devices} and not {run.devices}"
        listed.append(Surviving(code="more_accelerators", says=says, test="torch.distributed.get_world_size()"))
        says = f"a token costs less: a mixture of experts, or weights not trained, at most {1 / over:.0%} of the FLOPs"
        test = "print the model's class, and its parameters with requires_grad"
        listed.append(Surviving(code="less_work_per_token", says=says, test=test))
    says = f"a wrong throughput: at most {run.samples_per_s / over:.4g} samples/s and not {run.samples_per_s:.4g}"
    listed.append(Surviving(code="wrong_throughput", says=says, test=f"{bench} on one node, for two minutes"))
    fewer = [] if run.counted_by_us else _fewer_bits(run, run.accelerator, done)
    if fewer:
        said = "stated" if run.number_format else "usual"
        says = f"products in fewer bits than {said}: {' or '.join(SHOWN[name] for name in fewer)}"
        test = f"{bench} --precision {FLAGS[fewer[0]]} beside --precision {FLAGS[run.number_format or ASSUMED_FORMAT]}"
        listed.append(Surviving(code="lower_precision", says=says, test=test))
    return tuple(listed)


def _fewer_bits(run: StatedRun, accelerator: Accelerator, done: float) -> list[str]:
    """Return the faster formats in which the accelerator could do so much, of the most bits first."""
    stated = peak_flops(accelerator, run.number_format or ASSUMED_FORMAT) or 0.0
    peaks = {name: peak_flops(accelerator, name) or 0.0 for name in TOLD_APART}
    if run.number_format == "bf16" and emulates_bf16(accelerator):
        peaks[ASSUMED_FORMAT] = peak_flops(accelerator, ASSUMED_FORMAT) or 0.0
    return [name for name, peak in peaks.items() if peak > stated and peak >= done]
