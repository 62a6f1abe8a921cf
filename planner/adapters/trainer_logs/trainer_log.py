"""Result of a log reader: steps with their seconds, facts about the training, doubts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from itertools import pairwise

from planner.adapters.trainer_logs.processes import Point, processes_of
from planner.model.evidence.imported_log import RolloutLog


class OtherWork(StrEnum):
    """Other work among the steps of a span, so that its seconds are not those of training."""

    EVALUATION = "evaluation"
    CHECKPOINT = "checkpoint"
    COMPILE = "compile and warm-up"
    OTHER = "other work"
    SKIPPED = "steps of an earlier process"


@dataclass(frozen=True, slots=True)
class LogSpan:
    """Consecutive optimizer steps: from after step `begin` to after step `end`."""

    begin: int
    end: int
    seconds: float
    tokens: float | None = None
    """Tokens of all accelerators together, if the log counts them."""
    other_work: OtherWork | None = None

    @property
    def steps(self) -> int:
        """Number of steps."""
        return self.end - self.begin


@dataclass(frozen=True)
class Total:
    """Steps and seconds of a whole training, if a log has nothing finer."""

    steps: float
    seconds: float
    tokens: float | None = None


@dataclass(frozen=True)
class Facts:
    """Facts in a log and the files beside it; None if they do not state them."""

    model: str | None = None
    accelerator: str | None = None
    devices: int | None = None
    nodes: int | None = None
    micro_batch: int | None = None
    accumulation: int | None = None
    global_batch: int | None = None
    seq_len: int | None = None
    precision: str | None = None
    strategy: str | None = None
    checkpointing: str | None = None
    compiled: bool | None = None
    padded: bool | None = None
    """True if samples may be shorter than `seq_len` and are filled up; False if every token is trained on."""
    lora_rank: int | None = None
    lora_targets: tuple[str, ...] | None = None
    """Target modules as peft names them; None if not stated."""
    quantized: bool | None = None
    """True if the frozen weights are kept at 4 bits."""
    eight_bit: bool | None = None
    """True if the frozen weights are kept at 8 bits."""
    trainable: int | None = None
    """Number of trained parameters."""
    planned_steps: int | None = None
    """Optimizer steps of the whole training."""
    planned_samples: float | None = None
    """Samples of the whole training, over all epochs."""
    config: str | None = None
    """File of the network, a Hugging Face config.json."""
    method: str | None = None
    """Method: full, or lora."""
    objective: str | None = None
    """Objective with preferences or rewards, as the trainer calls it: dpo, grpo, ppo, rm."""
    group: int | None = None
    """Completions of each prompt, of a training on its own completions."""
    engine_share: float | None = None
    """Share of a device's memory that its engine reserves."""
    engine_sleep: int | None = None
    """Memory that its engine gives back while the devices train: vLLM's level, 0 where it never sleeps."""
    epochs: float | None = None
    optimizer: str | None = None
    """Optimizer as plans name it."""
    offload: str | None = None
    loss: str | None = None
    kernels: str | None = None
    weights: str | None = None
    tensor: int | None = None
    """Accelerators over which each layer is divided."""
    pipeline: int | None = None
    """Pipeline stages of layers."""
    framework: str | None = None
    network: Mapping[str, object] | None = None
    """Sizes of the network, as a config.json states them."""


@dataclass(frozen=True)
class Contradiction:
    """A fact that two places of a log or its folder state differently."""

    key: str
    """Name of the fact in `Facts`."""
    text: str
    """Both places, with their values."""


def merged(first: Facts, second: Facts) -> Facts:
    """Return the first facts, filled up with the second ones."""
    said = {item.name: getattr(first, item.name) for item in fields(Facts) if getattr(first, item.name) is not None}
    return replace(second, **said)


