"""fairseq and metaseq: `epoch 001: 100 / 8223 loss=..., wps=..., wpb=..., num_updates=100, ..., wall=83`, or as JSON.

`wall` is the whole seconds since the start, including validation. `wpb` is the target tokens of an update. Releases
before 2019 have only rates (fairseq/logging/progress_bar.py, trainer.py).
"""

from __future__ import annotations

import re
from dataclasses import replace

from planner.adapters.trainer_logs.csv_columns import RATES_ALONE
from planner.adapters.trainer_logs.log_source import LONGEST_LINE, LogSource
from planner.adapters.trainer_logs.numbers_in_text import count, number, positive
from planner.adapters.trainer_logs.trainer_log import Beside, Facts, LogSpan, TrainerLog, spans_between

_FIGURE = re.compile(r"""[ ,{]"?(loss|wps|wpb|bsz|num_updates|wall)"?[=:] ?"?([-+\w.]{1,30})""")
_VALID = re.compile(r"valid on '|begin validation|\| valid \|")
_WORLD = re.compile(r"(?:training on|distributed_world_size[=:]) ?(\d{1,6})\b")


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training for each console's output."""
    return source.each_console(_log)


def _log(source: LogSource, name: str) -> TrainerLog | None:
    points: list[tuple[int, float]] = []
    words: dict[int, float] = {}
    rates: list[LogSpan] = []
    beside: list[tuple[int, Beside]] = []
    losses: list[float] = []
    world = None
    for whole in source.lines(name):
        line = whole[:LONGEST_LINE]
        if "wps" not in line or "wpb" not in line:
            if points and _VALID.search(line):
                beside.append((points[-1][0], Beside.EVALUATION))
            elif found := _WORLD.search(line):
                world = count(found[1]) or world
            continue
        figures = dict(_FIGURE.findall(line))
        rate, batch = positive(figures.get("wps")), positive(figures.get("wpb"))
        if rate is None or batch is None or "valid" in line:
            continue
        loss = number(figures.get("loss"))
        losses.append(float("nan") if loss is None else loss)
        rates.append(LogSpan(len(rates), len(rates) + 1, batch / rate, batch))
        step, wall = count(figures.get("num_updates")), number(figures.get("wall"))
        if step is not None and wall:
            points.append((step, wall))
            words[step] = batch
    spans, doubts = spans_between(points, beside=beside)
    if not spans and not rates:
        return None
    counted = [replace(span, tokens=words[span.end] * span.steps) for span in spans]
    return TrainerLog(
        format="fairseq", framework="fairseq fairscale", spans=tuple(counted or rates),
        resolution_s=1.0 if counted else 0.0, rates_alone=not counted,
        facts=Facts(devices=world, padded=False), losses=tuple(losses),
        doubts=tuple(doubts if counted else [RATES_ALONE]), files=(name,),
    )  # fmt: skip
