"""`planner probe`: measures this machine's kernels one by one, and prints a summary."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from planner.adapters.answer_store import kept_answer
from planner.adapters.workspace import workspace_dir
from planner.cli.launching.launch_options import AnswerOption
from planner.cli.output import HomeOption, JsonFlag, check_positive
from planner.cli.registration import command, command_app
from planner.cli.stop_signals import StopSignal, stop_signals
from planner.cli.streams import print_document, say
from planner.errors import StoppedError
from planner.launcher.bench import local
from planner.model.catalog import Catalog
from planner.model.evidence.probe import KIND_NAMES, KernelKind, KernelTime, ProbeRecord
from planner.model.network.workload import BusyDevice
from planner.speed.evidence.compared_probes import comparison_text
from planner.use_cases import catalogs, runs
from planner.use_cases.runs import probe_here, probe_settings

app = command_app()


@command(app, example="planner probe --data /data/tokens")
def probe(
    gpus: Annotated[int | None, typer.Option(help="Accelerators, or processes on a CPU; default: all accelerators")] = (
        None
    ),
    data: Annotated[str | None, typer.Option(metavar="PATH", help="Data folder, to see how fast it reads")] = None,
    busy_device: Annotated[
        BusyDevice, typer.Option(help="Refuse or measure anyway if others use a device")
    ] = BusyDevice.REFUSE,
    answer: AnswerOption = None,
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Measure this machine's kernels one by one, in a minute or two.

    The probe goes to the workspace; estimates for this machine use it. Needs the extra `bench` (docs/probe.md).
    """
    check_positive(gpus, "--gpus")
    answer_id = None if answer is None else kept_answer(answer).id
    catalog = catalogs.open_catalog(home)
    devices = gpus or max(1, local.cuda_devices())
    settings = probe_settings(folder=data, busy_device=busy_device, devices=devices)
    work_dir = workspace_dir(home) / "bench" / f"probe-{datetime.now(tz=UTC):%Y%m%d-%H%M%S-%f}"
    say(f"Probing this machine with {devices} process(es), for a minute or two.")
    try:
        with stop_signals():
            record = probe_here(catalog, settings, work_dir=work_dir)
    except StopSignal as stop:
        raise StoppedError(
            f"stopped by {stop.number.name}; every process of the probe has ended.",
            signal_number=stop.number,
            fix="Nothing was stored. Run it again.",
        ) from stop
    record = record.model_copy(update={"answer_id": answer_id})
    path = runs.store_probe(record, home)
    for line in probe_lines(record, catalog, path):
        say(line)
    if as_json:
        print_document(record)


TFLOP, GB = 1e12, 1e9


def probe_lines(record: ProbeRecord, catalog: Catalog, path: Path) -> list[str]:
    """Return the lines that end a probe. `path` is the place of the record."""
    lines = [f"Probe of {record.environment.get('machine')}: {len(record.kernels)} kernels in {record.seconds:.0f} s"]
    for kind, kernels in record.of_kind.items():
        figures = _FIGURES[kind](kernels) if kind in _FIGURES else f"{1000 * kernels[0].seconds:.3g} ms"
        lines.append(f"  {KIND_NAMES[kind]}: {figures}")
    if (held := record.sustained) is not None:
        clocks = f" at {held.clock_mhz:,.0f} MHz" if held.clock_mhz else ""
        power = f", {held.power_w:,.0f} W" if held.power_w else ""
        change = held.last_tflop_per_s / held.first_tflop_per_s - 1
        lines.append(
            f"  over {held.seconds:.0f} s: {_rate(held.last_tflop_per_s * TFLOP)}{clocks}{power}, {change:+.1%}"
        )
    compared = comparison_text(record, [*catalog.probes.values(), record])
    lines += [f"Compared: {compared}."] if compared else []
    lines += [f"Left out: {'; '.join(record.left_out)}."] if record.left_out else []
    lines.append(f"Stored as {path}")
    lines.append(f"Verdict: doubtful because {record.verdict[0]}." if record.verdict else "Verdict: sound.")
    lines.append("Next: planner compare plan.yaml  (estimates for this machine now use the probe)")
    return lines


def _rate(flop_per_s: float) -> str:
    """Write FLOP/s in the unit that gives digits before the point."""
    return f"{flop_per_s / TFLOP:.3g} TFLOP/s" if flop_per_s >= TFLOP else f"{flop_per_s / 1e9:.3g} GFLOP/s"


def _products(kernels: list[KernelTime]) -> str:
    best: dict[str, float] = {}
    for kernel in kernels:
        flops = 6.0 * kernel.shape["tokens"] * kernel.shape["inputs"] * kernel.shape["outputs"]
        name = "" if kernel.precision is None else kernel.precision.value
        best[name] = max(best.get(name, 0.0), flops / kernel.seconds)
    return "at best " + ", ".join(f"{_rate(rate)} in {name}" for name, rate in best.items())


def _attention(kernels: list[KernelTime]) -> str:
    """Return attention by torch's choice and each kernel: 4 x T^2 x width FLOPs, half of it causal, 3.5 passes."""
    best: dict[str, float] = {}
    for kernel in kernels:
        size = kernel.shape
        flops = 4 * 0.5 * 3.5 * size["batch"] * size["heads"] * size["head_dim"] * float(size["length"]) ** 2
        best[str(kernel.kernel)] = max(best.get(str(kernel.kernel), 0.0), flops / kernel.seconds)
    return "at best " + ", ".join(f"{_rate(rate)} ({name})" for name, rate in best.items())


def _bytes(times: int) -> Callable[[list[KernelTime]], str]:
    def text(kernels: list[KernelTime]) -> str:
        best = max(times * kernel.shape["bytes"] / kernel.seconds for kernel in kernels)
        return f"{best / GB:.3g} GB/s at best"

    return text


def _optimizer(kernels: list[KernelTime]) -> str:
    each = kernels[0].seconds / kernels[0].shape["parameters"]
    return f"{1e9 * each:.3g} ns a parameter ({kernels[0].kernel})"


_FIGURES: dict[KernelKind, Callable[[list[KernelTime]], str]] = {
    KernelKind.PRODUCTS: _products,
    KernelKind.ATTENTION: _attention,
    KernelKind.OPTIMIZER: _optimizer,
    KernelKind.COPY: _bytes(2),
} | {
    kind: _bytes(1)
    for kind in (
        KernelKind.HOST_TO_DEVICE,
        KernelKind.DEVICE_TO_HOST,
        KernelKind.READ,
        KernelKind.ALL_REDUCE,
        KernelKind.ALL_GATHER,
        KernelKind.REDUCE_SCATTER,
    )
}
