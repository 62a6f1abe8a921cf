"""`planner memory WORKLOAD`: memory of one device, and the largest micro-batch that fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from planner import clock
from planner.cli.output import DetailsFlag, HomeOption, TableOptions, check_positive, print_lines, screen_width
from planner.cli.registration import command, command_app
from planner.cli.streams import print_document
from planner.cli.workload_options import FrameworkOption, MethodOptions, TrainerOptions, WorkloadOptions
from planner.model.answer.memory_answer import MemoryDocument
from planner.model.network.workload import Checkpointing, Method, Strategy
from planner.present.memory_screen import memory_lines, parts_of
from planner.present.table import NOT_KNOWN, Row, quantity_text
from planner.use_cases import answer_ids, catalogs, networks
from planner.use_cases.memory import MemoryRequest, estimate_memory

app = command_app()


@dataclass(frozen=True, kw_only=True)
class StepOptions:
    """Distribution and storage of the training on the accelerators."""

    heading: ClassVar = "Training"

    strategy: Annotated[Strategy | None, typer.Option(help="Parallel strategy; default: the file's, else ddp")] = None
    micro_batch: Annotated[int | None, typer.Option(help="Samples per device; default: the workload's, else 1")] = None
    checkpointing: Annotated[
        Checkpointing | None, typer.Option(help="Activations to recompute; default: as few as fit")
    ] = None
    framework: FrameworkOption = None
    tensor: Annotated[int, typer.Option(metavar="N", help="Tensor-parallel slices of each layer")] = 1
    pipeline: Annotated[int, typer.Option(metavar="N", help="Pipeline stages")] = 1
    context: Annotated[int, typer.Option(metavar="N", help="Parts of a sequence (context parallelism)")] = 1


@command(app, example="planner memory llama3-8b --on H100-SXM --gpus 8 --strategy fsdp2")
def memory(
    workload: WorkloadOptions,
    on: Annotated[str, typer.Option("--on", metavar="ACCELERATOR", help="E.g. H100-SXM, 8xRTX-5090, aws/p5.48xlarge")],
    step: StepOptions,
    trainer: TrainerOptions,
    method: MethodOptions,
    *,
    gpus: Annotated[int | None, typer.Option(help="Accelerators of one training; default: as --on says")] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Trace what a layer saves instead of using the formula")
    ] = False,
    details: DetailsFlag = False,
    output: TableOptions,
    home: HomeOption = None,
) -> None:
    """Check whether a training fits a device, and how large a batch.

    Shows states, activations, logits and buffers on one device. --trace needs the extra `bench`.
    """
    for value, name in (
        (gpus, "--gpus"),
        (step.micro_batch, "--micro-batch"),
        (workload.seq_len, "--seq-len"),
        (step.tensor, "--tensor"),
        (step.pipeline, "--pipeline"),
        (step.context, "--context"),
    ):
        check_positive(value, name)
    catalog = catalogs.open_catalog(home)
    adapters = method.adapters(networks.find_architecture(workload.workload, catalog))
    request = MemoryRequest(
        workload=workload.workload,
        on=on,
        gpus=gpus,
        strategy=step.strategy,
        micro_batch=step.micro_batch,
        seq_len=workload.seq_len,
        precision=workload.precision,
        checkpointing=step.checkpointing,
        framework=step.framework,
        tensor=step.tensor,
        pipeline=step.pipeline,
        context=step.context,
        **trainer.stated,
        objective=method.objective,
        method=Method.FULL if adapters is None else Method.LORA,
        adapters=adapters,
        trace=trace,
    )
    document = estimate_memory(request, catalog)
    answer_ids.keep(document, today=clock.today())
    print_memory(document, output, details=details)


def print_memory(document: MemoryDocument, output: TableOptions, *, details: bool) -> None:
    """Print the memory of one device in the chosen form."""
    if output.json:
        print_document(document)
        return
    if output.table:
        print_lines(memory_lines(document, width=screen_width(), details=details))
    else:
        output.print_rows(_rows(document), title=document.workload)


def _rows(document: MemoryDocument) -> list[Row]:
    return [
        {"part": name, "on one device": quantity_text(part), "how": part.source if part else NOT_KNOWN}
        for name, part in parts_of(document).items()
    ]
