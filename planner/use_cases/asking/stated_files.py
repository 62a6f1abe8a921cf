"""Joins a question with the files of a trainer, or with the run of its log. Options win over files."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner.adapters.documents import parse_model
from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import StatedTraining, Strategy
from planner.model.plan.find_filters import FindFilters
from planner.model.plan.plan import Training
from planner.use_cases.asking.machines import own_cards
from planner.use_cases.asking.question import TrainingQuestion
from planner.use_cases.catalogs import find_accelerator
from planner.use_cases.importing.imported_runs import run_named
from planner.use_cases.importing.run_facts import MissingFactError, Stated
from planner.use_cases.training_files import UnnamedNetworkError, read_stated_training, training_paths


def with_stated(question: TrainingQuestion, catalog: Catalog) -> TrainingQuestion:
    """Add the settings that the files of a question's workload state. Other questions stay as they are."""
    paths = training_paths(question.workload) if question.workload and question.network is None else []
    if not paths:
        return question
    try:
        stated = read_stated_training(paths, catalog)
    except UnnamedNetworkError as error:
        if question.data is None and question.tokens is None:
            raise UnnamedNetworkError(
                error.message.removesuffix(".") + ", nor how much it is trained on.",
                fix=f"{error.fix} --data 50000x700",
            ) from error
        raise
    return replace(
        question,
        workload=stated.name or "network",
        network=None if stated.name in catalog.presets else stated,
        stated=stated,
        epochs=question.epochs if question.tokens else question.epochs or stated.epochs,
        seq_len=question.seq_len or stated.stated_seq_len,
        objective=question.objective if question.objective.method else stated.objective,
        training=_training(question, stated, catalog),
        filters=question.filters if question.own or question.on else _filters(question, stated, catalog),
    )


def _filters(question: TrainingQuestion, stated: StatedTraining, catalog: Catalog) -> FindFilters:
    """Return filters for the accelerators that the files ask for, for a question that names no machine."""
    found: dict[str, Any] = {}
    if stated.accelerator is not None:
        try:
            found["accelerator"] = (find_accelerator(stated.accelerator, catalog).id,)
        except InputError:
            found = {}
    if stated.accelerators is not None:
        found["gpus"] = (stated.accelerators,)
    return question.filters.model_copy(update=found)


def _training(question: TrainingQuestion, stated: StatedTraining, catalog: Catalog) -> Training:
    cards = {nodes * count for nodes, count, _ in (own_cards(machine, catalog) for machine in question.own)}
    return training_of(stated, question.training, cards, where="planner ask")


def training_of(stated: StatedTraining, options: Training, accelerators: Set[int], *, where: str) -> Training:
    """Return the settings of a plan's training: those of the options, else those of the files.

    `accelerators` holds the accelerator counts of the machines in question; empty means any.
    """
    (count,) = accelerators if len(accelerators) == 1 else (None,)
    settings: dict[str, Any] = {
        "global_batch": stated.global_batch if count is None else stated.global_batch_on(count),
        "micro_batch": stated.stated_micro_batch,
        "checkpointing": stated.checkpointing,
        "strategy": Strategy.DDP if count == 1 or stated.accelerators == 1 else stated.strategy,
        "packing": stated.packing,
        "precision": stated.stated_precision,
        "framework": stated.framework,
        **stated.stated,
    }
    of_files = {name: value for name, value in settings.items() if value is not None}
    return parse_model(Training, of_files | options.model_dump(exclude_defaults=True), where=where)


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
