"""Number of trained samples: as the plan states, packed into sequences of one length, or padded in their batch."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.errors import InputError
from planner.model.network.architecture import Architecture
from planner.model.network.training_method import TrainingMethod
from planner.model.plan.plan import Plan


@dataclass(frozen=True)
class SampleCount:
    """Samples as the training takes them: sequences of `seq_len` tokens, or images."""

    per_epoch: float
    epochs: float
    tokens_per_epoch: float | None
    """Real tokens before padding, which a service bills and a data set holds;

    None if a sample is not counted in tokens.
    """
    text: str
    """Description of the count, for the source of a figure."""
    note: str | None = None
    """Note on the count for the reader."""
    sequence_tokens: float | None = None
    """Mean tokens of a sequence, if samples are not joined and padded only to the longest of their batch."""


def count_samples(plan: Plan, network: Architecture | None, seq_len: int | None) -> SampleCount:
    """Count samples per epoch, and epochs. Tokens, samples and steps are one epoch.

    A method with preferences counts its own samples (`_samples_of_method`).
    packed:  sequences = samples x tokens_per_sample / seq_len, rounded up
    padded (`packing: false`):  a sample is a sequence, padded to the longest of its micro-batch
    without tokens_per_sample:  a sample is a full sequence
    If the plan starts from a measured run, samples without a length are assumed to be like the run's.
    """
    _check_length(plan, network, seq_len)
    if plan.training.method is not None:
        return _samples_of_method(plan, plan.training.method, seq_len)
    work, each, packed = plan.work, plan.work.tokens_per_sample, plan.training.packing is not False
    if work.tokens is not None:
        return _samples_of_tokens(plan, work.tokens, seq_len)
    if work.steps is not None:
        assert plan.training.global_batch is not None, "the plan's model asks for it"
        count = work.steps * plan.training.global_batch
        tokens_of_one = seq_len if packed else each or seq_len
        padded_to = None if packed or each is None else _padded_tokens(each, seq_len)
        total = _product(count, tokens_of_one)
        return SampleCount(count, 1.0, total, _samples_text(count), sequence_tokens=padded_to)
    samples, epochs = work.samples or work.samples_per_epoch, work.epochs or 1.0
    assert samples is not None, "the plan's model asks for one way to say it"
    if each is None or each == seq_len:
        known = each is not None or seq_len is None or plan.workload.measured is not None
        text = _samples_text(samples) + ("" if known else f" counted as {seq_len:,} tokens each")
        note = None if known else _full_length_note(seq_len)
        return SampleCount(samples, epochs, _product(samples, each or seq_len), text, note)
    text = f"{_samples_text(samples)} of {each:,g} tokens"
    if not packed:
        padded = _padded_text(seq_len)
        note = f"{text}{padded}" if padded else None
        return SampleCount(samples, epochs, samples * each, text + padded, note, _padded_tokens(each, seq_len))
    assert seq_len is not None, "refused above"
    sequences = float(math.ceil(round(samples * each / seq_len, 6)))
    text += f" packed into {sequences:,.0f} sequences of {seq_len:,}"
    return SampleCount(
        sequences, epochs, samples * each, text, f"{text}; if they are padded, write training.packing: false"
    )


def _samples_of_method(plan: Plan, method: TrainingMethod, seq_len: int | None) -> SampleCount:
    """Count pairs, or single answers for KTO. Each sequence is a prompt with one answer.

    Sequences are not joined. A batch is padded to its longest, so a sequence takes as long as the mean of its batch.
    tokens of the training = samples x sequences of a sample x mean tokens of a sequence
    """
    work, training = plan.work, plan.training
    each = training.sequence_tokens(work.tokens_per_sample)
    if method.generates and (training.completion_tokens is None or each is None):
        raise InputError(
            f"training.method: how long the prompts and completions of {method.value} are is not said.",
            fix="Write work: {tokens_per_sample: 300} and training: {completion_tokens: {mean: 900, most: 4096}}.",
        )
    mean = each or seq_len
    group = training.of_the_method.with_rollouts().group or 1
    of_a_sample = None if mean is None else mean * training.sequences * group
    samples = work.samples or work.samples_per_epoch
    if work.steps is not None:
        batch = training.prompts or training.global_batch
        assert batch is not None, "the plan's model asks for it"
        samples = work.steps * batch
    if samples is None:
        assert work.tokens is not None, "the plan's model asks for one way to say it"
        if of_a_sample is None:
            raise InputError("work.tokens: how long a sample is, is not known.", fix="Add work.tokens_per_sample.")
        samples = work.tokens / of_a_sample
    if method.generates:
        text = f"{samples:,.0f} prompts with {group} completions each, {mean:,.0f} tokens with the prompt"
        return SampleCount(samples, work.epochs or 1.0, _product(samples, of_a_sample), text, sequence_tokens=each)
    name = "pairs" if method.has_pairs else "answers"
    text = f"{samples:,.0f} {name}"
    if mean is not None:
        text += f" of {'2 x ' if method.has_pairs else ''}{mean:,.0f} tokens"
    note = None if each is not None or seq_len is None else _full_length_note(seq_len)
    return SampleCount(samples, work.epochs or 1.0, _product(samples, of_a_sample), text, note, sequence_tokens=each)


def _samples_of_tokens(plan: Plan, tokens: float, seq_len: int | None) -> SampleCount:
    """Divide all tokens into full sequences, or into samples that are padded."""
    each = plan.work.tokens_per_sample
    if plan.training.packing is not False:
        if seq_len is None:
            raise InputError(
                "work.tokens: how many tokens a sample of this workload has is not known.",
                fix="Write samples, or epochs and samples_per_epoch, instead.",
            )
        return SampleCount(tokens / seq_len, 1.0, tokens, _samples_text(tokens / seq_len))
    if each is None:
        raise InputError(
            "training.packing: false: how many samples work.tokens are is not known.",
            fix="Add work.tokens_per_sample, the mean; or write samples.",
        )
    text = f"{_samples_text(tokens / each)} of {each:,g} tokens{_padded_text(seq_len)}"
    return SampleCount(tokens / each, 1.0, tokens, text, sequence_tokens=_padded_tokens(each, seq_len))


def _padded_text(seq_len: int | None) -> str:
    return "" if seq_len is None else f", each padded to the longest of its batch, {seq_len:,} at most"


def _padded_tokens(each: float, seq_len: int | None) -> float | None:
    """Return the mean of samples that are padded in their batch; None where samples are like those of a run."""
    return None if seq_len is None else each


def _check_length(plan: Plan, network: Architecture | None, seq_len: int | None) -> None:
    """Refuse tokens of an image, samples longer than sequences, and packing into sequences of unknown length."""
    each, packing = plan.training.sequence_tokens(plan.work.tokens_per_sample), plan.training.packing
    if network is not None and network.sample == "image" and (each is not None or packing is not None):
        key = "training.packing" if each is None else "work.tokens_per_sample"
        raise InputError(f"{key}: a sample of this workload is an image.", fix="Leave it out.")
    if each is None:
        return
    if seq_len is None:
        if packing is not False and plan.work.steps is None and plan.training.method is None:
            raise InputError(
                "work.tokens_per_sample: how many tokens a sample of the measured run has is not known, so nothing can "
                "be packed into its samples.",
                fix="Leave it out, or write training: {packing: false}: each sample counts as one of the run's.",
            )
    elif each > seq_len:
        raise InputError(
            f"work.tokens_per_sample: {each:,g} is more than the sequence length, {seq_len:,}: longer samples are cut.",
            fix="Write a longer workload.seq_len, or the mean after cutting.",
        )


def _full_length_note(seq_len: int | None) -> str:
    return f"each sample is counted as {seq_len:,} tokens: give work.tokens_per_sample if they are shorter"


def _samples_text(count: float) -> str:
    return f"{count:,.0f} samples"


def _product(count: float, tokens: float | None) -> float | None:
    return None if tokens is None else count * tokens
