"""Every code of a finding or an explanation with its meaning (docs/cli.md lists them), and how findings are written."""

from __future__ import annotations

from planner.model.answer.audit import Evidence, Finding, Severity

CODES = {
    "above_peak": "executed FLOPs above the dense peak of the format stated, or of 16 bit where none is",
    "above_ceiling": "executed FLOPs above the fastest matrix products measured on the accelerator",
    "above_ceiling_recomputing": "the same, with the recomputation without which the batch does not fit",
    "above_best_published": "a larger share of the measured ceiling than any published training",
    "precision_ruled_out": "number formats whose peak is below the FLOPs that the run needs at least",
    "precision_open_below": "the sample length below which fp32 would be fast enough",
    "precision_not_stated": "no precision is stated; fp16=False does not mean fp32",
    "accelerator_not_known": "no catalog knows the accelerator",
    "machine_not_known": "no catalog knows the machine",
    "work_not_known": "network or sample length are not stated, so FLOPs are not known",
    "work_by_parameters": "the network is not recorded: its FLOPs were counted by the number of parameters",
    "memory_above_capacity": "the least memory that the training takes is more than the accelerator has",
    "memory_forces_recomputation": "the batch fits only if activations are recomputed",
    "memory_unlike_reported": "reported memory is far from what the training needs; time-busy is not occupancy",
    "batch_far_below_memory": "a batch at least twice as large would fit",
    "sharding_not_needed": "ZeRO or FSDP where plain data parallelism fits each device",
    "counts_disagree": "samples, tokens, steps, batches, time or throughput contradict each other",
    "fp32_where_bf16_exists": "fp32 or TF32 on an accelerator with 16-bit matrix hardware",
    "model_names_disagree": "the run names a dense network and a mixture of experts",
    "size_disagrees": "the parameters that are stated or named are not those of the network recorded",
    "precision_not_as_declared": "most products were computed in another format than the run declares",
    "mfu_disagrees": "the share of the peak that is stated is not the one that the throughput gives",
    "fabric_off": "the record says that EFA, InfiniBand or RDMA was off, or that NCCL took sockets",
    "fabric_not_recorded": "several nodes of AWS, and nothing says that EFA was used",
    "no_peer_to_peer": "accelerators without peer-to-peer: all traffic passes through the host",
    "short_window": "measured for seconds, so warm-up and noise weigh",
    "throttling": "by its telemetry a device was held back: a power limit below the factory one, heat, or low clocks",
    "drift": "steps of an imported log grow longer or shorter: throttling, other load, or samples in order of length",
    "log_doubt": "what the import of a log found wrong: totals alone, padding, stalls, a clock that goes back",
    "benchmark_wrong": "our own benchmark found that the run did not do what it states: its speed says nothing",
    "benchmark_doubt": "what our own benchmark found wrong: drift, throttling, scatter, waiting, other processes",
    "power_unlike_load": "the power reported fits no such load",
    "scaling_above_linear": "each accelerator does over 5 % more than each of fewer ones did",
    "scaling_below_link": "each accelerator does less than the slowest link that the machine can have explains",
    "slower_with_more": "more accelerators, less throughput: the link binds, or one of both runs was disturbed",
    "model_differs": "the runs trained different networks",
    "method_differs": "one run trained all weights, another adapters alone",
    "precision_differs": "the runs declare or measured different precisions",
    "strategy_differs": "the runs were spread differently",
    "recomputation_differs": "the runs recomputed activations differently",
    "data_differs": "one run read made-up samples, another real ones",
    "global_batch_differs": "the runs took different global batches",
    "setup_differs": "another field of the training setup differs, or only one run states it, as the optimizer",
    "sample_length_differs": "the samples differ in length",
    "packing_not_stated": "it is not stated whether samples were full: samples/s are not tokens/s",
    "software_differs": "the software is of different versions",
    "software_not_stated": "no run states the versions of its software",
    "batch_not_tuned": "the micro-batch was not tuned on each device, nor global batches known to match",
    "run_impossible": "one of the runs cannot be true as stated",
    "run_doubtful": "one of the runs is doubtful",
    "ratio": "the stated ratio per accelerator, and the range of the true one at equal settings",
    "ratio_explained": "part of the ratio that each difference explains by the estimator, and the rest",
    "row_not_readable": "a row of a table, or a claim of a file, that is missing what it must have",
    "shorter_samples": "explanation: samples shorter than stated",
    "more_accelerators": "explanation: more accelerators than stated",
    "less_work_per_token": "explanation: a mixture of experts, or weights that were not trained",
    "wrong_throughput": "explanation: the throughput is wrong",
    "leaner_states": "explanation: fewer bytes a parameter than usual",
    "smaller_batch": "explanation: a smaller micro-batch, or shorter samples",
    "other_machine": "explanation: another machine or accelerator than stated",
    "other_format": "explanation: another number format or accelerator than stated",
    "lower_precision": "explanation: products in fewer bits than stated or assumed",
    "sparse_peak_as_dense": "a figure with 2:4 sparsity, or at half as many bits, quoted as the dense peak",
    "differs_from_data_sheet": "a hardware figure that the catalog's dated row contradicts",
    "unit_mistaken": "a figure that is 8, 1,000 or a million times the known one, or a part of it",
    "format_not_in_hardware": "a number format that the accelerator has no hardware for",
    "one_direction": "a link's figure for one direction, where data sheets add both",
    "figure_not_known": "the catalog does not hold such a figure",
    "part_does_not_exist": "a link or part that the accelerator cannot have",
    "node_holds_other_parts": "a machine with another accelerator, or another count of it, than claimed",
    "host_of_another_generation": "a host named after a superchip of another generation",
    "unit_missing": "a number without a unit",
    "unit_not_known": "a unit that means nothing here",
    "states_above_claim": "weights, gradients and optimizer alone take more than claimed, at the usual 16 bytes",
    "method_not_usual": "the claimed bytes per parameter are not those of mixed precision with Adam",
    "far_above_usual": "ten times the memory that the usual method takes, and more",
    "does_not_fit": "the memory needed is more than the accelerators named have",
    "occupancy_too_low": "the claimed share of memory is far below what the training needs",
    "faster_than_physics": "the training would need more than the accelerators' peak",
    "faster_than_published": "the training would need a larger share of the peak than any published one",
    "cheaper_than_possible": "the cost pays for fewer hours than the best published speed needs",
    "speedup_above_hardware": "a speed-up above the ratio of peaks and of memory bandwidths",
    "arithmetic": "the claim's own inputs give another figure",
    "price_out_of_date": "dated rows show another price",
    "price_not_for_the_machine": "below half of every price known for such a machine, or over ten times",
    "price_not_known": "no dated row for the machine",
}


