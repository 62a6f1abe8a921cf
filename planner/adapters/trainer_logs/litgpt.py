"""LitGPT: `Epoch 1
iter 8 step 2
loss train: 7.1, val: n/a
iter time: 47.29 ms (step)`, and its `metrics.csv`.

An iteration is one pass. An optimizer step has as many passes as gradients are accumulated (litgpt/pretrain.py,
finetune/*.py, and the earlier scripts of lit-gpt). If only one line per step is printed, only its last pass is timed.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from planner.adapters.trainer_logs.csv_columns import table
from planner.adapters.trainer_logs.log_source import LONGEST_LINE, LogSource
from planner.adapters.trainer_logs.numbers_in_text import count, number, positive
from planner.adapters.trainer_logs.trainer_log import Beside, Facts, LogSpan, TrainerLog, spans_between

FORMAT, FRAMEWORK = "litgpt", "Lightning"
_LINE = re.compile(
    r"(?:^|\| )iter\s{1,9}(\d{1,9}) (?:\| )?step\s{1,9}(\d{1,9})(?:: | \| )"
    r"loss(?: train)?(?: \(curr\))?:?\s{0,9}([-+\w.]{1,30}),"
    r".{0,120}?iter time: ([\d.]{1,20}) ?(ms|s)\b( \((?:opt(?:imizer)?\.)?step\))?", re.IGNORECASE,
)  # fmt: skip
_ARGUMENT = re.compile(r"'(global_batch_size|micro_batch_size|max_seq_length|devices)': (\d{1,9})\b")
LAST_PASS = (
    "only the last pass of each optimizer step is timed, and counts for all of them; import logs/csv/*/metrics.csv of "
    "the output folder"
)
COLUMNS = {"iter", "iter_time", "time", "tokens"}
READ = COLUMNS | {"step", "loss", "val_loss", "samples", "total_tokens"}


class _Pass(NamedTuple):
    number: int
    step: int
    loss: float | None
    seconds: float
    is_step: bool


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training for each console's output, and for each metrics.csv."""
    logs = source.each_console(_log)
    for name in source.named(r".{1,200}\.csv"):
        text = source.text(name)
        if not all(column in text[:LONGEST_LINE] for column in COLUMNS):
            continue
        rows = table(text, where=source.where(name), wanted=READ.__contains__)
        if rows and rows[0].keys() >= COLUMNS and (log := _of_rows(rows, name)) is not None:
            logs.append(log)
    return logs


def _log(source: LogSource, name: str) -> TrainerLog | None:
    passes: list[_Pass] = []
    said: dict[str, int] = {}
    for line in source.lines(name):
        if "iter" in line and (found := _LINE.search(line[:LONGEST_LINE])) and (time := positive(found[4])):
            seconds = time / 1e3 if found[5].casefold() == "ms" else time
            passes.append(_Pass(int(found[1]), int(found[2]), number(found[3]), seconds, bool(found[6])))
        elif not passes:
            said |= {key: int(value) for key, value in _ARGUMENT.findall(line[:LONGEST_LINE])}
    if not passes:
        return None
    each = _passes_of_a_step(passes)
    spans = _whole_steps(passes, each)
    doubts = () if spans or each == 1 else (LAST_PASS,)
    if not spans:
        spans = [
            LogSpan(timed_pass.step - 1, timed_pass.step, each * timed_pass.seconds)
            for timed_pass in passes
            if timed_pass.is_step or each == 1
        ]
    return TrainerLog(
        format=FORMAT, framework=FRAMEWORK, spans=tuple(spans),
        facts=Facts(
            micro_batch=count(said.get("micro_batch_size")), global_batch=count(said.get("global_batch_size")),
            accumulation=each, seq_len=count(said.get("max_seq_length")), devices=count(said.get("devices")),
        ),
        losses=tuple(float("nan") if timed_pass.loss is None else timed_pass.loss for timed_pass in passes),
        doubts=doubts, files=(name,),
    )  # fmt: skip


def _passes_of_a_step(passes: Sequence[_Pass]) -> int:
    """Return passes / steps, at lines where a step ended."""
    shares = [timed_pass.number / timed_pass.step for timed_pass in passes if timed_pass.is_step and timed_pass.step]
    return max(1, round(statistics.median(shares))) if shares else 1


def _whole_steps(passes: Sequence[_Pass], each: int) -> list[LogSpan]:
    """Return a span for each step all of whose passes are timed."""
    spans = []
    since: list[_Pass] = []
    for timed_pass in passes:
        since.append(timed_pass)
        if timed_pass.is_step:
            if len(since) >= each and timed_pass.number - since[-each].number == each - 1:
                spans.append(LogSpan(timed_pass.step - 1, timed_pass.step, sum(part.seconds for part in since[-each:])))
            since = []
    return spans


def _of_rows(rows: Sequence[Mapping[str, str]], name: str) -> TrainerLog | None:
    """Return a training whose steps are passes, because the file has no optimizer steps. Only its tokens count."""
    timed = [
        (int(step), time, tokens)
        for row in rows
        if (step := number(row["iter"])) is not None
        and (time := number(row["time"])) is not None
        and (tokens := number(row["tokens"])) is not None
    ]
    beside = [
        (int(at) + 1, Beside.EVALUATION)
        for row in rows
        if row.get("val_loss") and (at := number(row.get("step"))) is not None
    ]
    spans, doubts = spans_between([(step, time) for step, time, _ in timed], beside=beside)
    since = {step: tokens for step, _, tokens in timed}
    counted = [
        LogSpan(span.begin, span.end, span.seconds, since[span.end] - since[span.begin], span.beside) for span in spans
    ]
    if not counted:
        return None
    last = next((row for row in reversed(rows) if number(row["iter"])), rows[0])
    passes, samples = number(last["iter"]), number(last.get("samples"))
    whole, own = number(last.get("total_tokens")), number(last["tokens"])
    return TrainerLog(
        format=FORMAT, framework=FRAMEWORK, spans=tuple(counted), rates_alone=True, tokens_of_one_device=True,
        facts=Facts(
            micro_batch=count(samples / passes) if samples and passes else None,
            devices=count(round(whole / own)) if whole and own else None,
        ),
        losses=tuple(loss for row in rows if (loss := number(row.get("loss"))) is not None),
        doubts=tuple(doubts), files=(name,),
    )  # fmt: skip