@dataclass(frozen=True)
class TrainerLog:
    """A parsed log. `framework` is a name that a plan may give (`training.framework`)."""

    format: str
    framework: str | None
    spans: tuple[LogSpan, ...] = ()
    total: Total | None = None
    facts: Facts = field(default_factory=Facts)
    resolution_s: float = 0.0
    """Resolution of the clock: a progress bar shows whole seconds."""
    rates_alone: bool = False
    """True if the spans hold rates: one token each with its seconds, so that neither can be summed."""
    tokens_of_one_device: bool = False
    """True if the spans' tokens are those of one accelerator."""
    check: Total | None = None
    """Steps and seconds that another part of the log states for the same steps."""
    whole_batches: bool = False
    """True if every step trains on whole batches without padding: its tokens are batch x length."""
    counts_lengths: bool = False
    """True if the tokens are counted without padding, so that samples have different lengths."""
    untimed_steps: int | None = None
    """Number of steps done, for a log without any time."""
    used_lines: int = 0
    """Number of lines or rows of steps that were read."""
    skipped_lines: int = 0
    """Number of lines that look like steps but whose figures were not understood."""
    contradictions: tuple[Contradiction, ...] = ()
    """Facts that two places state differently. They are None in `facts`."""
    losses: tuple[float, ...] = ()
    rollouts: RolloutLog | None = None
    """Phases and lengths of a training on its own completions."""
    doubts: tuple[str, ...] = ()
    """Doubts, each with what would resolve it."""
    files: tuple[str, ...] = ()
    """Names, below the source, of the files that it was read from."""


class _Marked:
    """Steps after which something else ran.

    `first` finds the earliest entry of the log in a range without a full search.
    """

    def __init__(self, marked: Sequence[tuple[int, OtherWork]]) -> None:
        self._marked = marked
        places = sorted(range(len(marked)), key=lambda place: marked[place][0])
        self._steps = [marked[place][0] for place in places]
        self._least = [places]
        """Sparse table: index of the minimum over each window of 2^k steps."""
        while (half := 1 << (len(self._least) - 1)) * 2 <= len(places):
            before = self._least[-1]
            self._least.append(list(map(min, before, before[half:])))

    def first(self, begin: int, end: int) -> OtherWork | None:
        """Return what was named first among the steps from `begin` to before `end`."""
        low, high = bisect_left(self._steps, begin), bisect_left(self._steps, end)
        if low == high:
            return None
        power = (high - low).bit_length() - 1
        least = self._least[power]
        return self._marked[min(least[low], least[high - (1 << power)])][1]


ONLY_TOTALS = (
    "only totals of the training are known, with start and checkpoints in them, and a resumed training divides all "
    "planned steps by the seconds of its last process; import the console's output, where the steps carry time"
)
CLOCK_WENT_BACK = "the clock of the log goes back, and the steps there are left out"


def spans_between(
    points: Sequence[tuple[int, float]], *, other_work: Iterable[tuple[int, OtherWork]] = ()
) -> tuple[list[LogSpan], list[str]]:
    """Return the spans between points (optimizer step, clock in seconds), and doubts.

    `other_work` says after which steps something else ran. Points of several processes are distinguished by their
    clocks (`processes.py`); there is no span between two processes. A clock that goes back while the steps rise is a
    doubt.
    """
    return spans_of_points([Point(step, clock, clock) for step, clock in points], other_work=other_work)


def spans_of_points(
    points: Sequence[Point], *, other_work: Iterable[tuple[int, OtherWork]] = ()
) -> tuple[list[LogSpan], list[str]]:
    """Return the spans of points that know when the next step began, as `spans_between` does."""
    marked = _Marked(list(other_work))
    doubts = [
        CLOCK_WENT_BACK
        for point, following in pairwise(points)
        if following.step > point.step and following.reached_s < point.left_s
    ]
    spans = [
        LogSpan(
            point.step,
            following.step,
            following.reached_s - point.left_s,
            other_work=marked.first(point.step, following.step),
        )
        for process in processes_of(points)
        for point, following in pairwise(_first_of_each_moment(process.points))
    ]
    return spans, list(dict.fromkeys(doubts))


def _first_of_each_moment(points: Sequence[Point]) -> list[Point]:
    """Remove points that show the same clock as the one before. With a coarse clock the first has just been reached."""
    kept: list[Point] = []
    for point in points:
        if not kept or point.reached_s > kept[-1].left_s:
            kept.append(point)
    return kept
