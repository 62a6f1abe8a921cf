"""Explanations that would make an impossible run true: the necessary figure, and the cheapest run that tells."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.audit.memory_rules import least_gib
from planner.audit.rate_rules import ASSUMED_FORMAT, BEST_OF_CEILING, SHOWN, TOLD_APART, ceiling_of, executed
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import Finding, PossibleExplanation, Severity
from planner.model.hardware.machines import Accelerator, MatmulCeiling
from planner.speed.physics.accelerator_facts import emulates_bf16, peak_flops

FLAGS = {"fp32": "fp32", "tf32": "tf32", "bf16": "bf16", "16bit": "fp16", "fp8": "float8"}


ABOVE_CEILING = ("above_peak", "above_ceiling", "above_ceiling_recomputing")
OF_OTHER_FACTS = {
    "memory_above_capacity": (
        "leaner_states", "fewer bytes a parameter than usual: adapters, an optimizer in 8 bits, states on the host",
        "print the trainer's optimizer and offload, and torch.cuda.max_memory_reserved()",
    ),
    "node_holds_other_parts": (
        "other_machine", "another machine or another accelerator than stated", "nvidia-smi -L on every node",
    ),
    "format_not_in_hardware": (
        "other_format", "products in a format that the hardware has, or another accelerator",
        "nvidia-smi -L, and the type of the products in a profile of one step",
    ),
}  # fmt: skip
"""Explanations for what memory, machine or format rule out: code, words, and the cheapest test."""


def surviving(
    run: StatedRun, measured: Sequence[MatmulCeiling], findings: Sequence[Finding], *, forced: bool
) -> tuple[PossibleExplanation, ...]:
    """Return every explanation that the record does not rule out. Our own benchmark counts its own facts."""
    codes = {finding.code for finding in findings if finding.severity in (Severity.IMPOSSIBLE, Severity.DOUBTFUL)}
    listed = []
    if codes.intersection((*ABOVE_CEILING, "above_best_published")):
        listed += _rate_explanations(run, measured, forced=forced, published=not codes.intersection(ABOVE_CEILING))
    heavy = [finding for finding in findings if finding.code in OF_OTHER_FACTS]
    reported = any(fact.name == "reported" for finding in heavy for fact in finding.evidence)
    for code, (name, says, test) in OF_OTHER_FACTS.items():
        if code in codes and not (reported and code == "memory_above_capacity"):
            listed.append(PossibleExplanation(code=name, says=says, test=test))
    if reported:
        says, test = "memory in another unit, of several devices, or of another accelerator", "nvidia-smi on every node"
        listed.append(PossibleExplanation(code="other_machine", says=says, test=test))
    elif "memory_above_capacity" in codes and (shorter := _shorter_batch(run)) is not None:
        listed.append(shorter)
    return tuple(listed)


def _rate_explanations(
    run: StatedRun, measured: Sequence[MatmulCeiling], *, forced: bool, published: bool
) -> list[PossibleExplanation]:
    """List what would bring the FLOP/s down to the measured ceiling (with `published`, to its best published share)."""
    if run.work is None or run.accelerator is None or run.samples_per_s is None:
        return []
    ceiling = ceiling_of(run.accelerator, run.number_format or ASSUMED_FORMAT, measured)
    if ceiling is None:
        return []
    done = executed(run)
    if forced:
        done = run.rate(run.work.least(run.length) + run.work.recomputed(run.length))
    over = max(done / (ceiling.flops * (BEST_OF_CEILING if published else 1.0)), 1.0)
    bench = f"planner bench {run.record.workload if run.record else 'WORKLOAD'}"
    listed = []
    if not run.counted_by_us:
        if run.work.of_an_image is None:
            tokens = run.work.tokens_within(run.work.least(run.length) / over)
            says = f"samples shorter than stated: at most about {tokens:,.0f} tokens on average"
            test = f"count tokens of 100 batches; or {bench} --seq-len {max(1, int(tokens))}"
            listed.append(PossibleExplanation(code="shorter_samples", says=says, test=test))
        devices = math.ceil(run.devices * over)
        says = f"more accelerators than stated: at least {devices} and not {run.devices}"
        test = "torch.distributed.get_world_size()"
        listed.append(PossibleExplanation(code="more_accelerators", says=says, test=test))
        says = f"a token costs less: a mixture of experts, or weights not trained, at most {1 / over:.0%} of the FLOPs"
        test = "print the model's class, and its parameters with requires_grad"
        listed.append(PossibleExplanation(code="less_work_per_token", says=says, test=test))
    says = f"a wrong throughput: at most {run.samples_per_s / over:.4g} samples/s and not {run.samples_per_s:.4g}"
    listed.append(PossibleExplanation(code="wrong_throughput", says=says, test=f"{bench} --repeats 3   (on one node)"))
    fewer = [] if run.counted_by_us else _fewer_bits(run, run.accelerator, done)
    if fewer:
        said = "stated" if run.number_format else "usual"
        says = f"products in fewer bits than {said}: {' or '.join(SHOWN[name] for name in fewer)}"
        test = f"{bench} --precision {FLAGS[fewer[0]]} beside --precision {FLAGS[run.number_format or ASSUMED_FORMAT]}"
        listed.append(PossibleExplanation(code="lower_precision", says=says, test=test))
    return listed


def _shorter_batch(run: StatedRun) -> PossibleExplanation | None:
    """Return the explanation of a smaller micro-batch or shorter samples, if one sample would fit."""
    if run.record is None or run.accelerator is None or run.accelerator.hbm_gib is None:
        return None
    sample_gib = least_gib(run, micro_batch=1)
    if sample_gib is None or sample_gib > run.accelerator.hbm_gib or (run.record.micro_batch or 1) == 1:
        return None
    says = (
        f"a smaller micro-batch than {run.record.micro_batch}, or shorter samples: one takes about {sample_gib:.0f} GiB"
    )
    test = f"planner bench {run.record.workload} --micro-batch auto"
    return PossibleExplanation(code="smaller_batch", says=says, test=test)


def _fewer_bits(run: StatedRun, accelerator: Accelerator, done: float) -> list[str]:
    """Return the faster formats in which the accelerator could do this much, those with the most bits first."""
    stated = peak_flops(accelerator, run.number_format or ASSUMED_FORMAT) or 0.0
    peaks = {name: peak_flops(accelerator, name) or 0.0 for name in TOLD_APART}
    if run.number_format == "bf16" and emulates_bf16(accelerator):
        peaks[ASSUMED_FORMAT] = peak_flops(accelerator, ASSUMED_FORMAT) or 0.0
    return [name for name, peak in peaks.items() if peak > stated and peak >= done]
