"""Batch and sample lengths read from a published row."""

from __future__ import annotations

import pytest

from tests.speed.evidence.measured_row import config


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
        pytest.param(
            {"packing": "padded to max", "avg_tokens_per_sample": ""},
            "seq_len",
            8192,
            id="samples padded to one length",
        ),
        pytest.param({"packing": "padded to 512"}, "variable_length", 0, id="and so of one length"),
        pytest.param(
            {"packing": "16,384 tokens per GPU and micro-batch", "micro_batch": ""},
            "micro_batch",
            2,
            id="a micro-batch in tokens",
        ),
        pytest.param(
            {"packing": "4x2048 tokens per device", "micro_batch": "", "seq_len": ""},
            "micro_batch",
            4,
            id="samples times their length",
        ),
        pytest.param(
            {"packing": "8192 tokens per GPU", "micro_batch": "", "cp": "4"}, "micro_batch", 4, id="of a shared sample"
        ),
        pytest.param(
            {"packing": "packed, 65,536 tokens per GPU per step", "micro_batch": "", "global_batch": "8"},
            "micro_batch",
            1,
            id="a step's tokens are no micro-batch",
        ),
        pytest.param({"packing": "packed, tokens per GPU vary", "micro_batch": "1"}, "micro_batch", 1, id="no number"),
        pytest.param(
            {"packing": "2048 tokens per device", "micro_batch": "", "seq_len": ""},
            "seq_len",
            2048,
            id="one sample of all of them, where no length is said",
        ),
        pytest.param(
            {"packing": "padded to batch max"}, "variable_length", 1, id="padded to the longest of each batch"
        ),
        pytest.param(
            {"micro_batch": "", "global_batch": "", "pp": "4", "zero": "1"},
            "micro_batches",
            16,
            id="a pipeline of unknown batch is kept full",
        ),
        pytest.param(
            {"framework": "torchtitan", "micro_batch": "8", "pp": "4"},
            "micro_batches",
            8,
            id="a pipeline's local batch",
        ),
        pytest.param(
            {"framework": "torchtitan", "micro_batch": "8", "pp": "4"}, "micro_batch", 1, id="in samples of one"
        ),
        pytest.param(
            {"framework": "torchtitan", "micro_batch": "8", "grad_accum": "2", "pp": "4"},
            "micro_batches",
            16,
            id="accumulated twice",
        ),
        pytest.param(
            {"micro_batch": "8", "global_batch": "16", "pp": "4"}, "micro_batches", 8, id="all that a replica takes"
        ),
        pytest.param(
            {"micro_batch": "4", "grad_accum": "2", "pp": "4"}, "micro_batch", 4, id="micro-batches that are counted"
        ),
        pytest.param({"framework": "torchtitan", "micro_batch": "8"}, "micro_batch", 8, id="no pipeline"),
        pytest.param(
            {"micro_batch": "", "global_batch": "64", "grad_accum": "2"},
            "micro_batch",
            4,
            id="micro-batch from the global one",
        ),
        pytest.param(
            {"micro_batch": "", "global_batch": "1024", "tp": "1", "pp": "8", "zero": "1"},
            "micro_batches",
            1024,
            id="a pipeline without a micro-batch takes samples one by one",
        ),
        pytest.param(
            {"packing": "padded to a multiple of 64"}, "variable_length", 1, id="multiples are of many lengths"
        ),
        pytest.param(
            {"packing": "padded to 512", "seq_len": "512", "avg_tokens_per_sample": "200"},
            "seq_len",
            512,
            id="padding costs what tokens cost",
        ),
        pytest.param({"packing": "unpacked", "seq_len": "4096"}, "seq_len", 256, id="instructions are short"),
        pytest.param({"packing": "padded to batch max", "seq_len": "384"}, "seq_len", 384, id="truncated at 384"),
    ],
)
def test_a_row_says_its_batch(changes: dict[str, str], key: str, value: float) -> None:
    assert config(**changes)[key] == pytest.approx(value)
