"""`planner accuracy` and `evidence` on tables of images: scored in images/s of all accelerators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

HEADER = (
    "id,source,model,gpu,gpus_per_node,num_gpus,precision,micro_batch,compile_kernels,framework,unit,throughput_total"
)
"""Header of a table that has no columns for tokens."""


@pytest.fixture
def images(tmp_path: Path) -> Path:
    rows = [
        "a,a lab,resnet50,A100-SXM4-80GB,8,1,fp16,256,AMP channels_last,PyTorch,images/s,2400",
        "b,a lab,resnet50,A100-SXM4-80GB,8,8,fp16,256,AMP channels_last,PyTorch,images/s,18500",
        "c,a lab,vit_base_patch16_224,A100-SXM4-80GB,8,8,fp16,128,,PyTorch,images/s,6500",
        "d,a lab,our own detector,A100-SXM4-80GB,8,8,fp16,128,,PyTorch,images/s,500",
    ]
    path = tmp_path / "images.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return path


def test_rows_of_images_are_predicted_and_scored_in_images_per_second_of_all(planner: Any, images: Path) -> None:
    document = planner("accuracy", "--measurements", images, "--json").document
    assert (document["rows"], document["predicted"]) == (4, 3)
    assert document["skipped"] == {"image network not known": 1}
    measured = {prediction["id"]: prediction["measured"] for prediction in document["predictions"]}
    assert measured == {"a": pytest.approx(2400), "b": pytest.approx(18500), "c": pytest.approx(6500)}
    predictions = {prediction["id"]: prediction["predicted"] for prediction in document["predictions"]}
    assert 6 < predictions["b"] / predictions["a"] <= 8
    errors = [abs(prediction["predicted"] / prediction["measured"] - 1) * 100 for prediction in document["predictions"]]
    assert document["overall"]["mape_pct"] == pytest.approx(sum(errors) / 3, abs=1e-3)
    assert all(found["rows"] == 3 for found in document["baselines"].values())


def test_known_rows_of_images_pull_the_others(planner: Any, images: Path) -> None:
    seeing = planner("accuracy", "--measurements", images, "--anchors", "1", "--json").document
    assert seeing["predicted"] == 2
    assert {prediction["group"] for prediction in seeing["predictions"]} == {"own runs"}


@pytest.mark.slow
def test_a_table_of_images_and_text_is_predicted_in_one_go(planner: Any, images: Path, tmp_path: Path) -> None:
    both = tmp_path / "both.csv"
    text = "t,a lab,llama3-8b,H100-SXM5-80GB,8,8,bf16,1,,own,tokens/s,,32,4096,32,8,14336,swiglu,128256,8192,7000"
    lines = images.read_text(encoding="utf-8").splitlines()
    more = ",n_layers,hidden,n_heads,n_kv_heads,ffn_hidden,mlp_type,vocab,seq_len,tokens_per_s_per_gpu"
    both.write_text("\n".join([lines[0] + more, *(line + "," * 9 for line in lines[1:]), text]), encoding="utf-8")
    document = planner("accuracy", "--measurements", both, "--json").document
    assert [prediction["id"] for prediction in document["predictions"]] == ["t", "a", "b", "c"]


def test_a_table_of_images_is_checked_row_by_row(planner: Any, images: Path) -> None:
    document = planner("evidence", "check", images, "--json").document
    assert document["usable"] == 3
    assert document["refusals"] == [{"id": "d", "reason": "image network not known"}]
