"""Tables with named columns: the user's own CSV or TSV, that of Lightning's CSVLogger, or an export of W&B or MLflow.

The names of columns are compared without case, prefixes (`train/`, `device/`) and signs. `COLUMNS` lists them.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise

from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.numbers_in_text import count, moment_s, number, number_or_nan, positive, step_number
from planner.adapters.trainer_logs.processes import COARSE_S, Point
from planner.adapters.trainer_logs.trainer_log import Facts, LogSpan, TrainerLog, merged, spans_of_points
from planner.errors import InputError

FORMAT = "csv"
COLUMNS = {
    "step": ("global_step_max_steps", "global_step", "trainer_global_step", "current_steps", "step", "steps",
             "iteration", "iter", "it", "_step"),
    "clock": ("elapsed_s", "elapsed", "elapsed_time", "_runtime", "runtime", "relative_time", "time_s", "time",
              "timestamp",
              "_timestamp", "relative_time_process", "relative_time_wall", "wall_time", "datetime", "date"),
    "step_seconds": ("step_seconds", "step_time_s", "step_time", "seconds_per_step", "iteration_time", "iter_time",
                     "sec_per_step", "time_per_step"),
    "step_ms": ("step_time_ms", "step_ms", "ms_per_step", "iteration_time_ms", "elapsed_time_per_iteration_ms"),
    "steps_per_s": ("steps_per_second", "steps_per_s", "steps_per_sec", "it_s", "its_per_second", "batches_per_sec"),
    "mean_step_seconds": ("train_speed_s_it",),
    "mean_steps_per_s": ("train_speed_iter_s",),
    "tokens": ("tokens", "tokens_seen", "total_tokens", "num_tokens", "consumed_tokens", "num_input_tokens_seen"),
    "tokens_per_s": ("tokens_per_second", "tokens_per_s", "tokens_per_sec", "tok_s", "tps"),
    "samples_per_s": ("samples_per_second", "samples_per_s", "samples_per_sec", "images_per_second"),
    "loss": ("loss", "train_loss", "training_loss", "lm_loss"),
    "global_batch": ("global_batch", "global_batch_size", "batch_size"),
    "seq_len": ("seq_len", "sequence_length", "max_seq_len", "block_size"),
    "devices": ("gpus", "devices", "world_size", "n_gpus"),
}  # fmt: skip
"""Names of each column, the most reliable first. ms-swift's `train_speed` is the mean since the start."""
_WORDS = frozenset(word for words in COLUMNS.values() for word in words)
PREFIXES = r"^(?:(?:train|training|trainer|device|throughput|time|metrics|perf|wps_debugger)[/|.])+"
CSV_FIX = "It needs a column step, and one of elapsed_s, step_seconds, steps_per_s, tokens_per_s or samples_per_s."
RATES_ALONE = "it holds rates that the trainer averaged, not times of steps; import a log whose steps carry time"
MOSTLY = 0.5
MOST_HEAD = 100_000
MOST_ROWS = 200_000
"""Most rows to read. They take some seconds and a quarter of a gigabyte."""


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training for each table that has the columns.

    A lone table without them is refused with the missing ones.
    """
    logs = []
    for name in source.named(r".{1,200}\.(?:csv|tsv)"):
        rows = table(source.text(name), where=source.where(name), wanted=is_known)
        log = log_of_rows(rows, FORMAT, None, (name,))
        if log is not None:
            logs.append(log)
        elif source.lone:
            raise InputError(f"{source.path}: its columns say no step with its time.", fix=CSV_FIX)
    return logs


def table(text: str, *, where: str, wanted: Callable[[str], bool]) -> list[dict[str, str]]:
    """Return the rows of a table with the wanted columns. An incomplete last row is left out."""
    head = text[:MOST_HEAD].partition("\n")[0]
    delimiter = max("\t,;", key=head.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        names = [name.strip() for name in next(reader, [])]
        kept = [(name, place) for place, name in enumerate(names) if wanted(name)]
        lines = islice(reader, MOST_ROWS) if kept else ()
        rows = [{name: row[place] for name, place in kept} for row in lines if len(row) == len(names)]
        more = next(reader, None) if kept else None
    except csv.Error as error:
        raise InputError(f"{where}: is not CSV: {error}.", fix=CSV_FIX) from error
    if more is not None:
        raise InputError(f"{where}: has over {MOST_ROWS:,} rows.", fix="Keep the steps of some hours.")
    return rows


def log_of_rows(
    rows: Sequence[Mapping[str, object]],
    form: str,
    framework: str | None,
    files: tuple[str, ...],
    *,
    facts: Facts | None = None,
) -> TrainerLog | None:
    """Return the training in the rows, with or without gaps between steps; None if they have no step or time."""
    rows = [row for row in rows if row]
    named = columns_of(rows)
    if "step" not in named or not rows:
        return None
    losses = tuple(number_or_nan(row[named["loss"]]) for row in rows if _filled(row, named.get("loss")))
    spans, doubts = _spans(rows, named)
    if not spans:
        return None
    said = Facts(
        global_batch=_constant(rows, named.get("global_batch")),
        seq_len=_constant(rows, named.get("seq_len")),
        devices=_constant(rows, named.get("devices")),
    )
    return TrainerLog(
        format=form,
        framework=framework,
        spans=tuple(spans),
        facts=merged(facts or Facts(), said),
        losses=losses,
        used_lines=len(rows) - (unread := _unread(rows, named)),
        skipped_lines=unread,
        rates_alone=bool(doubts) and doubts[0] == RATES_ALONE and all(span.tokens == 1.0 for span in spans),
        doubts=tuple(doubts),
        files=files,
    )


def _unread(rows: Iterable[Mapping[str, object]], named: Mapping[str, str]) -> int:
    """Count the rows whose step or clock is filled but not understood."""
    step, clock = named["step"], named.get("clock")
    return sum(
        (_filled(row, step) and step_number(row[step]) is None)
        or (clock is not None and _filled(row, clock) and moment_s(row[clock]) is None)
        for row in rows
    )


def columns_of(rows: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """Return the column names by their meaning."""
    names = dict.fromkeys(name for row in rows for name in row if name)
    plain = {_bare_name(name): name for name in names}
    found = {}
    for what, words in COLUMNS.items():
        column = next((plain[word] for word in words if word in plain), None)
        if column is not None:
            found[what] = column
    return found


@lru_cache(maxsize=10_000)
def is_known(name: str) -> bool:
    """Return whether a column may hold one of `COLUMNS`."""
    return _bare_name(name) in _WORDS


def _bare_name(name: str) -> str:
    """Return a column's name without prefixes and signs. W&B's charts put the run's name first."""
    own = re.sub(PREFIXES, "", name.casefold().rpartition(" - ")[2])
    return re.sub(r"[^a-z0-9]+", "_", own).rstrip("_")


