"""Box for a pasted command or log, which fills the form."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.present.page.words import Words
from planner.redact import clean
from planner.ui.ask.form import Form, WeightsChoice
from planner.ui.ask.question import StampedCatalog, log_of
from planner.ui.state import current_form, replace_form
from planner.use_cases.asking.pasted_command import Pasted, read_command
from planner.use_cases.importing.imported_runs import records_of
from planner.use_cases.importing.run_facts import MissingFactError, Stated

LONGEST_PASTE = 200_000
"""Largest number of characters of a pasted text."""
LOG_NAME = "pasted.log"
NOTHING_UNDERSTOOD = "Nothing was understood."


@dataclass(frozen=True)
class Understood:
    """Changes of the form, with a line for each."""

    changes: dict[str, Any]
    lines: tuple[str, ...]


def paste_box(form: Form, known: StampedCatalog, words: Words) -> None:
    """Draw the box, and below it the settings understood from the last text."""
    with st.expander(words("Paste a command or a log")):
        st.text_area(
            words("A trainer's command, its configuration, or lines of its log"), key="pasted", height=120,
            max_chars=LONGEST_PASTE,
        )  # fmt: skip
        st.button(words("Read it"), on_click=_read, args=(known,), key="read-pasted")
        for line in st.session_state.get("understood", ()):
            st.text(line)
    if form.log is not None:
        record = log_of(form)
        assert record is not None
        speed, machine = (
            f"{record.throughput.value:,.3g}",
            f"{record.hardware.accelerators}x {record.hardware.accelerator}",
        )
        st.text(words("Speed from your log: {speed} samples/s on {machine}", speed=speed, machine=machine))
        st.button(words("Forget the log"), on_click=replace_form, args=({"log": None},), key="forget-log")


def _read(known: StampedCatalog) -> None:
    text = str(st.session_state.get("pasted") or "")
    try:
        found = understood(text, current_form([]), known.catalog)
    except InputError as error:
        found = Understood({}, (str(error),))
    st.session_state["understood"] = tuple(clean(line) for line in found.lines)
    if found.changes:
        replace_form(found.changes)


def understood(text: str, form: Form, catalog: Catalog) -> Understood:
    """Read a text as a log, else as a command or a configuration."""
    record = _record(text, form, catalog)
    if record is not None:
        lines = [
            f"log of {record.log.framework if record.log else 'a trainer'}: {record.throughput.value:,.3g} samples/s"
        ]
        lines += [f"batch {record.global_batch}"] if record.global_batch else []
        lines += [f"doubtful: {doubt}" for doubt in record.verdict]
        return Understood({"log": record.model_dump_json()}, tuple(lines))
    said = read_command(text, catalog)
    changes = _changes(said, form)
    named = tuple(f"{name}: {value}" for name, value in changes.items())
    left = (f"not in the form: {', '.join(said.unused)}",) if said.unused else ()
    if not changes:
        seen = (f"read: {', '.join(said.said)}",) if said.said else ()
        return Understood({}, (NOTHING_UNDERSTOOD, *seen, *left))
    return Understood(changes, (*named, f"from: {', '.join(said.said)}", *left))


def _changes(said: Pasted, form: Form) -> dict[str, Any]:
    values = {
        "model": said.network, "config": None if said.network else form.config,
        "method": WeightsChoice(said.method) if said.method else None, "learns": said.objective,
        "precision": said.precision, "epochs": said.epochs,
        "seq_len": said.seq_len,
    }  # fmt: skip
    return {name: value for name, value in values.items() if value is not None}


def _record(text: str, form: Form, catalog: Catalog) -> RunRecord | None:
    """Return the run of a log; None for another text. Raises InputError if a fact of the log is missing."""
    machine = next(
        (machine for machine in form.machines if not machine.buy and machine.name in catalog.accelerators), None
    )
    stated = Stated(
        workload=None if form.config else form.model,
        accelerator=machine.name if machine else None,
        gpus=machine.count if machine else None,
        seq_len=form.seq_len,
        precision=form.precision,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / LOG_NAME
        path.write_text(text, encoding="utf-8")
        try:
            records = records_of(path, stated, catalog)
        except MissingFactError as missing:
            raise InputError(
                missing.message.replace(str(path), LOG_NAME), fix="Say it in the form, and read again."
            ) from None
        except InputError as error:
            if "\n" in text and "it/s" in text:
                raise InputError(error.message.replace(str(path), LOG_NAME), fix=error.fix) from None
            return None
    return records[0] if len(records) == 1 else None
