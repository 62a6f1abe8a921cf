"""Compares facts that a record states twice: counts, sizes, formats, machines."""

from __future__ import annotations

import re

from planner.audit.findings import Fact, digits, doubtful, impossible
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import Finding
from planner.model.evidence.run import RunRecord
from planner.model.evidence.run_rates import model_flops_utilization
from planner.model.network.workload import Precision
from planner.network.flops import active_parameters, parameters
from planner.speed.throughput.matching_runs import training_peak_tflops

COUNTS_AGREE = 0.02
SIZES_AGREE = 2.0
"""Ratio of sizes that still agree.

A name may leave embeddings out, or count only active parameters: Gemma 2B has 2.5 billion.
"""
MFU_AGREES = 0.1
MIXTURE = re.compile(r"\b\w*moe\w*\b|mixture of experts|\bmixtral\b", re.IGNORECASE)
SIZE = re.compile(r"(?<![\d.a-z])(\d+(?:\.\d+)?)(b|m)(?![a-z\d])", re.IGNORECASE)
"""A size in a name: 0.6B, 305m; not the 7b of 8x7b."""
COMPUTED_IN = {
    Precision.BF16: ("bf16", "bfloat16"), Precision.FP16: ("fp16", "float16", "half"),
    Precision.FLOAT8: ("fp8", "float8"), Precision.FP32: ("fp32", "float32", "tf32"),
    Precision.TF32: ("tf32", "float32", "fp32"),
}  # fmt: skip
"""Start of the name of the products' type."""
LEAST_SHARE, LEAST_SHARE_OF_FLOAT8 = 0.9, 0.3
"""Smallest share of products in the declared format. Under float8, attention and the head stay in 16 bits."""


def consistency_findings(run: StatedRun) -> list[Finding]:
    """Return where a record contradicts itself or the catalog's machine. Rows of tables state nothing twice."""
    record = run.record
    if record is None:
        return []
    return [
        *_machine(run, record),
        *_rate(record),
        *_batch(record),
        *_size(record),
        *_kind(record),
        *_format(record),
        *_mfu(run, record),
    ]


def _machine(run: StatedRun, record: RunRecord) -> list[Finding]:
    node = run.node
    if node is None:
        return []
    source = f"{node.source} ({node.as_of})"
    findings = []
    if run.accelerator is not None and run.accelerator.id != node.accelerator:
        says = f"{node.name} carries {node.accelerator}, not {run.accelerator.id}."
        fact: Fact = ("accelerators", float(node.accelerators), node.accelerator, source)
        findings.append(impossible("node_holds_other_parts", says, fact, fix="Record the accelerator: nvidia-smi -L"))
    if record.hardware.accelerators_per_node > node.accelerators:
        says = f"{node.name} carries {node.accelerators} accelerators, not {record.hardware.accelerators_per_node}."
        facts: tuple[Fact, ...] = (
            ("stated", float(record.hardware.accelerators_per_node), "accelerators a node", "the record"),
            ("known", float(node.accelerators), "accelerators a node", source),
        )
        findings.append(
            impossible("node_holds_other_parts", says, *facts, fix="Record nodes and accelerators of each.")
        )
    return findings


def _rate(record: RunRecord) -> list[Finding]:
    if record.samples is None or record.wall_seconds is None:
        return []
    implied = record.samples / record.wall_seconds
    rates = (record.throughput.value, *record.repeats)  # of several starts the samples and the time are added up
    if min(rates) * (1 - COUNTS_AGREE) <= implied <= max(rates) * (1 + COUNTS_AGREE):
        return []
    says = f"Samples / time is {digits(implied)} samples/s; the throughput says {digits(record.throughput.value)}."
    facts = (
        ("implied", implied, "samples/s", "samples / wall_seconds"),
        ("stated", record.throughput.value, "samples/s", record.throughput.source),
    )
    return [doubtful("counts_disagree", says, *facts, fix="Record start-up and evaluation apart from training.")]


def _batch(record: RunRecord) -> list[Finding]:
    """Compare the global batch with micro-batch x accumulation x replicas, of which there are at most the devices."""
    if record.micro_batch is None or record.global_batch is None:
        return []
    least = record.micro_batch * (record.grad_accumulation or 1)
    most = least * record.hardware.accelerators if record.grad_accumulation is not None else None
    if record.global_batch >= least and (most is None or record.global_batch <= most):
        return []
    shown = digits(least) if record.global_batch < least else f"at most {digits(most or 0)}"
    says = f"Micro-batch x accumulation x devices is {shown} samples; the global batch says {record.global_batch:,}."
    facts = (
        (
            "implied",
            float(least if record.global_batch < least else most or 0),
            "samples",
            "micro-batch x accumulation",
        ),
        ("stated", float(record.global_batch), "samples a step", "the record"),
    )
    return [doubtful("counts_disagree", says, *facts, fix="Record micro_batch, grad_accumulation and global_batch.")]


