"""Lightning's progress bars and what NeMo prints through it.

tqdm: `Epoch 0:  17%|█▋ | 3/18 [00:14<01:13, 4.87s/it, v_num=0]`; rich: `Epoch 0/9 ━━━━╸ 3/18 0:00:14 • 0:01:13 ...`; a
bar counts batches, and begins anew in each epoch. NeMo: `Training epoch 0, iteration 12/149 | ... | global_step: 12 |
train_step_timing in s: 0.031`, or the same figures at the end of a bar.
"""

from __future__ import annotations

import re

from planner.adapters.trainer_logs.log_source import LONGEST_LINE, LogSource
from planner.adapters.trainer_logs.numbers_in_text import clock_s, count, number, positive
from planner.adapters.trainer_logs.progress_bar import BarState, training_bar
from planner.adapters.trainer_logs.trainer_log import Beside, Facts, LogSpan, TrainerLog, spans_between

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


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training for each console's output."""
    return source.each_console(_log)


def _log(source: LogSource, name: str) -> TrainerLog | None:
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
            loss = number(figures.get("reduced_train_loss", figures.get("train_loss")))
            losses.append(float("nan") if loss is None else loss)
        if bar and (elapsed := clock_s(bar[3])) is not None:
            states.append(BarState(place, int(bar[1]), count(bar[2]) or 0, elapsed))
    framework = "NeMo" if is_nemo else "Lightning"
    spans, doubts = _of_bar(states, evaluations)
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


def _of_bar(states: list[BarState], evaluations: list[int]) -> tuple[list[LogSpan], list[str]]:
    bar = training_bar(states, None)
    beside = []
    for line in evaluations:
        before = [state for state in bar if state.line < line]
        if before:
            beside.append((before[-1].done, Beside.EVALUATION))
    return spans_between([(state.done, state.elapsed_s) for state in bar], beside=beside)


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
