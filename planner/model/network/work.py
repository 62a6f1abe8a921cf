"""Network and amount of a plan's training."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from planner.model.base import Count, Frozen, Id, Positive, Text
from planner.model.network.architecture import Architecture, check_seq_len


class WorkloadChoice(Frozen):
    """Network to train, by exactly one of: a measured run, a name, an explicit architecture, a model's config.json."""

    measured: Id | None = None
    """Id of a measured run whose network is trained."""
    ref: Id | None = None
    """Name of a network in the catalog."""
    architecture: Architecture | None = None
    """A network, written out."""
    config: Text | None = None
    """Path of a Hugging Face config.json, beside the plan.

    With `architecture` it records what was read there, as in a lock, and the file is not read again.
    """
    seq_len: Count | None = None
    """Tokens of a sample; images have none."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        ways = ("measured", "ref", "architecture", "config")
        given = [name for name in ways if getattr(self, name) is not None]
        if len(given) != 1 and given != ["architecture", "config"]:
            has = " and ".join(given) or "none"
            raise ValueError(f"needs exactly one of measured, ref, architecture or config, has {has}")
        if self.measured is not None and self.seq_len is not None:
            raise ValueError("seq_len belongs to the measured run: leave it out")
        if self.architecture is not None:
            check_seq_len(self.architecture, self.seq_len)
        return self


class Work(Frozen):
    """Amount of training: samples over epochs, or a number of tokens, samples or steps (one epoch over them)."""

    epochs: Annotated[Positive, Field(le=1e9)] | None = None
    """Number of passes over all samples."""
    samples_per_epoch: Positive | None = None
    """Samples of one epoch."""
    tokens: Positive | None = None
    """Tokens of the whole training."""
    samples: Positive | None = None
    """Samples of the whole training."""
    steps: Positive | None = None
    """Optimizer steps. They need `training.global_batch`."""
    tokens_per_sample: Positive | None = None
    """Mean tokens of the samples, before padding. Default: each is as long as the workload's sequences."""
    target: Id | None = None
    """Quality target whose expected effort the amount is: the id of a row of `catalogs/convergence.csv`, whose runs
    spread as yours will.
    """

    @model_validator(mode="after")
    def _one_way_to_say_it(self) -> Self:
        ways = ("samples_per_epoch", "tokens", "samples", "steps")
        given = [name for name in ways if getattr(self, name) is not None]
        if len(given) != 1:
            given_text = f", has {' and '.join(given)}" if given else ""
            raise ValueError(f"needs one of samples_per_epoch (with epochs), tokens, samples or steps{given_text}")
        if self.epochs is not None and given != ["samples_per_epoch"]:
            raise ValueError(f"{given[0]} is the whole training: leave epochs out, or write samples_per_epoch")
        if self.samples_per_epoch is not None and self.epochs is None:
            raise ValueError("samples_per_epoch needs epochs")
        return self
