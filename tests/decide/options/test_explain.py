"""An explanation is arithmetic: parts add up to the step; a run moves the answer by what is missing without it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.adapters.documents import read_model
from planner.adapters.workspace import examples_dir
from planner.decide.options.estimate_plan import estimate_plan
from planner.decide.options.explain import explain_plan
from planner.errors import NotFoundError
from planner.model.answer.explanation import OptionExplanation
from planner.model.answer.reason import Reason
from planner.model.catalog import Catalog
from planner.model.network.architecture import TextModel
from planner.model.network.workload import Precision, Strategy
from planner.model.plan.plan import Plan
from planner.speed.estimator.text_estimator import fitted
from planner.speed.estimator.text_fit import model_text_step
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.observation import Observation
from planner.speed.physics.planned_text_config import labels_of, planned_text_config
from planner.speed.physics.step_formulas import FORMULAS, IMAGE_FORMULAS
from tests.bundled import image_rows, text_rows

RTX_3090 = read_model(Plan, examples_dir() / "rtx3090_cluster.yaml")
MODELLED, MEASURED = "rtx-pro-6000-x4:ddp", "rtx3090-x10:zero2"


def nothing(images: bool) -> list[Observation]:
    """No published evidence: it changes no estimate."""
    return []


def explained(catalog: Catalog, option: str) -> OptionExplanation:
    (found,) = explain_plan(RTX_3090, catalog, nothing, option=option).options
    return found


def test_the_parts_of_a_step_add_up_to_it(catalog: Catalog) -> None:
    found = explained(catalog, MODELLED)
    assert found.step_seconds is not None
    assert sum(part.seconds for part in found.parts) == pytest.approx(found.step_seconds)
    assert sum(part.share for part in found.parts) == pytest.approx(1)


def test_the_step_is_the_throughput_turned_over(catalog: Catalog) -> None:
    found = explained(catalog, MODELLED)
    assert found.step_seconds is not None
    assert found.step_size is not None
    assert found.throughput is not None
    assert found.step_size / 512 / found.step_seconds == pytest.approx(found.throughput.value)


@pytest.mark.parametrize("option", [MODELLED, MEASURED])
def test_a_run_moves_the_answer_by_what_is_missing_without_it(catalog: Catalog, option: str) -> None:
    found = explained(catalog, option)
    assert len(found.runs) >= 2
    for run in found.runs:
        others = {key: one for key, one in catalog.runs.items() if key != run.id}
        without = estimate_plan(RTX_3090, catalog.model_copy(update={"runs": others}))
        (again,) = (one.throughput for one in without.options if one.id == option)
        assert again is not None
        assert run.without is not None
        assert run.without.value == pytest.approx(again.value)
        assert found.throughput is not None
        assert run.change_fraction == pytest.approx(found.throughput.value / again.value - 1)


def test_runs_have_a_weight_where_physics_answers_and_none_where_they_do(catalog: Catalog) -> None:
    assert all(run.weight is not None and 0 < run.weight < 1 for run in explained(catalog, MODELLED).runs)
    assert all(run.weight is None for run in explained(catalog, MEASURED).runs)


def test_beside_a_measured_answer_stands_what_physics_says(catalog: Catalog) -> None:
    found = explained(catalog, MEASURED)
    assert found.throughput is not None
    assert found.physics is not None
    assert (found.throughput.basis.value, found.physics.basis.value) == ("measured", "modelled")


def test_a_constant_s_influence_is_what_doubling_it_does_at_first(catalog: Catalog) -> None:
    """The strongest constants again, by a larger step of another size: a hundredth more."""
    assert catalog.calibration is not None
    preset, node = catalog.presets["llama3-8b"], catalog.nodes["aws/p5.48xlarge"]
    accelerator = catalog.accelerators[node.accelerator]
    assert isinstance(preset.architecture, TextModel)
    config = planned_text_config(
        preset.architecture, seq_len=4096, micro_batch=1, micro_batches=1, strategy=Strategy.FSDP2,
        precision=Precision.BF16, checkpointing=None, compiled=False, accelerator=accelerator, node=node, nodes=1,
        per_node=8,
    )  # fmt: skip
    assert not isinstance(config, Reason)
    asked = Plan.model_validate(
        {
            "schema_version": 1, "name": "one", "workload": {"ref": "llama3-8b", "seq_len": 4096},
            "work": {"tokens": 1e9}, "options": [{"offer": "aws/p5.48xlarge"}],
            "training": {"precision": "bf16", "strategy": "fsdp2", "micro_batch": 1, "checkpointing": "none"},
        }
    )  # fmt: skip
    (found,) = explain_plan(asked, catalog, nothing).options
    fit, label = fitted(catalog.calibration), [labels_of(accelerator, "llama3-8b")]
    before = model_text_step(fit, from_rows([config]), label)[0]
    for constant in found.constants[:3]:
        moved = replace(fit, constants=fit.constants | {constant.name: constant.value * 1.01})
        change = float((model_text_step(moved, from_rows([config]), label)[0] - before)[0]) / np.log(1.01)
        assert constant.percent_per_percent == pytest.approx(change, abs=0.01)


def of_images(catalog: Catalog) -> OptionExplanation:
    plan = {
        "schema_version": 1, "name": "images", "workload": {"ref": "resnet50"}, "work": {"samples": 1e8},
        "options": [{"offer": "aws/p4d.24xlarge"}], "training": {"precision": "bf16"},
    }  # fmt: skip
    (found,) = explain_plan(Plan.model_validate(plan), catalog, lambda _: image_rows()).options
    return found


def test_every_part_that_the_physics_knows_has_its_formula(catalog: Catalog) -> None:
    for option in (MODELLED, MEASURED):
        assert {part.name for part in explained(catalog, option).parts} <= FORMULAS.keys()
    assert {part.name for part in of_images(catalog).parts} <= IMAGE_FORMULAS.keys()


def test_a_step_of_images_is_taken_apart_too(catalog: Catalog) -> None:
    found = of_images(catalog)
    assert found.step_unit == "images"
    assert found.step_seconds is not None
    assert found.step_size is not None
    assert found.throughput is not None
    assert sum(part.seconds for part in found.parts) == pytest.approx(found.step_seconds)
    assert found.step_size / found.step_seconds == pytest.approx(found.throughput.value)
    assert found.constants
    assert len(found.nearest) == 3


def test_the_nearest_evidence_comes_first_and_is_the_row_itself_where_it_is_asked(catalog: Catalog) -> None:
    evidence = text_rows()
    (found,) = explain_plan(RTX_3090, catalog, lambda _: evidence, option=MODELLED).options
    distances = [row.distance for row in found.nearest]
    assert len(distances) == 3
    assert distances == sorted(distances)
    by_id = {one.id: one for one in evidence}
    for row in found.nearest:
        assert row.measured_per_s == by_id[row.id].tokens_per_s_per_gpu


def test_a_bare_step_has_no_parts_and_says_so(catalog: Catalog) -> None:
    asked = read_model(Plan, examples_dir() / "dgx_station_v100.yaml")
    (found,) = explain_plan(asked, catalog, nothing, option="h200-x1").options
    assert found.parts == ()
    assert found.physics is None
    assert [run.id for run in found.runs] == ["seed-000-dgx-station-v100"]


def test_an_unknown_option_names_those_of_the_plan(catalog: Catalog) -> None:
    with pytest.raises(NotFoundError, match="rtx3090-x99"):
        explain_plan(RTX_3090, catalog, nothing, option="rtx3090-x99")
