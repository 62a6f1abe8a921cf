"""Reads the run of a trainer's log from which a question starts."""

from __future__ import annotations

from pathlib import Path

from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.use_cases.asking.machines import own_cards
from planner.use_cases.asking.question import TrainingQuestion
from planner.use_cases.importing.named_run import run_named
from planner.use_cases.importing.run_facts import MissingFactError, Stated

OWN_FLAGS = {
    "--workload": "Name the network: planner ask llama3-8b --log ...",
    "--accelerator": "Name the machine it was written on: --own 2xRTX-3090",
    "--gpus": "Name the machine it was written on: --own 2xRTX-3090",
}
"""Ways to state a missing fact of a log in `planner ask`, by the option of `planner runs import`."""


def run_of_log(log: Path, question: TrainingQuestion, catalog: Catalog) -> RunRecord:
    """Return the run of a log. The first owned machine of the question is the one that wrote it."""
    nodes, count, card = own_cards(question.own[0], catalog) if question.own else (1, None, None)
    stated = Stated(
        workload=question.workload,
        accelerator=card,
        gpus=None if count is None else nodes * count,
        seq_len=question.seq_len,
        precision=question.training.precision,
    )
    try:
        return run_named(str(log), stated, catalog)
    except MissingFactError as missing:
        if missing.flag == "--seq-len":
            raise InputError(missing.message, fix=f"Add --seq-len {missing.example}") from missing
        fix = OWN_FLAGS.get(missing.flag, f"Import it with {missing.flag}, and ask of the run: planner ask ID")
        raise InputError(missing.message, fix=fix) from missing
