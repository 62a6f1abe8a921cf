"""What would make an impossible run true: each with the figure at which it would, and the cheapest run that tells."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.audit.ceilings import ceiling_of
from planner.audit.rate_rules import ASSUMED_FORMAT, executed
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import Surviving
from planner.model.hardware.matmul_ceiling import MatmulCeiling
from planner.speed.physics.accelerator_facts import peak_flops


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
    eight = peak_flops(run.accelerator, "fp8")
    sixteen = peak_flops(run.accelerator, ASSUMED_FORMAT)
    if run.number_format != "fp8" and not run.counted_by_us and eight and sixteen and eight > sixteen:
        says = "products in fewer bits than stated: float8"
        test = f"{bench} --precision float8 beside --precision bf16"
        listed.append(Surviving(code="lower_precision", says=says, test=test))
    return tuple(listed)
