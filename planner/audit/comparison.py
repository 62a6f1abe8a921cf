"""Two or more runs: do they differ in their hardware alone? What the ratio is, and what to run again."""

from __future__ import annotations

from collections.abc import Sequence

from planner.audit.findings import doubtful, impossible, unknown
from planner.audit.ratio import ratio_findings
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import (
    AuditVerdict,
    ComparisonAudit,
    ComparisonVerdict,
    Finding,
    RunAudit,
    Severity,
)
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import BenchMode
from planner.scenario.training_setup import Agreement, differences, setup_of_run

NEEDED = ("precision", "global_batch")
"""Settings that a comparison needs to know, even where no run states them."""
SOFTWARE = ("torch", "cuda", "nccl", "framework", "transformers", "deepspeed")


def compare_runs(runs: Sequence[StatedRun], audits: Sequence[RunAudit], catalog: Catalog) -> ComparisonAudit | None:
    """Return whether the runs can rank what they ran on; None of fewer than two, or of rows of a table.

    Unfair: something beside the hardware differs, or one of the runs cannot be true. Undecidable: a setting on which
    speed depends is not stated. Runs on one kind and count of accelerator are not held to have been tuned.
    """
    records = [run.record for run in runs if run.record is not None]
    if len(records) < 2 or len(records) < len(runs):
        return None
    findings = [*_of_the_runs(audits), *_settings(records)]
    for run, audit in zip(runs[1:], audits[1:], strict=True):
        findings += ratio_findings((runs[0], audits[0]), (run, audit), catalog)
    verdict = ComparisonVerdict.FAIR
    if any(one.severity is Severity.OPEN for one in findings):
        verdict = ComparisonVerdict.UNDECIDABLE
    if any(one.severity in (Severity.IMPOSSIBLE, Severity.DOUBTFUL) for one in findings):
        verdict = ComparisonVerdict.UNFAIR
    again = _again(records) if verdict is not ComparisonVerdict.FAIR else ()
    return ComparisonAudit(verdict=verdict, findings=tuple(findings), rerun=again)


def _of_the_runs(audits: Sequence[RunAudit]) -> list[Finding]:
    findings = []
    for one in audits:
        if one.verdict is AuditVerdict.IMPOSSIBLE:
            findings.append(impossible("run_impossible", f"{one.id} cannot be true as stated: it ranks nothing."))
        elif one.verdict is AuditVerdict.DOUBTFUL:
            findings.append(doubtful("run_doubtful", f"{one.id} is doubtful."))
    return findings


def _settings(records: Sequence[RunRecord]) -> list[Finding]:
    findings = []
    networks = {one.architecture.model_dump_json() for one in records if one.architecture}
    names = {one.workload.casefold() for one in records}
    if len(networks) > 1 or (len(names) > 1 and not all(one.architecture for one in records)):
        findings.append(doubtful("model_differs", "The runs trained different networks."))
    if len({one.method or "full" for one in records}) > 1:
        says = "One run trained all weights, another adapters alone."
        findings.append(doubtful("method_differs", says, fix="Train the same weights on both."))
    for code, name, what in (
        ("precision_differs", "precision", "precision"),
        ("strategy_differs", "strategy", "strategy"),
        ("recomputation_differs", "checkpointing", "recomputation"),
        ("data_differs", "data", "input"),
        ("sample_length_differs", "seq_len", "sample length"),
        ("global_batch_differs", "global_batch", "global batch"),
    ):
        values = [getattr(one, name) for one in records]
        stated = {value for value in values if value is not None}
        shown = ", ".join("not stated" if value is None else str(value) for value in values)
        if name == "data" and None in values:
            continue
        if len(stated) > 1:
            findings.append(doubtful(code, f"The {what} differs: {shown}."))
        elif None in values and (stated or name in NEEDED):
            open_code = "precision_not_stated" if name == "precision" else code
            findings.append(unknown(open_code, f"The {what} is not known to agree: {shown}.", fix=f"Record {name}."))
    findings += _other_settings(records)
    measured = [_measured_type(one) for one in records]
    if len({one for one in measured if one}) > 1:
        findings.append(doubtful("precision_differs", f"The products ran in {', '.join(map(str, measured))}."))
    if any(one.data is None and one.method_version is None for one in records) and records[0].seq_len is not None:
        says = "Nobody says whether samples were full: samples/s are no tokens/s."
        findings.append(unknown("packing_not_stated", says, fix="Record tokens and padding of the window."))
    if not any(any(one.environment.get(name) for name in SOFTWARE) for one in records):
        says = "No run states the versions of its software."
        findings.append(unknown("software_not_stated", says, fix="Record torch, CUDA or ROCm, and the trainer."))
    if len({one.compiled for one in records if one.compiled is not None}) > 1:
        findings.append(doubtful("software_differs", "One run was compiled, another was not.", fix="Compile both."))
    for name in SOFTWARE:
        versions = {str(one.environment[name]) for one in records if name in one.environment}
        if len(versions) > 1:
            says = f"{name} differs: {', '.join(sorted(versions))}."
            findings.append(doubtful("software_differs", says, fix="Run both with the newer one."))
    return findings + _tuning(records)


SAID_ABOVE = (
    "network", "seq_len", "method", "precision", "micro_batch", "global_batch", "checkpointing", "strategy",
    "compiled", "kernels",
)  # fmt: skip
"""Fields of a setup that have findings of their own; kernels follow from `compiled`."""


def _other_settings(records: Sequence[RunRecord]) -> list[Finding]:
    """Return a finding for every other field of the training setup in which the runs differ."""
    first, *others = (setup_of_run(one) for one in records)
    found = [differences(first, other) for other in others]
    differing = [name for name in found[0] if any(one[name] is Agreement.DIFFERENT for one in found)]
    return [
        doubtful("setup_differs", f"The {name} differs.", fix=f"Run both with the same {name}.")
        for name in differing
        if name not in SAID_ABOVE
    ]


def _measured_type(record: RunRecord) -> str | None:
    flops = record.matmul_flops_by_dtype
    return max(flops, key=lambda name: flops[name]) if flops else None


def _tuning(records: Sequence[RunRecord]) -> list[Finding]:
    if len({one.hardware.accelerator for one in records}) < 2:
        return []
    tuned = all(one.mode is BenchMode.TUNED for one in records)
    batches = {one.global_batch for one in records}
    if tuned and None not in batches and len(batches) == 1:
        return []
    says = "The micro-batch was not tuned on each device at one global batch."
    return [unknown("batch_not_tuned", says, fix="--mode tuned --global-batch N on both.")]


def _global_batch(record: RunRecord) -> int:
    """Return the samples of a step: as stated, or the fewest that its micro-batch makes; 0 where neither is known."""
    devices = record.hardware.accelerators
    return record.global_batch or (record.micro_batch or 0) * (record.grad_accumulation or 1) * devices


def _again(records: Sequence[RunRecord]) -> tuple[str, ...]:
    lines = []
    for record in records:
        if record.architecture is None:
            continue
        batch = max(map(_global_batch, records))
        target = record.hardware.node if record.hardware.node and "/" in record.hardware.node else "ssh/HOSTS"
        line = (
            f"planner launch {record.workload} --on {target} --nodes {record.hardware.nodes} --precision bf16 "
            "--strategy ddp --mode tuned"
        )
        lines.append(line + (f" --global-batch {batch}" if batch else " --global-batch N"))
    lines.append("planner bench llama3-8b --layers 4 --precision bf16   (on each: a network that loads the hardware)")
    return tuple(dict.fromkeys(lines))
