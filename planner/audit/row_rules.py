"""Compares facts that a table's row states twice, and checks the memory of its states."""

from __future__ import annotations

from planner.audit.findings import Fact, digits, doubtful, impossible, note
from planner.audit.stated_run import StatedRun, trains_all
from planner.model.answer.audit import Finding
from planner.model.evidence.measurement import Measurement
from planner.speed.evidence.measured_text_config import measured_tokens

COUNTS_AGREE = 0.03
SIXTEEN, LEAST_STATES, WEIGHTS = 16.0, 6.0, 2.0
"""Bytes per parameter: weights, gradients and Adam as usual; with 8-bit moments and no fp32 copy; 16-bit weights."""
WELL_WITHIN = 0.5
TOTALS = ("tokens/s", "samples/s", "sequences/s")
"""Units whose `throughput_total` certainly counts all accelerators. With others tables mean either."""
FIX = "Correct the row, or say in `notes` what its columns count."


def row_findings(run: StatedRun) -> list[Finding]:
    """Return where a row contradicts itself, and what does not fit into its accelerators' memory."""
    row = run.row
    if row is None:
        return []
    return [*_throughput(row), *_devices(row), *_batch(row), *_memory(run, row)]


def _throughput(row: Measurement) -> list[Finding]:
    """Compare samples x length, or the total, with the tokens that are stated for each accelerator."""
    stated = row.tokens_per_s_per_gpu
    implied = measured_tokens(row.model_copy(update={"tokens_per_s_per_gpu": None}))
    if row.unit not in TOTALS or stated is None or implied is None or abs(implied / stated - 1) <= COUNTS_AGREE:
        return []
    says = f"Its total in {row.unit} is {digits(implied)} tokens/s an accelerator; {digits(stated)} are stated."
    facts: tuple[Fact, ...] = (
        ("implied", implied, "tokens/s an accelerator", "throughput_total, unit, sample length, num_gpus"),
        ("stated", stated, "tokens/s an accelerator", row.source),
    )
    return [doubtful("counts_disagree", says, *facts, fix=FIX)]


def _devices(row: Measurement) -> list[Finding]:
    findings = []
    if row.num_nodes and row.gpus_per_node and row.num_gpus > row.num_nodes * row.gpus_per_node:
        says = f"{row.num_nodes} nodes of {row.gpus_per_node} have no {row.num_gpus} accelerators."
        facts: tuple[Fact, ...] = (
            ("implied", float(row.num_nodes * row.gpus_per_node), "accelerators", "num_nodes x gpus_per_node"),
            ("stated", float(row.num_gpus), "accelerators", row.source),
        )
        findings.append(doubtful("counts_disagree", says, *facts, fix=FIX))
    parts = (row.tp or 1) * (row.pp or 1) * (row.cp or 1)
    if row.num_gpus % parts:
        says = f"Tensor x pipeline x context parallelism take {parts} accelerators at a time; there are {row.num_gpus}."
        facts = (
            ("implied", float(parts), "accelerators", "tp x pp x cp"),
            ("stated", float(row.num_gpus), "accelerators", row.source),
        )
        findings.append(doubtful("counts_disagree", says, *facts, fix=FIX))
    return findings


def _batch(row: Measurement) -> list[Finding]:
    if not row.micro_batch or not row.global_batch or not row.grad_accum:
        return []
    most = row.micro_batch * row.grad_accum * row.num_gpus
    if row.global_batch <= most * (1 + COUNTS_AGREE):
        return []
    says = f"Micro-batch x accumulation x accelerators is at most {digits(most)}; the global batch says "
    facts: tuple[Fact, ...] = (
        ("implied", most, "samples", "micro_batch x grad_accum x num_gpus"),
        ("stated", row.global_batch, "samples", row.source),
    )
    return [doubtful("counts_disagree", f"{says}{digits(row.global_batch)}.", *facts, fix=FIX)]


def _memory(run: StatedRun, row: Measurement) -> list[Finding]:
    """Compare the states, shared by all accelerators, with their memory. Activations come on top."""
    if run.accelerator is None or run.accelerator.hbm_gib is None or row.params_total is None or not trains_all(row):
        return []
    hbm = run.accelerator.hbm_gib * 2**30
    device: Fact = ("device", run.accelerator.hbm_gib, "GiB", f"{run.accelerator.source} ({run.accelerator.as_of})")

    def each(size: float, devices: int) -> float:
        return size * (row.params_total or 0.0) / devices

    for size, raise_ in ((WEIGHTS, impossible), (LEAST_STATES, doubtful)):
        need = each(size, row.num_gpus)
        if need <= hbm:
            continue
        says = (
            f"At {size:g} bytes a parameter, shared by all, each of {row.num_gpus} accelerators needs "
            f"{need / 2**30:,.0f} GiB and has {run.accelerator.hbm_gib:g}."
        )
        fact: Fact = ("needed", need / 2**30, "GiB", f"{size:g} bytes x params_total / num_gpus")
        fix = "Record offload, optimizer, adapters and quantization."
        return [raise_("memory_above_capacity", says, fact, device, fix=fix)]
    divided = max(row.tp or 1, row.pp or 1) > 1
    if divided and each(SIXTEEN, 1) < WELL_WITHIN * hbm:
        says = f"The network is divided ({row.tp or 1} x {row.pp or 1}), and its states fit one accelerator."
        fact = ("needed", each(SIXTEEN, 1) / 2**30, "GiB", "16 bytes x params_total")
        return [note("sharding_not_needed", says, fact, device, fix="Data parallelism alone communicates less.")]
    return []
