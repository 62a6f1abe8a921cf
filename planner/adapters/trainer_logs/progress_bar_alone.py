"""A tqdm progress bar without any hint of the trainer, in a file that the user named."""

from __future__ import annotations

from planner.adapters.trainer_logs.hf_trainer import BAR_RESOLUTION_S
from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.progress_bar import bar_states, training_bar
from planner.adapters.trainer_logs.trainer_log import Facts, TrainerLog, spans_between


def read(source: LogSource) -> list[TrainerLog]:
    """Return the training of the bar that was shown for longest.

    Folders give none, because every program draws bars.
    """
    return source.each_console(_log) if source.lone else []


def _log(source: LogSource, name: str) -> TrainerLog | None:
    states = [state for place, line in enumerate(source.lines(name)) for state in bar_states(line, place)]
    spans, doubts = spans_between([(state.done, state.elapsed_s) for state in training_bar(states, None)])
    if not spans:
        return None
    return TrainerLog(
        format="progress-bar", framework=None, spans=tuple(spans), resolution_s=BAR_RESOLUTION_S,
        facts=Facts(padded=True), doubts=tuple(doubts), files=(name,),
    )  # fmt: skip
