"""Seconds in which copies of a network write the completions of one step, and how long most wait for the last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from planner.speed.generation.batch_schedule import batch_schedule
from planner.speed.generation.decoding import decoding_step, prompt_seconds
from planner.speed.generation.engine import EngineConstants, EngineCopy
from planner.speed.generation.lengths import CompletionLengths


@dataclass(frozen=True)
class Rollouts:
    """The work of one step: prompts, completions of each, and how long both are."""

    prompts: int
    group: int
    """Completions of one prompt."""
    prompt_tokens: float
    lengths: CompletionLengths

    @property
    def sequences(self) -> int:
        """Completions of one step."""
        return self.prompts * self.group

    @property
    def tokens(self) -> float:
        """Tokens of all completions, each with its prompt."""
        return self.sequences * (self.prompt_tokens + self.lengths.mean)


@dataclass(frozen=True)
class GenerationTime:
    """Where the seconds of generation go, on the copy with the usual share of the work."""

    prompts: float
    decoding: float
    waiting: float
    """What the slowest copy takes longer: its longest answer is the longest of all."""
    at_once: int
    """Sequences of a copy at a time."""
    cache_bytes: float
    """What the cache of a full batch takes on each device."""

    @property
    def seconds(self) -> float:
        """Until the last completion is there."""
        return self.prompts + self.decoding + self.waiting


def generation_time(
    rollouts: Rollouts, copy: EngineCopy, constants: EngineConstants, *, copies: int, free_bytes: float
) -> GenerationTime | None:
    """Return the seconds in which `copies` write the completions; None where no sequence has room in `free_bytes`.

    decoding = sum over stretches of a draining batch: steps x seconds of a step (`decoding_step`)
    waiting = (longest of all completions - longest of one copy's) x seconds of a step with one sequence
    """
    lengths = rollouts.lengths
    context = rollouts.prompt_tokens + lengths.mean
    room = int(copy.largest_batch(free_bytes, context))
    sequences = -(-rollouts.sequences // copies)
    at_once = min(room, constants.most_sequences, sequences)
    if at_once < 1:
        return None
    decoding = _decoding_seconds(rollouts, copy, constants, sequences=sequences, at_once=at_once)
    computed = sequences if not constants.shares_prompts else max(1.0, sequences / rollouts.group)
    prompts = prompt_seconds(copy, constants, prompts=computed, tokens=rollouts.prompt_tokens)
    alone = decoding_step(copy, constants, batch=1, context=context).seconds
    longer = lengths.longest(rollouts.sequences) - lengths.longest(sequences)
    return GenerationTime(
        prompts=prompts,
        decoding=decoding,
        waiting=max(0.0, longer) * alone,
        at_once=at_once,
        cache_bytes=min(at_once * context * copy.token_cache, free_bytes),
    )


@lru_cache(maxsize=1024)
def _decoding_seconds(
    rollouts: Rollouts, copy: EngineCopy, constants: EngineConstants, *, sequences: int, at_once: int
) -> float:
    """Return the seconds of all decoding steps of one copy; strategies and networks of a machine mostly share them."""
    schedule = batch_schedule(rollouts.lengths, sequences=sequences, at_once=at_once, refills=constants.refills)
    return sum(
        one.steps
        * decoding_step(copy, constants, batch=one.batch, context=rollouts.prompt_tokens + one.written).seconds
        for one in schedule
    )
