"""Number formats without measurements on a generation: they widen a range and form a group."""

from __future__ import annotations

import numpy as np
import pytest

from planner.model.evidence.calibration import Seen
from planner.speed.estimator.expected_error import (
    FORMAT_ERROR,
    PART_ERROR,
    KnownLabels,
    count_evidence,
    expected_error,
    groups_of,
)
from planner.speed.physics.accelerator_facts import accelerator_facts, format_of, formats_of
from planner.speed.physics.config_arrays import Configs, from_rows
from planner.speed.physics.planned_text_config import labels_of
from tests.bundled import bundled_catalog
from tests.speed.estimator.test_estimator_laws import small_config


@pytest.mark.parametrize(
    ("accelerator", "asked", "is_in"),
    [
        pytest.param("A100-80GB-SXM", "16bit", "16bit on ampere", id="the best of 16 bits"),
        pytest.param("A100-80GB-SXM", "bf16", "16bit on ampere", id="bf16 is of 16 bits"),
        pytest.param("A100-80GB-SXM", "tf32", "tf32 on ampere", id="tf32 on tensor cores"),
        pytest.param("V100-SXM2-16GB", "fp32", "fp32 on volta", id="fp32 on ordinary cores"),
        pytest.param("H100-SXM", "fp8", "fp8 on hopper", id="fp8"),
        pytest.param("B200-SXM", "fp4", "fp4 on blackwell", id="fp4"),
    ],
)
def test_a_number_format_is_named_with_its_generation(accelerator: str, asked: str, is_in: str) -> None:
    facts = small_config() | accelerator_facts(bundled_catalog().accelerators[accelerator], asked)
    assert format_of(facts) == is_in.split(maxsplit=1)[0]
    assert list(formats_of(from_rows([facts, facts]))) == [is_in, is_in]


def test_formats_of_many_stand_in_their_order() -> None:
    cards = bundled_catalog().accelerators
    asked = [("H100-SXM", "fp8"), ("A100-80GB-SXM", "16bit"), ("H100-SXM", "16bit"), ("H100-SXM", "fp8")]
    rows = [small_config() | accelerator_facts(cards[name], number_format) for name, number_format in asked]
    assert list(formats_of(from_rows(rows))) == ["fp8 on hopper", "16bit on ampere", "16bit on hopper", "fp8 on hopper"]


def hopper_of(*formats: str) -> tuple[Configs, KnownLabels]:
    """Return a training in fp8 on an H100, and evidence of H100s in some number formats, three rows each."""
    h100 = bundled_catalog().accelerators["H100-SXM"]
    rows = [small_config() | accelerator_facts(h100, number_format) for number_format in formats for _ in range(3)]
    evidence = from_rows(rows)
    known = count_evidence([labels_of(h100, "any")] * len(rows), evidence.gpus, formats_of(evidence))
    return from_rows([small_config() | accelerator_facts(h100, "fp8")]), known


def test_evidence_of_a_format_is_counted_by_generation() -> None:
    _, known = hopper_of("16bit", "fp8")
    largest = int(small_config()["dp"])
    seen = Seen(rows=3, sources=1, largest=largest)
    assert known.seen["number format"] == {"16bit on hopper": seen, "fp8 on hopper": seen}


def test_a_format_without_evidence_is_a_group_and_widens_what_is_expected() -> None:
    labels = [labels_of(bundled_catalog().accelerators["H100-SXM"], "any")]
    shares = {name: np.zeros(1) for name in PART_ERROR}
    asked, unseen = hopper_of("16bit")
    _, seen = hopper_of("16bit", "fp8")
    before_it_was_counted = KnownLabels({}, largest=unseen.largest)
    assert "new number format" not in groups_of(asked, labels, before_it_was_counted)
    assert groups_of(asked, labels, unseen) == ("new number format",)
    assert groups_of(asked, labels, seen) == ("same accelerator and framework",)
    wider, narrower = (expected_error(asked, labels, shares, known)[0] for known in (unseen, seen))
    assert wider**2 - narrower**2 == pytest.approx(FORMAT_ERROR**2)