MANY_TIMES = 10
LARGEST_NUMBER = 1e300
"""Largest number in a document. A division by nearly zero is shown as this."""
Fact = tuple[str, float, str, str]
"""Name, value, unit, source."""


def found(code: str, severity: Severity, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return a finding. Its code must be documented."""
    assert code in CODES, code
    evidence = tuple(
        Evidence(name=name, value=max(-LARGEST_NUMBER, min(value, LARGEST_NUMBER)), unit=unit, source=source)
        for name, value, unit, source in facts
    )
    return Finding(code=code, severity=severity, says=says, evidence=evidence, fix=fix)


def impossible(code: str, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return a finding that something cannot be true as stated."""
    return found(code, Severity.IMPOSSIBLE, says, *facts, fix=fix)


def doubtful(code: str, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return a finding that something is hard to believe."""
    return found(code, Severity.DOUBTFUL, says, *facts, fix=fix)


def unknown(code: str, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return a finding that something is missing."""
    return found(code, Severity.OPEN, says, *facts, fix=fix)


def note(code: str, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return a finding that does not affect the verdict."""
    return found(code, Severity.NOTE, says, *facts, fix=fix)


def share_of(value: float, whole: str) -> str:
    """Write a share for people: "93 % of the peak" as `93% of the peak`, and from ten times on "12 times the peak"."""
    return f"{value:.0%} of {whole}" if value < MANY_TIMES else f"{digits(value)} times {whole}"


def digits(value: float) -> str:
    """Write a number for people: four digits with separators, without an exponent if it is readable without."""
    if 1e9 <= abs(value) < 1e15:
        return f"{value / 1e9:,.4g} billion" if abs(value) < 1e13 else f"{value / 1e12:,.4g} trillion"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:,.4g}"
