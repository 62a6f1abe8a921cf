"""Console output of Hugging Face's Trainer: progress bars, dictionaries of figures, the lines at the start."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from planner.adapters.trainer_logs.numbers_in_text import clock_s, count, number, number_or_nan
from planner.adapters.trainer_logs.progress_bar import LONGEST_LINE, BarState, bar_states, notebook_state, training_bar
from planner.adapters.trainer_logs.rollout_figures import OF_ROLLOUTS
from planner.adapters.trainer_logs.trainer_log import Facts

_FIGURES = re.compile(r"\{'[A-Za-z_]{1,60}': [^{}]{1,4000}\}")
_FIGURE = re.compile(r"'([A-Za-z_/]{1,60})': '?([-+\w.]{1,40})'?")
_SWIFT_STEP = re.compile(r"'(?:global_step/max_steps|iteration)': '(\d{1,9})/(\d{1,9})'")
_SWIFT_TIME = re.compile(r"'elapsed_time': '([^']{1,40})'")
"""Elapsed time that ms-swift adds to each line of figures: `9m 40s`, `1h 2m 3s`, `4 days, 5:06:09`."""
_SWIFT_SPEED = re.compile(r"'train_speed\((s/it|iter/s)\)': '?([\d.eE+-]{1,20})'?")
_TOTAL = re.compile(
    r"^\s{1,9}(train_(?:runtime|samples_per_second|steps_per_second))\s{1,20}=\s{1,20}([\d:.]{1,30})\s*$"
)
"""Lines below `***** train metrics *****`."""
_CARD = re.compile(r"\|\s{1,9}(\w[\w .-]{1,40}?)\. Num GPUs = (\d{1,4})\. Max memory")
"""Line of unsloth's banner."""
START_LINES = {
    "micro_batch": r"(?:Instantaneous )?batch size per device = ([\d,]{1,12})",
    "global_batch": r"Total (?:train )?batch size (?:\([^()]{1,80}\) )?= ([\d,]{1,12})",
    "accumulation": r"Gradient accumulation steps = ([\d,]{1,12})",
    "planned": r"Total (?:optimization )?steps = ([\d,]{1,12})",
    "devices": r"Data Parallel GPUs = ([\d,]{1,12})",
    "examples": r"Num examples = ([\d,]{1,15})",
    "epochs": r"Num Epochs = ([\d,]{1,6})",
    "trainable": r"(?:Number of trainable parameters|Trainable parameters) = ([\d,]{1,18})",
}
"""Lines that the Trainer (transformers 4.0 to 5.23), or unsloth in its place, logs before the first step."""
PEFT = re.compile(r"trainable params: ([\d,]{1,18}) \|\| all params: ([\d,]{1,18})")
"""Line that peft's `print_trainable_parameters` and LLaMA-Factory write."""
FOUR_BIT = re.compile(r"Quantizing model to 4 bit|load_in_4bit['\"]?[:=] ?True|bnb-4bit", re.IGNORECASE)
_START = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in START_LINES.items()}


