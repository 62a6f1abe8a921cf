"""Output of Lightning and what is built on it: NeMo, and LitGPT with its `metrics.csv`."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from planner.adapters.trainer_logs.csv_columns import table
from planner.adapters.trainer_logs.log_source import LONGEST_LINE, LogSource
from planner.adapters.trainer_logs.numbers_in_text import clock_s, count, number, number_or_nan, positive
from planner.adapters.trainer_logs.progress_bar import BarState, training_bar
from planner.adapters.trainer_logs.trainer_log import Facts, LogSpan, OtherWork, TrainerLog, spans_between

_BAR = re.compile(
    r"Epoch \d{1,6}:\s{0,9}(?::\s{0,9})?\d{1,3}%\|[^|]{0,400}\|\s{1,9}(\d{1,9})/(\d{1,9}|\?) "
    r"\[([\d:]{4,12})<[^\]]{1,1000}"
)
_RICH = re.compile(r"Epoch \d{1,6}/\d{1,6}\s{1,9}\S[━╸╺\s]{1,200}(\d{1,9})/(\d{1,9})\s{1,9}(\d{1,4}:\d\d:\d\d) •")
_FIGURE = re.compile(r"([A-Za-z_]\w{1,40}(?: in s)?)[=:] ?([-+\d.e]{1,30})")
_NEMO = re.compile(r"Training epoch \d{1,6}, iteration \d{1,9}/\d{1,9} \|")
_EVALUATED = re.compile(r"^\s{0,9}(?:Validation|Sanity Checking|Validating)\b")
TIMING = "train_step_timing in s"
RESOLUTION_S = 0.5


def lightning_log(source: LogSource, name: str) -> TrainerLog | None:
    """Read Lightning's progress bars and what NeMo prints through it.

    tqdm: `Epoch 0: 17%|█▋ | 3/18 [00:14<01:13, 4.87s/it, v_num=0]`; rich: `Epoch 0/9 ━━━━╸ 3/18 0:00:14 • 0:01:13 ...`;
    a bar counts batches, and begins anew in each epoch. NeMo: `Training epoch 0, iteration 12/149 | ... | global_step:
    12 | train_step_timing in s: 0.031`, or the same figures at the end of a bar.
    """
    states: list[BarState] = []
    timed: dict[int, tuple[float, dict[str, str]]] = {}
    evaluations: list[int] = []
    losses: list[float] = []
    is_nemo = False
    for place, whole in enumerate(source.lines(name)):
        line = whole[:LONGEST_LINE]
        if "poch" not in line:
            if states and _EVALUATED.match(line):
                evaluations.append(place)
            continue
        nemo = _NEMO.search(line)
        bar = None if nemo else _BAR.search(line) or _RICH.search(line)
        if not nemo and not bar:
            continue
        figures = dict(_FIGURE.findall(line))
        step, seconds = number(figures.get("global_step")), positive(figures.get(TIMING))
        is_nemo = is_nemo or TIMING in figures or "consumed_samples" in figures
        if step is not None and seconds is not None:
            timed.setdefault(int(step), (seconds, figures))
        if "reduced_train_loss" in figures or "train_loss" in figures:
            losses.append(number_or_nan(figures.get("reduced_train_loss", figures.get("train_loss"))))
        if bar and (elapsed := clock_s(bar[3])) is not None:
            states.append(BarState(place, int(bar[1]), count(bar[2]) or 0, elapsed))
    framework = "NeMo" if is_nemo else "Lightning"
    spans, doubts = _spans_of_bar(states, evaluations)
    if len(timed) > 1:
        spans = [LogSpan(step, step + 1, seconds) for step, (seconds, _) in sorted(timed.items())]
        doubts = []
    if not spans:
        return None
    return TrainerLog(
        format="nemo" if is_nemo else "lightning", framework=framework, spans=tuple(spans),
        resolution_s=0.0 if len(timed) > 1 else RESOLUTION_S,
        facts=Facts(global_batch=_batch(timed), padded=False if is_nemo else None),
        losses=tuple(losses), doubts=tuple(doubts), files=(name,),
    )  # fmt: skip


def _spans_of_bar(states: list[BarState], evaluations: list[int]) -> tuple[list[LogSpan], list[str]]:
    bar = training_bar(states, None)
    other_work = []
    for line in evaluations:
        before = [state for state in bar if state.line < line]
        if before:
            other_work.append((before[-1].done, OtherWork.EVALUATION))
    return spans_between([(state.done, state.elapsed_s) for state in bar], other_work=other_work)


def _batch(timed: dict[int, tuple[float, dict[str, str]]]) -> int | None:
    """Return the samples of a step: as stated, otherwise from the growth of the consumed samples."""
    stated = {count(figures.get("global_batch_size")) for _, figures in timed.values()}
    if len(stated) == 1 and (only := stated.pop()):
        return only
    seen = [
        (step, samples)
        for step, (_, figures) in sorted(timed.items())
        if (samples := number(figures.get("consumed_samples"))) is not None
    ]
    if len(seen) < 2 or seen[-1][0] == seen[0][0]:
        return None
    batch = (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0])
    return count(round(batch)) if abs(batch - round(batch)) < 1e-6 * max(batch, 1.0) else None


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
    loss: float
    seconds: float
    is_step: bool


def read_litgpt(source: LogSource) -> list[TrainerLog]:
    """Read LitGPT: lines `Epoch 1 | iter 8 step 2 | loss train: 7.1, val: n/a | iter time: 47.29 ms (step)`.

    Returns one training for each console's output, and for each `metrics.csv`. An iteration is one pass. An optimizer
    step has as many passes as gradients are accumulated (litgpt/pretrain.py, finetune/*.py, and the earlier scripts of
    lit-gpt). If only one line per step is printed, only its last pass is timed.
    """
    logs = source.each_console(_litgpt_log)
    for name in source.named(r".{1,200}\.csv"):
        text = source.text(name)
        if not all(column in text[:LONGEST_LINE] for column in COLUMNS):
            continue
        rows = table(text, where=source.where(name), wanted=READ.__contains__)
        if rows and rows[0].keys() >= COLUMNS and (log := _log_of_rows(rows, name)) is not None:
            logs.append(log)
    return logs


def _litgpt_log(source: LogSource, name: str) -> TrainerLog | None:
    passes: list[_Pass] = []
    said: dict[str, int] = {}
    for line in source.lines(name):
        if "iter" in line and (found := _LINE.search(line[:LONGEST_LINE])) and (time := positive(found[4])):
            seconds = time / 1e3 if found[5].casefold() == "ms" else time
            passes.append(_Pass(int(found[1]), int(found[2]), number_or_nan(found[3]), seconds, bool(found[6])))
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
        losses=tuple(timed_pass.loss for timed_pass in passes),
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


def _log_of_rows(rows: Sequence[Mapping[str, str]], name: str) -> TrainerLog | None:
    """Return a training whose steps are passes, because the file has no optimizer steps. Only its tokens count."""
    timed = [
        (int(step), time, tokens)
        for row in rows
        if (step := number(row["iter"])) is not None
        and (time := number(row["time"])) is not None
        and (tokens := number(row["tokens"])) is not None
    ]
    other_work = [
        (int(at) + 1, OtherWork.EVALUATION)
        for row in rows
        if row.get("val_loss") and (at := number(row.get("step"))) is not None
    ]
    spans, doubts = spans_between([(step, time) for step, time, _ in timed], other_work=other_work)
    since = {step: tokens for step, _, tokens in timed}
    counted = [
        LogSpan(span.begin, span.end, span.seconds, since[span.end] - since[span.begin], span.other_work)
        for span in spans
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
