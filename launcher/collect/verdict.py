"""Reasons to doubt a run: every check in plain words, with the failing number and its limit."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from planner.launcher.collect.device_use import host_bound, room_for_more
from planner.launcher.collect.expectations import NOT_KNOWN, Expected, memory_facts, mfu_by_name
from planner.model.evidence.held_clocks import clock_problems
from planner.model.evidence.node_shapes import NodeResult
from planner.model.evidence.run import Probe
from planner.workloads.measure.device_load import MAX_BUSY_SHARE, MAX_CONTEXT_GIB

MIN_WINDOW_S = 60.0
MIN_STEPS = 50
MAX_STEP_CV = 0.03
MAX_RESTART_CV = 0.03
MAX_DRIFT = 0.02
MIN_DTYPE_SHARE = 0.95
FLOAT8_TO_BF16 = 2.0
"""Ratio of the rates of 8-bit and 16-bit products, on every card that has both."""
MIN_FLOAT8_SHARE = 0.5
"""Share of the products that must be in float8.

Attention and the head stay in bf16: float8 gets 72 % in Llama 3 8B at 8,192 tokens.
"""
MAX_PADDING_SHARE = 0.01
MAX_DATA_WAIT_SHARE = 0.02
MAX_STRAGGLER_RATIO = 1.05
MAX_OWN_WORK_RATIO = 1.10
"""Limit on how much slower one rank does a short piece of work alone. It is wider than that on whole steps, because the
work takes only milliseconds."""
MAX_LOSS_RISE = 1.20
"""Limit on a loss relative to an earlier one, within the first ten steps."""
MATMUL_CEILING_TOLERANCE = 1.02
CAUSAL_SHARE_LEFT_OUT = 0.5
"""Share of attention that a fused causal kernel may skip, although `matmul_flops_by_dtype` counts it in full."""

DRIFT_MIN_STEPS = 9
"""Minimum steps for a drift check. Thirds of fewer than three steps say nothing."""

LEAST_MEMORY_OF_ESTIMATE, MOST_MEMORY_OF_ESTIMATE = 0.80, 1.25

COMPUTED_IN = {"fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp16": "float16", "float8": "float8"}
"""Start of torch's name for the products' type. TF32 is float32 with its own switch; float8 has two (e4m3, e5m2)."""


def problems_of(result: NodeResult, probes: Sequence[Probe] = (), expected: Expected = NOT_KNOWN) -> list[str]:
    """List the reasons to doubt one start of a benchmark; empty if there are none.

    Source of the limits: the measurement protocol in workloads/README.md.
    """
    return [
        *_unsteady(result),
        *host_bound(result),
        *_rising_loss(result),
        *wrong_speed(result, expected),
        *_waiting(result),
        *_disturbed(result),
        *clock_problems((result.telemetry or {}).get("devices", []), result.environment.get("accelerator_name")),
        *_too_slow(result, expected),
        *_not_the_estimated_memory(result, expected),
        *room_for_more(result, probes),
    ]


def wrong_speed(result: NodeResult, expected: Expected = NOT_KNOWN) -> list[str]:
    """List the problems that make the speed meaningless: another precision, count or training than stated."""
    return [
        *_wrong_precision(result),
        *_wrong_counts(result),
        *_impossible(result),
        *_off_the_reference(result, expected),
    ]


def restart_problems(samples_per_s: Sequence[float]) -> list[str]:
    """List the reasons to doubt the starts of one benchmark taken together."""
    if len(samples_per_s) < 2:
        return []
    cv = statistics.stdev(samples_per_s) / statistics.mean(samples_per_s)
    if cv <= MAX_RESTART_CV:
        return []
    return [f"the starts differ by {cv:.1%} (coefficient of variation; up to {MAX_RESTART_CV:.0%} is steady)"]


def _unsteady(result: NodeResult) -> list[str]:
    problems = []
    if not result.warmup_steady:
        problems.append("the warm-up never became steady, so the speed may still be changing")
    if result.window_s < MIN_WINDOW_S or result.steps < MIN_STEPS:
        problems.append(
            f"the window is too short: {result.window_s:.3g} s and {result.steps} steps; "
            f"{MIN_WINDOW_S:.0f} s and {MIN_STEPS} steps are the least"
        )
    seconds = result.step_seconds
    if len(seconds) > 1:
        cv = statistics.stdev(seconds) / statistics.mean(seconds)
        if cv > MAX_STEP_CV and not host_bound(result):
            problems.append(
                f"step times scatter by {cv:.0%} (coefficient of variation; up to {MAX_STEP_CV:.0%} is steady)"
            )
    if len(seconds) >= DRIFT_MIN_STEPS:
        third = len(seconds) // 3
        drift = statistics.mean(seconds[-third:]) / statistics.mean(seconds[:third]) - 1
        if abs(drift) > MAX_DRIFT:
            problems.append(
                f"steps became {abs(drift):.1%} {'slower' if drift > 0 else 'faster'} from the first third of the "
                f"window to the last (up to {MAX_DRIFT:.0%} is steady)"
            )
    return problems


def _rising_loss(result: NodeResult) -> list[str]:
    """Return the first loss that is 20 % or more above an earlier one, within the first ten steps."""
    losses = [(loss, step) for step, loss in enumerate(result.losses_first10, start=1) if loss is not None]
    for place, (loss, step) in enumerate(losses):
        lowest, before = min(losses[: place + 1])
        if lowest > 0 and loss >= MAX_LOSS_RISE * lowest:
            return [
                f"the loss rose from {lowest:.3g} (step {before}) to {loss:.3g} (step {step}): the learning rate is "
                "too high for this network, or the data are wrong"
            ]
    return []


def _wrong_precision(result: NodeResult) -> list[str]:
    problems = []
    if None in result.losses_first10 or result.loss_last is None:
        problems.append("the loss is not finite: the training did not work")
    declared = str(result.spec["precision"])
    dtype = COMPUTED_IN[declared]
    least = MIN_FLOAT8_SHARE if declared == "float8" else MIN_DTYPE_SHARE
    flops = result.matmul_flops_by_dtype
    if sum(flops.values()) > 0:
        shares = {name: value / sum(flops.values()) for name, value in flops.items()}
        if sum(share for name, share in shares.items() if name.startswith(dtype)) < least:
            computed = ", ".join(f"{share:.0%} in {name}" for name, share in shares.items())
            problems.append(
                f"it was to compute in {declared}, but of the work of its matrix products it did {computed} "
                f"(at least {least:.0%} must be in {dtype})"
            )
    if declared == "fp32" and result.tf32_allowed:
        problems.append("it was to compute in fp32, but TF32 was switched on")
    if declared == "tf32" and not result.tf32_allowed:
        problems.append("it was to compute in TF32, but TF32 was switched off")
    return problems


def _wrong_counts(result: NodeResult) -> list[str]:
    if result.global_batch is None:
        return []
    if result.tokens is None or result.padding_tokens is None:
        return _wrong_image_count(result, images=result.global_batch * result.steps)
    places = result.global_batch * int(result.spec["seq_len"]) * result.steps
    if result.padding_tokens and result.tokens == places:
        return [f"{result.padding_tokens:,} tokens of padding are counted as tokens that were trained on"]
    problems = []
    if result.tokens + result.padding_tokens != places:
        problems.append(
            f"it counts {result.tokens + result.padding_tokens:,} tokens; global batch x sequence length x steps "
            f"is {places:,}"
        )
    padding_share = result.padding_tokens / places if places else 0.0
    if padding_share > MAX_PADDING_SHARE:
        problems.append(f"{padding_share:.0%} of each sample is padding, and samples per second count it as work")
    return problems


def _wrong_image_count(result: NodeResult, *, images: int) -> list[str]:
    if result.images == images:
        return []
    return [f"it counts {result.images or 0:,} images; global batch x steps is {images:,}"]


def _waiting(result: NodeResult) -> list[str]:
    problems = []
    if result.data_wait_s is not None and result.data_wait_s > MAX_DATA_WAIT_SHARE * result.window_s:
        problems.append(
            f"{result.data_wait_s / result.window_s:.1%} of the window went by waiting for data "
            f"(up to {MAX_DATA_WAIT_SHARE:.0%} is fine): the input was measured, not the machine"
        )
    problems += _straggler(result.rank_step_seconds, "for a step", MAX_STRAGGLER_RATIO)
    problems += _straggler(result.rank_work_seconds, "for the same work without waiting", MAX_OWN_WORK_RATIO)
    return problems


def _straggler(rank_seconds: Sequence[float], what: str, limit: float) -> list[str]:
    if len(rank_seconds) < 2 or min(rank_seconds) <= 0:
        return []
    slowest = max(rank_seconds)
    ratio = slowest / statistics.median_low(rank_seconds)
    if ratio <= limit:
        return []
    rank = rank_seconds.index(slowest)
    return [f"rank {rank} took {ratio:.2f} times as long as the middle one {what} (up to {limit:.2f} is even)"]


def _disturbed(result: NodeResult) -> list[str]:
    problems = []
    in_use_before_gib = result.memory.get("in_use_before_gib")
    if in_use_before_gib is not None and in_use_before_gib > MAX_CONTEXT_GIB:
        problems.append(
            f"{in_use_before_gib:.1f} GiB of a device were in use before the run began "
            f"(its own context takes under {MAX_CONTEXT_GIB} GiB): other processes were on it"
        )
    if result.busy_before_share is not None and result.busy_before_share > MAX_BUSY_SHARE:
        problems.append(
            f"a device was at work before the run began (kernels ran {result.busy_before_share:.0%} of the time): "
            "other processes were on it"
        )
    counts = [device.get("compute_processes") or 0 for device in (result.telemetry or {}).get("devices", [])]
    if max(counts, default=0) > 1:
        problems.append(
            f"{max(counts)} processes computed on device {counts.index(max(counts))} during the window: "
            "other processes were on it"
        )
    if result.disk_problem is not None:
        problems.append(f"its files could not be written ({result.disk_problem}): the record came by its output")
    retries = result.memory.get("allocator_retries")
    if retries:
        problems.append(
            f"the allocator ran out of memory and tried again {retries:.0f} times: take a smaller micro-batch"
        )
    return problems


def _impossible(result: NodeResult) -> list[str]:
    """Return a problem if a step multiplied faster than the fastest device did plain products just before.

    TFLOP/s = (counted matmul FLOPs of a step - half of its attention) / mean step seconds. A fused causal kernel may
    skip that half.
    """
    ceiling = max((result.calibration or {}).get("rank_matmul_tflop_per_s") or [0.0])
    flops = sum(result.matmul_flops_by_dtype.values())
    if not ceiling or not flops or not result.step_seconds:
        return []
    done = (flops - _skippable_flops(result)) / statistics.mean(result.step_seconds) / 1e12
    if result.spec["precision"] == "float8":
        ceiling *= FLOAT8_TO_BF16  # the plain products were in bf16
    if done <= ceiling * MATMUL_CEILING_TOLERANCE:
        return []
    return [
        f"its matrix products ran at {done:.4g} TFLOP/s, over the {ceiling:.4g} that the device reached in plain "
        "products just before: it cannot be true"
    ]


def _skippable_flops(result: NodeResult) -> float:
    """Return half of attention's products, 2 T^2 H Q each: 2 forward, 5 backward, 2 more if the block is recomputed."""
    if result.sdpa_backend in (None, "math") or result.tokens is None:  # attention over images is not causal
        return 0.0
    spec, architecture = result.spec, result.spec["architecture"]
    sequences = int(spec["micro_batch"]) * int(spec.get("grad_accumulation", 1)) * int(architecture["layers"])
    product = 2.0 * int(spec["seq_len"]) ** 2 * int(architecture["heads"]) * int(architecture["head_dim"])
    products = 9 if spec.get("checkpointing") == "full" else 7
    return CAUSAL_SHARE_LEFT_OUT * products * product * sequences


