"""`planner memory WORKLOAD`: what one device must hold, and the largest micro-batch that fits."""

from __future__ import annotations

from typing import Annotated

import typer

from planner.cli.bench_arguments import adapters_for
from planner.cli.output import (
    Format,
    FormatOption,
    HomeOption,
    JsonFlag,
    check_positive,
    print_document,
    print_rows,
    say,
)
from planner.cli.workload_options import (
    LoraFrozenOption,
    LoraKindOption,
    LoraRankOption,
    LoraTargetsOption,
    MethodChoice,
    PrecisionOption,
    SeqLenOption,
    WorkloadArgument,
)
from planner.errors import InputError
from planner.model.answer.documents import MemoryDocument
from planner.model.network.adapters import AdapterKind
from planner.model.network.architecture import ImageModel
from planner.model.network.workload import Checkpointing, Loss, Strategy
from planner.present.table import NOT_KNOWN, Row, quantity_text
from planner.speed.memory.memory_question import MemoryQuestion
from planner.speed.physics.number_format import uses_autocast
from planner.use_cases import catalogs, networks


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: planner memory llama3-8b --on H100-SXM --gpus 8 --strategy fsdp2")(memory)


def memory(
    workload: WorkloadArgument,
    on: Annotated[str, typer.Option("--on", metavar="ACCELERATOR", help="H100-SXM, A100-40GB-SXM, RTX-4090, ...")],
    gpus: Annotated[int, typer.Option(help="All accelerators that share one training.")] = 1,
    strategy: Annotated[Strategy, typer.Option(help="How states are spread over them.")] = Strategy.DDP,
    micro_batch: Annotated[
        int | None, typer.Option(help="Samples per device; default the workload's own, else 1.", show_default=False)
    ] = None,
    seq_len: SeqLenOption = None,
    precision: PrecisionOption = None,
    checkpointing: Annotated[
        Checkpointing | None, typer.Option(help="Default: only as much as it needs to fit.", show_default=False)
    ] = None,
    loss: Annotated[Loss, typer.Option(help="fused: compiled or chunked, without fp32 logits.")] = Loss.EAGER,
    method: MethodChoice = None,
    lora_kind: LoraKindOption = None,
    lora_rank: LoraRankOption = None,
    lora_targets: LoraTargetsOption = None,
    lora_frozen: LoraFrozenOption = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Trace what a layer saves in place of the formula. Needs the extra bench.")
    ] = False,
    as_json: JsonFlag = False,
    form: FormatOption = None,
    home: HomeOption = None,
) -> None:
    """What one device must hold: states, activations, logits, buffers; whether it fits, with which micro-batch."""
    for value, name in ((gpus, "--gpus"), (micro_batch, "--micro-batch"), (seq_len, "--seq-len")):
        check_positive(value, name)
    catalog = catalogs.open_catalog(home)
    network = networks.find_architecture(workload, catalog)
    precision = precision or network.precision
    adapters = networks.trained_alone(
        adapters_for(network, method, lora_kind, lora_rank, lora_targets, lora_frozen),
        network,
        catalog,
        precision=precision,
        where=workload,
    )
    if seq_len is not None and isinstance(network.architecture, ImageModel):
        raise InputError(f"--seq-len {seq_len}: a sample of {workload} is an image.", fix="Leave --seq-len out.")
    traced_layer_bytes = None
    if trace:
        if adapters is not None and adapters.kind is not AdapterKind.LORA:
            raise InputError(f"--trace: the benchmark has no {adapters.kind.value} adapters.", fix="Leave --trace out.")
        from launcher.bench.memory_trace import traced_layer_bytes as trace_layer

        autocast = uses_autocast(strategy, precision=precision, adapters=adapters)
        traced_layer_bytes = trace_layer(
            network.architecture, precision=precision, autocast=autocast, adapters=adapters
        )
    question = MemoryQuestion(
        workload=network.name or workload,
        architecture=network.architecture,
        seq_len=seq_len or network.seq_len,
        micro_batch=micro_batch or network.micro_batch,
        accelerator=catalogs.find_accelerator(on, catalog),
        devices=gpus,
        strategy=strategy,
        precision=precision,
        checkpointing=checkpointing,
        loss=loss,
        traced_layer_bytes=traced_layer_bytes,
        adapters=adapters,
    )
    document = networks.memory(question)
    if as_json or form is Format.JSON:
        print_document(document)
        return
    print_rows(_rows(document), form, title=_title(document))
    _say_result(document)


def _title(document: MemoryDocument) -> str:
    length = " images" if document.seq_len is None else f" x {document.seq_len} tokens"
    return (
        f"{document.workload} on {document.accelerators}x {document.accelerator}: {document.strategy.value}, "
        f"{document.precision.value}, micro-batch {document.micro_batch}{length}, "
        f"checkpointing {document.checkpointing.value}, {document.loss.value} loss"
    )


def _rows(document: MemoryDocument) -> list[Row]:
    parts = {
        "states": document.states_gib,
        "activations": document.activations_gib,
        "logits": document.logits_gib,
        "buffers": document.buffers_gib,
        "total": document.total_gib,
        "device": document.hbm_gib,
    }
    return [
        {"part": name, "on one device": quantity_text(part), "how": part.source if part else NOT_KNOWN}
        for name, part in parts.items()
    ]


def _say_result(document: MemoryDocument) -> None:
    verdicts = {
        "yes": "fits, with the whole range",
        "no": "does not fit, even at the low end of the range",
        "uncertain": "uncertain: the device's size lies in the range; measure it, or leave more room",
        None: "whether it fits is not known",
    }
    say(f"{document.checkpointing.value} checkpointing: {verdicts[document.fits]}.")
    for way in document.ways:
        largest = NOT_KNOWN if way.largest_micro_batch is None else str(way.largest_micro_batch or "none")
        say(
            f"  {way.checkpointing.value}: {way.total_gib.value:.1f} GiB, fits: {way.fits or NOT_KNOWN}, "
            f"largest micro-batch: {largest}"
        )
    for note in document.notes:
        say(f"Note: {note}.")
