"""A row calibrates nothing where its source leaves open what decides the speed: by its code or its empty cells."""

from __future__ import annotations

from typing import Any

import pytest

from planner.model.evidence.measurement import Excluded, Measurement, exclusion_of, usual_settings

STATED: dict[str, Any] = {
    "id": "a", "source": "a/b", "gpu": "H100-SXM5-80GB", "num_gpus": 16, "gpus_per_node": 8, "seq_len": 4096,
    "micro_batch": 2, "precision": "bf16", "activation_checkpointing": "full", "flash_attention": "fa2",
    "vocab": 32_000, "zero": "3", "interconnect_intra": "NVLink", "interconnect_inter": "InfiniBand",
}  # fmt: skip


def row(**changed: Any) -> Measurement:
    return Measurement.model_validate(STATED | changed)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        pytest.param({}, None, id="everything stated"),
        pytest.param({"seq_len": None}, Excluded.NO_LENGTH, id="no length"),
        pytest.param({"seq_len": None, "avg_tokens_per_sample": 300}, None, id="a mean length"),
        pytest.param({"micro_batch": None}, Excluded.NO_BATCH, id="no batch"),
        pytest.param({"micro_batch": None, "global_batch": 64}, None, id="the batch of a step alone"),
        pytest.param({"precision": ""}, Excluded.NO_METHOD, id="no number format"),
        pytest.param({"quality": "weak: read off a figure"}, Excluded.DOUBTED, id="a flag without a code"),
        pytest.param({"excluded": "yes"}, Excluded.DOUBTED, id="words that are no code"),
        pytest.param({"quality": "weak: x", "excluded": "coarse"}, Excluded.COARSE, id="its own code first"),
        pytest.param({"quality": "ok: reported as slow"}, None, id="slow runs are evidence"),
    ],
)
def test_what_excludes_a_row(changed: dict[str, Any], code: Excluded | None) -> None:
    assert exclusion_of(row(**changed), text=True) is code


def test_images_have_no_length() -> None:
    assert exclusion_of(row(seq_len=None), text=False) is None


@pytest.mark.parametrize(
    ("changed", "left_open"),
    [
        ({}, []),
        ({"micro_batch": None, "global_batch": 64}, ["micro-batch"]),
        ({"activation_checkpointing": ""}, ["recomputation"]),
        ({"flash_attention": ""}, ["kernels"]),
        ({"flash_attention": "", "compile_kernels": "torch.compile"}, []),
        ({"vocab": None}, ["vocabulary"]),
        ({"zero": ""}, ["splits"]),
        ({"zero": "", "tp": 8}, []),
        ({"interconnect_intra": ""}, ["link"]),
        ({"interconnect_inter": ""}, ["network"]),
        ({"interconnect_inter": "", "interconnect_intra": "", "zero": "", "num_gpus": 1}, []),
        ({"quality": "hw-assumed: form of the card"}, ["something that its quality names"]),
    ],
)
def test_settings_for_which_usual_ones_are_taken(changed: dict[str, Any], left_open: list[str]) -> None:
    assert usual_settings(row(**changed), text=True) == left_open


def test_of_images_only_some_are_asked() -> None:
    open_ = row(activation_checkpointing="", vocab=None, zero="", interconnect_intra="")
    assert usual_settings(open_, text=False) == ["link"]