def _off_the_reference(result: NodeResult, expected: Expected) -> list[str]:
    """Return the first loss that this network, data and seed cannot give: something else was trained."""
    for step, (loss, reference) in enumerate(zip(result.losses_first10, expected.first_losses, strict=False), start=1):
        if loss is not None and abs(loss / reference - 1) > expected.loss_tolerance:
            return [
                f"the loss of step {step} is {loss:.4f}, and the reference {reference:.4f} "
                f"(up to {expected.loss_tolerance:.1%} apart is fine): it trained something else"
            ]
    return []


def _too_slow(result: NodeResult, expected: Expected) -> list[str]:
    """Return a problem if the MFU is below the workload's minimum, unless the device waits for the host."""
    shares = mfu_by_name(result, expected)
    mfu, causal = (shares.get(f"{convention}_of_nominal_peak") for convention in ("full_attention", "causal"))
    if mfu is None or expected.least_mfu is None or mfu >= expected.least_mfu or host_bound(result):
        return []
    beside = "" if causal is None else f"; causal {causal:.1%}"
    return [
        f"it reached {mfu:.1%} of the accelerator's nominal peak (MFU, full attention{beside}); this workload reaches "
        f"{100 * expected.least_mfu:.3g}% at least: something holds it back"
    ]


def _not_the_estimated_memory(result: NodeResult, expected: Expected) -> list[str]:
    facts = memory_facts(result, expected)
    ratio, estimate_gib = facts.get("used_of_estimate"), facts.get("estimate_gib")
    if ratio is None or estimate_gib is None or LEAST_MEMORY_OF_ESTIMATE <= ratio <= MOST_MEMORY_OF_ESTIMATE:
        return []
    return [
        f"its peak memory was {ratio * estimate_gib:.1f} GiB, {ratio:.2f} times the {estimate_gib:.1f} GiB estimated "
        f"({LEAST_MEMORY_OF_ESTIMATE:.2f} to {MOST_MEMORY_OF_ESTIMATE:.2f} is fine): it trained something else, or the "
        "estimate is wrong"
    ]
