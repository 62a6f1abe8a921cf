"""`planner runs import PATH...`: trainers' logs as runs. Facts that a log lacks come from options or questions."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from planner.adapters.stored_prices.price_filter import NOTHING
from planner.cli.output import HomeOption, JsonFlag, check_positive, screen_width
from planner.cli.streams import say
from planner.cli.workload_options import LoraRankOption, LoraTargetsOption
from planner.errors import InputError
from planner.model.base import SCHEMA_VERSION
from planner.model.network.workload import Checkpointing, Method, Precision, Strategy
from planner.present.run_check_screen import audited_lines
from planner.present.table import quantity_text
from planner.use_cases import catalogs
from planner.use_cases.importing.imported_runs import Imported, import_runs
from planner.use_cases.importing.run_facts import MissingFactError, Stated
from planner.use_cases.trained_adapters import read_adapters

MOST_QUESTIONS = 5
MOST_HOURS = 100_000
WHOLE_NUMBERS = ("--gpus", "--seq-len", "--global-batch")


@dataclass(frozen=True, kw_only=True)
class FactOptions:
    """Facts of its training that a log may lack."""

    heading: ClassVar = "What the log does not say"

    workload: Annotated[
        str | None, typer.Option(metavar="NAME", help="Network (llama3-8b) or its config.json; default: beside the log")
    ] = None
    accelerator: Annotated[str | None, typer.Option(metavar="NAME", help="Accelerator, e.g. RTX-3090")] = None
    gpus: Annotated[int | None, typer.Option(help="Accelerators of the whole training")] = None
    nodes: Annotated[int | None, typer.Option(help="Nodes they are in; default: 1")] = None
    seq_len: Annotated[int | None, typer.Option(help="Tokens per sample, padding included")] = None
    global_batch: Annotated[int | None, typer.Option(help="Samples of one optimizer step, on all accelerators")] = None
    micro_batch: Annotated[int | None, typer.Option(help="Samples of one pass on one accelerator")] = None
    precision: Annotated[Precision | None, typer.Option(help="Number format of the products")] = None
    strategy: Annotated[Strategy | None, typer.Option(help="Parallel strategy")] = None
    checkpointing: Annotated[Checkpointing | None, typer.Option(help="Activations that are recomputed")] = None
    method: Annotated[Method | None, typer.Option(help="All weights or adapters; default: as the log says")] = None
    lora_rank: LoraRankOption = None
    lora_targets: LoraTargetsOption = None
    packed: Annotated[bool, typer.Option("--packed", help="Every sample is full: no padding")] = False
    hours: Annotated[float | None, typer.Option(help="Hours of the steps, of a log without times")] = None
    machine: Annotated[
        str | None, typer.Option(metavar="ID", help="Node of the catalog it ran on, for several accelerators")
    ] = None

    def stated(self) -> Stated:
        """Return the stated facts. InputError if a value is impossible."""
        for name in ("gpus", "nodes", "seq_len", "global_batch", "micro_batch", "lora_rank"):
            check_positive(getattr(self, name), f"--{name.replace('_', '-')}")
        if self.hours is not None and not 0 < self.hours < MOST_HOURS:
            raise InputError(f"--hours {self.hours:g}: must be above 0 and below {MOST_HOURS:,}.", fix="Write 3.5.")
        return Stated(
            workload=self.workload,
            accelerator=self.accelerator,
            gpus=self.gpus,
            nodes=self.nodes,
            seq_len=self.seq_len,
            global_batch=self.global_batch,
            micro_batch=self.micro_batch,
            precision=self.precision,
            strategy=self.strategy,
            checkpointing=self.checkpointing,
            lora=read_adapters(self.method or Method.FULL, self.lora_rank, self.lora_targets),
            hours=self.hours,
            machine=self.machine,
            packed=self.packed,
        )


def import_logs(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Logs of trainers, their folders or archives")],
    facts: FactOptions,
    *,
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Add runs from the logs of trainers.

    All are read before the first is stored; of the text itself nothing is kept. Formats: docs/importing-runs.md
    """
    catalog = catalogs.open_catalog(home, wanted=NOTHING)
    stated, asked = facts.stated(), 0
    while True:
        try:
            found = import_runs(paths, stated, catalog, home)
            break
        except MissingFactError as missing:
            if not may_ask() or asked >= MOST_QUESTIONS:
                raise
            asked += 1
            stated = _with_answer(stated, missing)
    if as_json:
        runs = [imported.record.model_dump(mode="json") for imported in found]
        audits = [imported.audit.model_dump(mode="json") for imported in found]
        print(json.dumps({"schema_version": SCHEMA_VERSION, "kind": "runs", "runs": runs, "audits": audits}, indent=1))
        return
    for imported in found:
        _say(imported)


def may_ask() -> bool:
    """Return whether a user is at the terminal who can answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _with_answer(stated: Stated, missing: MissingFactError) -> Stated:
    whole = missing.flag in WHOLE_NUMBERS
    kind: type = int if whole else float if missing.flag == "--hours" else str
    answer = typer.prompt(f"{missing.what} ({missing.flag}, e.g. {missing.example})", type=kind, err=True)
    if whole:
        check_positive(answer, missing.flag)
    return replace(stated, **{missing.flag.removeprefix("--").replace("-", "_"): answer})


def _say(imported: Imported) -> None:
    record = imported.record
    say(f"{'Known already' if imported.known_before else 'Imported'} {record.id}: {imported.place}")
    tokens = f", {record.throughput.value * record.seq_len:,.0f} tokens/s" if record.seq_len else ""
    say(f"  {quantity_text(record.throughput)}{tokens} ({record.throughput.source})")
    assert record.log is not None
    for what, seconds in record.log.dropped_seconds.items():
        say(f"  left out: {seconds:,.4g} s of {what}")
    for doubt in record.verdict:
        say(f"  Doubtful: {doubt}.")
    for line in audited_lines(imported.audit, width=screen_width() - 2):
        say(f"  {line}")
