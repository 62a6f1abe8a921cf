"""A source is a repository or a site, however its words spell it."""

from __future__ import annotations

import hashlib

import pytest

from planner.model.evidence.source_site import is_set_aside, owner_of, site_of


@pytest.mark.parametrize(
    ("words", "site"),
    [
        ("pytorch/torchtitan", "pytorch/torchtitan"),
        ("PyTorch/TorchTitan PR 1690", "pytorch/torchtitan"),
        ("https://github.com/pytorch/torchtitan/pull/1690", "pytorch/torchtitan"),
        ("github.com/pytorch/torchtitan", "pytorch/torchtitan"),
        ("mlcommons/training_results_v3.1", "mlcommons/training_results"),
        ("mlcommons/training_results_v1.1 Dell", "mlcommons/training_results"),
        ("MegaScale (arXiv 2402.15627)", "arxiv:2402.15627"),
        ("https://arxiv.org/abs/2402.15627", "arxiv:2402.15627"),
        ("HF model crumb/gpt2023", "huggingface.co/crumb/gpt2023"),
        ("Hugging Face crumb/gpt2023", "huggingface.co/crumb/gpt2023"),
        ("https://huggingface.co/crumb/gpt2023", "huggingface.co/crumb/gpt2023"),
        ("huggingface/transformers issue 277", "huggingface/transformers"),
        ("https://www.exxactcorp.com/blog/benchmark", "exxactcorp.com"),
        ("unsloth.ai docs", "unsloth.ai"),
        ("lzwjava.github.io nanoGPT tuning", "lzwjava.github.io"),
        ("CoreGPT README", "coregpt"),
        ("CoreGPT report, table 2", "coregpt"),
        ("Trainium1 vs Trainium2 report", "trainium1-vs-trainium2"),
        ("notes", "notes"),
        ("(?)", "(?)"),
    ],
)
def test_words_name_a_repository_or_site(words: str, site: str) -> None:
    assert site_of(words) == site


def test_a_site_is_its_own_site() -> None:
    for words in (
        "pytorch/torchtitan",
        "arxiv:2402.15627",
        "huggingface.co/crumb/gpt2023",
        "exxactcorp.com",
        "coregpt",
    ):
        assert site_of(words) == words


@pytest.mark.parametrize("site", ["meta-llama/llama-3", "microsoft/phi-2", "arxiv:2402.15627", "exxactcorp.com"])
def test_the_half_is_a_digit_of_the_owner_s_digest(site: str) -> None:
    owner = site.split("/", maxsplit=1)[0]
    assert owner_of(site.upper()) == owner
    assert is_set_aside(site) is (hashlib.sha256(owner.encode()).hexdigest()[1] in "02468ace")
