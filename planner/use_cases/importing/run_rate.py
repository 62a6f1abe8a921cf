"""Computes the samples per second of an imported log, their range, and doubts about them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.adapters.trainer_logs.steady_steps import Steady, steady
from planner.adapters.trainer_logs.trainer_log import TrainerLog
from planner.errors import InputError
from planner.model.evidence.imported_log import ImportedLog
from planner.model.quantity import Basis, Quantity, Unit
from planner.use_cases.importing.run_facts import MissingFactError, RunFacts

SINGLE_RUN_FRACTION = 0.05
"""Relative range of a single run. The benchmark's own runs without repeats have the same."""
DOUBTFUL_FRACTION = 0.20
"""Relative range of a doubtful run: a total may include start-up, or tokens may include padding."""
FEWEST_STEPS = 10
"""Smallest number of timed steps that raise no doubt."""
FULL_SHARE = 0.98
"""Share of a batch's tokens from which its samples count as full."""
FIGURES_TOLERANCE = 0.05
"""Relative difference up to which two figures of one log agree."""
STEPS_TOLERANCE = 0.1
"""Relative difference up to which a total is taken to be of the timed steps."""
SECONDS_PER_HOUR = 3_600.0
WHOLE_TOLERANCE = 0.001
"""Relative distance from a whole number within which a batch counts as whole."""
PADDED = (
    "samples may be padded, and padding counts as tokens; say --packed if every sample is full, or import a log that "
    "counts tokens without padding"
)


@dataclass(frozen=True)
class Rate:
    """Counted optimizer steps with their samples and seconds."""

    steps: float
    seconds: float
    samples: float
    steady: Steady | None
    has_seconds: bool = True
    """False if the log contains only rates. Steps and seconds then have no meaning of their own."""
    total_per_s: float | None = None
    """Samples/s from totals of the same steps, if another part of the log states them."""

    @property
    def samples_per_s(self) -> float:
        """Samples/s of all accelerators together."""
        return self.samples / self.seconds

    @property
    def total_differs(self) -> bool:
        """True if the log's total gives another speed than its steps."""
        return self.total_per_s is not None and abs(self.total_per_s / self.samples_per_s - 1) > FIGURES_TOLERANCE


def rate_of(log: TrainerLog, known: RunFacts, *, where: str) -> Rate:
    """Compute samples/s from the log.

    samples/s = tokens / (seq_len x sequences per sample) / seconds, if the log counts tokens (a preference pair is one
    sample of two sequences)
    samples/s = steps x global batch / seconds, otherwise

    Where the log counts tokens without padding, a sample is `seq_len` tokens here; `mean_length` gives its mean length.
    """
    part = steady(log.spans, log.resolution_s)
    if part is not None and part.steps > 0:
        steps, seconds, tokens = float(part.steps), part.seconds, part.tokens
    elif log.total is not None:
        steps, seconds, tokens = log.total.steps, log.total.seconds, log.total.tokens
    elif log.untimed_steps is not None:
        if known.hours is None:
            what = f"how many hours its {log.untimed_steps:,} steps took: it states no times"
            raise MissingFactError(where, what, "--hours", "3.5")
        steps, seconds, tokens = float(log.untimed_steps), known.hours * SECONDS_PER_HOUR, None
    else:
        raise InputError(f"{where}: has no two steps with the time between them.", fix="Import a longer log.")
    if tokens is not None and log.tokens_of_one_device:
        tokens *= known.hardware.accelerators
    if tokens is not None and known.seq_len is not None:
        samples = tokens / known.seq_len / known.objective.sequences
        if log.whole_batches:
            _check_whole_batches(log, known, steps, samples, where)
    elif known.global_batch is not None:
        samples = steps * known.global_batch
    else:
        raise MissingFactError(where, "how many samples a step has on all accelerators", "--global-batch", "64")
    return Rate(steps, seconds, samples, part, not log.rates_alone, _total_rate(log, part, samples / steps))


def _check_whole_batches(log: TrainerLog, known: RunFacts, steps: float, samples: float, where: str) -> None:
    """Refuse a log whose token rate contradicts the stated batch, because one of the two is wrong."""
    if known.global_batch is None or log.rates_alone or known.seq_len is None:
        return
    counted = samples / steps
    if abs(counted / known.global_batch - 1) > FIGURES_TOLERANCE:
        raise InputError(
            f"{where}: {log.files[0]} contradicts the batch: its seconds of a step x tokens/s are "
            f"{counted * known.seq_len:,.0f} tokens, {counted:,.3g} samples of {known.seq_len:,}, and the batch is "
            f"{known.global_batch:,}.",
            fix="Leave --global-batch out to believe the log, or remove its tokens/s to believe the batch.",
        )


