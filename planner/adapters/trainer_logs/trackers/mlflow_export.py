"""MLflow's file store: a run's folder with `metrics/NAME` (lines `milliseconds value step`) and `params/NAME`."""

from __future__ import annotations

from planner.adapters.trainer_logs.config_keys import facts_of_config
from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.numbers_in_text import moment_s, number
from planner.adapters.trainer_logs.trainer_log import ONLY_TOTALS, Facts, Total, TrainerLog, spans_between

MOST_PARAMS = 500


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training for each run, timed by the training metric with the most entries."""
    logs = []
    for root in sorted({name.rpartition("metrics/")[0] for name in source.names if "metrics/" in name}):
        metrics = [name for name in source.names if name.startswith(f"{root}metrics/") and _trains(name)]
        timed = [(points, name) for name in metrics if len(points := _points(source, name)) > 1]
        if not timed:
            logs += _without_history(source, root, metrics)
            continue
        points, name = max(timed, key=lambda pair: (len(pair[0]), "loss" in pair[1]))
        spans, doubts = spans_between([(step, clock) for step, clock, _ in points])
        losses = tuple(value for _, _, value in points) if "loss" in name else ()
        logs.append(
            TrainerLog(
                format="mlflow", framework=None, spans=tuple(spans), resolution_s=0.001, facts=_params(source, root),
                losses=losses, doubts=tuple(doubts), files=(name,),
            )
        )  # fmt: skip
    return logs


def _without_history(source: LogSource, root: str, metrics: list[str]) -> list[TrainerLog]:
    """Return the training of a run whose metrics have one entry each: its steps, and seconds if a metric has them."""
    single = {name.rpartition("/")[2].casefold(): points[0] for name in metrics if (points := _points(source, name))}
    steps = max((step for step, _, _ in single.values()), default=0)
    if not steps:
        return []
    runtime = next((value for name, (_, _, value) in single.items() if name == "train_runtime" and value > 0), None)
    total = Total(float(steps), runtime) if runtime else None
    return [
        TrainerLog(
            format="mlflow", framework=None, total=total, untimed_steps=None if total else steps,
            facts=_params(source, root), doubts=(ONLY_TOTALS,) if total else (), files=tuple(metrics),
        )
    ]  # fmt: skip


def _trains(name: str) -> bool:
    metric = name.partition("metrics/")[2].casefold()
    return not any(word in metric for word in ("eval", "val", "test", "system/"))


def _points(source: LogSource, name: str) -> list[tuple[int, float, float]]:
    points = []
    for line in source.lines(name):
        parts = line.split()
        if len(parts) != 3:
            continue
        clock, value, step = moment_s(parts[0]), number(parts[1]), number(parts[2])
        if clock is not None and step is not None:
            points.append((int(step), clock, float("nan") if value is None else value))
    return points


def _params(source: LogSource, root: str) -> Facts:
    names = [name for name in source.names if name.startswith(f"{root}params/")][:MOST_PARAMS]
    return facts_of_config({name.rpartition("/")[2]: source.text(name).strip()[:200] for name in names})