@dataclass
class Console:
    """Parsed console output."""

    states: list[BarState] = field(default_factory=list)
    evaluation_lines: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    totals: dict[str, Any] = field(default_factory=dict)
    said: dict[str, int] = field(default_factory=dict)
    stamped: list[tuple[int, float]] = field(default_factory=list)
    """Steps with the seconds since the start, as ms-swift writes them."""
    tokens: list[tuple[int, float]] = field(default_factory=list)
    """Steps with the tokens since the start without padding, as TRL counts them."""
    rollouts: list[dict[str, str]] = field(default_factory=list)
    """Figures of steps that trained on their own completions (TRL's GRPOTrainer and RLOOTrainer)."""
    figures: set[str] = field(default_factory=set)
    """Names of the figures that its steps log."""
    notebook: BarState | None = None
    accelerator: str | None = None
    quantized: bool | None = None
    has_rates_alone: bool = False
    """True if the steps are timed only by a mean rate since the start."""
    at: dict[str, int] = field(default_factory=dict)
    """Line number of each fact, from 1."""
    figure_lines: int = 0
    unread_lines: int = 0

    @property
    def is_of_trainer(self) -> bool:
        """True if the Trainer wrote it."""
        return bool(self.losses or self.totals or self.notebook or "planned" in self.said)

    @property
    def planned_steps(self) -> int | None:
        """Number of planned optimizer steps."""
        return self.said.get("planned")

    @property
    def facts(self) -> Facts:
        """Facts in the lines at the start. devices = batch of all / (batch of one x accumulation)"""
        said = self.said
        micro, accumulation, whole = (said.get(name) for name in ("micro_batch", "accumulation", "global_batch"))
        devices = said.get("devices")
        examples, epochs = said.get("examples"), said.get("epochs")
        if devices is None and micro and accumulation and whole and whole % (micro * accumulation) == 0:
            devices = whole // (micro * accumulation)
        return Facts(
            micro_batch=micro,
            accumulation=accumulation,
            global_batch=whole,
            devices=devices,
            accelerator=self.accelerator,
            trainable=said.get("trainable"),
            quantized=self.quantized,
            planned_steps=self.planned_steps,
            planned_samples=self._planned_samples(examples, epochs, whole),
        )

    def _planned_samples(self, examples: int | None, epochs: int | None, whole: int | None) -> float | None:
        """Return the samples of the whole job: those of its epochs, or of its steps if they end earlier (max_steps).

        min(examples x epochs, planned steps x batch), of those that are known
        """
        of_epochs = examples * epochs if examples and epochs else None
        of_steps = self.planned_steps * whole if self.planned_steps and whole else None
        return float(min(known)) if (known := [samples for samples in (of_epochs, of_steps) if samples]) else None

    def bar(self, total: int | None) -> list[BarState]:
        """Return the states of the training's bar."""
        return training_bar(self.states, total) or training_bar(self.states, None)

    def own_steps(self, total: int | None) -> int | None:
        """Return the steps that the bar shows of this process. A resumed process jumps from zero to its position."""
        done = [state.done for state in self.bar(total) if state.done > 0]
        return done[-1] - done[0] + 1 if done else None

    def evaluations_in(self, bar: list[BarState]) -> set[int]:
        """Return the places in the bar before which an evaluation ended."""
        lines = [state.line for state in bar]
        places = {bisect_right(lines, line) for line in self.evaluation_lines}
        return places - {0, len(bar)}


def read_console(lines: Iterable[str]) -> Console:
    """Parse an output. Text of other programs in it is skipped."""
    console = Console()
    for place, line in enumerate(lines):
        console.states += bar_states(line, place)
        console.notebook = notebook_state(line) or console.notebook
        if console.quantized is None and "4" in line and FOUR_BIT.search(line[:LONGEST_LINE]):
            console.quantized = True
        if "{'" in line:
            for figures in _FIGURES.finditer(line[:LONGEST_LINE]):
                console.figure_lines += 1
                _take(console, dict(_FIGURE.findall(figures[0])), place)
                _take_stamp(console, figures[0])
        elif " = " in line:
            if card := _CARD.search(line[:LONGEST_LINE]):
                console.accelerator = card[1]
            if total := _TOTAL.match(line[:LONGEST_LINE]):
                value = clock_s(total[2]) if ":" in total[2] else number(total[2])
                console.totals.setdefault(total[1], value)
            for name, pattern in _START.items():
                if (found := pattern.search(line[:LONGEST_LINE])) and (value := count(found[1])):
                    console.said[name] = value
                    console.at[name] = place + 1
        elif (found := PEFT.search(line[:LONGEST_LINE])) and (value := count(found[1])):
            console.said["trainable"] = value
            console.at["trainable"] = place + 1
    return console


def _take_stamp(console: Console, figures: str) -> None:
    step, time = _SWIFT_STEP.search(figures), _SWIFT_TIME.search(figures)
    if step is not None and time is None and (speed := _SWIFT_SPEED.search(figures)):
        mean = number(speed[2]) or 0.0  # mean since the start
        if mean > 0:
            per_step = mean if speed[1] == "s/it" else 1 / mean
            console.stamped.append((int(step[1]), int(step[1]) * per_step))
            console.has_rates_alone = True
        return
    if step is None or time is None:
        return
    elapsed = clock_s(time[1])
    if elapsed is None:
        console.unread_lines += 1
    else:
        console.stamped.append((int(step[1]), elapsed))
        console.said.setdefault("planned", int(step[2]))


def _take(console: Console, figures: dict[str, str], place: int) -> None:
    if "train_runtime" in figures and "loss" not in figures:  # with a loss: of the tokens so far
        console.totals = {name: number(value) for name, value in figures.items()}
    elif any(name.startswith("eval_") for name in figures):
        console.evaluation_lines.append(place)
    elif "loss" in figures:
        console.losses.append(number_or_nan(figures["loss"]))
        if any(name in figures for name in OF_ROLLOUTS):
            console.rollouts.append(figures)
        console.figures |= figures.keys()
        if (tokens := number(figures.get("num_tokens"))) and console.states:
            console.tokens.append((console.states[-1].done, tokens))
