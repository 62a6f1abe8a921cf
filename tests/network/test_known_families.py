"""A network family is registered everywhere or nowhere: its model, its counts, and what the benchmark builds."""

from __future__ import annotations

from planner.model.network.architecture import ARCHITECTURE_CLASSES, KINDS
from planner.network.families.known_families import FAMILIES
from planner.workloads.contract.architecture import SHAPES
from planner.workloads.models.registry import IMAGE_MODELS, TEXT_MODELS
from tests.bundled import bundled_catalog

MODELS = {kind: class_ for class_ in ARCHITECTURE_CLASSES for kind in class_.model_fields["kind"].annotation.__args__}
"""Each architecture by its `kind`."""


def test_each_kind_has_a_model_and_counts() -> None:
    assert set(MODELS) == set(KINDS) == set(FAMILIES)


def test_the_benchmark_builds_each_kind_that_says_so() -> None:
    built = {kind for kind, model in MODELS.items() if model.has_benchmark}
    assert built == set(SHAPES) == set(TEXT_MODELS) | set(IMAGE_MODELS)


def test_each_kind_that_the_benchmark_builds_has_a_preset() -> None:
    assert {preset.architecture.kind for preset in bundled_catalog().presets.values()} >= set(SHAPES)
