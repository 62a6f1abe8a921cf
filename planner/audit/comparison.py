"""Compares two or more runs: whether only their hardware differs, the ratio, and what to run again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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
from planner.scenario.recorded_setup import setup_of_run
from planner.scenario.training_setup import Agreement, differences, setup_texts

NEEDED = ("precision", "global_batch")
"""Settings that a comparison needs to know, even if no run states them."""
SOFTWARE = ("torch", "cuda", "nccl", "framework", "transformers", "deepspeed")


def compare_runs(runs: Sequence[StatedRun], audits: Sequence[RunAudit], catalog: Catalog) -> ComparisonAudit | None:
    """Return whether the runs can rank what they ran on; None for fewer than two, or for rows of a table.

    Unfair means that something besides the hardware differs, or one of the runs cannot be true. Undecidable means that
    a setting on which speed depends is not stated. Runs on one kind and count of accelerator need not be tuned.
    """
    records = [run.record for run in runs if run.record is not None]
    if len(records) < 2 or len(records) < len(runs):
        return None
    findings = [*_run_findings(audits), *_settings(records)]
    for run, audit in zip(runs[1:], audits[1:], strict=True):
        findings += ratio_findings((runs[0], audits[0]), (run, audit), catalog)
    verdict = ComparisonVerdict.FAIR
    if any(finding.severity is Severity.OPEN for finding in findings):
        verdict = ComparisonVerdict.UNDECIDABLE
    if any(finding.severity in (Severity.IMPOSSIBLE, Severity.DOUBTFUL) for finding in findings):
        verdict = ComparisonVerdict.UNFAIR
    again = _again(records) if verdict is not ComparisonVerdict.FAIR else ()
    return ComparisonAudit(verdict=verdict, findings=tuple(findings), rerun=again)


def _run_findings(audits: Sequence[RunAudit]) -> list[Finding]:
    findings = []
    for audit in audits:
        if audit.verdict is AuditVerdict.IMPOSSIBLE:
            findings.append(impossible("run_impossible", f"{audit.id} cannot be true as stated: it ranks nothing."))
        elif audit.verdict is AuditVerdict.DOUBTFUL:
            findings.append(doubtful("run_doubtful", f"{audit.id} is doubtful."))
    return findings


def _settings(records: Sequence[RunRecord]) -> list[Finding]:
    """Return what differs besides the hardware, and what is not known to agree."""
    findings = [*_setups(records), *_software(records)]
    measured = [_measured_type(record) for record in records]
    if len({type_ for type_ in measured if type_}) > 1:
        findings.append(doubtful("precision_differs", f"The products ran in {', '.join(map(str, measured))}."))
    if (
        any(record.data is None and record.method_version is None for record in records)
        and records[0].seq_len is not None
    ):
        says = "It is not stated whether samples were full: samples/s are not tokens/s."
        findings.append(unknown("packing_not_stated", says, fix="Record tokens and padding of the window."))
    return findings + _tuning(records)


CODES = {
    "network": ("model_differs", "network"),
    "method": ("method_differs", "method"),
    "precision": ("precision_differs", "precision"),
    "strategy": ("strategy_differs", "strategy"),
    "checkpointing": ("recomputation_differs", "recomputation"),
    "data": ("data_differs", "input"),
    "seq_len": ("sample_length_differs", "sample length"),
    "global_batch": ("global_batch_differs", "global batch"),
    "compiled": ("software_differs", "compilation"),
}
"""Codes of the fields of a setup, with their usual names. All other fields are `setup_differs`."""
FOLLOWS = {"adapters": "method", "kernels": "compiled", "loss": "compiled"}
"""Fields that are not reported again if the field that decides them does not agree."""
NOT_COMPARED = ("micro_batch",)
"""Field that is not compared: each device may have its own micro-batch at one global batch."""


def _setups(records: Sequence[RunRecord]) -> Iterator[Finding]:
    """Yield every field of the training setup that differs, and those that are not known to agree.

    A field that no run states is not mentioned, unless a comparison always needs it.
    """
    first, *others = setups = [setup_of_run(record) for record in records]
    found = [differences(first, other) for other in others]
    texts = [setup_texts(setup) for setup in setups]
    agreement = {name: _least_agreement(agreements[name] for agreements in found) for name in found[0]}
    for name, agrees in agreement.items():
        decided_by = FOLLOWS.get(name)
        decided = decided_by is not None and agreement[decided_by] is not Agreement.EQUAL
        if agrees is Agreement.EQUAL or name in NOT_COMPARED or decided:
            continue
        code, what = CODES.get(name, ("setup_differs", name))
        shown = ", ".join(text.get(name, "not stated") for text in texts)
        stated = any(name in text for text in texts)
        if agrees is Agreement.DIFFERENT:
            yield doubtful(code, f"The {what} differs: {shown}.", fix=f"Run both with the same {what}.")
        elif name != "data" and (stated or name in NEEDED):
            open_code = "precision_not_stated" if name == "precision" else code
            yield unknown(open_code, f"The {what} is not known to agree: {shown}.", fix=f"Record {name}.")


def _least_agreement(found: Iterable[Agreement]) -> Agreement:
    """Return how a field of several runs relates to that of the first. One that differs counts most."""
    order = (Agreement.EQUAL, Agreement.UNKNOWN, Agreement.DIFFERENT)
    return max(found, key=order.index)


def _software(records: Sequence[RunRecord]) -> Iterator[Finding]:
    """Yield the packages whose versions differ, or that no run states."""
    if not any(any(record.environment.get(name) for name in SOFTWARE) for record in records):
        says = "No run states the versions of its software."
        yield unknown("software_not_stated", says, fix="Record torch, CUDA or ROCm, and the trainer.")
    for name in SOFTWARE:
        versions = {str(record.environment[name]) for record in records if name in record.environment}
        if len(versions) > 1:
            says = f"{name} differs: {', '.join(sorted(versions))}."
            yield doubtful("software_differs", says, fix="Run both with the newer one.")


def _measured_type(record: RunRecord) -> str | None:
    flops = record.matmul_flops_by_dtype
    return max(flops, key=lambda name: flops[name]) if flops else None


def _tuning(records: Sequence[RunRecord]) -> list[Finding]:
    if len({record.hardware.accelerator for record in records}) < 2:
        return []
    tuned = all(record.mode is BenchMode.TUNED for record in records)
    batches = {record.global_batch for record in records}
    if tuned and None not in batches and len(batches) == 1:
        return []
    says = "The micro-batch was not tuned on each device at one global batch."
    return [unknown("batch_not_tuned", says, fix="--mode tuned --global-batch N on both.")]


def _global_batch(record: RunRecord) -> int:
    """Return the samples of a step: as stated, or the fewest from its micro-batch; 0 if neither is known."""
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
