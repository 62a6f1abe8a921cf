"""Explains why a file that may be a log was not read, and what would help, from the form of its lines."""

from __future__ import annotations

import re

from planner.adapters.trainer_logs.json_lines import LLAMA_FACTORY, factory_rows, trains
from planner.adapters.trainer_logs.log_source import FIX, LONGEST_LINE, LogSource, base
from planner.errors import InputError

TABLE = "Or write a CSV with the columns step and elapsed_s (seconds since the start)."
HINTS = (
    (r"\{'loss': |\{'eval_loss': ", "shows losses of Hugging Face's Trainer, and nothing that times its steps",
     "Import the output with its progress bar, or trainer_state.json or all_results.json of the output folder."),
    (r"\[batch=\d{1,9}/\d{1,9}\]:", "is of Composer, without its rates",
     f"Log with SpeedMonitor (speed_monitor). {TABLE}"),
    (r"\[step=\d{1,9}(?:/\d{1,9})?[,\]]", "is of OLMo, whose output is not read", "Export the run's history from W&B."),
    (r"Step\s{1,9}Training Loss", "is a notebook's table of losses, without times",
     "Import what trainer.train() returned (TrainOutput), or trainer_state.json of the output folder."),
    (r"\bstep\b.{0,200}\bloss\b|\biter(?:ation)?\b.{0,200}\bloss\b|\bepoch\b.{0,200}\bloss\b",
     "shows steps with losses in a form that is not known, or without their times", TABLE),
)  # fmt: skip
"""Pattern of a line, what the file then is, and the fix; the most reliable first."""
_HINTS = tuple((re.compile(pattern, re.IGNORECASE), told, fix) for pattern, told, fix in HINTS)
MOST_LINES_LOOKED_AT = 20_000


def refuse(source: LogSource) -> InputError:
    """Return the error for a source without any known log. Raises if the file itself is damaged."""
    for name in source.named(LLAMA_FACTORY):
        if not trains(factory_rows(source, name)):
            return InputError(
                f"{source.where(name)}: no training: its rows have no loss, as those of a prediction.",
                fix="Name the folder of a training.",
            )
    consoles = source.consoles()
    for name in consoles[:1] or source.names[:1]:
        source.text(name)  # raises if the file is damaged
    best: tuple[int, str] | None = None
    for name in consoles[:5]:
        for number, line in enumerate(source.lines(name)):
            place = next((at for at, (hint, _, _) in enumerate(_HINTS) if hint.search(line[:LONGEST_LINE])), None)
            if place is not None and (best is None or place < best[0]):
                best = (place, name)
            if number > MOST_LINES_LOOKED_AT:
                break
    if best is None:
        return InputError(f"{source.path}: no log of a known format is there.", fix=FIX)
    _, told, fix = _HINTS[best[0]]
    where = str(source.path) if source.lone else f"{source.path}: {base(best[1])}"
    return InputError(f"{where}: {told}.", fix=fix)
