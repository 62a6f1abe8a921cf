"""An image network's step taken apart: the parts add up, constants that matter are listed, evidence is near."""

from __future__ import annotations

import pytest

from planner.estimate.image_config import ImageObservation
from planner.estimate.physics.image_parameters import IMAGE_PARAMETERS
from planner.model.catalog import Catalog
from planner.model.plan import Plan
from planner.present.explanation import as_text
from planner.use_cases.explain import explain


@pytest.fixture(scope="module")
def document(catalog: Catalog):
    plan = Plan.model_validate(
        {
            "schema_version": 1,
            "name": "test",
            "workload": {"ref": "resnet50"},
            "work": {"epochs": 1, "samples_per_epoch": 1_281_167},
            "training": {"precision": "fp16", "micro_batch": 128},
            "options": [{"offer": "aws/p3.16xlarge", "usd_per_hour": 24.0}],
        }
    )
    return explain(plan, catalog, option=None)


def test_the_parts_add_up_to_the_step_and_the_step_to_the_speed(document) -> None:
    (option,) = document.options
    assert option.unit == "images"
    assert option.step_tokens == 8 * 128
    assert sum(part.seconds for part in option.parts) == pytest.approx(option.step_seconds)
    assert option.step_tokens / option.step_seconds == pytest.approx(option.throughput.value)


def test_constants_pull_in_the_direction_of_their_meaning(document) -> None:
    found = {one.name: one.percent_per_percent for one in document.options[0].constants}
    assert set(found) <= {each.name for each in IMAGE_PARAMETERS}
    assert found["hbm"] < 0
    assert found["conv_volta"] < 0
    assert found["norms"] > 0
    assert "conv_hopper" not in found


def test_the_nearest_evidence_is_of_images_on_the_same_accelerator(document) -> None:
    assert {row.accelerator for row in document.options[0].nearest} == {"V100-SXM2-16GB"}
    text = as_text(document)
    assert "step of 1,024 images" in text
    assert "measured images/s" in text
    assert "image_parameters.py" in text


def test_observations_of_images_are_told_apart(catalog: Catalog) -> None:
    from planner.use_cases.evidence import bundled_evidence, bundled_image_evidence

    assert not any(isinstance(one, ImageObservation) for one in bundled_evidence(catalog))
    assert all(isinstance(one, ImageObservation) for one in bundled_image_evidence(catalog))
