"""What a reader of a trainer's log returns: steps with their seconds, what the log says of the training, doubts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from itertools import pairwise


class Beside(StrEnum):
    """What a log says went on among the steps of a span, so that its seconds are not those of training."""

    COMPILE = "compile and warm-up"
    EVALUATION = "evaluation"
    CHECKPOINT = "checkpoint"
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
    config: str | None = None
    """The file of the network, a Hugging Face config.json."""


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
    losses: tuple[float, ...] = ()
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


CLOCK_WENT_BACK = "the clock of the log goes back, and the steps there are left out"


def spans_between(
    points: Sequence[tuple[int, float]], *, beside: Iterable[tuple[int, Beside]] = ()
) -> tuple[list[Span], list[str]]:
    """Return the spans between points (optimizer step, clock in seconds), and doubts.

    `beside` says after which steps something else ran. Where the step number does not rise, a process began anew:
    what lies between is no span. Where the clock goes back it is none either, and a doubt.
    """
    return spans_of_pairs(pairwise(points), beside=beside)


def spans_of_pairs(
    pairs: Iterable[tuple[tuple[int, float], tuple[int, float]]], *, beside: Iterable[tuple[int, Beside]] = ()
) -> tuple[list[Span], list[str]]:
    """Return the spans from the first to the second point of each pair, as `spans_between` does."""
    marked = _Marked(list(beside))
    spans: list[Span] = []
    doubts: list[str] = []
    for (begin, since), (end, until) in pairs:
        if end <= begin:
            continue
        if until <= since:
            doubts.append(CLOCK_WENT_BACK)
            continue
        spans.append(Span(begin, end, until - since, beside=marked.first(begin, end)))
    return spans, list(dict.fromkeys(doubts))
