"""Models that the planner has no formula for are refused by what is missing, by the names that people write."""

from __future__ import annotations

import pytest

from planner.errors import NotFoundError
from planner.model.network.names import missing_for
from tests.bundled import bundled_catalog


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("mamba-2.8b", "state-space layers"),
        ("state-spaces/mamba2-2.7b", "state-space layers"),
        ("RWKV-7", "state-space layers"),
        ("rwkv7-world", "state-space layers"),
        ("google/flan-t5-xl", "an encoder and a decoder joined by cross-attention"),
        ("whisper-large-v3", "an encoder and a decoder joined by cross-attention"),
        ("stable-diffusion-xl", "diffusion"),
        ("deepseek-v3", "latent attention (MLA)"),
        ("Qwen2.5-VL-7B", "several networks in one (vision or sound beside text)"),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", "several networks in one (vision or sound beside text)"),
        ("Llama-3.2-11B-Vision-Instruct", "several networks in one (vision or sound beside text)"),
        ("deepseek-ai/DeepSeek-R1-0528", "latent attention (MLA)"),
        ("moonshotai/Moonlight-16B-A3B", "latent attention (MLA)"),
        ("google/gemma-3n-E4B-it", "embeddings per layer and layers that are skipped"),
        ("black-forest-labs/FLUX.1-dev", "diffusion"),
        ("facebook/wav2vec2-base", "sound encoders"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5C", None),
        ("MiniMaxAI/MiniMax-M2", None),
        ("llama-3.1-8", None),
        ("mambo-8b", None),
    ],
)
def test_what_is_missing(name: str, missing: str | None) -> None:
    assert missing_for(name) == missing


def test_no_known_network_is_of_such_a_family() -> None:
    for name, preset in bundled_catalog().presets.items():
        assert missing_for(name) is None
        assert bundled_catalog().find_preset(name) == preset


def test_the_refusal_says_it() -> None:
    with pytest.raises(NotFoundError, match=r"there is no workload 'mamba-2\.8b'") as caught:
        bundled_catalog().find_preset("mamba-2.8b")
    assert "no formula for state-space layers" in caught.value.fix


def test_a_slip_in_a_known_name_still_names_the_nearest() -> None:
    with pytest.raises(NotFoundError) as caught:
        bundled_catalog().find_preset("llama-3.1-8")
    assert "llama-3.1-8b" in caught.value.fix