def _size(record: RunRecord) -> list[Finding]:
    """Compare the stated or named number of parameters with that of the network."""
    network = record.architecture
    if network is None or network.sample == "image":
        return []
    counted = float(parameters(network))
    met = float(active_parameters(network))
    findings = []
    stated = record.parameters
    if stated is not None and not counted / SIZES_AGREE < stated < counted * SIZES_AGREE:
        says = f"The network recorded has {digits(counted)} parameters; {digits(stated)} are stated."
        counts: Fact = ("counted", counted, "parameters", "the network's layers")
        facts = (counts, ("stated", float(stated), "parameters", "the record"))
        findings.append(doubtful("size_disagrees", says, *facts, fix="Record the model's config.json."))
    named = SIZE.search(record.workload.replace("_", "-"))
    if named is not None:
        size = float(named[1]) * (1e9 if named[2].casefold() == "b" else 1e6)
        if not met / SIZES_AGREE < size < counted * SIZES_AGREE:
            says = f"The name '{record.workload}' says {digits(size)} parameters; the network has {digits(counted)}."
            counts = ("counted", counted, "parameters", "the network's layers")
            facts = (counts, ("named", size, "parameters", "its name"))
            findings.append(doubtful("size_disagrees", says, *facts, fix="Record the model's config.json."))
    return findings


def _kind(record: RunRecord) -> list[Finding]:
    network = record.architecture
    if network is None or network.sample != "tokens" or network.is_mixture:
        return []
    words = " ".join([record.workload, record.note or "", *map(str, record.environment.values())])
    named = MIXTURE.search(words)
    if named is None:
        return []
    says = f"The network recorded is dense, and its words name a mixture of experts ('{named[0]}')."
    return [doubtful("model_names_disagree", says, fix="Record the model's config.json.")]


def _format(record: RunRecord) -> list[Finding]:
    """Compare the declared precision with the type in which the products were counted."""
    total = sum(record.matmul_flops_by_dtype.values())
    if record.precision is None or not total:
        return []
    begins = COMPUTED_IN[record.precision]
    names = {name: name.casefold().removeprefix("torch.") for name in record.matmul_flops_by_dtype}
    share = sum(flops for name, flops in record.matmul_flops_by_dtype.items() if names[name].startswith(begins)) / total
    if share >= (LEAST_SHARE_OF_FLOAT8 if record.precision is Precision.FLOAT8 else LEAST_SHARE):
        return []
    most = max(record.matmul_flops_by_dtype, key=lambda name: record.matmul_flops_by_dtype[name])
    says = f"It declares {record.precision.value}, and {share:.0%} of the products ran in it; most ran in {most}."
    fact: Fact = ("share", share, f"of the products in {record.precision.value}", "the record: matmul_flops_by_dtype")
    return [doubtful("precision_not_as_declared", says, fact, fix="Record the precision that the trainer took.")]


def _mfu(run: StatedRun, record: RunRecord) -> list[Finding]:
    """Compare a stated share of the peak with that of its throughput, from causal to full attention."""
    if run.work is None or run.accelerator is None or run.samples_per_s is None:
        return []
    peak, _ = training_peak_tflops(run.accelerator, record.precision)
    stated = {name: value for name, value in record.mfu.items() if not name.endswith("_of_measured_peak")}
    if peak is None:
        return []
    low, high = (
        model_flops_utilization(
            flops_per_sample=flops(run.length),
            samples_per_s=run.samples_per_s,
            accelerators=run.devices,
            peak_tflop_per_s=peak,
        )
        for flops in (run.work.least, run.work.headline)
    )
    for name, value in stated.items():
        if low * (1 - MFU_AGREES) <= value <= high * (1 + MFU_AGREES):
            continue
        span = f"{low:.0%}" if high < low * (1 + MFU_AGREES) else f"{low:.0%} to {high:.0%}"
        says = f"It states {value:.0%} of the peak ({name}); its throughput gives {span}."
        facts: tuple[Fact, ...] = (
            ("stated", value, "of the peak", f"the record: mfu.{name}"),
            ("causal", low, "of the dense peak", "fewest FLOPs x samples/s / devices"),
            ("full attention", high, "of the dense peak", "the same with full attention"),
        )
        return [doubtful("mfu_disagrees", says, *facts, fix="Record tokens, devices and seconds of the window.")]
    return []