def _spans(rows: Sequence[Mapping[str, object]], named: Mapping[str, str]) -> tuple[list[LogSpan], list[str]]:
    if "step_seconds" in named or "step_ms" in named:
        return _timed(rows, named), []
    if "clock" in named:
        spans, doubts = spans_of_points(_points(rows, named))
        return _with_tokens(spans, rows, named), doubts
    if "mean_step_seconds" in named or "mean_steps_per_s" in named:
        steps = [(step_number(row.get(named["step"])), row) for row in rows]
        clocks = [(step, _clock_of_mean(row, named, step)) for step, row in steps if step]
        points = [Point(step, clock, clock) for step, clock in clocks if clock is not None]
        return spans_of_points(points)[0], [RATES_ALONE]
    for what, per in (("steps_per_s", 1.0), ("tokens_per_s", None), ("samples_per_s", None)):
        if what in named:
            return _log_of_rates(rows, named, what, per), [RATES_ALONE]
    return [], []


def _points(rows: Sequence[Mapping[str, object]], named: Mapping[str, str]) -> list[Point]:
    """Return the rows of training. A row of another kind at the same step, such as an evaluation, ends the span before
    it.

    If some rows have a loss, those without one are of another kind. If none has, two rows at the same step are such a
    pair, unless most steps are doubled. A clock of whole seconds is replaced by a finer one that agrees with it.
    """
    found: list[tuple[int, float, bool]] = []
    for row in rows:
        step, clock = step_number(row.get(named["step"])), moment_s(row.get(named["clock"]))
        if step is not None and clock is not None:
            fine = _clock_of_mean(row, named, step)
            clock = fine if fine is not None and abs(fine - clock) <= COARSE_S else clock
            found.append((step, clock, _filled(row, named.get("loss"))))
    has_loss = any(loss for _, _, loss in found)
    steps = [step for step, _, _ in found]
    pairs = not has_loss and sum(step == following for step, following in pairwise(steps)) < MOSTLY * len(set(steps))
    points: list[Point] = []
    for step, clock, loss in found:
        trains = loss or not has_loss
        same = bool(points) and step == points[-1].step and clock >= points[-1].left_s
        if same and (pairs or not trains):
            points[-1] = points[-1]._replace(left_s=clock)
        elif trains:
            points.append(Point(step, clock, clock))
    return points