def _total_rate(log: TrainerLog, part: Steady | None, samples_of_a_step: float) -> float | None:
    """Return samples/s from the log's total without the dropped steps; None if it has no total of the timed steps.

    A total that includes other steps, for example an earlier process's, is not comparable.
    """
    if log.check is None or part is None or log.rates_alone:
        return None
    steps = part.steps + part.dropped_steps
    if abs(log.check.steps / steps - 1) > STEPS_TOLERANCE:
        return None
    seconds = log.check.seconds - sum(part.dropped_seconds.values())
    done = log.check.steps - part.dropped_steps
    return done * samples_of_a_step / seconds if seconds > 0 and done > 0 else None


def mean_length(log: TrainerLog, known: RunFacts, rate: Rate) -> int | None:
    """Return the mean tokens of a sample, if the log counts tokens without padding and the batch is known."""
    if not log.counts_lengths or known.global_batch is None or known.seq_len is None or rate.samples <= 0:
        return None
    length = round(rate.samples * known.seq_len / (rate.steps * known.global_batch))
    return length if 0 < length < FULL_SHARE * known.seq_len else None


def batch_of_tokens(known: RunFacts, rate: Rate) -> int | None:
    """Return the samples of a step, counted from its tokens; None if samples are padded or it is not a whole number."""
    if known.padded or not rate.has_seconds or rate.steady is None or rate.steady.tokens is None:
        return None
    batch = rate.samples / rate.steps
    return round(batch) if batch >= 1 and abs(batch - round(batch)) < WHOLE_TOLERANCE * batch else None


def quantity_of(log: TrainerLog, rate: Rate, *, doubtful: bool) -> Quantity:
    """Return the rate as a quantity with its range."""
    width = max(
        DOUBTFUL_FRACTION if doubtful else SINGLE_RUN_FRACTION,
        log.resolution_s / rate.seconds if rate.has_seconds else 0.0,
    )
    ends = [rate.samples_per_s, rate.total_per_s or rate.samples_per_s] if rate.total_differs else [rate.samples_per_s]
    timed = f"{rate.steps:,.0f} steps" + (f" in {rate.seconds:.6g} s" if rate.has_seconds else ", rates alone")
    read = f"{log.used_lines:,} lines used, {log.skipped_lines:,} skipped"
    lines = f"; {read}" if log.used_lines else ""
    return Quantity(
        value=rate.samples_per_s,
        low=min(ends) / (1 + width),
        high=max(ends) * (1 + width),
        unit=Unit.SAMPLES_PER_S,
        basis=Basis.MEASURED,
        source=f"the trainer's log ({log.format}): {timed}{lines}; a single run, {width:.0%} assumed both ways",
    )


def doubts_of(log: TrainerLog, known: RunFacts, rate: Rate) -> tuple[str, ...]:
    """Return doubts about the record, each with its remedy."""
    doubts = [*log.doubts, *known.doubts]
    if known.padded and known.seq_len is not None:
        doubts.append(PADDED)
    if any(not math.isfinite(loss) for loss in log.losses):
        doubts.append("the loss is not finite: the training did not work; import a run whose loss stays finite")
    if rate.total_differs:
        doubts.append(
            f"its steps say {rate.samples_per_s:.4g} samples/s and its total {rate.total_per_s:.4g}; the range "
            "includes both"
        )
    if log.skipped_lines > log.used_lines:
        every = log.used_lines + log.skipped_lines
        doubts.append(
            f"{log.skipped_lines:,} of {every:,} lines of steps were not understood and are left out; import a log "
            "whose lines can be read"
        )
    if rate.steps < FEWEST_STEPS:
        doubts.append(f"only {rate.steps:.0f} steps were timed; import at least {FEWEST_STEPS}")
    if rate.steady is not None and rate.steady.stalled_share > 0:
        share = rate.steady.stalled_share
        doubts.append(
            f"{share:.0%} of the steps took over 3 times the median: something besides the training, such as waiting "
            "for data, was measured too; see planner check-run"
        )
    return tuple(dict.fromkeys(doubts))


def imported_log(log: TrainerLog, known: RunFacts, rate: Rate, sha256: tuple[str, ...]) -> ImportedLog:
    """Describe the log behind the record."""
    return ImportedLog(
        format=log.format,
        framework=log.framework,
        sha256=sha256,
        counted_steps=float(rate.steps),
        counted_seconds=rate.seconds if rate.has_seconds else None,
        dropped_seconds=rate.steady.dropped_seconds if rate.steady and rate.has_seconds else {},
        uneven_share=(rate.steady.uneven_share or None) if rate.steady else None,
        drift=rate.steady.drift if rate.steady else None,
        filled_share=_filled_share(known, rate),
        padded=known.padded,
        planned_samples=known.planned_samples,
        rollouts=log.rollouts,
    )


def _filled_share(known: RunFacts, rate: Rate) -> float | None:
    """Return tokens / (steps x batch x sequence length) if the log counts tokens; None if the samples were full.

    Also None if the log counts padding as tokens, as LLaMA-Factory does.
    """
    if known.padded:
        return None
    if known.global_batch is None or rate.steady is None or rate.steady.tokens is None or not rate.has_seconds:
        return None
    share = rate.samples / (rate.steps * known.global_batch)
    return share if share < FULL_SHARE else None
