"""Published networks: the count of their sizes against a figure from another source, and names that are one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.errors import NotFoundError
from planner.model.network.known_network import KnownNetwork
from planner.model.network.names import name_key
from planner.network.flops import parameters
from tests.bundled import bundled_catalog
from tests.every_row import every

ROWS = [(row.id, row) for row in read_rows(KnownNetwork, catalogs_dir() / "networks.csv")]
CATALOG = bundled_catalog()
EXACT = 0.01
"""Share by which a count may be off: what `planner/adapters/model_config/text_families.py` leaves out."""
ROUNDED = 0.04
"""The most that a figure in whole billions or tenths may hide, of these networks."""


@every(ROWS)
def test_the_sizes_have_the_published_number_of_parameters(row: KnownNetwork) -> None:
    off = abs(parameters(row.architecture) / row.parameters - 1)
    assert off <= (EXACT if row.deviation is None else ROUNDED)


def test_most_counts_are_the_published_ones_to_the_last_parameter() -> None:
    """Others are published in billions, with a pooler, or with padding; those counted from tensors are all exact."""
    exact = {row.id for _, row in ROWS if parameters(row.architecture) == row.parameters}
    assert len(exact) >= 117
    from_tensors = {row.id for _, row in ROWS if row.parameters_source.startswith("safetensors total on Hugging Face")}
    assert from_tensors - exact == {"llama-2-13b", "llama-2-70b"}  # 2,560 and 5,120 of buffers are saved with them


@every([entry for entry in ROWS if entry[1].deviation is not None])
def test_a_deviation_is_one(row: KnownNetwork) -> None:
    assert abs(parameters(row.architecture) / row.parameters - 1) > EXACT


@every(ROWS)
def test_the_two_figures_come_from_two_sources(row: KnownNetwork) -> None:
    assert row.source != row.parameters_source
    assert "/" in row.names[0]


def test_no_spelling_means_two_networks() -> None:
    meant: dict[str, str] = {}
    for preset in CATALOG.presets.values():
        for key in {name_key(name) for name in (preset.name, *preset.names)}:
            assert meant.setdefault(key, preset.name) == preset.name


def test_there_are_about_a_hundred_and_the_page_lists_them_all() -> None:
    assert len(ROWS) >= 100
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"[a-z0-9][a-z0-9.-]+", page))
    assert not CATALOG.presets.keys() - listed


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param("llama-3.1-8b", "llama-3.1-8b", id="as we write it"),
        pytest.param("Llama-3.1-8B-Instruct", "llama-3.1-8b", id="fine-tuned"),
        pytest.param("meta-llama/Llama-3.1-8B", "llama-3.1-8b", id="its repository"),
        pytest.param("META-LLAMA/llama_3_1_8b", "llama-3.1-8b", id="large letters and underscores"),
        pytest.param("Qwen/Qwen3-8B", "qwen3-8b", id="Qwen"),
        pytest.param("llama-3-8b", "llama3-8b", id="a preset of the benchmark"),
        pytest.param("google/gemma-2-9b-it", "gemma-2-9b", id="Gemma, instruction tuned"),
        pytest.param("mixtral-8x7b-instruct-v0.1", "mixtral-8x7b", id="Mixtral"),
        pytest.param("unsloth/Llama-3.2-3B-Instruct", "llama-3.2-3b", id="hosted again"),
        pytest.param("unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit", "llama-3.1-8b", id="hosted again, packed"),
        pytest.param("unsloth/Qwen3-8B-unsloth-bnb-4bit", "qwen3-8b", id="packed their way"),
        pytest.param("somebody/Llama-3.2-3B-Instruct", "llama-3.2-3b", id="of another organization"),
        pytest.param("teknium/OpenHermes-2.5-Mistral-7B", "mistral-7b-v0.1", id="trained further"),
        pytest.param("beomi/Llama-3-Open-Ko-8B", "llama3-8b", id="words between family and size"),
        pytest.param("unsloth/gpt-oss-20b-BF16", "gpt-oss-20b", id="a number format"),
        pytest.param("Qwen/Qwen3-Embedding-0.6B", "qwen3-0.6b", id="trained for embeddings"),
        pytest.param("somebody/Llama-3.1-EAGLE-8B", None, id="a draft network made from another"),
        pytest.param("nvidia/Llama-3.1-Minitron-2B", None, id="another size of a family"),
        pytest.param("OpenGVLab/InternVL3-8B", None, id="several networks in one"),
        pytest.param("mistralai/Mistral-Small-3.2-24B-Instruct-2506", "mistral-small-24b", id="a later release"),
        pytest.param("ViT-L/16", None, id="a size of a patch is no repository"),
    ],
)
def test_names_are_matched_as_people_write_them(written: str, meant: str | None) -> None:
    preset = CATALOG.preset_named(written)
    assert (None if preset is None else preset.name) == meant


@pytest.mark.parametrize(
    ("written", "near"),
    [
        pytest.param("qwen3-9b", "qwen3-8b", id="a size that is not"),
        pytest.param("roberta", "roberta-base", id="the beginning"),
    ],
)
def test_an_unknown_name_gets_the_nearest(written: str, near: str) -> None:
    with pytest.raises(NotFoundError, match=f"there is no workload '{re.escape(written)}'") as error:
        CATALOG.find_preset(written)
    assert near in error.value.fix
