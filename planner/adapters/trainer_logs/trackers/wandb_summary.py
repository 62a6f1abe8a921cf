"""W&B's `wandb-summary.json`: the last value of each metric, with the seconds of the run and the steps done."""

from __future__ import annotations

from planner.adapters.trainer_logs.config_keys import facts_of_config
from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.numbers_in_text import count, number, positive
from planner.adapters.trainer_logs.statements import Statements
from planner.adapters.trainer_logs.trainer_log import ONLY_TOTALS, Total, TrainerLog

SUMMARY = r"(?:wandb-)?summary\.json"
STEPS = ("train/global_step", "trainer/global_step", "global_step", "_step")
"""Step metrics, the most reliable first. W&B's own `_step` counts logged rows."""
SECONDS = ("train_runtime", "train/train_runtime", "train/runtime")
RUNTIME = "_runtime"
"""Metric with the seconds of the whole process, including start and end."""


def read(source: LogSource) -> list[TrainerLog]:
    """Return the training of each summary."""
    logs = []
    for name in source.named(SUMMARY):
        data = source.json(name)
        steps = next((found for key in STEPS if (found := count(data.get(key)))), None)
        if steps is None:
            continue
        seconds = next((time for key in (*SECONDS, RUNTIME) if (time := positive(data.get(key)))), None)
        said = Statements()
        for beside in source.beside(name, "config.yaml", "wandb-metadata.json"):
            said.add(facts_of_config(source.json(beside)), beside)
        loss = number(data.get("train/loss", data.get("loss")))
        logs.append(
            TrainerLog(
                format="wandb",
                framework=None,
                total=Total(float(steps), seconds) if seconds else None,
                untimed_steps=None if seconds else steps,
                facts=said.facts(),
                losses=() if loss is None else (loss,),
                doubts=(ONLY_TOTALS,) if seconds else (),
                contradictions=said.contradictions(),
                files=(name,),
            )
        )
    return logs
