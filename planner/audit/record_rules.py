"""What a record says beside its speed: counts, names, precision, fabric, window, power."""

from __future__ import annotations

import re

from planner.audit.findings import doubtful, note
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import Finding
from planner.model.evidence.imported_log import ImportedLog
from planner.model.evidence.run import RunRecord
from planner.model.network.architecture import Decoder, MoeDecoder
from planner.model.network.workload import Precision

COUNTS_AGREE = 0.02
MIXTURE = re.compile(r"\b\w*moe\w*\b|mixture of experts|\bmixtral\b", re.IGNORECASE)
AWS_WITH_EFA = re.compile(r"^aws/(p4d|p4de|p5|p5e|p5en|p6|trn)")
NO_P2P = ("cns", "ns", "no", "none", "off", "false", "not supported")
DRIFTS = 1.05
"""Of the first third of the steps; wider than the benchmark's own 2 %, which runs alone on its machine."""
MOST_POWER, LEAST_POWER = 1.1, 0.25
"""Of all accelerators' limit together, in training."""


def record_findings(run: StatedRun) -> list[Finding]:
    """Return them; rows of tables say none of this."""
    record = run.record
    if record is None:
        return []
    return [
        *_counts(record),
        *_names(record),
        *_precision(run, record),
        *_fabric(record),
        *_window(record),
        *_power(run, record),
    ]


def _counts(record: RunRecord) -> list[Finding]:
    if record.samples is None or record.wall_seconds is None:
        return []
    implied = record.samples / record.wall_seconds
    if abs(implied / record.throughput.value - 1) <= COUNTS_AGREE:
        return []
    says = f"Samples / time is {implied:.4g} samples/s; the throughput says {record.throughput.value:.4g}."
    facts = (
        ("implied", implied, "samples/s", "samples / wall_seconds"),
        ("stated", record.throughput.value, "samples/s", record.throughput.source),
    )
    return [doubtful("counts_disagree", says, *facts, fix="Record start-up and evaluation apart from training.")]


def _names(record: RunRecord) -> list[Finding]:
    if not isinstance(record.architecture, Decoder | MoeDecoder):
        return []
    words = " ".join([record.workload, record.note or "", *map(str, record.environment.values())])
    named = MIXTURE.search(words)
    if isinstance(record.architecture, MoeDecoder) or named is None:
        return []
    says = f"The network recorded is dense, and its words name a mixture of experts ('{named[0]}')."
    return [doubtful("model_names_disagree", says, fix="Record the model's config.json.")]


def _precision(run: StatedRun, record: RunRecord) -> list[Finding]:
    if record.precision not in (Precision.FP32, Precision.TF32) or run.accelerator is None:
        return []
    if not run.accelerator.bf16_tflops or not run.accelerator.fp32_tflops:
        return []
    gain = run.accelerator.bf16_tflops / (run.accelerator.peak_tflops(record.precision) or run.accelerator.bf16_tflops)
    says = f"{record.precision.value} on an accelerator whose bf16 peak is {gain:.3g} times as high."
    fact = ("bf16 peak", run.accelerator.bf16_tflops, "TFLOP/s", run.accelerator.source)
    return [note("fp32_where_bf16_exists", says, fact, fix=f"planner launch {record.workload} --precision bf16 --on T")]


def _fabric(record: RunRecord) -> list[Finding]:
    findings = []
    environment = {key.casefold(): value for key, value in record.environment.items()}
    on_aws = AWS_WITH_EFA.match(record.hardware.node or "") is not None
    if on_aws and record.hardware.nodes > 1 and not (environment.get("efa") or environment.get("aws_ofi_nccl")):
        says = "Several nodes of AWS, and nothing says that EFA carried the traffic."
        findings.append(doubtful("fabric_not_recorded", says, fix="NCCL_DEBUG=INFO: look for 'NET/OFI ... efa'."))
    p2p = environment.get("p2p")
    if record.hardware.accelerators_per_node > 1 and p2p is not None and str(p2p).casefold() in NO_P2P:
        says = f"No peer-to-peer between the accelerators ({p2p}): all traffic passes through the host."
        findings.append(note("no_peer_to_peer", says, fix="nvidia-smi topo -p2p r"))
    return findings


def _window(record: RunRecord) -> list[Finding]:
    findings = []
    if record.short_window:
        findings.append(doubtful("short_window", "Measured for seconds only.", fix=f"planner bench {record.workload}"))
    if record.log is not None:
        findings += _of_the_log(record, record.log)
    if record.method_version is not None:
        findings += [
            doubtful("benchmark_doubt", f"{said[:1].upper()}{said[1:]}.", fix=f"planner bench {record.workload}")
            for said in record.verdict
        ]
    return findings


def _of_the_log(record: RunRecord, log: ImportedLog) -> list[Finding]:
    findings = [doubtful("log_doubt", f"{said[:1].upper()}{said[1:]}.") for said in record.verdict]
    if log.drift is not None and not 1 / DRIFTS <= log.drift <= DRIFTS:
        longer = log.drift > 1
        says = f"The last third of the steps take {log.drift:.2f} times as long as the first: "
        says += "throttling, other load, or longer samples." if longer else "shorter samples, or other load before."
        fact = ("drift", log.drift, "of the first third", "the log's step times, steady part")
        findings.append(doubtful("drift", says, fact, fix=f"planner check-run {record.id}"))
    return findings


def _power(run: StatedRun, record: RunRecord) -> list[Finding]:
    if record.accelerator_power is None or run.accelerator is None or run.accelerator.tdp_w is None:
        return []
    share = record.accelerator_power.value * 1000 / (run.accelerator.tdp_w * run.devices)
    if LEAST_POWER <= share <= MOST_POWER:
        return []
    says = f"The accelerators drew {share:.0%} of their limit while training."
    facts = (
        ("reported", record.accelerator_power.value, "kW", record.accelerator_power.source),
        ("limit", run.accelerator.tdp_w * run.devices / 1000, "kW", run.accelerator.source),
    )
    return [doubtful("power_unlike_load", says, *facts, fix="Record energy counters over the measured window.")]