def _clock_of_mean(row: Mapping[str, object], named: Mapping[str, str], step: int) -> float | None:
    """Return step x the mean seconds of a step since the start; None if no column holds that mean."""
    seconds = positive(row.get(named.get("mean_step_seconds", "")))
    rate = positive(row.get(named.get("mean_steps_per_s", "")))
    return step * seconds if seconds is not None else step / rate if rate is not None else None


def _timed(rows: Sequence[Mapping[str, object]], named: Mapping[str, str]) -> list[LogSpan]:
    """Return one span per row: the mean seconds of a step since the row before."""
    column, unit = (named["step_seconds"], 1.0) if "step_seconds" in named else (named["step_ms"], 1e-3)
    spans, before = [], None
    for row in rows:
        step, seconds = step_number(row.get(named["step"])), positive(row.get(column))
        if step is None or seconds is None:
            continue
        steps = int(step) - before if before is not None and step > before else 1
        tokens = positive(row.get(named["tokens_per_s"])) if "tokens_per_s" in named else None
        span_s = seconds * unit * steps
        spans.append(LogSpan(int(step) - steps, int(step), span_s, tokens and tokens * span_s))
        before = int(step)
    return spans


def _with_tokens(spans: list[LogSpan], rows: Sequence[Mapping[str, object]], named: Mapping[str, str]) -> list[LogSpan]:
    """Add the tokens of each span, if a column counts them since the start."""
    if "tokens" not in named:
        return spans
    since = {
        int(step): tokens
        for row in rows
        if (step := step_number(row.get(named["step"]))) is not None
        and (tokens := number(row.get(named["tokens"]))) is not None
    }
    counted = []
    for span in spans:
        begin, end = since.get(span.begin), since.get(span.end)
        tokens = end - begin if begin is not None and end is not None and end > begin else None
        counted.append(LogSpan(span.begin, span.end, span.seconds, tokens, span.other_work))
    return counted


def _log_of_rates(
    rows: Sequence[Mapping[str, object]], named: Mapping[str, str], what: str, steps: float | None
) -> list[LogSpan]:
    """Return spans of one step each. A rate of tokens has its own unit: one token, and the seconds that it took."""
    spans: list[LogSpan] = []
    batch_column: str = named.get("global_batch", "")
    for row in rows:
        step, rate = step_number(row.get(named["step"])), positive(row.get(named[what]))
        if step is None or rate is None:
            continue
        if steps is not None:
            spans.append(LogSpan(int(step) - 1, int(step), steps / rate))
        elif what == "tokens_per_s":
            spans.append(LogSpan(int(step) - 1, int(step), 1 / rate, 1.0))
        elif (batch := count(row.get(batch_column))) is not None:
            spans.append(LogSpan(int(step) - 1, int(step), batch / rate))
    return spans


def _constant(rows: Sequence[Mapping[str, object]], column: str | None) -> int | None:
    """Return the whole number that a column holds throughout. Values that are not numbers may be lists, as in JSON."""
    values = {str(row.get(column)) for row in rows if _filled(row, column)} if column is not None else set()
    return count(values.pop()) if len(values) == 1 else None


def _filled(row: Mapping[str, object], column: str | None) -> bool:
    return column is not None and row.get(column) not in (None, "")
