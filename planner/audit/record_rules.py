"""Checks a record's facts besides its speed: precision, fabric, window, throttling, power."""

from __future__ import annotations

import re

from planner.audit.findings import digits, doubtful, note, share_of
from planner.audit.rate_rules import ASSUMED_FORMAT, executed
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import Finding
from planner.model.evidence.held_clocks import clock_problems
from planner.model.evidence.imported_log import ImportedLog
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import Precision
from planner.speed.physics.accelerator_facts import peak_flops

AWS_WITH_EFA = re.compile(r"^(aws/)?(p4d|p4de|p5|p5e|p5en|p6|trn)[\w-]*\.")
NO_P2P = ("cns", "ns", "no", "none", "off", "false", "not supported")
DRIFTS = 1.05
"""Ratio to the first third of the steps. It is wider than the benchmark's own 2 %, which runs alone on its machine."""
MOST_POWER, LEAST_POWER, LEAST_POWER_BUSY, BUSY = 1.1, 0.25, 0.4, 0.4
"""Limits relative to all accelerators' power limit in training, and the lowest for those above 40 % of their dense
peak.
"""
MOST_OF_MACHINE = 2.5
"""Largest power of a whole machine relative to its accelerators' limit, if it does not state its own."""
LEAST_SECONDS = 60.0
FAST_FABRICS = ("efa", "infiniband", "rdma", "roce", "gpudirect")
OFF = ("false", "no", "off", "0", "none", "disabled")
SLOW_NETS = ("socket", "tcp", "ethernet")


def record_findings(run: StatedRun) -> list[Finding]:
    """Return the findings. Rows of tables state none of this."""
    record = run.record
    if record is None:
        return []
    return [
        *_precision(run, record),
        *_fabric(record),
        *_window(record),
        *_power(run, record),
    ]


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
    environment = {key.casefold(): value for key, value in record.environment.items() if value is not None}
    on_aws = AWS_WITH_EFA.search(record.hardware.node or "") is not None
    if record.hardware.nodes > 1:
        off = [key for key in FAST_FABRICS if str(environment.get(key, "")).casefold() in OFF]
        off += [key for key in ("nccl_net", "fabric") if str(environment.get(key, "")).casefold() in SLOW_NETS]
        if off:
            says = f"The fast fabric was off ({off[0]}: {environment[off[0]]}): NCCL took sockets between the nodes."
            findings.append(
                doubtful("fabric_off", says, fix="NCCL_DEBUG=INFO: look for 'NET/OFI ... efa' or 'NET/IB'.")
            )
        elif on_aws and not (environment.get("efa") or environment.get("aws_ofi_nccl")):
            says = "Several nodes of AWS, and nothing says that EFA carried the traffic."
            findings.append(doubtful("fabric_not_recorded", says, fix="NCCL_DEBUG=INFO: look for 'NET/OFI ... efa'."))
    p2p = environment.get("p2p")
    if record.hardware.accelerators_per_node > 1 and p2p is not None and str(p2p).casefold() in NO_P2P:
        says = f"No peer-to-peer between the accelerators ({p2p}): all traffic passes through the host."
        findings.append(note("no_peer_to_peer", says, fix="nvidia-smi topo -p2p r"))
    return findings


def _window(record: RunRecord) -> list[Finding]:
    findings = []
    seconds = record.wall_seconds
    brief = record.method_version is None and record.log is None and seconds is not None and seconds < LEAST_SECONDS
    if record.short_window or brief:
        shown = "for seconds only" if seconds is None else f"for {seconds:.3g} seconds"
        says = f"Measured {shown}: warm-up and noise weigh."
        findings.append(doubtful("short_window", says, fix=f"planner bench {record.workload}"))
    if record.log is not None:
        findings += _log_findings(record, record.log)
    if record.method_version is not None:
        findings += [
            doubtful(
                "benchmark_wrong" if said in record.wrong_speed else "benchmark_doubt",
                f"{said[:1].upper()}{said[1:]}.",
                fix=f"planner bench {record.workload}",
            )
            for said in record.verdict
        ]
    return findings + _throttling(record)


def _throttling(record: RunRecord) -> list[Finding]:
    """Return what telemetry says of devices that were slowed down, unless the record's own verdict says it."""
    name = record.environment.get("accelerator_name")
    problems = [
        problem
        for start in record.telemetry
        for problem in clock_problems(
            [device for device in start.get("devices") or () if isinstance(device, dict)], name
        )
        if not any(problem in said for said in record.verdict)
    ]
    return [
        doubtful("throttling", f"{says[:1].upper()}{says[1:]}.", fix="nvidia-smi -q -d PERFORMANCE,POWER,TEMPERATURE")
        for says in dict.fromkeys(problems)
    ]


def _log_findings(record: RunRecord, log: ImportedLog) -> list[Finding]:
    findings = [doubtful("log_doubt", f"{said[:1].upper()}{said[1:]}.") for said in record.verdict]
    if log.drift is not None and not 1 / DRIFTS <= log.drift <= DRIFTS:
        longer = log.drift > 1
        says = f"The last third of the steps take {log.drift:.2f} times as long as the first: "
        says += "throttling, other load, or longer samples." if longer else "shorter samples, or other load before."
        fact = ("drift", log.drift, "of the first third", "the log's step times, steady part")
        findings.append(doubtful("drift", says, fact, fix=f"planner check-run {record.id}"))
    return findings


def _load(run: StatedRun) -> float | None:
    """Return executed FLOP/s over the dense peak, if both are known."""
    if run.work is None or run.accelerator is None or run.samples_per_s is None:
        return None
    peak = peak_flops(run.accelerator, run.number_format or ASSUMED_FORMAT)
    return executed(run) / peak if peak else None


def _power(run: StatedRun, record: RunRecord) -> list[Finding]:
    """Compare the power of the accelerators, or of the whole machine, with their limits and the load."""
    limit_w = None if run.accelerator is None else run.accelerator.tdp_w
    if limit_w is None or run.accelerator is None:
        return []
    limit = limit_w * run.devices / 1000
    drawn = record.accelerator_power or record.power
    if drawn is None:
        return []
    share, least, load = drawn.value / limit, LEAST_POWER, _load(run)
    if load is not None and load > BUSY:
        least = LEAST_POWER_BUSY
    most, what = MOST_POWER * limit, "The accelerators"
    if record.accelerator_power is None:
        rated = run.node.rated_kw * record.hardware.nodes if run.node and run.node.rated_kw else None
        most, what = MOST_POWER * rated if rated else MOST_OF_MACHINE * limit, "The machine"
    if least * limit <= drawn.value <= most:
        return []
    busy = f", at {load:.0%} of the peak" if load is not None and drawn.value < least * limit else ""
    says = (
        f"{what} drew {digits(drawn.value)} kW, {share_of(share, 'the limit of all accelerators')}, in training{busy}."
    )
    facts = (
        ("reported", drawn.value, "kW", drawn.source),
        ("limit", limit, "kW", f"{run.accelerator.source} ({run.accelerator.as_of}), all accelerators"),
    )
    return [doubtful("power_unlike_load", says, *facts, fix="Record energy counters over the measured window.")]
