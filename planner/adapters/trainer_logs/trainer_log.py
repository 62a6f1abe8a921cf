"""What a reader of a trainer's log returns: steps with their seconds, what the log says of the training, doubts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from itertools import pairwise

from planner.adapters.trainer_logs.processes import Point, processes_of
from planner.model.evidence.rollout_log import RolloutLog


class Beside(StrEnum):
    """What a log says went on among the steps of a span, so that its seconds are not those of training."""

    EVALUATION = "evaluation"
    CHECKPOINT = "checkpoint"
    COMPILE = "compile and warm-up"
    OTHER = "other work"
    SKIPPED = "steps of an earlier process"


@dataclass(frozen=True, slots=True)
class Span:
    """Optimizer steps in a row: from after step `begin` to after step `end`."""

    begin: int
    end: int
    seconds: float
    tokens: float | None = None
    """Of all accelerators together, where the log counts them."""
    beside: Beside | None = None

    @property
    def steps(self) -> int:
        """How many."""
        return self.end - self.begin


@dataclass(frozen=True)
class Total:
    """Steps and seconds of a whole training, where a log has nothing finer."""

    steps: float
    seconds: float
    tokens: float | None = None


@dataclass(frozen=True)
class Facts:
    """What a log and the files beside it say of the training; None: they do not say."""

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
    """Samples may be shorter than `seq_len` and are filled up; False: every token is trained on."""
    lora_rank: int | None = None
    lora_targets: tuple[str, ...] | None = None
    """Of a configuration, as peft names them; None: not said."""
    quantized: bool | None = None
    """The frozen weights are kept at 4 bits."""
    eight_bit: bool | None = None
    """The frozen weights are kept at 8 bits."""
    trainable: int | None = None
    """Parameters that are trained."""
    planned_steps: int | None = None
    """Optimizer steps of the whole training."""
    planned_samples: float | None = None
    """Samples of the whole training, all epochs."""
    config: str | None = None
    """The file of the network, a Hugging Face config.json."""
    method: str | None = None
    """full, or lora."""
    objective: str | None = None
    """The objective of a training with preferences or rewards, as the trainer calls it: dpo, grpo, ppo, rm."""
    group: int | None = None
    """Completions of each prompt, of a training on its own completions."""
    engine_share: float | None = None
    """Of a device's memory that its engine reserves."""
    engine_sleep: int | None = None
    """What its engine gives back while the devices train: vLLM's level, 0 where it never sleeps."""
    epochs: float | None = None
    optimizer: str | None = None
    """As plans name it."""
    offload: str | None = None
    loss: str | None = None
    kernels: str | None = None
    weights: str | None = None
    tensor: int | None = None
    """Accelerators over which each layer is divided."""
    pipeline: int | None = None
    """Stages of layers."""
    framework: str | None = None
    network: Mapping[str, object] | None = None
    """Sizes of the network, as a config.json states them."""


@dataclass(frozen=True)
class Contradiction:
    """A fact that two places of a log or its folder state differently."""

    key: str
    """The fact's name in `Facts`."""
    text: str
    """Both places, with what they say."""


def merged(first: Facts, second: Facts) -> Facts:
    """Return what the first says, and what the second says besides."""
    said = {item.name: getattr(first, item.name) for item in fields(Facts) if getattr(first, item.name) is not None}
    return replace(second, **said)


@dataclass(frozen=True)
class TrainerLog:
    """A log as it was read; `framework` is a name that a plan may give (`training.framework`)."""

    format: str
    framework: str | None
    spans: tuple[Span, ...] = ()
    total: Total | None = None
    facts: Facts = field(default_factory=Facts)
    resolution_s: float = 0.0
    """Of the clock: a progress bar shows whole seconds."""
    rates_alone: bool = False
    """The spans hold rates: one token each and its seconds, so that neither can be summed up."""
    tokens_of_one_device: bool = False
    """The spans' tokens are those of one accelerator."""
    check: Total | None = None
    """Steps and seconds that another part of the log states of the same steps."""
    whole_batches: bool = False
    """Every step trains on whole batches without padding: its tokens are batch x length."""
    counts_lengths: bool = False
    """The tokens are those of samples without padding, of which each has its own length."""
    untimed_steps: int | None = None
    """Steps that were done, of a log without any time."""
    used_lines: int = 0
    """Lines or rows of steps that were read."""
    skipped_lines: int = 0
    """Lines that look like those of steps, and whose figures were not understood."""
    contradictions: tuple[Contradiction, ...] = ()
    """Facts that two places state differently; they are None in `facts`."""
    losses: tuple[float, ...] = ()
    rollouts: RolloutLog | None = None
    """Phases and lengths of a training on its own completions."""
    doubts: tuple[str, ...] = ()
    """Each with what would make the record sound."""
    files: tuple[str, ...] = ()
    """Names, below the source, of the files that it was read from."""


class _Marked:
    """After which steps something else ran; `first` finds what the log names first, without a search of all."""

    def __init__(self, marked: Sequence[tuple[int, Beside]]) -> None:
        self._marked = marked
        places = sorted(range(len(marked)), key=lambda place: marked[place][0])
        self._steps = [marked[place][0] for place in places]
        self._least = [places]
        """By power of two: the least place among so many steps from each on."""
        while (half := 1 << (len(self._least) - 1)) * 2 <= len(places):
            before = self._least[-1]
            self._least.append(list(map(min, before, before[half:])))

    def first(self, begin: int, end: int) -> Beside | None:
        """Return what was named first of the steps from `begin` to before `end`."""
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
    points: Sequence[tuple[int, float]], *, beside: Iterable[tuple[int, Beside]] = ()
) -> tuple[list[Span], list[str]]:
    """Return the spans between points (optimizer step, clock in seconds), and doubts.

    `beside` says after which steps something else ran. Points of several processes are told apart by their clocks
    (`processes.py`): between two processes is no span. A clock that goes back while the steps rise is a doubt.
    """
    return spans_of_points([Point(step, clock, clock) for step, clock in points], beside=beside)


def spans_of_points(
    points: Sequence[Point], *, beside: Iterable[tuple[int, Beside]] = ()
) -> tuple[list[Span], list[str]]:
    """Return the spans of points that know when the next step began, as `spans_between` does."""
    marked = _Marked(list(beside))
    doubts = [CLOCK_WENT_BACK for one, two in pairwise(points) if two.step > one.step and two.reached_s < one.left_s]
    spans = [
        Span(one.step, two.step, two.reached_s - one.left_s, beside=marked.first(one.step, two.step))
        for process in processes_of(points)
        for one, two in pairwise(_first_of_each_moment(process.points))
    ]
    return spans, list(dict.fromkeys(doubts))


def _first_of_each_moment(points: Sequence[Point]) -> list[Point]:
    """Leave out points whose clock shows the same as before: of a coarse clock the first has just been reached."""
    kept: list[Point] = []
    for point in points:
        if not kept or point.reached_s > kept[-1].left_s:
            kept.append(point)
    return kept
